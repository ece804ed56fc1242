#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Hints of log mode: a file that was written piece by piece between others, or written again, lies
# on the dies as well as without hints or better, and so it does when it was cleaned.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 55
# timeout: 280
# sentences: 30
. "$(dirname "$0")/rc"

FILE_MIB=4

write_again() {
	fio --name=again --directory="$T_DIR/mnt" --filename=file0:file1:file2:file3 --rw=randwrite --bs="$1" \
		--direct="$2" --ioengine=libaio --iodepth=8 --overwrite=1 --size=$((4 * FILE_MIB))m \
		--file_service_type=random --end_fsync=1 >/dev/null
}

# speed: of reading the files, in permille of what it could be; the target goes away
speed() {
	python3 "$LAB_DIR/log-dies.py" extents "$T_DIR"/mnt/file* >"$T_DIR/extents"
	umount "$T_DIR/mnt"
	dmsetup remove --retry t0
	dieaware dump --part map "$DEV" >"$T_DIR/map"
	python3 "$LAB_DIR/log-dies.py" speed "$T_DIR/extents" "$T_DIR/map" /sys/kernel/debug/nvmev/ssd0 "$UNIT_PAGES"
	dmsetup create t0 --table "$LINE"
	mount "$TARGET" "$T_DIR/mnt"
	# The target knows the files again when they were read.
	cat "$T_DIR"/mnt/file* >/dev/null
}

# story HINTS: sets SPEEDS, and what was counted
story() {
	# What is counted are units, each sensed once. Where each command senses a unit again, pieces that lie apart
	# are spread over more of them.
	new_ssd ssd0 capacity_mib=512 register_hits=1
	OPTIONS=hints=$1 new_log_target t0 "$DEV" --segment 1M
	UNIT_PAGES=$(($(status_field t0 die_unit_bytes) / 4096))
	make_fs ext4 "$TARGET"
	new_mount "$TARGET" "$T_DIR/mnt"
	python3 "$LAB_DIR/log-dies.py" write $((FILE_MIB * 32)) "$T_DIR"/mnt/file{0,1,2,3}
	HINTS=$(status_field t0 append)
	CONFIRMED=$(status_field t0 confirmed_append)
	OVERWRITES=$(status_field t0 overwrite)
	SPEEDS=("$(speed)")
	write_again 32k 1
	SPEEDS+=("$(speed)")
	write_again 4k 0
	sum=$(sums "$T_DIR/mnt")
	dmsetup message t0 0 clean
	MOVED=$(status_field t0 moved_hints)
	SPEEDS+=("$(speed)")
	check_that "hints=$1: the files are the same after cleaning and a restart" "$(sums "$T_DIR/mnt")" == "$sum"
	umount "$T_DIR/mnt"
	dmsetup remove --retry t0
	check "hints=$1: dieaware check finds nothing" dieaware check "$DEV"
	drop_ssd ssd0
	note "hints=$1: ${SPEEDS[*]} permille in turns, overwritten, cleaned; $CONFIRMED and $MOVED hints"
}

# rests: of those writes that go on in the file where the one before ended, but in another segment
rests() {
	awk '{
		for (i = 1; i <= NF; i++)
			if (split($i, pair, "=") == 2)
				field[pair[1]] = pair[2]
		if (field["fpage"] == fpage && field["dpn"] != dpn)
			print
		fpage = field["fpage"] + field["nr"]
		dpn = field["dpn"] + field["nr"]
	}'
}

# overwrite SIZE: the file but its front, at random, in pieces of SIZE; what became of them is in
# $T_DIR/writes.
overwrite() {
	local words

	words="ino=$(stat -c %i "$T_DIR/mnt/file") "
	trace_on dmda_hint
	fio --name=over --filename="$T_DIR/mnt/file" --ioengine=libaio --direct=1 --iodepth=8 --offset=1m --size=15m \
		--rw=randwrite --bs="$1" --overwrite=1 >/dev/null
	trace_off
	grep "$words" "$TRACEFS/trace" >"$T_DIR/writes"
}

# grow SIZE NR: another file, in so many pieces, each durable before the next one
grow() {
	local words

	: >"$T_DIR/mnt/grown"
	words="ino=$(stat -c %i "$T_DIR/mnt/grown") "
	trace_on dmda_hint
	dd if=/dev/zero of="$T_DIR/mnt/grown" bs="$1" count="$2" oflag=sync conv=notrunc status=none
	trace_off
	grep "$words" "$TRACEFS/trace" >"$T_DIR/writes"
}

story off
check_that "hints=off sends none" "$HINTS $MOVED" == "0 0"
off=("${SPEEDS[@]}")
story auto
check_that "hints=auto sends a hint with each write of the files" "$HINTS" -ge $((4 * FILE_MIB * 32))
check_that "commands carry them" $((CONFIRMED * 100)) -ge $((HINTS * 99))
check_that "a write to another place is no overwrite" "$OVERWRITES" -eq 0
check_that "cleaning sends some" "$MOVED" -gt 0
check_that "files written in turns lie in die order" "${SPEEDS[0]}" -ge 950
check_that "which they do not without hints" "${off[0]}" -le 500
check_that "overwritten files lie in die order, but what segments cut" "${SPEEDS[1]}" -ge 880
check_that "which they do not without hints" "${off[1]}" -le 600
check_that "cleaned files lie in die order" "${SPEEDS[2]}" -ge 950

# What gets a hint, and what does not
new_ssd ssd0 capacity_mib=128
new_log_target t0 "$DEV" --segment 1M
make_fs ext4 "$TARGET"
new_mount "$TARGET" "$T_DIR/mnt"
dd if=/dev/zero of="$T_DIR/mnt/file" bs=1M count=16 oflag=direct status=none
at_end trace_off
echo 4096 >"$TRACEFS/buffer_size_kb"
overwrite 32k
rests <"$T_DIR/writes" >"$T_DIR/rests"
check_that "segments cut some pieces of 32 KiB" "$(wc -l <"$T_DIR/rests")" -ge 8
check_that "what is left of each has a hint" "$(grep -vc "hint=append" "$T_DIR/rests")" -eq 0
overwrite 4k
check_that "pieces of 4 KiB are not cut" "$(wc -l <"$T_DIR/writes")" -eq 3840
check_that "and have none, also where they begin a segment" "$(grep -c "hint=append" "$T_DIR/writes")" -eq 0

# A device that rejects hints takes the data all the same.
write() {
	fio --name=v --directory="$T_DIR/mnt" --ioengine=libaio --direct=1 --iodepth=8 --size=16m --rw=randwrite \
		--bs=16k --verify=crc32c --verify_fatal=1 --verify_state_save=0 --fallocate=none
}
check "files are written" write
echo 1 >"$CONFIGFS/ssd0/reject_hints"
check "cleaning writes again what the device rejects" dmsetup message t0 0 clean
check "writes that are rejected are written again, too" write
check_that "hints are off then" "$(status_field t0 hints)" == off:rejected
check_that "and the target works on" "$(status_field t0 state)" == write
echo 0 >"$CONFIGFS/ssd0/reject_hints"
check "message hints off" dmsetup message t0 0 hints off
check_that "the status says so" "$(status_field t0 hints)" == off:requested
check "message hints auto" dmsetup message t0 0 hints auto
check_that "the status says so" "$(status_field t0 hints)" == on

umount "$T_DIR/mnt"
dmsetup remove --retry t0
drop_ssd ssd0

# A filesystem that copies on write replaces what is elsewhere.
new_ssd ssd0 capacity_mib=512
new_log_target t0 "$DEV" --segment 1M
make_fs btrfs "$TARGET"
new_mount "$TARGET" "$T_DIR/mnt"
dd if=/dev/zero of="$T_DIR/mnt/file" bs=1M count=16 conv=fsync status=none
overwrite 4k
check_that "copies of 4 KiB are writes of their own" "$(wc -l <"$T_DIR/writes")" -ge 3000
check_that "few have a hint, those behind what was just written" \
	$(($(grep -c "hint=append" "$T_DIR/writes") * 4)) -le "$(wc -l <"$T_DIR/writes")"
grow 2k 128
check_that "what grows a file has one, also where it copies the last page" \
	$(($(grep -c "hint=append" "$T_DIR/writes") * 10)) -ge $(($(wc -l <"$T_DIR/writes") * 9))
