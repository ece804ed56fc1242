#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Data written to xfs through the target with hints on is the data read back.
# kernels: uml
# long: 6.12
# smp: 2
# smp on uml: 1
# mem: 2G
# sentences: 12
# seconds: 35
# timeout: 280
. "$(dirname "$0")/rc"
FS=xfs
. "$LAB_DIR/fs-data"
