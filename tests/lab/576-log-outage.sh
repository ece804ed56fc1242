#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode on a device that fails all it is asked for a while, during which it is to be cleaned: afterwards
# it is cleaned as before, and in time for writes that wait.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 5
# timeout: 900
# sentences: 8
. "$(dirname "$0")/rc"

# Of a segment of 64 pages one is its summary.
PAGES=63
FIRST=20

low_disk $((64 * 1024))
OPTIONS="cleaning=off in_place=100 idle_ms=0 no_space_timeout=10" new_log_target t0 /dev/mapper/low --segment 256K --reserve 2
lpns=$(status_field t0 lpns)
nr_full=$((lpns / PAGES))

dd if=/dev/zero of="$TARGET" bs=$((PAGES * 4))k count=$nr_full oflag=direct conv=fsync status=none
# each_segment WHAT: writes or trims 15 pages that were written to it, of those that are full but for the first ones
each_segment() {
	python3 "$LAB_DIR/steps.py" "$1" "$TARGET" $((FIRST * PAGES * 4)) $((PAGES * 4)) 4 15 $((nr_full - FIRST))
}

# More than goes into the free segments
fill_again() {
	each_segment write
}

trim_again() {
	each_segment trim
	sync "$TARGET"
}

trim_again

# fails_for SECONDS: the device, and each second cleaning has a reason to begin
fails_for() {
	local i

	becomes low "0 $SECTORS error"
	for ((i = 0; i < $1; i++)); do
		dmsetup message t0 0 cleaning on
		nap 1
	done
}

fails_for 200
becomes low "0 $SECTORS linear /dev/ram0 0"
check "writes that wait get what is gained, now that it can be read" fill_again
check_that "and had no need to fail" "$(status_field t0 space)" == ok

dmsetup message t0 0 cleaning off
trim_again
becomes low "0 $SECTORS error"
dmsetup message t0 0 cleaning on
sleep 1
check_fails "what cannot be read cannot be cleaned, which the message clean says" dmsetup message t0 0 clean
becomes low "0 $SECTORS linear /dev/ram0 0"
check "what was trimmed is written, since there is something to be gained again" fill_again
check_that "segments were cleaned" "$(status_field t0 cleaned_segments)" -gt 0
check_that "space has not run out" "$(status_field t0 space)" == ok
check "all is cleaned when somebody asks for it" dmsetup message t0 0 clean
dmsetup remove --retry t0
check "dieaware check finds nothing" dieaware check /dev/mapper/low
