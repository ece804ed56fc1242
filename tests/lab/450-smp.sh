#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Several CPUs: many writers, readers, messages, suspends, reloads and trims at the same time.
# kernels: uml debug kcsan
# long: 6.12
# smp: 4
# smp on uml: 2
# smp on debug: 2
# smp on kcsan: 2
# mem: 2G
# sentences: 7+
# seconds: 40
# timeout: 320
. "$(dirname "$0")/rc"
. "$(dirname "$0")/meddle.sh"

new_ssd ssd0 capacity_mib=1024
new_target t0 "$DEV" hints=on runs_mb=1
line=$(target_line "$DEV" 0 hints=on runs_mb=1)
make_fs xfs "$TARGET"
new_mount "$TARGET" "$T_DIR/mnt"

meddle() {
	dmsetup message t0 0 hints on
	dmsetup status t0
	dmsetup message t0 0 runs clear
	dmsetup message t0 0 runs add 253:0 12 34 0 1000 8
	dmsetup message t0 0 hints auto
	echo 2 >/proc/sys/vm/drop_caches
	sleep 0.05
}

suspend_and_trim() {
	fstrim "$T_DIR/mnt"
	dmsetup suspend t0
	dmsetup resume t0
	dmsetup suspend t0
	dmsetup reload t0 --table "$line"
	dmsetup resume t0
	sleep 0.1
}

in_loop messages meddle 5
in_loop suspends suspend_and_trim 3
check "eight writers, buffered and direct, verify their data" under_load "$TARGET" \
	fio --directory="$T_DIR/mnt" --verify=crc32c \
	--verify_fatal=1 --fallocate=none --size="$(load 6)m" --bssplit=4k/50:32k/50 --group_reporting \
	--name=direct --numjobs=4 --rw=randwrite --direct=1 --ioengine=libaio --iodepth=8 \
	--name=buffered --numjobs=4 --rw=randwrite --ioengine=psync --fsync=32 --direct=0
check "four writers append to files of their own" under_load "$TARGET" \
	fio --directory="$T_DIR/mnt" --verify=crc32c --verify_fatal=1 \
	--fallocate=none --size="$(load 8)m" --bs=32k --rw=write --name=append --numjobs=4 --ioengine=psync --fdatasync=1
stop_loop messages
stop_loop suspends
umount "$T_DIR/mnt"
check "fsck finds nothing" check_fs xfs "$TARGET"
