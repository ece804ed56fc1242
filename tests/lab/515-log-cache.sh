#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode with a small cache of the map: it keeps its size, what is used often stays in it,
# whatever else is read or written meanwhile, and nothing is lost by it, even if a page of the map
# cannot be written.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 1G
# seconds: 20
# timeout: 240
# sentences: 59
. "$(dirname "$0")/rc"

low_disk $((4 * 1024 * 1024))
OPTIONS=map_cache_mb=1 new_log_target t0 /dev/mapper/low

# Pages of 4 KiB that one page of the map knows, and how many of those 1 MiB holds
ENTRIES=806
LIMIT=256
NR=1100
HOT=64

check_that "the device needs a larger map" "$(status_field t0 lpns)" -ge $((NR * ENTRIES))

# pages WHAT FIRST NR ROUND: write or read the first block of each of these pages of the map;
# what is read must be what that round has written. $T_DIR/done gets how many it could read or write.
pages() {
	local what=$1
	shift

	python3 "$LAB_DIR/map-blocks.py" "$what" "$TARGET" $ENTRIES "$@" "$T_DIR/done"
}

cached() {
	status_field t0 map_pages | cut -d / -f 1
}

# The cache may be a little larger for as long as it takes to write a page.
is_small() {
	(($(cached) <= LIMIT))
}

check "blocks are written all over the device" pages write 0 $NR 1
check "the cache keeps its size" poll 5 is_small
check_that "it is full, too" "$(cached)" -gt $((LIMIT / 2))
check "the blocks are read back" pages read 0 $NR 1

# A few pages are used again and again, many others once between.
for round in {1..5}; do
	check "round $round: hot blocks" pages read 0 $HOT 1
	check "round $round: hot blocks again" pages read 0 $HOT 1
	before=$(status_field t0 map_reads)
	check "round $round: cold blocks" pages write $((HOT + (round % 2) * 450)) 450 $((round + 1))
	check_that "round $round: they have to be read" \
		$(($(status_field t0 map_reads) - before)) -ge 300
	before=$(status_field t0 map_reads)
	check "round $round: hot blocks once more" pages read 0 $HOT 1
	check_that "round $round: they are still in memory" \
		$(($(status_field t0 map_reads) - before)) -le $((HOT / 4))
done
check "the cache keeps its size" poll 5 is_small

# Its size can be changed at any time.
pages write $HOT $((NR - HOT)) 8 &
writer=$!
for mib in 3 1 2 4; do
	check "$mib MiB, while pages are written" dmsetup message t0 0 map_cache_mb $mib
done
check "what was written meanwhile is written" wait "$writer"
check_that "the status says so" "$(status_field t0 map_pages | cut -d / -f 2)" -eq 1024
check_that "so does the table" "$(dmsetup table t0 | grep -c map_cache_mb=4)" -eq 1
check "all can be read" pages read $HOT $((NR - HOT)) 8
check_that "more of them stay in memory now" "$(cached)" -gt $((2 * LIMIT))
# None must be forgotten in the cache by that.
for _ in {1..5}; do
	dmsetup message t0 0 map_cache_mb 4
	pages read $HOT $((NR - HOT)) 8
	dmsetup message t0 0 map_cache_mb 1
done
check_that "with 1 MiB again there are as few at once" "$(cached)" -le $LIMIT
check_fails "none at all is refused" dmsetup message t0 0 map_cache_mb 0
check "hot blocks are the same" pages read 0 $HOT 1
check "so are others" pages read $HOT $((NR - HOT)) 8

check "remove" dmsetup remove t0
check_that "the metadata is right" "$(dieaware check /dev/mapper/low >/dev/null && echo yes)" == yes
dmsetup create t0 --table "$LINE"
check "hot blocks after a restart" pages read 0 $HOT 1
check "others after a restart" pages read $HOT $((NR - HOT)) 8

# A page of the map that cannot be written has what the device does not have: it must not go.
tables=$(($(superblock_field tables /dev/mapper/low) * 8)) segments=$(($(superblock_field segments /dev/mapper/low) * 8))
check_that "tables lie before segments" $((tables > 0 && segments > tables)) == 1
becomes low "0 $tables linear /dev/ram0 0" \
	"$tables $((segments - tables)) flakey /dev/ram0 $tables 0 3600 1 error_writes" \
	"$segments $((SECTORS - segments)) linear /dev/ram0 $segments"
check_fails "writes fail as soon as a page of the map cannot be written" \
	pages write 0 $NR 7
check_that "the target has failed" "$(status_field t0 state)" == failed
written=$(<"$T_DIR/done")
check_that "some were written before" $((written > 0 && written < NR)) == 1
check "they are read back" pages read 0 "$written" 7
check "the others are as they were" pages read $((written > HOT ? written : HOT)) 100 8
