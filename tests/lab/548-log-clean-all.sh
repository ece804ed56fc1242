#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The message clean, while users take the segments that were free when it began: it leaves what
# cleaning needs, and is done all the same; while the device is suspended: it ends.
# kernels: uml
# long: 6.12
# smp: 2
# mem: 2G
# seconds: 40
# timeout: 200
# sentences: 17
. "$(dirname "$0")/rc"

# write_random OPTION...: 4 KiB each, all over the device
write_random() {
	fio --name=random --filename="$TARGET" --rw=randwrite --bs=4k --direct=1 --ioengine=libaio --iodepth=32 \
		--verify=crc32c --verify_fatal=1 --verify_state_save=0 --do_verify=0 "$@" --output="$T_DIR/fio"
}

segments_are_cleaned() {
	(($(status_field t0 cleaned_segments) > $1))
}

new_ssd ssd0 capacity_mib=128
# Or users would write in place, and take nothing.
OPTIONS="in_place=100" new_log_target t0 "$DEV" --segment 512K --stripe 32K --reserve 30
dmsetup message t0 0 cleaning off
check "each page is written once, in no order" write_random --size=100%
check_that "a quarter of the segments is free" "$(status_field t0 free_segments)" -ge 60
dmsetup message t0 0 cleaning on
write_random --size=100% --norandommap --time_based --runtime=6 &
writer=$!
for ((i = 0; i < 2; i++)); do
	check "the message clean, $i" dmsetup message t0 0 clean
	note "$(status_field t0 cleaned_segments) segments cleaned"
done
check "who writes meanwhile always finds room" wait "$writer"
check_that "none is left to fail" "$(status_field t0 state)" == write
check "and it goes on" write_random --size=16m
check "another one is done when nobody writes" dmsetup message t0 0 clean

# Suspended
check "all is written again" write_random --size=100%
cleaned=$(status_field t0 cleaned_segments)
dmsetup message t0 0 clean 2>"$T_DIR/said" &
message=$!
dmsetup message t0 0 clean 2>"$T_DIR/said-too" &
another=$!
poll 60 segments_are_cleaned "$cleaned" || t_fail "cleaning begins"
check "the device can be suspended" timeout 20 dmsetup suspend t0
check_fails "then the message is not done" wait "$message"
check_that "which it says" "$(<"$T_DIR/said")" =~ "Resource temporarily unavailable"
check_fails "nor is another one that came meanwhile" wait "$another"
check_that "which says so, too" "$(<"$T_DIR/said-too")" =~ "Resource temporarily unavailable"
dmsetup resume t0
check "a third one is" dmsetup message t0 0 clean
check "what was written last reads back" write_random --size=100% --verify_only
dmsetup remove --retry t0
check "dieaware check finds nothing" dieaware check "$DEV"
