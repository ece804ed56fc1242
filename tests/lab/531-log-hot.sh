#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode on a drive that gathers few overwrites at a time: where some pages are overwritten much
# more often than others, those have the hint, so that they stay in the drive's buffer.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 30
# timeout: 240
# sentences: 12
. "$(dirname "$0")/rc"

FILE_MIB=32
# Three quarters of the pages that they take may be hot, and it takes 32 times as many writes to
# find which.
RUN_UNITS=16

new_ssd ssd0 capacity_mib=128 run_units=$RUN_UNITS
OPTIONS="in_place=0 idle_ms=0" new_log_target t0 "$DEV" --segment 1M
make_fs ext4 "$TARGET"
new_mount "$TARGET" "$T_DIR/mnt"
dd if=/dev/urandom of="$T_DIR/mnt/file" bs=1M count=$FILE_MIB oflag=direct status=none

ftl_counter() {
	awk -v name="$1" '$1 == name { print $2 }' /sys/kernel/debug/nvmev/ssd0/ftl
}

# overwrite MIB OPTION...: the file, at random. Sets HINTED, in percent of the pages that stayed in
# place, and EVICTED, the units that the drive put out before they were full.
overwrite() {
	local mib=$1 pages hints evicted
	shift

	pages=$(status_field t0 in_place_pages)
	hints=$(status_field t0 overwrite)
	evicted=$(ftl_counter run_units_evicted)
	fio --name=again --filename="$T_DIR/mnt/file" --rw=randwrite --bs=4k --direct=1 --ioengine=libaio \
		--iodepth=8 --overwrite=1 --norandommap --size=${FILE_MIB}m --io_size="${mib}m" \
		--allrandrepeat=1 "$@" >/dev/null || return 1
	pages=$(($(status_field t0 in_place_pages) - pages))
	HINTED=$((100 * ($(status_field t0 overwrite) - hints) / pages))
	EVICTED=$(($(ftl_counter run_units_evicted) - evicted))
	echo "$pages pages in place, $HINTED percent with hints, $EVICTED units put out" >>"$T_DIR/notes"
	((pages >= mib * 256 * 9 / 10))
}

check "pages that are all alike are overwritten" overwrite 48
check_that "all have the hint" "$HINTED" -ge 99
check_that "units are put out all the time" "$EVICTED" -ge 6000
check "some pages are overwritten more often" overwrite 48 --random_distribution=zipf:1.2
check "and so on" overwrite 48 --random_distribution=zipf:1.2
check_that "those have the hint" "$HINTED" -ge 40
check_that "and the others none" "$HINTED" -le 90
check_that "so few units are put out" "$EVICTED" -le 1500
check "all are alike again" overwrite 16
check "after a while" overwrite 48
check_that "all have the hint again" "$HINTED" -ge 95
note "$(<"$T_DIR/notes")"
umount "$T_DIR/mnt"
dmsetup remove --retry t0
check "dieaware check finds nothing" dieaware check "$DEV"
