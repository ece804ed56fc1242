#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode on a drive that keeps data of different placement handles apart: what users wrote, by its age, what
# cleaning has moved, and the log's own metadata each go to a handle of their own, as the drive counts, and
# nothing goes to another. Where some pages are written much more often than others, that leaves less to be moved,
# by the target and by the drive. What is refused, and what the kernel has no stream for any more, is written all
# the same. Handles that promise nothing are used only if the table says so.
# (Linux has write streams from 6.16 on; before, there are three sentences.)
# kernels: uml 6.12
# long: newest
# smp: 1
# mem: 2G
# seconds: 80 6.12:8
# timeout: 500
# sentences: 3 uml:45 newest:45
. "$(dirname "$0")/rc"

# state: what the status says of hints
state() {
	echo "$(status_field t0 transport) $(status_field t0 hints)"
}

device_says() {
	python3 "$LAB_DIR/handles.py" "$DEV" "$1"
}

# moved_by_drive NAME: pages
moved_by_drive() {
	awk '!at { for (i = 1; i <= NF; i++) if ($i == "pages_gc") at = i; next }
		{ sum += $at } END { print sum }' "/sys/kernel/debug/nvmev/$1/dies"
}

# begin_count: from now on
begin_count() {
	LEFT=$(device_says left)
	USER=$(status_field t0 user_pages)
	MOVED=$(status_field t0 moved_pages)
	META=$(status_field t0 meta_pages)
}

# Sets TAKEN to the pages that went to each handle meanwhile. Of whole reclaim units, the drive counts none.
look() {
	quiet
	read -ra TAKEN < <(paste -d ' ' <(tr ' ' '\n' <<<"$LEFT") <(device_says left | tr ' ' '\n') |
		awk -v unit="$UNIT_BYTES" '{ print (($1 - $2) * 512 + unit) % unit / 4096 }' | paste -sd ' ')
}

# What users wrote, what was moved, and what went to handles that are for neither, as the drive counts
taken() {
	local unit_pages=$((UNIT_BYTES / 4096))

	echo "$(((TAKEN[1] + TAKEN[3] + TAKEN[4]) % unit_pages)) ${TAKEN[2]}" \
		"$((TAKEN[0] + TAKEN[5] + TAKEN[6] + TAKEN[7]))"
}

# The same as the target counts
expected() {
	local unit_pages=$((UNIT_BYTES / 4096))

	echo "$(($(user_pages) % unit_pages)) $(($(moved_pages) % unit_pages)) 0"
}

# Since begin_count. Nobody may be writing.
user_pages() {
	echo $(($(status_field t0 user_pages) - USER))
}

moved_pages() {
	echo $(($(status_field t0 moved_pages) - MOVED))
}

meta_pages() {
	echo $(($(status_field t0 meta_pages) - META))
}

quiet() {
	sync
	dmsetup message t0 0 checkpoint
}

# overwrite SEED SIZE [OPTION...]: of the file, at random, what was written is verified
overwrite() {
	fio --name=over --filename="$T_DIR/mnt/file" --rw=randwrite --bs=4k --size="$FILE_MIB"m --io_size="$2" --direct=1 \
		--ioengine=libaio --iodepth=16 --randrepeat=0 --randseed="$1" --verify=crc32c --verify_fatal=1 --verify_state_save=0 \
		--overwrite=1 "${@:3}"
}

write_seq() {
	fio --name=seq --filename="$T_DIR/mnt/$1" --rw=write --bs=1m --size="$2"m --direct=1 --ioengine=libaio --iodepth=4 \
		--verify=crc32c --verify_fatal=1 --verify_state_save=0
}

FILE_MIB=80

# Handles that are dies
new_ssd ssd0 capacity_mib=64 hints=0 fdp=1
if [[ ! -e /sys/block/${DEV#/dev/}/queue/max_write_streams ]]; then
	mark_log
	OPTIONS="hints=fdp" new_log_target t0 "$DEV" --segment 512K --reserve 15
	check_that "a kernel without write streams has none" "$(state)" == "none off:no_streams"
	check "and says so" log_has 'There are no hints. This kernel has no write streams: Linux has them from 6.16 on.'
	check "it is written all the same" dd if=/dev/zero of="$TARGET" bs=1M count=4 oflag=direct
	exit
fi

new_log_target t0 "$DEV" --segment 512K --reserve 15
check_that "handles of a type that promises nothing are left alone" "$(state)" == "tracepoint off:not_announced"
UNIT_BYTES=$(device_says unit)
begin_count
dd if=/dev/zero of="$TARGET" bs=1M count=4 oflag=direct status=none
look
check_that "so nothing goes to any" "${TAKEN[*]}" == "0 0 0 0 0 0 0 0"
mark_log
dmsetup message t0 0 hints fdp
check_that "but if somebody says so" "$(state)" == "fdp on"
check_that "kinds of data have streams" "$(status_field t0 streams)" -eq 4
check_that "without a word" "$(new_log | grep -ci dieaware)" -eq 0
drop_target t0
OPTIONS="hints=fdp" new_log_target t0 "$DEV" --segment 512K --reserve 15
check_that "or the table line" "$(state) $(dmsetup table t0 | grep -o hints=fdp)" == "fdp on hints=fdp"
begin_count
dd if=/dev/zero of="$TARGET" bs=1M count=4 oflag=direct status=none
look
check_that "what is written goes to those for users' data" "$(taken)" == "1024 0 0"
drop_target t0
drop_ssd ssd0

# Handles that keep data apart
new_ssd ssd0 capacity_mib=128 hints=0 fdp=1 fdp_handles=8
mark_log
OPTIONS="in_place=100 idle_ms=0" new_log_target t0 "$DEV" --segment 512K --reserve 15
check_that "handles that keep data apart are used unasked" "$(state) $(status_field t0 streams)" == "fdp on 4"
check_that "without a word, too" "$(new_log | grep -ci dieaware)" -eq 0
UNIT_BYTES=$(device_says unit)

# Users' data, and metadata
make_fs ext4 "$TARGET"
new_mount "$TARGET" "$T_DIR/mnt"
quiet
begin_count
check "a large file is written" write_seq file "$FILE_MIB"
look
check_that "all of it to handles for users' data, and metadata to none" "$(taken)" == "$(expected)"
check_that "to that for what replaces nothing, but for what ext4 needs" "${TAKEN[1]}" -ge $((FILE_MIB * 256))
check_that "there was some metadata" "$(meta_pages)" -gt 8
check_that "the target has sent that by streams" "$(status_field t0 streamed)" -gt 64
check_that "and nobody refused one" "$(status_field t0 retried)" -eq 0

# By age
begin_count
check "a small part of it is overwritten again and again" overwrite 1 16m --size=2m --norandommap
look
check_that "which is the target's, too" "$(taken)" == "$(expected)"
check_that "most of that goes to the handle for what is hot" "${TAKEN[4]}" -ge $(($(user_pages) * 3 / 4))

# Moved pages
begin_count
check "all of it is overwritten at random, until much is cleaned" overwrite 2 80m
look
check_that "pages were moved" "$(moved_pages)" -ge 1000
note "$(user_pages) pages of users, $(moved_pages) moved, $(meta_pages) of metadata; by handle ${TAKEN[*]}"
check_that "those went to a handle of their own, users' to theirs" "$(taken)" == "$(expected)"
check_that "what is neither new nor old to one, too" "${TAKEN[3]}" -gt 100
check_that "as commands that the drive took" "$(status_field t0 moved_hints)" -gt 0

# In place
dmsetup message t0 0 in_place 0
begin_count
before=$(status_field t0 in_place_pages)
check "it is overwritten in place" overwrite 3 8m
look
check_that "most of it" $(($(status_field t0 in_place_pages) - before)) -ge 1800
check_that "where all is overwritten alike, all of that is users' data" "$(taken)" == "$(expected)"
dmsetup message t0 0 in_place 100

# Streams that are refused
mark_log
echo 1 >"$CONFIGFS/ssd0/reject_hints"
check "cleaning writes again what the drive refuses" dmsetup message t0 0 clean
check_that "then no streams are sent" "$(status_field t0 hints)" == off:rejected
check_that "which is said once" "$(new_log | grep -c 'rejects writes with hints')" -eq 1
dmsetup message t0 0 hints auto
before=$(status_field t0 rejected)
check "what users write is written again, too" overwrite 4 4m
check_that "the first of it, or what was under way with that" $(($(status_field t0 rejected) - before)) -ge 1
check_that "and then none are sent" "$(status_field t0 hints)" == off:rejected
check "and it is written without" write_seq other 4
echo 0 >"$CONFIGFS/ssd0/reject_hints"
dmsetup message t0 0 hints auto
check_that "the message tries again" "$(state)" == "fdp on"
begin_count
check "and it is written with them" write_seq other 4
look
check_that "to the handle for that" "$(taken)" == "$(expected)"

# Streams that the kernel has no more
mark_log
modprobe nvmev-streams device="$DEV" streams=1
at_end rmmod nvmev-streams
check "with one stream left, users' data is written" write_seq other 4
check_that "without any" "$(status_field t0 hints)" == off:streams_gone
rmmod nvmev-streams
dmsetup suspend t0
dmsetup resume t0
check "after a resume there are streams again" poll 20 sh -c "dmsetup status t0 | grep -q 'transport=fdp hints=on'"

umount "$T_DIR/mnt"
dmsetup remove --retry t0
check "dieaware check finds nothing" dieaware check "$DEV"
dmsetup create t0 --table "$LINE"
check "nor does fsck" check_fs ext4 "$TARGET"
drop_target t0

# What is moved, by the target and by the drive, where some pages are written much more often than others. Without
# hints all goes to the first of the same handles.
drop_ssd ssd0
moved_of() {
	local pages

	new_ssd ssd1 capacity_mib=256 hints=0 fdp=1 fdp_handles=5 units_per_eblk=32 reserve_permille=20
	OPTIONS="hints=$1 in_place=100 idle_ms=0" new_log_target t0 "$DEV" --segment 512K --reserve 15
	pages=$(($(status_field t0 lpns) * 95 / 100))
	dd if=/dev/zero of="$TARGET" bs=1M count=$((pages / 256)) oflag=direct status=none
	begin_count
	fio --name=over --filename="$TARGET" --rw=randwrite --bs=4k --size=$((pages * 4))k --io_size=160m --direct=1 \
		--ioengine=libaio --iodepth=8 --norandommap --random_distribution=zipf:1.1 >/dev/null
	BY_TARGET=$(moved_pages)
	BY_DRIVE=$(moved_by_drive ssd1)
	drop_target t0
	drop_ssd ssd1
}

moved_of off
PLAIN=$BY_TARGET PLAIN_DRIVE=$BY_DRIVE
moved_of auto
note "of 40960 pages, the target moved $PLAIN without kinds of data, $BY_TARGET with them; the drive $PLAIN_DRIVE and $BY_DRIVE"
check_that "with all kinds in one segment, much is moved" "$PLAIN" -ge 8000
check_that "with one for each, less than two thirds of it" $((BY_TARGET * 3)) -lt $((PLAIN * 2))
check_that "where they share erase blocks, the drive moves pages, too" "$PLAIN_DRIVE" -ge 1000
check_that "less than half of that, where each has its own" $((BY_DRIVE * 2)) -lt "$PLAIN_DRIVE"
