#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Data written to ext4 on a target in log mode, cleaned and restarted, is the data read back.
# kernels: uml
# long: 6.12
# smp: 2
# smp on uml: 1
# mem: 2G
# seconds: 40
# timeout: 320
# sentences: 12
. "$(dirname "$0")/rc"
FS=ext4
. "$LAB_DIR/log-data"
