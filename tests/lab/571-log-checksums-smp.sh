#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode with checksums on several CPUs: small and large reads and writes, memory that changes while
# it is written and read to, trims, cleaning, suspends and reloads at the same time, with a map cache
# that is too small: nothing is taken for damage, and in the end all data is what its checksums say.
# kernels: uml debug kcsan
# long: 6.12
# smp: 4
# smp on uml: 2
# smp on debug: 2
# smp on kcsan: 2
# mem: 2G
# sentences: 16
# seconds: 60
# timeout: 400
. "$(dirname "$0")/rc"
. "$(dirname "$0")/meddle.sh"

new_ssd ssd0 capacity_mib=420
OPTIONS="map_cache_mb=1" new_log_target t0 "$DEV" --segment 1M --checksums

# A message that meets a suspend is refused.
tell() {
	may_refuse "Read-only file system|Resource temporarily unavailable" dmsetup message t0 0 "$@"
}

clean_and_ask() {
	tell policy greedy
	tell checkpoint
	tell clean
	tell where 0 1000
	tell policy file-aware
	dmsetup status t0
	sleep 0.1
}

reload_and_trim() {
	blkdiscard -o $((300 << 20)) -l $((8 << 20)) "$TARGET"
	dmsetup suspend t0
	dmsetup load t0 --table "$LINE"
	dmsetup resume t0
	sleep 3
}

restless() {
	python3 "$LAB_DIR/restless.py" write "$TARGET" 40 &&
		python3 "$LAB_DIR/restless.py" read "$TARGET" 40
}

in_loop messages clean_and_ask 3
in_loop reloads reload_and_trim 2
in_loop restless restless 2
for turn in 1 2; do
	check "writers find what they wrote, turn $turn" under_load "$TARGET" \
		fio --filename="$TARGET" --direct=1 --ioengine=libaio --verify=crc32c --verify_fatal=1 --group_reporting \
		--output="$T_DIR/fio.log" --randrepeat=0 --randseed="$turn" --iodepth=8 \
		--name=small --rw=randwrite --offset=16m --size=100m --io_size="$(load 16)m" --bssplit=4k/50:32k/50 \
		--name=large --rw=randwrite --offset=128m --size=64m --io_size="$(load 32)m" --bs=1m \
		--name=again --rw=randwrite --offset=200m --size=2m --io_size="$(load 16)m" --bs=4k
done
stop_loop messages
stop_loop reloads
stop_loop restless
check "memory that changes is written once more" restless
check_that "nothing was taken for damage" "$(status_field t0 damaged_pages)" -eq 0
check "it is cleaned" dmsetup message t0 0 clean
check_that "with pages to move" "$(status_field t0 moved_pages)" -gt 0
sum=$(dd if="$TARGET" bs=1M count=300 iflag=direct status=none | sha256sum)
again t0
check_that "all is there after a start" "$(dd if="$TARGET" bs=1M count=300 iflag=direct status=none | sha256sum)" == "$sum"
check_that "still nothing is damaged" "$(status_field t0 damaged_pages)" -eq 0
dmsetup remove --retry t0
check "dieaware check finds nothing" dieaware check --data "$DEV"
