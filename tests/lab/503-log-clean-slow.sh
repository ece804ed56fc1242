#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The message clean on a device that reads slowly, with many segments of which little is valid: a
# suspension does not wait until all of them were looked at; and with writes that take the free ones meanwhile.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 1G
# clock: virtual
# seconds: 10
# timeout: 300
# sentences: 12
. "$(dirname "$0")/rc"

READ_MS=100

now_ms() {
	echo $(($(date +%s%N) / 1000000))
}

# reads_take MS
reads_take() {
	becomes low "0 $SECTORS delay /dev/ram0 0 $1 /dev/ram0 0 0"
}

# write_random OPTION...: 4 KiB each, all over the device
write_random() {
	fio --name=random --filename="$TARGET" --rw=randwrite --bs=4k --direct=1 --ioengine=libaio --iodepth=32 \
		--clocksource=clock_gettime "$@"
}

low_disk $((192 * 1024))
OPTIONS="cleaning=off idle_ms=0" new_log_target t0 /dev/mapper/low --segment 256K
check "all of it is written" fio --name=fill --filename="$TARGET" --rw=write --bs=252k --size=100% --direct=1 \
	--clocksource=clock_gettime
check "and trimmed, but for a page here and there" fio --name=trim --filename="$TARGET" --rw=trim:4k --bs=252k --size=50% --direct=1 \
	--clocksource=clock_gettime
dmsetup message t0 0 checkpoint
reads_take $READ_MS
note "$(status_field t0 free_segments) segments are free"
dmsetup message t0 0 clean 2>"$T_DIR/said" &
message=$!
sleep 3
began=$(now_ms)
dmsetup suspend --nolockfs t0
check_that "to suspend it takes no look at each of them (ms)" $(($(now_ms) - began)) -lt 3000
check_fails "the message is not done" wait "$message"
check_that "which it says" "$(<"$T_DIR/said")" =~ "Resource temporarily unavailable"
reads_take 0
dmsetup resume t0
check "another one is" dmsetup message t0 0 clean
dmsetup remove t0
check "dieaware check finds nothing" dieaware check /dev/mapper/low

# What it has chosen, it does not empty: users take the segments for which it has reckoned, but those that are kept.
# Each victim keeps something, as pages are not overwritten in the order of their places.
SECTORS=$((32 * 2048))
reads_take 0
OPTIONS="cleaning=off idle_ms=0 in_place=100 no_space_timeout=60" new_log_target t1 /dev/mapper/low --segment 256K --reserve 30
check "each page is written once, in no order" write_random --size=100%
dmsetup message t1 0 cleaning on
free=$(status_field t1 free_segments)
reads_take $READ_MS
dmsetup message t1 0 clean &
message=$!
check "who writes meanwhile more than was free" write_random --norandommap --io_size=$((free * 384))k
check_that "... has taken all that he may" "$(status_field t1 starved)" -gt 0
check "and the message is done" wait "$message"
dmsetup remove t1
check "dieaware check finds nothing there, either" dieaware check /dev/mapper/low
