#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each hint that f2fs's writes carry over the wire is compared with FIEMAP.
# kernels: uml
# long: 6.12 newest
# smp: 1
# mem: 2G
# sentences: 14
# seconds: 35
# timeout: 280
. "$(dirname "$0")/rc"
FS=f2fs
DIRECT_PRECISION=990
DIRECT_RECALL=950
. "$LAB_DIR/fs-truth"
