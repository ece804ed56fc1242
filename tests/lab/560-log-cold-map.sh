#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode on a full device: small writes are done in place whether the page of the map is in memory
# or has to be read.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 10
# timeout: 180
# sentences: 4
. "$(dirname "$0")/rc"

# Lpns of two places that have not the same page of the map
STRIDE=1024
NR=30

# overwrite FIRST: a page every STRIDE; prints how many were written in place
overwrite() {
	local before

	before=$(status_field t0 in_place_pages)
	python3 "$LAB_DIR/steps.py" write "$TARGET" $(($1 * 4)) $((STRIDE * 4)) 4 1 $NR
	echo $(($(status_field t0 in_place_pages) - before))
}

modprobe brd rd_nr=1 rd_size=$((192 * 1024))
at_end rmmod brd
OPTIONS="in_place=0 idle_ms=0 cleaning=off" new_log_target t0 /dev/ram0 --segment 1M
dd if=/dev/zero of="$TARGET" bs=1M count=$((NR * STRIDE / 256)) oflag=direct conv=fsync status=none
check_that "with the map in memory, small writes are done in place" "$(overwrite 3)" -eq $NR
again t0
cold=$(overwrite 5)
note "$cold of $NR writes were done in place"
check_that "and when the map has to be read as well" "$cold" -eq $NR
check_that "by then it is in memory" "$(overwrite 7)" -eq $NR
dmsetup remove --retry t0
check "dieaware check finds nothing" dieaware check /dev/ram0
