#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode when space has run out and a write waits for it: how long, whatever others write in place
# meanwhile, and whether the device can be suspended.
# kernels: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 25
# timeout: 600
# sentences: 7
. "$(dirname "$0")/rc"

PATIENCE=5

now_ms() {
	echo $(($(date +%s%N) / 1000000))
}

write_64k() {
	dd if=/dev/zero of="$TARGET" bs=64k count=1 oflag=direct status=none
}

some_wait() {
	[[ $(status_field t0 starved) -gt $1 ]]
}

# ends_within SECONDS PROCESS
ends_within() {
	poll "$1" has_ended "$2"
}

modprobe brd rd_nr=1 rd_size=$((96 * 1024))
at_end rmmod brd
OPTIONS="cleaning=off no_space_timeout=$PATIENCE" new_log_target t0 /dev/ram0 --segment 1M
lpns=$(status_field t0 lpns)
dd if=/dev/zero of="$TARGET" bs=64k count=$((lpns / 16)) oflag=direct status=none
check_fails "overwritten at random, it runs full" fio --name=over --filename="$TARGET" --rw=randwrite --bs=64k \
	--size=100% --direct=1 --ioengine=libaio --iodepth=8
began=$(now_ms)
check_fails "a write ends with an error then" write_64k
check_that "when its patience is over (ms)" $(($(now_ms) - began)) -ge $((PATIENCE * 1000))

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
check_known L3 "a write does not wait for longer because others write in place" has_ended "$waiter"
check "it ends when they do" ends_within $((6 * PATIENCE)) "$waiter"

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
check_known L4 "a suspend without flush does not wait for a write that waits for space" suspends_at_once
dmsetup resume t0
wait "$waiter" || true
