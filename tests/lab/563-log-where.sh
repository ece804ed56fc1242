#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The message where: the device below has each page's data at the told place, with holes, before
# and after cleaning, after a restart, from a map that is not in memory, read-only; answers are whole
# while pages are written and moved; what does not fit into one answer is in the next; what is refused.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 40
# timeout: 400
# sentences: 43
. "$(dirname "$0")/rc"

# Where the target begins below
START=8000

# where VERB ARGUMENT...
where() {
	python3 "$LAB_DIR/log-where.py" "$@"
}

# look NAME: all that is told, in $T_DIR/runs; sets MESSAGES, RUNS and MAPPED
look() {
	read -r MESSAGES RUNS MAPPED < <(where runs "$1" "$T_DIR/runs")
}

# lies_there SENTENCE
lies_there() {
	look t0
	check "$1" where compare "$T_DIR/runs" "$TARGET" "$DEV" $((START / 8))
	check_that "... as many as are mapped" "$MAPPED" -eq "$(status_field t0 mapped_pages)"
}

# refused WORDS [SENTENCE]: the message, and what the kernel says
refused() {
	mark_log
	# shellcheck disable=SC2086
	check_fails "refused: where $1" dmsetup message t0 0 where $1
	check "... with a sentence" log_has "$2"
}

new_ssd ssd0 capacity_mib=96
OPTIONS="idle_ms=0 in_place=100" new_log_target t0 "$DEV" --segment 1M --start $START
lpns=$(status_field t0 lpns)
look t0
check_that "nothing is mapped at first" "$(<"$T_DIR/runs")" == "0 - $lpns"
where scatter "$TARGET" 6000 1
where scatter "$TARGET" 3000 2
lies_there "each page lies where it is told"
check_that "in more than one answer" "$MESSAGES" -ge 4
blkdiscard -o $((1000 * 4096)) -l $((500 * 4096)) "$TARGET"
blkdiscard -o $((2000 * 4096)) -l 4096 "$TARGET"
lies_there "... and where something was discarded"
holes=$(grep ' - ' "$T_DIR/runs")
check_that "what was discarded, or never written, is told" "${holes//$'\n'/, }" == "1000 - 500, 2000 - 1, 6000 - $((lpns - 6000))"

# Cleaning
cp "$T_DIR/runs" "$T_DIR/before"
before=$RUNS
dmsetup message t0 0 clean
check_that "cleaning moves pages" "$(status_field t0 moved_pages)" -gt 0
lies_there "... and they lie where it is told then"
check "which is elsewhere" differ "$T_DIR/before" "$T_DIR/runs"
check_that "in fewer runs" "$RUNS" -lt "$before"
churn() {
	local i

	for i in {3..6}; do
		where scatter "$TARGET" 1500 "$i"
		dmsetup message t0 0 clean
	done
}
churn &
churning=$!
check "answers are whole while pages are written and moved" where whole t0 $((96 * 256 - START / 8)) 20
check "... which goes on" wait $churning
lies_there "... and afterwards pages lie where it is told"

# A map that is not in memory
cp "$T_DIR/runs" "$T_DIR/before"
again t0
reads=$(status_field t0 map_reads)
look t0
check "after a restart they are in the same places" cmp "$T_DIR/before" "$T_DIR/runs"
check_that "... for which the map is read" "$(status_field t0 map_reads)" -gt "$reads"

# What is refused
refused "" "It must be: where LPN PAGES"
refused "1 2 3" "It must be: where LPN PAGES"
refused "one 2" "The first page is not a page number"
refused "0 0" "The number of pages is not a number, or it is 0"
refused "2305843009213693951 2" "The pages end beyond the last page number"
refused "$lpns 1" "The pages end behind the last page of the target"
refused "0 $((lpns + 1))" "The pages end behind the last page of the target"
dmsetup suspend t0
refused "0 1" "cannot be asked while the device is suspended"
dmsetup resume t0
check "resumed, it answers" dmsetup message t0 0 where 0 1

dmsetup remove --retry t0
dieaware dump --part map --start $START "$DEV" >"$T_DIR/map"
check "dieaware dump says the same" where dump "$T_DIR/runs" "$T_DIR/map"
dmsetup create t0 --readonly --table "$LINE"
look t0
check "read-only, too" cmp "$T_DIR/before" "$T_DIR/runs"
dmsetup remove t0
check "dieaware check finds nothing" dieaware check --start $START "$DEV"
dmsetup create t0 --table "$(target_line "$DEV" 0)"
refused "0 1" "This is a message for log mode"
dmsetup remove t0

# More than what one answer looks at: 256 pages of the map, of 806 entries each
new_ssd ssd1 capacity_mib=2048
new_log_target t1 "$DEV"
lpns=$(status_field t1 lpns)
at=$((256 * 806))
check_that "one answer looks at so much" "$(dmsetup message t1 0 where 0 "$lpns" | tail -n 1)" == "next=$at"
dd if=/dev/urandom of="$TARGET" bs=4k count=2 seek=$((at - 1)) oflag=direct status=none
dd if=/dev/urandom of="$TARGET" bs=4k count=1 seek=$((lpns - 1)) oflag=direct status=none
look t1
check_that "all of it is told in as many as that takes" "$MESSAGES" -eq $(((lpns + at - 1) / at))
check_that "with the few pages that are mapped" "$MAPPED $(grep -vc ' - ' "$T_DIR/runs")" == "3 3"
dmsetup remove --retry t1
