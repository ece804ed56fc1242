#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Little memory: hints may be lost, data may not. The run table keeps its bound,
# gives memory back when asked, and its loss is visible in the counters.
# kernels: uml
# long: 6.12
# smp: 2
# smp on uml: 1
# mem: 1G
# seconds: 45
# timeout: 600
# sentences: 10
. "$(dirname "$0")/rc"

new_ssd ssd0 capacity_mib=640
new_target t0 "$DEV" hints=on runs_mb=1
make_fs ext4 "$TARGET"
new_mount "$TARGET" "$T_DIR/mnt"

# scatter [OPTION]...: every other page of a file, so that no two neighbours merge into
# one run.
scatter() {
	fio --name=scatter --directory="$T_DIR/mnt" --direct=1 --ioengine=libaio --iodepth=32 \
		--size=60m --io_size=30m --rw=write:4k --bs=4k --fallocate=none "$@"
}

# remember: 30,000 runs of another file, of a page each; each takes the table about 34 bytes.
remember() {
	seq 40000 2 99998 | awk '{ print $1, $1, 1 }' | xargs -n 900 dmsetup message t0 0 runs add 253:0 1 1
}

checksum() {
	sha256sum <"$T_DIR/mnt/scatter.0.0"
}

remember
check "scattered single pages are written" scatter
check_that "the run table stays within runs_mb=1 (bytes)" "$(status_field t0 runs_bytes)" -le $((1 << 20))
check_that "by forgetting" "$(status_field t0 runs_evicted)" -gt 0
umount "$T_DIR/mnt"
dmsetup remove t0

new_target t0 "$DEV" hints=on runs_mb=64
mount "$TARGET" "$T_DIR/mnt"
remember
check "the same again with room, verified" scatter --verify=crc32c --verify_fatal=1
written=$(checksum)
used=$(status_field t0 runs_bytes)
check_that "the table is now larger" "$used" -gt $((1 << 20))
for _ in 1 2 3 4 5 6; do
	echo 3 >/proc/sys/vm/drop_caches
done
check_that "drop_caches frees it (shrinker)" "$(status_field t0 runs_bytes)" -lt $((used / 2))
check_that "data is still the same" "$(checksum)" == "$written"

# A hog takes all that is free while fio writes buffered.
python3 "$LAB_DIR/hog.py" 30 &
hog=$!
at_end kill "$hog"
sleep 2
check "buffered data is right beside a memory hog" fio --name=hogged --directory="$T_DIR/mnt" --ioengine=psync \
	--numjobs=2 --size=24m --rw=randwrite --bs=16k --verify=crc32c --verify_fatal=1 --fallocate=none \
	--end_fsync=1 --group_reporting
kill "$hog"

umount "$T_DIR/mnt"
check "fsck finds nothing" check_fs ext4 "$TARGET"
check_that "no write was rejected or failed" "$(status_field t0 rejected)" -eq 0
