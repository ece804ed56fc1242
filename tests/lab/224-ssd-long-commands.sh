#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Commands that name 65536 LBAs are done in pieces of 4 MiB, and others are served between them.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 10
# timeout: 240
# sentences: 20
. "$(dirname "$0")/rc"

new_ssd ssd0 capacity_mib=2048 lba_bytes=4096
take_raw ssd0
run_sentences python3 "$LAB_DIR/rawhost-long.py" /sys/kernel/debug/nvmev/ssd0/controller
give_back ssd0
