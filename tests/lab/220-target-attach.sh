#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The target comes and goes below a filesystem that holds data: attach, work,
# detach, and the raw device holds the very same files.
# kernels: 6.1 6.12 uml
# long: newest
# smp: 2
# smp on 6.1: 1
# smp on uml: 1
# mem: 2G
# seconds: 25
# timeout: 240
# sentences: 7
. "$(dirname "$0")/rc"

new_ssd ssd0 capacity_mib=1024
make_fs ext4 "$DEV"
new_mount "$DEV" "$T_DIR/raw"
cp -r /usr/lib/python3*/json /usr/share/fdisk* /usr/sbin "$T_DIR/raw/" 2>/dev/null || true
write_mib "$T_DIR/raw/big" 24
before=$(sums "$T_DIR/raw")
umount "$T_DIR/raw"
check_that "there is something to compare" "$(wc -l <<<"$before")" -gt 50

new_target t0 "$DEV"
new_mount "$TARGET" "$T_DIR/mnt"
check_that "all files are there through the target" "$(sums "$T_DIR/mnt")" == "$before"
check_that "reading them taught the run table" "$(status_field t0 learned)" -gt 0
dmsetup message t0 0 reset_counters
write_mib "$T_DIR/mnt/big" 24 conv=notrunc,fsync
check_that "rewriting a file that was read is known as overwrite" "$(status_field t0 confirmed_overwrite)" -gt 0
for i in {1..20}; do
	head -c 40000 /dev/urandom >>"$T_DIR/mnt/grown"
	sync -d "$T_DIR/mnt/grown"
	[[ $i != 10 ]] || rm -r "$T_DIR/mnt/json"
done
check_that "a growing file is known as appends" "$(status_field t0 confirmed_append)" -gt 0
after=$(sums "$T_DIR/mnt")
umount "$T_DIR/mnt"
dmsetup remove t0

check "the filesystem is clean on the raw device" e2fsck -fn "$DEV"
mount "$DEV" "$T_DIR/raw"
check_that "the raw device holds what was written through the target" "$(sums "$T_DIR/raw")" == "$after"
umount "$T_DIR/raw"
