#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode when the kernel asks for memory: pages of the map that the device has as they are go,
# those that were changed stay, nothing is lost by it while others write, and the cache fills again.
# kernels: uml
# long: 6.1 6.12
# smp: 1
# mem: 1G
# seconds: 12
# timeout: 240
# sentences: 21
. "$(dirname "$0")/rc"
. "$(dirname "$0")/meddle.sh"

modprobe brd rd_nr=1 rd_size=$((3 * 1024 * 1024))
at_end rmmod brd
OPTIONS="map_cache_mb=4 idle_ms=0" new_log_target t0 /dev/ram0

# Pages of 4 KiB that one page of the map knows; pages of the map that always stay; that are used
ENTRIES=806
FLOOR=64
NR=600

check_that "the device needs a larger map" "$(status_field t0 lpns)" -ge $((NR * ENTRIES))

# blocks WHAT NR ROUND: write or read the first block of each of the first pages of the map; what is
# read must be what that round has written
blocks() {
	python3 "$LAB_DIR/map-blocks.py" "$1" "$TARGET" $ENTRIES 0 "$2" "$3"
}

cached() {
	status_field t0 map_pages | cut -d / -f 1
}

# Drops nothing but what shrinkers give.
ask_for_memory() {
	echo 2 >/proc/sys/vm/drop_caches
}

# What was used has chances left.
asked_often() {
	local i

	for i in {1..8}; do
		ask_for_memory
	done
}

check "blocks are written all over the device" blocks write $NR 1
check "all is on the device" dmsetup message t0 0 checkpoint
check_that "the map is in memory" "$(cached)" -ge $NR
asked_often
note "$(cached) pages have stayed"
check_that "when the kernel asks for memory, most of it goes" "$(cached)" -le $FLOOR
check_that "some of it stays" "$(cached)" -gt 0
check_that "the status says how much has gone" "$(status_field t0 map_given_back)" -ge $((NR - FLOOR))
check "the blocks are right" blocks read $NR 1
check_that "the map is in memory again" "$(cached)" -ge $NR

# Half of the map is changed; what the device has of it is older.
HALF=$((NR / 2))
checkpoints=$(status_field t0 checkpoints)
check "blocks in half of the map are written anew" blocks write $HALF 2
asked_often
check_that "nothing was written for memory" "$(status_field t0 checkpoints)" -eq "$checkpoints"
check_that "that half stays" "$(cached)" -ge $HALF
check_that "the other one goes" "$(cached)" -le $((HALF + FLOOR))
reads=$(status_field t0 map_reads)
check "it is right" blocks read $HALF 2
check_that "and was not read for that" "$(status_field t0 map_reads)" -eq "$reads"

write_rounds() {
	local round

	for round in 3 4 5; do
		blocks write $NR $round && blocks read $NR $round && dmsetup message t0 0 checkpoint || return 1
	done
}

given=$(status_field t0 map_given_back)
in_loop shrinker ask_for_memory 3
check "while the kernel asks again and again, all is written and read right" under_load "$TARGET" write_rounds
stop_loop shrinker
check_that "it got some" "$(status_field t0 map_given_back)" -gt "$given"
again t0
check "the blocks are right after a start" blocks read $NR 5
dmsetup remove --retry t0
check "dieaware check finds nothing" dieaware check /dev/ram0
