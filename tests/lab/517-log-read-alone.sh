#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode reads pages of its map together, with what lies between them. On a device that does not read what was
# never written it finds that out, and is not refused again and again: it reads each page alone from then on.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 10
# timeout: 240
# sentences: 9
. "$(dirname "$0")/rc"

# Pages of 4 KiB that one page of the map knows; so many pages of the map, of which 64 are read at a time
ENTRIES=806
NR=400
AT_ONCE=64

SECTORS=$((2 * 2 * 1024 * 1024))
modprobe brd rd_nr=1 rd_size=$((SECTORS / 2))
at_end rmmod brd
at_end drop_target refuses
at_end drop_target never
at_end drop_target low
dmsetup create low --table "0 $SECTORS linear /dev/ram0 0"
dmsetup create refuses --table "0 $SECTORS flakey /dev/ram0 0 0 3600 1 error_reads"
# What is not even begun is not counted.
dmsetup create never --table "0 $SECTORS linear /dev/mapper/refuses 0"
OPTIONS="idle_ms=0" new_log_target t0 /dev/mapper/low

pages() {
	python3 "$LAB_DIR/map-blocks.py" "$1" "$TARGET" $ENTRIES 0 $NR "$2" "$T_DIR/done"
}

# nr_refused: reads of what was never written
nr_refused() {
	awk '{ print $1 }' "/sys/block/dm-$(dmsetup info -c --noheadings -o minor never)/stat"
}

# holes BEGIN END: a table for the device below, which reads nothing that lies between pages of the map there
holes() {
	python3 - "$SECTORS" "$1" "$2" <<-END
		import sys
		sectors, begin, end = (int(word) for word in sys.argv[1:])
		with open("/dev/ram0", "rb") as disk:
		    disk.seek(begin * 512)
		    tables = disk.read((end - begin) * 512)
		starts = [at for at in range(0, len(tables), 4096) if tables[at + 4:at + 8] == (0x704d446d).to_bytes(4, "little")]
		at = 0
		for this, behind in zip(starts, starts[1:]):
		    if behind - this > 4 * 4096 or any(tables[this + 4096:behind]):
		        continue
		    first, last = begin + this // 512 + 8, begin + behind // 512
		    if last > first:
		        print(at, first - at, "linear /dev/ram0", at)
		        print(first, last - first, "linear /dev/mapper/never", first)
		        at = last
		print(at, sectors - at, "linear /dev/ram0", at)
	END
}

# What is not on the device yet never gets there.
crash() {
	becomes low "0 $SECTORS error"
	dmsetup remove --retry t0
}

check_that "the device needs a larger map" "$(status_field t0 lpns)" -ge $((NR * ENTRIES))
check "blocks are written all over the device" pages write 1
again t0
check "and once more" pages write 2
sync "$TARGET"
tables=$(($(superblock_field tables /dev/mapper/low) * 8)) segments=$(($(superblock_field segments /dev/mapper/low) * 8))
holes $tables $segments >"$T_DIR/holes"
nr_holes=$(grep -c never "$T_DIR/holes" || true)
check_that "between most pages of the map nothing was written" "$nr_holes" -ge $((NR / 2))

crash
dmsetup load low <"$T_DIR/holes"
dmsetup resume low
before=$(nr_refused)
check "it starts, though that cannot be read" dmsetup create t0 --table "$LINE"
check_that "of which it has tried some" $(($(nr_refused) - before)) -gt 0
note "$(($(nr_refused) - before)) of $nr_holes holes it has tried to read"
check_that "but only as many as lie between pages that it reads at a time" $(($(nr_refused) - before)) -le $AT_ONCE
check "all blocks are there" pages read 2
dmsetup remove t0
becomes low "0 $SECTORS linear /dev/ram0 0"
check "dieaware check finds nothing" dieaware check /dev/mapper/low
