#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Nobody gets memory without waiting for it, the target, the SSD's driver and the filesystem
# alike, while buffered data is written: hints may get lost, data may not.
# kernels: debug
# smp: 1
# mem: 2G
# seconds: 15
# timeout: 500
# sentences: 5
. "$(dirname "$0")/rc"
need_faults

MANY=1000000

new_ssd ssd0 capacity_mib=256
new_target t0 "$DEV" hints=on runs_mb=1
make_fs ext4 "$TARGET"
new_mount "$TARGET" "$T_DIR/mnt"
# Only what may not wait fails: whoever waits is given memory in the end, also by a real kernel.
fault failslab probability=30 times=$MANY ignore-gfp-wait=Y verbose=0
check "data is right while allocations fail" fio --name=failing --directory="$T_DIR/mnt" --ioengine=psync \
	--size=16m --rw=randwrite --bs=16k --verify=crc32c --verify_fatal=1 --fallocate=none --end_fsync=1
check_that "some did" $((MANY - $(</sys/kernel/debug/failslab/times))) -ge 20
calm
umount "$T_DIR/mnt"
check "fsck finds nothing" check_fs ext4 "$TARGET"
check_that "no write was rejected or failed" "$(status_field t0 rejected)" -eq 0
check "the filesystem can be used on" mount "$TARGET" "$T_DIR/mnt"
