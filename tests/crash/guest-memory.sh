#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Usage: guest-memory.sh SEED ROUNDS
#
# The kernel has hardly ever memory for a page of the map, and many want one at the same time, or
# two: pages take turns in the few that are set aside. Nobody waits forever, nothing is lost; nor
# when a device is started like that after a crash.

# shellcheck source=tests/crash/rc
. "${BASH_SOURCE[0]%/*}/rc"

SEED=$1 ROUNDS=$2
FAULT=/sys/kernel/debug/fail_page_alloc
MODEL=/tmp/model.json
MANY=1000000
# Pages of the map that are set aside, and more
FEW=100
NR_STUCK=6
STUCK_SECTORS=$((16 * 2048))

# Only what cache.c asks for fails. The layers below have a task of their own.
shortage() {
	local begin end

	echo 0 >$FAULT/verbose
	echo N >$FAULT/ignore-gfp-wait
	echo 0 >$FAULT/min-order
	echo 32 >$FAULT/stacktrace-depth
	read -r begin end < <(text_range.py dm-dieaware \
		dmda_log_page_get dmda_log_page_wait dmda_log_wanted_read)
	echo "$begin" >$FAULT/require-start
	echo "$end" >$FAULT/require-end
	echo $MANY >$FAULT/times
	echo 99 >$FAULT/probability
}

calm() {
	echo 0 >$FAULT/probability
}

refusals() {
	echo $((MANY - $(<$FAULT/times)))
}

felt() {
	(($(refusals) >= $1))
}

# For one page in a hundred there is memory after all. A busy machine asks more often.
are_few() {
	local pages

	pages=$(status_of map_pages)
	echo "# $pages pages of the map are in memory, which was refused $(refusals) times"
	((pages < FEW + $(refusals) / 50))
}

# status_of FIELD
status_of() {
	dmsetup status t | grep -o "$1=[a-z0-9_]*" | cut -d = -f 2
}

# What takes its time here is the disk: many wait at once.
start() {
	dmsetup create t "$@" --table "$(table_of /dev/mapper/slow)"
}

in_time() {
	timeout 300 "$@"
}

# crash: the disk has what is on it now, and t is gone.
crash() {
	dmsetup suspend --noflush --nolockfs slow
	dmsetup load slow --table "0 $SECTORS error"
	dmsetup resume slow
	dmsetup remove --retry t
	dmsetup remove slow
	dmsetup create slow --table "$SLOW"
}

# new_stuck NAME START: a target whose flushes do not end, on a part of the second disk
new_stuck() {
	local len

	truncate -s $((STUCK_SECTORS * 512)) "/tmp/$1"
	len=$(dieaware format --json --segment 256K "/tmp/$1" | jq .len_sectors)
	dd if="/tmp/$1" of="$LOG" bs=64K seek=$(($2 / 128)) conv=sparse,notrunc oflag=direct status=none
	dmsetup create "below-$1" --table "0 $STUCK_SECTORS linear $LOG $2"
	dmsetup create "$1" --table "0 $len dieaware /dev/mapper/below-$1 0 log"
	dd if=/dev/zero of="/dev/mapper/$1" bs=4K count=1 oflag=direct conv=fsync status=none
	dmsetup suspend --noflush --nolockfs "below-$1"
}

gives_up() {
	local status=0

	dmesg -C
	in_time dmsetup create t --readonly --table "$(table_of /dev/mapper/slow)" 2>/dev/null || status=$?
	dmsetup remove t 2>/dev/null || true
	((status == 1)) && dmesg | grep -q "there is not enough memory for what the journal has changed"
}

modprobe dm-dieaware
format_disk /tmp/base --stripe 32K --segment 256K
dd if=/tmp/base of="$DISK" bs=64K conv=sparse oflag=direct status=none
SECTORS=$(sectors_of "$DISK")
SLOW="0 $SECTORS delay $DISK 0 2 $DISK 0 0"
dmsetup create slow --table "$SLOW"

start
check "there is memory: all goes well" crowd.py work /dev/mapper/t "$MODEL" "$SEED" 1
most=$(status_of map_pages)
check "that takes many pages of the map" [ "$most" -gt $((2 * FEW)) ]
dmsetup remove t

start
shortage
check "there is none: all goes on" in_time crowd.py work /dev/mapper/t "$MODEL" $((SEED + 1)) "$ROUNDS"
check "memory was refused" felt "$most"
check "few pages of the map are in memory" are_few
check "cleaning goes on, too" in_time dmsetup message t 0 clean
check "all is as it was written" in_time crowd.py check /dev/mapper/t "$MODEL"
crash
check "after a crash it starts without memory" in_time dmsetup create t --table "$(table_of /dev/mapper/slow)"
check "with all that was written" in_time crowd.py check /dev/mapper/t "$MODEL"
dmsetup remove t
calm
check "the device is sound" quietly dieaware check /dev/mapper/slow

start
check "where there is memory again" crowd.py work /dev/mapper/t "$MODEL" $((SEED + 2)) 1
crash
shortage
check "a start for reading has no room for what the journal has changed, and says so" gives_up
calm
start --readonly
check "where there is memory all is there" crowd.py check /dev/mapper/t "$MODEL"
dmsetup remove t

# A worker that waits for memory is the only one of its queue, for there is none for threads either.
stuck=()
for ((i = 0; i < NR_STUCK; i++)); do
	stuck+=("stuck$i")
	new_stuck "stuck$i" $((i * STUCK_SECTORS))
done
start
shortage
check "there is one thread for each queue of workers: all goes on" in_time crowd.py alone /dev/mapper/t "$MODEL" \
	$((SEED + 3)) "${stuck[@]}"
calm
check "and is as it was written" in_time crowd.py check /dev/mapper/t "$MODEL"
dmsetup remove t
for name in "${stuck[@]}"; do
	dmsetup remove --retry "$name"
	dmsetup remove "below-$name"
done
conclude
