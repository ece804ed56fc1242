#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each hint that ext4's writes carry over the wire is compared with FIEMAP.
# kernels: 6.1 6.12 uml
# long: newest
# smp: 1
# mem: 2G
# seconds: 35
# timeout: 280
# sentences: 14
. "$(dirname "$0")/rc"
FS=ext4
DIRECT_PRECISION=990
DIRECT_RECALL=950
. "$LAB_DIR/fs-truth"
