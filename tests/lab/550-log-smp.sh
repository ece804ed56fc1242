#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode on four CPUs: writers, readers, trims, cleaning, checkpoints, suspends and reloads at
# the same time, with a map cache that is too small; overwrites stay in place now and then.
# kernels: 6.12
# smp: 4
# mem: 2G
# seconds: 50
# timeout: 400
. "$(dirname "$0")/rc"

new_ssd ssd0 capacity_mib=420
OPTIONS="map_cache_mb=1 in_place=0" new_log_target t0 "$DEV" --segment 1M
make_fs xfs "$TARGET"
new_mount "$TARGET" "$T_DIR/mnt"
# Both are asked to end: one that is killed may leave a suspend behind that ends after the last
# resume.
stop=$T_DIR/stop
(
	# A message that meets a suspend is refused.
	set +e
	until [[ -e $stop ]]; do
		dmsetup message t0 0 policy greedy
		dmsetup message t0 0 in_place 0
		dmsetup message t0 0 checkpoint
		dmsetup status t0
		dmsetup message t0 0 clean
		dmsetup message t0 0 policy file-aware
		dmsetup message t0 0 in_place 100
		echo 2 >/proc/sys/vm/drop_caches
		sleep 0.1
	done
) >/dev/null 2>&1 &
meddler=$!
at_end kill "$meddler"
(
	set +e
	until [[ -e $stop ]]; do
		fstrim "$T_DIR/mnt"
		dmsetup suspend t0
		dmsetup load t0 --table "$LINE"
		dmsetup resume t0
		sleep 0.5
	done
) >/dev/null 2>&1 &
trimmer=$!
at_end kill "$trimmer"
for turn in 1 2; do
	check "eight writers, buffered and direct, verify their data, turn $turn" fio --directory="$T_DIR/mnt" \
		--verify=crc32c --verify_fatal=1 --fallocate=none --size=12m --bssplit=4k/50:32k/50 \
		--group_reporting --randseed=$turn \
		--name=direct --numjobs=4 --rw=randwrite --direct=1 --ioengine=libaio --iodepth=8 \
		--name=buffered --numjobs=4 --rw=randwrite --ioengine=psync --fsync=32 --direct=0
done
touch "$stop"
wait "$meddler" "$trimmer" || true
dmsetup resume t0
umount "$T_DIR/mnt"
check "fsck finds nothing" check_fs xfs "$TARGET"
dmsetup remove --retry t0
check "dieaware check finds nothing" dieaware check "$DEV"
