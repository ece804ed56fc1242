#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The message clean on a device of which one summary is damaged, and one, and a page of data, cannot be read: that it
# could not clean these segments it says each time, and not when nothing is left in them.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 5
# timeout: 300
# sentences: 11
. "$(dirname "$0")/rc"

# Of a segment of 64 pages one is its summary.
PAGES=63
DAMAGED=20
UNREAD=30
UNREAD_DATA=40

low_disk $((64 * 1024))
OPTIONS="cleaning=off idle_ms=0" new_log_target t0 /dev/mapper/low --segment 256K
nr_full=$(($(status_field t0 lpns) / PAGES))
segments=$(superblock_field segments /dev/mapper/low)

# trim SEGMENT FIRST NR: pages that were written to that segment
trim() {
	blkdiscard -o $((($1 * PAGES + $2) * 4096)) -l $(($3 * 4096)) "$TARGET"
	sync "$TARGET"
}

# summary_of SEGMENT: its sector
summary_of() {
	echo $(((segments + $1 * (PAGES + 1) + PAGES) * 8))
}

dd if=/dev/zero of="$TARGET" bs=$((PAGES * 4))k count=$nr_full oflag=direct conv=fsync status=none

trim $DAMAGED 0 20
trim $UNREAD 0 20
trim $UNREAD_DATA 0 20
printf X | dd of=/dev/ram0 bs=1 seek=$(($(summary_of $DAMAGED) * 512 + 100)) conv=notrunc,fsync status=none
at=$(summary_of $UNREAD)
data=$(((segments + UNREAD_DATA * (PAGES + 1) + 30) * 8))
becomes low "0 $at linear /dev/ram0 0" "$at 8 error" "$((at + 8)) $((data - at - 8)) linear /dev/ram0 $((at + 8))" \
	"$data 8 error" "$((data + 8)) $((SECTORS - data - 8)) linear /dev/ram0 $((data + 8))"
mark_log
check_error "what is damaged or not read was not cleaned, which the message clean says" "Input/output error" \
	dmsetup message t0 0 clean
check "the kernel's log names segments that are not known" log_has "Segment $DAMAGED cannot be cleaned: its valid pages are not known"
check "and the one with a page that cannot be read" log_has "Segment $UNREAD_DATA cannot be cleaned: a page of it cannot be read"
check_that "status says how many could not be read" "$(status_field t0 unread_segments)" == 2
check_that "and how many are damaged" "$(status_field t0 damaged_segments)" == 1
trim $UNREAD 20 $((PAGES - 20))
becomes low "0 $SECTORS linear /dev/ram0 0"
check_error "also what is damaged alone" "Input/output error" dmsetup message t0 0 clean
check_error "and was found out before" "Input/output error" dmsetup message t0 0 clean
check_that "the target writes" "$(status_field t0 state)" == write
trim $DAMAGED 20 $((PAGES - 20))
check "all is cleaned when there is nothing left of these" dmsetup message t0 0 clean
check_that "and none is left by status" "$(status_field t0 unread_segments) $(status_field t0 damaged_segments)" == "0 0"
dmsetup remove --retry t0
check "dieaware check finds nothing" dieaware check /dev/mapper/low
