#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every malformed command gets the status that the specification names, by a table
# (rawhost-status.py, through the module of tests/rawhost); random
# commands, with wild PRPs through that module and through the stock driver's ioctls.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 25
# timeout: 240
# sentences: 304
. "$(dirname "$0")/rc"

new_ssd ssd0 capacity_mib=1024 fdp=1 share_pages=16
take_raw ssd0
run_sentences python3 "$LAB_DIR/rawhost-status.py"
run_sentences python3 "$LAB_DIR/rawhost-fuzz.py" 40
give_back ssd0
run_sentences python3 "$LAB_DIR/nvme-fuzz.py" "${DEV%n1}" "$DEV" 4000
check "data verifies after that" fio --name=v --filename="$DEV" --direct=1 --ioengine=libaio --iodepth=8 --size=2m \
	--rw=randwrite --bs=4k --verify=crc32c --verify_fatal=1
