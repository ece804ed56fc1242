#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode on a disk that does not read one page, the summary of a segment that is worth to be cleaned, and takes
# its time to say so: nobody waits for more than one try, and it is tried more and more seldom, also while others
# are cleaned.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 5
# timeout: 300
# sentences: 8
. "$(dirname "$0")/rc"

# Of a segment of 64 pages one is its summary.
PAGES=63
NR_TRIMMED=21
FIRST=20
READ_S=10
NR_ROUNDS=40

at_end drop_target never
at_end drop_target unread
low_disk $((64 * 1024))
dmsetup create never --table "0 8 error"
dmsetup create unread --table "0 8 delay /dev/mapper/never 0 0"
OPTIONS="cleaning=off idle_ms=0" new_log_target t0 /dev/mapper/low --segment 256K --reserve 2
lpns=$(status_field t0 lpns)
nr_full=$((lpns / PAGES))

# nr_reads: of the page that is not read
nr_reads() {
	awk '{ print $1 }' "/sys/block/dm-$(dmsetup info -c --noheadings -o minor unread)/stat"
}

# trim SEGMENT: the first pages that were written to that segment
trim() {
	blkdiscard -o $(($1 * PAGES * 4096)) -l $((NR_TRIMMED * 4096)) "$TARGET"
}

dd if=/dev/zero of="$TARGET" bs=$((PAGES * 4))k count=$nr_full oflag=direct conv=fsync status=none
trim $FIRST
sync "$TARGET"
at=$(($(superblock_field segments /dev/mapper/low) * 8 + FIRST * 512 + PAGES * 8))
becomes low "0 $at linear /dev/ram0 0" "$at 8 linear /dev/mapper/unread 0" \
	"$((at + 8)) $((SECTORS - at - 8)) linear /dev/ram0 $((at + 8))"

becomes unread "0 8 delay /dev/mapper/never 0 $((READ_S * 1000))"
dmsetup message t0 0 cleaning on
sleep 100
check_that "what cleaning could not read it does not read again at once" "$(nr_reads)" -eq 1

dmsetup message t0 0 clean 2>"$T_DIR/said" &
message=$!
sleep 3
began=$(date +%s)
dmsetup suspend --nolockfs t0
check_that "to suspend it waits for one try (s)" $(($(date +%s) - began)) -le $READ_S
check_fails "the message clean is not done" wait "$message"
check_that "which it says" "$(<"$T_DIR/said")" =~ "Resource temporarily unavailable"
becomes unread "0 8 delay /dev/mapper/never 0 0"
dmsetup resume t0

before=$(nr_reads)
cleaned=$(status_field t0 cleaned_segments)
dmsetup message t0 0 idle 100 50
for ((i = FIRST + 1; i <= FIRST + NR_ROUNDS; i++)); do
	trim $i
	sleep 3
	dd if=/dev/zero of="$TARGET" bs=4k seek=$((i * PAGES)) count=$NR_TRIMMED oflag=direct status=none
done
check_that "others were cleaned" $(($(status_field t0 cleaned_segments) - cleaned)) -gt $((NR_ROUNDS / 2))
note "$(($(nr_reads) - before)) times it was tried to read it in $((NR_ROUNDS * 3)) seconds"
check_that "what is not read is tried the more seldom the longer" $(($(nr_reads) - before)) -le 9

dmsetup suspend t0
dmsetup resume t0
sleep 1
cleaned=$(status_field t0 cleaned_segments)
becomes low "0 $SECTORS linear /dev/ram0 0"
sleep 2
dmsetup message t0 0 cleaning on
sleep 1
check_that "after a resume it is tried again soon" "$(status_field t0 cleaned_segments)" -gt "$cleaned"
dmsetup remove --retry t0
check "dieaware check finds nothing" dieaware check /dev/mapper/low
