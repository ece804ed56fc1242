#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode, a start whose journal has changed more pages of the map than its cache holds: the cache
# keeps its size, all is as the journal says; and so it is if that start fails or loses its power.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 40
# timeout: 400
# sentences: 20
. "$(dirname "$0")/rc"

GIB=2
modprobe brd rd_nr=3 rd_size=$((GIB * 1024 * 1024))
at_end rmmod brd
SECTORS=$(blockdev --getsz /dev/ram0)
at_end drop_target copy
at_end drop_target low
dmsetup create low --table "0 $SECTORS linear /dev/ram0 0"
OPTIONS="map_cache_mb=1 idle_ms=0" new_log_target t0 /dev/mapper/low

# Pages of 4 KiB that one page of the map knows, and how many of those 1 MiB holds
ENTRIES=806
LIMIT=256
NR=570

low_is() {
	becomes low "$@"
}

# What is not on the device yet never gets there.
crash() {
	low_is "0 $SECTORS error"
	dmsetup remove --retry t0
	low_is "0 $SECTORS linear /dev/ram0 0"
}

# blocks WHAT DEVICE: write or read a block of each page of the map, in two rounds of which each has
# an order of its own. A third of what the first has written the second writes anew, the others
# are neighbours.
blocks() {
	python3 - "$1" "$2" $ENTRIES $NR <<-END
		import mmap, os, random, sys
		what, device, entries, nr = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
		fd = os.open(device, os.O_RDWR | os.O_DIRECT if what == "write" else os.O_RDONLY | os.O_DIRECT)
		block = mmap.mmap(-1, 4096)
		order = random.Random(1)
		contents = {}
		for number in range(2):
		    indices = list(range(nr))
		    order.shuffle(indices)
		    for index in indices:
		        lpn = index * entries + (number if index % 3 else 0)
		        contents[lpn] = b"%08d-%07d" % (lpn, number) * 256
		        if what == "write":
		            block[:] = contents[lpn]
		            os.pwritev(fd, [block], lpn * 4096)
		os.fsync(fd)
		for lpn, wanted in contents.items():
		    if os.preadv(fd, [block], lpn * 4096) != 4096 or block[:] != wanted:
		        sys.exit(f"block {lpn} is not what was written there last")
	END
}

cached() {
	status_field t0 map_pages | cut -d / -f 1
}

check_that "the device needs a larger map" "$(status_field t0 lpns)" -ge $((NR * ENTRIES))
before=$(status_field t0 checkpoints)
check "blocks are written all over the device" blocks write "$TARGET"
check_that "the cache keeps its size" "$(cached)" -le $LIMIT
check_that "the journal has all of them" "$(status_field t0 checkpoints)" -eq "$before"
crash
check "dieaware check finds no damage" dieaware check /dev/mapper/low

# Where nothing may be written, what the journal has changed stays in memory.
dmsetup create t0 --readonly --table "$LINE"
check_that "a start for reading has all pages in memory" "$(cached)" -eq $NR
check "and all blocks" blocks read "$TARGET"
dmsetup remove t0

# A page of the map cannot be written: what the root and the journal need is as it was.
tables=$(($(superblock_field tables /dev/mapper/low) * 8)) segments=$(($(superblock_field segments /dev/mapper/low) * 8))
check_that "tables lie before segments" $((tables > 0 && segments > tables)) == 1
low_is "0 $tables linear /dev/ram0 0" \
	"$tables $((segments - tables)) flakey /dev/ram0 $tables 0 3600 1 error_writes" \
	"$segments $((SECTORS - segments)) linear /dev/ram0 $segments"
mark_log
check_fails "a start fails if a page of the map cannot be written" dmsetup create t0 --table "$LINE"
check "and says so" log_has "a page of the map cannot be written"
drop_target t0
low_is "0 $SECTORS linear /dev/ram0 0"
check "nothing is damaged" dieaware check --clear-needs-check /dev/mapper/low
drop_target low

# cow DEVICE: a copy of the crashed device, as /dev/mapper/low, that writes to another one
cow() {
	dd if=/dev/zero of="$1" bs=64k count=1 oflag=direct status=none
	dmsetup create copy --table "0 $SECTORS snapshot /dev/ram0 $1 N 8"
}

modprobe dm-log-writes
cow /dev/ram1
dmsetup create low --table "0 $SECTORS log-writes /dev/mapper/copy /dev/ram2"
dmsetup create t0 --table "$LINE"
check_that "a start for writing keeps the cache's size" "$(cached)" -le $LIMIT
check_that "it is full, too" "$(cached)" -gt $((LIMIT / 2))
# None of them was on the device for the start: what is read was written by it.
check_that "replay evicts pages, and reads some again" "$(status_field t0 map_reads)" -gt 0
dmsetup remove t0
drop_target low
drop_target copy

# survives PLACE LOSS: the power fails there.
survives() {
	cow /dev/ram1
	python3 "$LAB_DIR/log-replay.py" /dev/ram2 /dev/mapper/copy "$1" "$2" || return 1
	dmsetup create low --table "0 $SECTORS linear /dev/mapper/copy 0"
	dieaware check /dev/mapper/low || return 1
	dmsetup create t0 --table "$LINE" || return 1
	(($(cached) <= LIMIT)) || return 1
	blocks read "$TARGET" || return 1
	dmsetup remove t0
	dieaware check /dev/mapper/low || return 1
	drop_target low
	drop_target copy
}

mapfile -t failures < <(python3 "$LAB_DIR/log-replay.py" /dev/ram2)
nr=${#failures[@]}
note "the power can fail in $nr ways during the start"
check_that "most of its writes are pages of the map" "$nr" -gt $NR
for part in 1 40 80 99; do
	read -r place loss <<<"${failures[nr * part / 100]}"
	check "the power fails at $part% of it, and what was not flushed is lost in part: all is there" \
		survives "$place" "$loss"
done
check "the power fails at the last one, and nothing is left that was not flushed: all is there" \
	survives "${failures[-1]% *}" 0
