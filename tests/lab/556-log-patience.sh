#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode when space has run out and a write waits for it: how long, whatever others write in place
# meanwhile, also when that is changed, and whether the device can be suspended.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 12
# timeout: 600
# sentences: 20
. "$(dirname "$0")/rc"

PATIENCE=5

now_ms() {
	echo $(($(date +%s%N) / 1000000))
}

write_64k() {
	dd if=/dev/zero of="$TARGET" bs=64k count=1 oflag=direct status=none
}

overwrite() {
	fio --name=over --filename="$TARGET" --rw=randwrite --bs=64k --size=100% --direct=1 --ioengine=libaio \
		--iodepth=8
}

events() {
	dmsetup info -c --noheadings -o events t0
}

# With the event that says so
has_space() {
	[[ $(status_field t0 space) == ok ]] && (($(events) >= 3))
}

some_wait() {
	[[ $(status_field t0 starved) -gt $1 ]]
}

# ends_within SECONDS PROCESS
ends_within() {
	poll "$1" has_ended "$2"
}

modprobe brd rd_nr=1 rd_size=$((192 * 1024))
at_end rmmod brd
at_end drop_target low
dmsetup create low --table "0 $((96 * 2048)) linear /dev/ram0 0"
OPTIONS="cleaning=off no_space_timeout=$PATIENCE" new_log_target t0 /dev/mapper/low --segment 1M
lpns=$(status_field t0 lpns)
dd if=/dev/zero of="$TARGET" bs=64k count=$((lpns / 16)) oflag=direct status=none
check_error "overwritten at random, it runs full" "No space left" overwrite
began=$(now_ms)
check_error "a write ends with an error then" "No space left" write_64k
check_that "when its patience is over (ms)" $(($(now_ms) - began)) -ge $((PATIENCE * 1000))
check_that "the status says that there is no space" "$(status_field t0 space)" == out
check_that "an event told it, when writes began to wait and when they failed" "$(events)" -ge 2
blkdiscard -o $((32 << 20)) -l $((8 << 20)) "$TARGET"
sync "$TARGET"
check "and another one that there is some again" poll 20 has_space
check_error "it runs full again" "No space left" overwrite

# Others overwrite what is there, which takes no space and gives none.
starved=$(status_field t0 starved)
in_place=$(status_field t0 in_place_pages)
write_64k 2>/dev/null &
waiter=$!
poll 20 some_wait "$starved"
for ((i = 0; i < 8 * PATIENCE; i++)); do
	dd if=/dev/zero of="$TARGET" bs=4k count=1 seek=$((1000 + i * 16)) oflag=direct status=none
	sleep 0.5
done
check_that "others could write in place" $(($(status_field t0 in_place_pages) - in_place)) -ge $((8 * PATIENCE))
check "a write does not wait for longer because others write in place" has_ended "$waiter"
check "it ends when they do" ends_within $((6 * PATIENCE)) "$waiter"

# How long can be changed while somebody waits.
check "an hour" dmsetup message t0 0 no_space_timeout 3600
starved=$(status_field t0 starved)
write_64k 2>/dev/null &
waiter=$!
poll 20 some_wait "$starved"
check_fails "a write waits for longer than it would have" ends_within $((2 * PATIENCE)) "$waiter"
check_that "it counts once, however often it is looked at" "$(status_field t0 starved)" -eq $((starved + 1))
check "until it is to wait for a second" dmsetup message t0 0 no_space_timeout 1
check "then it ends" ends_within 10 "$waiter"
check_that "the table says how long it is now" "$(dmsetup table t0 | grep -c no_space_timeout=1)" -eq 1

# Who grows a device that is full loads a table, suspends and resumes.
LINE=${LINE/timeout=$PATIENCE/timeout=60}
again t0
starved=$(status_field t0 starved)
dd if=/dev/zero of="$TARGET" bs=64k count=40 oflag=direct status=none 2>/dev/null &
waiter=$!
poll 20 some_wait "$starved"
suspends_at_once() {
	began=$(now_ms)
	dmsetup suspend --noflush --nolockfs t0
	echo "It took $(($(now_ms) - began)) ms."
	(($(now_ms) - began < 10000))
}
check "a suspend without flush does not wait for a write that waits for space" suspends_at_once
becomes low "0 $((192 * 2048)) linear /dev/ram0 0"
dmsetup load t0 --table "0 $(($(status_field t0 grown_lpns) * 8)) ${LINE#0 * }"
dmsetup resume t0
check "a larger device has space for it" ends_within 60 "$waiter"
check "so that it ends well" wait "$waiter"
dmsetup remove --retry t0
check "dieaware check finds nothing" dieaware check /dev/mapper/low
