#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode on several CPUs: writers, readers, trims, cleaning, checkpoints, suspends and reloads at
# the same time, and somebody who asks where all pages lie, with a map cache that is too small;
# overwrites stay in place now and then.
# kernels: uml debug kcsan
# long: 6.12
# smp: 4
# smp on uml: 2
# smp on debug: 2
# smp on kcsan: 2
# mem: 2G
# sentences: 8+
# seconds: 50
# timeout: 400
. "$(dirname "$0")/rc"
. "$(dirname "$0")/meddle.sh"

new_ssd ssd0 capacity_mib=420
OPTIONS="map_cache_mb=1 in_place=0" new_log_target t0 "$DEV" --segment 1M
make_fs xfs "$TARGET"
new_mount "$TARGET" "$T_DIR/mnt"
lpns=$(status_field t0 lpns)

# A message that meets a suspend is refused.
tell() {
	may_refuse "Read-only file system|Resource temporarily unavailable" dmsetup message t0 0 "$@"
}

meddle() {
	tell policy greedy
	tell in_place 0
	tell where 0 "$lpns"
	tell checkpoint
	dmsetup status t0
	tell clean
	tell policy file-aware
	tell in_place 100
	echo 2 >/proc/sys/vm/drop_caches
	sleep 0.1
}

reload_and_trim() {
	fstrim "$T_DIR/mnt"
	dmsetup suspend t0
	dmsetup load t0 --table "$LINE"
	dmsetup resume t0
	sleep 0.5
}

in_loop messages meddle 5
in_loop reloads reload_and_trim 3
for turn in $(seq "$(less 2)"); do
	check "eight writers, buffered and direct, verify their data, turn $turn" under_load "$TARGET" \
		fio --directory="$T_DIR/mnt" \
		--verify=crc32c --verify_fatal=1 --fallocate=none --size="$(less 12)m" --bssplit=4k/50:32k/50 \
		--group_reporting --randrepeat=0 --randseed="$turn" \
		--name=direct --numjobs=4 --rw=randwrite --direct=1 --ioengine=libaio --iodepth=8 \
		--name=buffered --numjobs=4 --rw=randwrite --ioengine=psync --fsync=32 --direct=0
done
stop_loop messages
stop_loop reloads
umount "$T_DIR/mnt"
check "fsck finds nothing" check_fs xfs "$TARGET"
dmsetup remove --retry t0
check "dieaware check finds nothing" dieaware check "$DEV"
