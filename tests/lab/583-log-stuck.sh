#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode on a disk of which a region cannot be read any more: segments there cannot be cleaned, and
# have the least in them. Others have what is to be gained, and writes get it.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 5
# timeout: 300
# sentences: 4
. "$(dirname "$0")/rc"

# Of a segment of 64 pages one is its summary.
SEGMENT=64
PAGES=63
FIRST=20
NR=40

low_disk $((64 * 1024))
OPTIONS="cleaning=off in_place=100 idle_ms=0 no_space_timeout=10" new_log_target t0 /dev/mapper/low --segment 256K
lpns=$(status_field t0 lpns)

# each_segment WHAT FIRST END NR: writes or trims the first pages that were written to it, of the first segment and
# those up to the second one
each_segment() {
	python3 "$LAB_DIR/steps.py" "$1" "$TARGET" $(($2 * PAGES * 4)) $((PAGES * 4)) 4 "$4" $(($3 - $2))
}

dd if=/dev/zero of="$TARGET" bs=$((PAGES * 4))k count=$((lpns / PAGES)) oflag=direct conv=fsync status=none
nr_full=$((lpns / PAGES))
each_segment trim $FIRST $((FIRST + NR)) 60
each_segment trim $((FIRST + NR)) $nr_full 15
sync "$TARGET"
segments=$(($(superblock_field segments /dev/mapper/low) * 8))
bad=$((segments + FIRST * SEGMENT * 8)) nr_bad=$((NR * SEGMENT * 8))
becomes low "0 $bad linear /dev/ram0 0" "$bad $nr_bad error" \
	"$((bad + nr_bad)) $((SECTORS - bad - nr_bad)) linear /dev/ram0 $((bad + nr_bad))"
dmsetup message t0 0 cleaning on

# More than goes into the free segments
fill_again() {
	each_segment write $((FIRST + NR)) $nr_full 15
}
check "what was trimmed is written, since there is something to be gained elsewhere" fill_again
check_that "segments were cleaned" "$(status_field t0 cleaned_segments)" -gt 0
check_that "space has not run out" "$(status_field t0 space)" == ok
becomes low "0 $SECTORS linear /dev/ram0 0"
dmsetup remove --retry t0
check "dieaware check finds nothing" dieaware check /dev/mapper/low
