#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode leaves small overwrites in place where the drive is as quick at that as at new places; if
# not, it takes these as long as there are free segments that cleaning in idle time brings back.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 40
# timeout: 240
# sentences: 19
. "$(dirname "$0")/rc"

# What is there first takes the first part and a little of the second one.
FIRST_KIB=$((48 * 1024))
SECOND_KIB=$((80 * 1024))
FILE_MIB=52
# It is full with what is written there, and one window of time is 256 pages.
IN_PLACE=30
SLOW_MS=10

modprobe brd rd_nr=2 rd_size=$SECOND_KIB
at_end rmmod brd

# new_parts FIRST SECOND [IDLE]: a drive whose parts take so many milliseconds longer for a write
new_parts() {
	blkdiscard -f /dev/ram0
	blkdiscard -f /dev/ram1
	dmsetup create parts <<-END
		0 $((FIRST_KIB * 2)) delay /dev/ram0 0 0 /dev/ram0 0 $1
		$((FIRST_KIB * 2)) $((SECOND_KIB * 2)) delay /dev/ram1 0 0 /dev/ram1 0 $2
	END
	at_end dmsetup remove --retry parts
	OPTIONS="in_place=$IN_PLACE idle_ms=${3:-300}" new_log_target t0 /dev/mapper/parts --segment 256K
	dd if=/dev/urandom of="$TARGET" bs=1M count=$FILE_MIB oflag=direct status=none
}

drop_parts() {
	dmsetup remove --retry t0
	check "dieaware check finds nothing" dieaware check /dev/mapper/parts
	dmsetup remove --retry parts
}

# overwrite MIB [OPTION]...: at random, verified. Sets PLACED, the pages of it that stayed in place.
overwrite() {
	local before mib=$1
	shift

	before=$(status_field t0 in_place_pages)
	fio --name=again --filename="$TARGET" --rw=randwrite --bs=4k --direct=1 --ioengine=libaio --iodepth=16 \
		--size=${FILE_MIB}m --io_size="${mib}m" --randrepeat=0 --randseed=$RANDOM --verify=crc32c --verify_fatal=1 \
		--verify_state_save=0 "$@" >"$T_DIR/fio" || return 1
	PLACED=$(($(status_field t0 in_place_pages) - before))
	note "$PLACED of $((mib * 256)) pages in place, $(status_field t0 free_segments) segments free"
}

# Segments that have come to be free in idle time
is_cleaned() {
	(($(status_field t0 free_segments) > FREE))
}

# What is there is on the slow part.
new_parts $SLOW_MS 0
FREE=$(status_field t0 free_segments)
check "where in place is slow" overwrite 12
check_that "it is measured at first" "$PLACED" -ge 512
check_that "then new places are taken" "$PLACED" -le 1024
check_that "which takes segments" "$(status_field t0 free_segments)" -lt $((FREE - 30))
check "on and on" overwrite 120 --norandommap --verify=null --do_verify=0
check_that "in place again when few are free" "$PLACED" -ge 2048
FREE=$(status_field t0 free_segments)
check_that "some are left" "$FREE" -ge 20
check "cleaning brings them back in idle time" poll 300 is_cleaned
sleep 3
check "then again" overwrite 4
check_that "new places, after a window in place" "$PLACED" -le 512
check "who flushes all the time" overwrite 4 --fsync=4
check_that "stays in place" "$PLACED" -ge 512
drop_parts

# Without cleaning in idle time nothing would come back.
new_parts $SLOW_MS 0 0
check "without cleaning in idle time" overwrite 4
check_that "all is in place" "$PLACED" -eq 1024
drop_parts

# New places are on the slow part.
new_parts 0 $SLOW_MS
check "where new places are slow" overwrite 40
check_that "they are tried and left alone" "$PLACED" -ge 9000
drop_parts
