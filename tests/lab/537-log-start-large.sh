#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode at 16 TiB, in a file of tmpfs: 4 KiB here and there all over it, each in a page of the map of
# its own, and once more, when all of these are on the device. A start after a crash has to read no more of
# them than a limit, though little of the journal is in use.
# kernels: uml
# smp: 1
# mem: 4G
# seconds: 60
# timeout: 800
# sentences: 8
. "$(dirname "$0")/rc"
. "$LAB_DIR/16-tib"

# log/journal.c
MOST_DIRTIED=98304
NR_WRITES=125000
CACHE_MB=64
CACHED=$((CACHE_MB * 256))

# crash: nothing is written any more, and then the device is gone
crash() {
	becomes low "0 $((16 * TIB / 512)) error"
	dmsetup remove t0
	becomes low "0 $((16 * TIB / 512)) linear $LOOP 0"
}

modprobe loop
new_huge_file
LOOP=$(losetup --find --show --direct-io=off "$FILE")
at_end losetup -d "$LOOP"
at_end drop_target low
dmsetup create low --table "0 $((16 * TIB / 512)) linear $LOOP 0"
OPTIONS=map_cache_mb=$CACHE_MB new_log_target t0 /dev/mapper/low
write_all_over() {
	fio --name=all-over --filename="$TARGET" --rw=randwrite --bs=4k --direct=1 --ioengine=libaio --iodepth=32 \
		--number_ios=$NR_WRITES --norandommap --size="$(($(status_field t0 lpns) * 4096))"
}

check "4 KiB can be written all over it" write_all_over
dmsetup message t0 0 checkpoint
check_that "they are in as many pages of the map, nearly, which the device has" \
	"$(status_field t0 meta_pages)" -gt $((NR_WRITES * 9 / 10))
before=$(status_field t0 checkpoints)
check "the same can be written again" write_all_over
used=$(status_field t0 journal_sectors)
check_that "little of the journal is in use" "${used%/*}" -lt 16384
check_that "a checkpoint was taken all the same" "$(status_field t0 checkpoints)" -gt "$before"

crash
check "it starts after a crash" dmsetup create t0 --table "$LINE"
reads=$(status_field t0 map_reads)
note "$reads pages of the map were read"
check_that "and has read no more pages of the map than that" "$reads" -le $((MOST_DIRTIED + CACHED))
check_that "but those that were changed since the checkpoint" "$reads" -gt $(((NR_WRITES - MOST_DIRTIED) / 2))
