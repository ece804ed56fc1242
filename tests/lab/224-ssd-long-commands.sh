#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Commands that name 65536 LBAs are done in pieces of 4 MiB or 1 MiB, deallocation and Format in steps, and
# others are served between them. Abort, the deletion of the queue and a reset end them. A Format that a reset ends has
# not happened, but for the data that is gone.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 15
# timeout: 240
# sentences: 61
. "$(dirname "$0")/rc"

new_ssd ssd0 capacity_mib=2048 lba_bytes=4096
take_raw ssd0
run_sentences python3 "$LAB_DIR/rawhost-long.py" /sys/kernel/debug/nvmev/ssd0/controller
give_back ssd0
drop_ssd ssd0

new_ssd ssd1 capacity_mib=32832 namespace_mib=32768,64 lba_bytes=4096
nvmev-ssd precondition ssd1 --random 0x >"$T_DIR/said"
take_raw ssd1
run_sentences python3 "$LAB_DIR/rawhost-format.py"
give_back ssd1
