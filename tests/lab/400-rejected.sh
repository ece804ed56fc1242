#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A device that fails hinted writes: the target sends them again plain, stops
# hinting, and whoever wrote never sees an error.
# kernels: uml
# long: 6.1 6.12 newest
# smp: 1
# mem: 2G
# seconds: 20
# timeout: 240
# sentences: 13
. "$(dirname "$0")/rc"

reject() {
	echo "$1" >"$CONFIGFS/ssd0/reject_hints"
}

hints_seen() {
	echo $(($(status_field t0 confirmed_append) + $(status_field t0 confirmed_overwrite)))
}

new_ssd ssd0 capacity_mib=512
new_target t0 "$DEV" hints=on
make_fs ext4 "$TARGET"
new_mount "$TARGET" "$T_DIR/mnt"
reject 1
dmsetup message t0 0 reset_counters
mark_log
check "O_DIRECT writes at depth go through" fio --name=v --directory="$T_DIR/mnt" --direct=1 --ioengine=libaio \
	--iodepth=16 --size=24m --rw=write --bs=64k --verify=crc32c --verify_fatal=1 --fallocate=none
check "buffered writes too" fio --name=b --directory="$T_DIR/mnt" --ioengine=psync --size=16m --rw=randwrite \
	--bs=16k --verify=crc32c --verify_fatal=1 --fallocate=none --end_fsync=1
check_that "rejected writes are counted" "$(status_field t0 rejected)" -ge 1
check_that "every rejected write was sent again" "$(status_field t0 retried)" -ge "$(status_field t0 rejected)"
check_that "hints are off" "$(dmsetup status t0)" =~ hints=off
check "and the log says so" log_has 'dieaware.*hint'
rejected=$(status_field t0 rejected)
dd if=/dev/zero of="$T_DIR/mnt/later" bs=64k count=32 oflag=direct status=none
check_that "later writes carry no hint" "$(status_field t0 rejected)" -eq "$rejected"
check_fails "the filesystem has seen no error" log_has 'EXT4-fs (error|warning).*dm-|Buffer I/O error'

reject 0
check "hints on again by message" dmsetup message t0 0 hints on
dmsetup message t0 0 reset_counters
dd if=/dev/zero of="$T_DIR/mnt/later" bs=64k count=32 oflag=direct conv=notrunc status=none
check_that "they are on the wire again" "$(hints_seen)" -ge 30

# Turned on and off while many writes are on the way.
for bit in 1 0 1 0 1 0; do
	reject $bit
	((bit)) || dmsetup message t0 0 hints on
	sleep 0.4
done &
toggler=$!
check "data is right while the device changes its mind" fio --name=t --directory="$T_DIR/mnt" --direct=1 \
	--ioengine=libaio --iodepth=16 --numjobs=2 --size=8m --rw=randwrite --bs=8k --verify=crc32c --verify_fatal=1 \
	--fallocate=none --time_based --runtime=3 --group_reporting
wait "$toggler"
umount "$T_DIR/mnt"
check "fsck finds nothing" check_fs ext4 "$TARGET"

# An error that has nothing to do with hints is passed on.
check_fails "a read beyond the end fails" dd if="$TARGET" of=/dev/null bs=512 count=1 iflag=direct \
	skip="$(blockdev --getsz "$TARGET")" conv=fsync
