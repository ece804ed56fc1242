#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The message clean on a device that reads slowly, with many segments of which little is valid: a
# suspension does not wait until all of them were looked at.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 1G
# clock: virtual
# seconds: 5
# timeout: 300
# sentences: 7
. "$(dirname "$0")/rc"

READ_MS=100

now_ms() {
	echo $(($(date +%s%N) / 1000000))
}

# reads_take MS
reads_take() {
	becomes low "0 $SECTORS delay /dev/ram0 0 $1 /dev/ram0 0 0"
}

low_disk $((192 * 1024))
OPTIONS="cleaning=off idle_ms=0" new_log_target t0 /dev/mapper/low --segment 256K
check "all of it is written" fio --name=fill --filename="$TARGET" --rw=write --bs=252k --size=100% --direct=1
check "and trimmed, but for a page here and there" fio --name=trim --filename="$TARGET" --rw=trim:4k --bs=252k --size=50% --direct=1
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
