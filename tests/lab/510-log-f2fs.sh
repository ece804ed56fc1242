#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Data written to f2fs on a target in log mode, cleaned and restarted, is the data read back.
# kernels: uml
# long: 6.12
# smp: 2
# smp on uml: 1
# mem: 2G
# sentences: 12
# seconds: 40
# timeout: 320
. "$(dirname "$0")/rc"
FS=f2fs
. "$LAB_DIR/log-data"
