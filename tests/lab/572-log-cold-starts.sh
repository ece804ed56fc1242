#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode above a device that reads slowly, with nothing of the map in memory: replay and cleaning
# have pages of the map read together, also when the cache is as small as can be; and no page goes
# before it was needed.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 8
# timeout: 300
# sentences: 15
. "$(dirname "$0")/rc"

# A read takes so long, and one page of the map after the other would take
READ_MS=50
ENTRIES=806
NR=570
ONE_BY_ONE_MS=$((NR * READ_MS))

low_disk $((2 << 20))

reads_take() {
	becomes low "0 $SECTORS delay /dev/ram0 0 $1 /dev/ram0 0 0"
}

# What is not on the device yet never gets there.
crash() {
	becomes low "0 $SECTORS error"
	dmsetup remove --retry t0
	becomes low "0 $SECTORS linear /dev/ram0 0"
}

# blocks write|read NUMBER: the block NUMBER of each page of the map, in an order of its own
blocks() {
	python3 - "$1" "$2" "$TARGET" $ENTRIES $NR <<-END
		import mmap, os, random, sys
		what, number, device = sys.argv[1], int(sys.argv[2]), sys.argv[3]
		entries, nr = int(sys.argv[4]), int(sys.argv[5])
		fd = os.open(device, os.O_RDWR | os.O_DIRECT)
		block = mmap.mmap(-1, 4096)
		order = list(range(nr))
		random.Random(number).shuffle(order)
		for index in order:
		    lpn = index * entries + number
		    wanted = b"%08d-%07d" % (lpn, number) * 256
		    if what == "write":
		        block[:] = wanted
		        os.pwritev(fd, [block], lpn * 4096)
		    elif os.preadv(fd, [block], lpn * 4096) != 4096 or block[:] != wanted:
		        sys.exit(f"block {lpn} is not what was written there")
		os.fsync(fd)
	END
}

now_ms() {
	echo $(($(date +%s%N) / 1000000))
}

# measure COMMAND...: sets MS to how long it takes while reads are slow, and READS to the pages of
# the map that it has read.
measure() {
	local begin before

	before=$(status_field t0 map_reads 2>/dev/null || true)
	reads_take $READ_MS
	begin=$(now_ms)
	"$@"
	MS=$(($(now_ms) - begin))
	reads_take 0
	READS=$(($(status_field t0 map_reads) - ${before:-0}))
	note "$* read $READS pages of the map in $MS ms"
}

# replay MIB: with a cache of that size
replay() {
	crash
	measure dmsetup create t0 --table "${LINE/map_cache_mb=1/map_cache_mb=$1}"
}

# Each page of the map is on the device; then the journal alone has a change of each.
OPTIONS="map_cache_mb=1 idle_ms=0 cleaning=off" new_log_target t0 /dev/mapper/low --segment 1M
check_that "the device has that many pages of the map" \
	"$(status_field t0 lpns)" -ge $((NR * ENTRIES))
blocks write 1
dmsetup remove --retry t0
measure dmsetup create t0 --table "$LINE"
without=$MS
before=$(status_field t0 checkpoints)
blocks write 2
check_that "the journal has all of the changes" "$(status_field t0 checkpoints)" -eq "$before"
replay 16
check_that "replay reads each page of the map once" "$READS" -eq $NR
check_that "which adds an eighth of the time of one after the other" \
	$((MS - without)) -lt $((ONE_BY_ONE_MS / 8))
check "all blocks are there" blocks read 2

blocks write 3
replay 1
check_that "with the smallest cache too, replay reads each once" "$READS" -eq $NR
check_that "which adds an eighth of the time" $((MS - without)) -lt $((ONE_BY_ONE_MS / 8))
check "all blocks are there" blocks read 3
check_that "the cache has its size" "$(status_field t0 map_pages | cut -d / -f 1)" -le 256

# Every other page of their segments is no longer needed.
again t0
blocks write 3
dmsetup remove --retry t0
dmsetup create t0 --table "${LINE/map_cache_mb=1/map_cache_mb=16}"
dmsetup message t0 0 cleaning on
moved=$(status_field t0 moved_pages)
measure dmsetup message t0 0 clean
check_that "cleaning moves pages" "$(status_field t0 moved_pages)" -gt "$moved"
check_that "for which it reads pages of the map" "$READS" -ge $((NR / 2))
check_that "and takes a quarter of the time of one after the other" \
	"$MS" -lt $((READS * READ_MS / 4))
check "all blocks are there" blocks read 2
check "the others, too" blocks read 3
dmsetup remove --retry t0
check "dieaware check finds nothing" dieaware check /dev/mapper/low
