#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode: pages of the map that lie close to each other are read by one command, with what lies between them, in
# whichever order the journal has changed them. What lies between need not be readable: then each is read alone.
# kernels: uml
# long: 6.1 6.12 newest
# smp: 1
# mem: 2G
# seconds: 8
# timeout: 120
# sentences: 8
. "$(dirname "$0")/rc"

ENTRIES=806
NR=400
BLOCKS=(python3 "$LAB_DIR/map-blocks.py")

low_disk $((2 << 20))

# shuffled ROUND: as map-blocks.py writes, in no order
shuffled() {
	python3 - "$TARGET" $ENTRIES $NR "$1" <<-END
		import mmap, os, random, sys
		entries, nr, number = map(int, sys.argv[2:])
		fd = os.open(sys.argv[1], os.O_RDWR | os.O_DIRECT)
		block = mmap.mmap(-1, 4096)
		for index in random.Random(1).sample(range(nr), nr):
		    block[:] = b"%08d-%07d" % (index, number) * 256
		    os.pwritev(fd, [block], index * entries * 4096)
		os.fsync(fd)
	END
}

# Commands that read
nr_reads() {
	awk '{ print $1 }' "/sys/dev/block/$(dmsetup info -c --noheadings -o major,minor low)/stat"
}

# crash TABLE: nothing is written any more, and then the device below is that
crash() {
	becomes low "0 $SECTORS error"
	dmsetup remove --retry t0
	becomes low "$1"
}

# Where a page of the map lay that was read
place_of_one() {
	sed -n 's/.* dmda_log_map_fetch: .* dpn=\([1-9][0-9]*\)$/\1/p' "$TRACEFS/trace" | sed -n "$((NR / 2))p"
}

# start: after a crash; sets COMMANDS to those that read, and READS to the pages of the map that it has read
start() {
	local before

	before=$(nr_reads)
	dmsetup create t0 --table "$LINE"
	COMMANDS=$(($(nr_reads) - before))
	READS=$(status_field t0 map_reads)
	note "$COMMANDS commands that read, for $READS pages of the map"
}

# Each page of the map is on the device; then the journal alone has a change of each.
OPTIONS="idle_ms=0 cleaning=off" new_log_target t0 /dev/mapper/low --segment 1M
"${BLOCKS[@]}" write "$TARGET" $ENTRIES 0 $NR 1
again t0
shuffled 2
crash "0 $SECTORS linear /dev/ram0 0"
trace_on dmda_log_map_fetch
start
trace_off
check_that "a start reads each page of the map that the journal has changed" "$READS" -eq $NR
check_that "a command reads several of them" "$COMMANDS" -lt $((READS / 4))
check "all blocks are there" "${BLOCKS[@]}" read "$TARGET" $ENTRIES 0 $NR 2


# The start has written each to its other slot. The one that it was read from lies between them now.
old=$(place_of_one)
shuffled 3
modprobe dm-dust
crash "0 $SECTORS dust /dev/ram0 0 4096"
dmsetup message low 0 addbadblock "$old"
dmsetup message low 0 enable
check_fails "one of the places between them cannot be read" \
	dd if=/dev/mapper/low of=/dev/null bs=4096 count=1 skip="$old" iflag=direct status=none
start
check_that "it starts all the same, and has read each once" "$READS" -eq $NR
check_that "and takes writes" "$(status_field t0 state)" == write
check "all blocks are there" "${BLOCKS[@]}" read "$TARGET" $ENTRIES 0 $NR 3
dmsetup remove --retry t0
dmsetup message low 0 disable
check "dieaware check finds nothing" dieaware check /dev/mapper/low
