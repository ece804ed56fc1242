#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode cleans when nobody reads or writes, as far as it is told to, and not while somebody does.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 20
# timeout: 240
# sentences: 17
. "$(dirname "$0")/rc"

modprobe brd rd_nr=1 rd_size=$((64 * 1024))
at_end rmmod brd
OPTIONS="idle_ms=0" new_log_target t0 /dev/ram0 --segment 256K --reserve 40
check_that "the table line is printed back" "$(dmsetup table t0)" =~ "log 1 idle_ms=0"
pages=$(($(status_field t0 lpns) / 2))
segments=$(status_field t0 segments)

# idle_cleaned NR: so many segments were cleaned in idle time
idle_cleaned() {
	(($(status_field t0 idle_cleaned) >= $1))
}

free_percent() {
	echo $((($(status_field t0 free_segments) + $(status_field t0 empty_segments)) * 100 / segments))
}

# write_again SEED PAGES: at random
write_again() {
	fio --name=again --filename="$TARGET" --rw=randwrite --bs=4k --size=$((pages * 4))k --direct=1 \
		--ioengine=libaio --iodepth=16 --randrepeat=0 --randseed="$1" --norandommap --io_size=$(($2 * 4))k >/dev/null
}

dd if=/dev/urandom of="$TARGET" bs=64k count=$((pages / 16)) oflag=direct status=none
pages=$((pages / 16 * 16))
write_again 1 $((pages * 4 / 3))
note "$(free_percent) percent of the segments are free"
check_that "there is something to clean" "$(free_percent)" -le 35
sum=$(dd if="$TARGET" bs=64k count=$((pages / 16)) iflag=direct status=none | sha256sum)
sleep 2
check_that "with idle_ms=0 nothing is cleaned" "$(status_field t0 cleaned_segments)" -eq 0

# While somebody reads, now and then
reader() {
	while :; do
		dd if="$TARGET" of=/dev/null bs=4k count=1 iflag=direct status=none
		sleep 0.1
	done
}
reader &
reader=$!
at_end kill "$reader"
sleep 0.5
check "message idle" dmsetup message t0 0 idle 1500 60
sleep 4
check_that "while somebody reads, nothing is cleaned" "$(status_field t0 idle_cleaned)" -eq 0
kill "$reader"
check "when nobody does, cleaning begins" poll 20 idle_cleaned 1
enough() {
	(($(free_percent) >= 50))
}
check "and goes on until as much is free as can be had" poll 30 enough
check_that "all of it in idle time" "$(status_field t0 cleaned_segments)" -eq "$(status_field t0 idle_cleaned)"
check_that "the data is the same" "$(dd if="$TARGET" bs=64k count=$((pages / 16)) iflag=direct status=none | sha256sum)" == "$sum"
for words in "idle" "idle 5" "idle 60001 10" "idle 10 0" "idle 10 91" "idle 1 2 3"; do
	# shellcheck disable=SC2086
	check_fails "refused message: '$words'" dmsetup message t0 0 $words
done

# Suspended while it cleans, and again
dmsetup message t0 0 idle 1 90
for turn in 1 2 3; do
	write_again "$turn" 500
	dmsetup suspend t0
	dmsetup resume t0
done
sum=$(dd if="$TARGET" bs=64k count=$((pages / 16)) iflag=direct status=none | sha256sum)
dmsetup remove t0
check "dieaware check finds nothing" dieaware check /dev/ram0
dmsetup create t0 --table "$LINE"
check_that "the data is the same after a restart" "$(dd if="$TARGET" bs=64k count=$((pages / 16)) iflag=direct status=none | sha256sum)" == "$sum"
