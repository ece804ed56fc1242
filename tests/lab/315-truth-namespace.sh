#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The target over the second namespace of an SSD: hints name LBAs of that one.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# sentences: 8
# seconds: 20
# timeout: 240
. "$(dirname "$0")/rc"
FS=ext4
NSID=2
BUFFERED=0
SSD_OPTIONS=(capacity_mib=1024 "namespace_mib=64,512")
DIRECT_PRECISION=990
DIRECT_RECALL=950
. "$LAB_DIR/fs-truth"
check_that "the first namespace was not touched" "$(awk '/^pages_mapped/ { print $2 }' /sys/kernel/debug/nvmev/ssd0/ns1/stats)" -eq 0
