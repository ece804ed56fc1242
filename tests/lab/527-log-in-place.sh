#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode leaves small overwrites where their pages are when it is as full as in_place says: what is
# so written is there, also when it is cleaned, flushed, or started again.
# kernels: uml
# long: 6.12
# smp: 2
# smp on uml: 1
# mem: 2G
# seconds: 30
# timeout: 300
# sentences: 37
. "$(dirname "$0")/rc"

modprobe brd rd_nr=1 rd_size=$((64 * 1024))
at_end rmmod brd
OPTIONS="in_place=50 idle_ms=0" new_log_target t0 /dev/ram0 --segment 256K --reserve 20
check_that "the table line is printed back" "$(dmsetup table t0)" =~ "log 2 idle_ms=0 in_place=50"
pages=$(($(status_field t0 lpns) / 16 * 16))

# overwrite JOB SEED OPTION...: at random; what was written is verified
overwrite() {
	local job=$1 seed=$2
	shift 2
	fio --name="$job" --filename="$TARGET" --rw=randwrite --bs=4k --size=$((pages * 4))k --direct=1 \
		--ioengine=libaio --iodepth=16 --randrepeat=0 --randseed="$seed" --verify=crc32c --verify_fatal=1 \
		--verify_state_save=0 "$@" --output="$T_DIR/fio"
}

# added FIELD COMMAND...: sets ADDED to what the command adds to a counter
added() {
	local field=$1 before
	before=$(status_field t0 "$1")
	shift
	"$@" || return 1
	ADDED=$(($(status_field t0 "$field") - before))
}

# Not full
check "a third is written" overwrite third 1 --size=$((pages * 4 / 3))k
check "and again" added in_place_pages overwrite third 2 --size=$((pages * 4 / 3))k
check_that "not in place: there is room" "$ADDED" -eq 0

# Full
check "all is written" overwrite all 3
cleaned=$(status_field t0 cleaned_segments)
check "and again" added in_place_pages overwrite all 4
check_that "in place, all of it" "$ADDED" -ge $((pages * 99 / 100))
check_that "nothing had to be cleaned for that" "$(status_field t0 cleaned_segments)" -eq "$cleaned"
dmsetup message t0 0 checkpoint
check "and again" added commits overwrite all 5 --fsync=16
check_that "nor is there anything to commit" "$ADDED" -le 2
check "with FUA" overwrite some 6 --size=4m --sync=dsync
check "28 KiB each" added in_place_pages overwrite some 7 --size=7m --bs=28k
check_that "in place where their pages lie together only" "$ADDED" -lt 7000
check "that is where they lie together now" added in_place_pages overwrite some 7 --size=7m --bs=28k
check_that "most of it: where one segment ends, another begins" "$ADDED" -ge $((7 * 256 * 80 / 100))
check "32 KiB each" added in_place_pages overwrite some 8 --size=8m --bs=32k
check_that "are too much for that" "$ADDED" -eq 0

# While all is cleaned, again and again
clean() {
	while dmsetup message t0 0 clean; do
		:
	done 2>/dev/null
}
clean &
cleaner=$!
at_end kill "$cleaner"
moved=$(status_field t0 moved_pages) placed=$(status_field t0 in_place_pages)
for ((i = 0; i < 3; i++)); do
	check "overwrites while all is cleaned, $i" overwrite all $((10 + i)) --loops=2
done
check_that "much was moved" "$(status_field t0 moved_pages)" -gt $((moved + pages))
check_that "much was overwritten in place" "$(status_field t0 in_place_pages)" -gt $((placed + pages))
kill "$cleaner"
wait "$cleaner" || true

# Again from what is on the device
dmsetup remove --retry t0
check "dieaware check finds nothing" dieaware check /dev/ram0
dmsetup create t0 --table "${LINE% 2 *} 1 in_place=100"
check "the data is the same after a restart" overwrite all 12 --loops=2 --verify_only
check "with in_place=100" added in_place_pages overwrite all 20 --io_size=4m
check_that "nothing is overwritten in place" "$ADDED" -eq 0
check "the message in_place" dmsetup message t0 0 in_place 50
check "with that" added in_place_pages overwrite all 21 --io_size=4m
check_that "all of it is" "$ADDED" -eq 1024
check_fails "101 percent are refused" dmsetup message t0 0 in_place 101
dmsetup remove --retry t0

# What was flushed is there when the power fails, though there was nothing to commit.
new_ssd ssd0 capacity_mib=128 plp=0
OPTIONS="in_place=0 idle_ms=0" new_log_target t1 "$DEV" --segment 512K --stripe 32K

# write_page VERSION: a page, at the same place
write_page() {
	head -c 4096 < <(yes "version $1") | dd of=/dev/mapper/t1 bs=4k seek=5 oflag=direct conv=notrunc,"$2" status=none
}

check "a page is written and flushed" write_page 1 fsync
commits=$(status_field t1 commits)
check "and overwritten, and flushed" write_page 2 fsync
check_that "in place, without a record" "$(status_field t1 in_place_pages) $(status_field t1 commits)" == "1 $commits"
nvmev-ssd power-cut ssd0
dmsetup remove --retry t1
DEV=$(nvmev-ssd power-on ssd0)
check "dieaware check finds nothing" dieaware check "$DEV"
dmsetup create t1 --table "${LINE/ \/dev\/nvme[0-9]*n1 / $DEV }"
check_that "after a power failure it is there" "$(dd if=/dev/mapper/t1 bs=4k skip=5 count=1 iflag=direct status=none | head -n 1)" == "version 2"

# The drive is told that the page of the file is the same.
make_fs ext4 /dev/mapper/t1
new_mount /dev/mapper/t1 "$T_DIR/mnt"
dd if=/dev/urandom of="$T_DIR/mnt/file" bs=64k count=16 oflag=direct status=none
before=$(status_field t1 confirmed_overwrite)
dd if=/dev/urandom of="$T_DIR/mnt/file" bs=4k count=16 seek=32 oflag=direct conv=notrunc status=none
check_that "with hints they are overwrites" "$(status_field t1 confirmed_overwrite)" -eq $((before + 16))
umount "$T_DIR/mnt"
check "fsck finds nothing" check_fs ext4 /dev/mapper/t1
