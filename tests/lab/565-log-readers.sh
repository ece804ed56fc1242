#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode on several CPUs with far fewer pages of the map in memory than are read: who looks up
# where something lies meets changes of the map, and pages of it that come and go, some of them
# because the kernel asks for memory.
# kernels: uml debug kcsan
# long: 6.12
# smp: 4
# smp on uml: 2
# smp on debug: 2
# smp on kcsan: 2
# mem: 2G
# sentences: 9
# seconds: 40
# timeout: 400
. "$(dirname "$0")/rc"
. "$(dirname "$0")/meddle.sh"

# The cache of the map has pages for 800 MiB; what is never written takes no memory.
modprobe brd rd_nr=1 rd_size=$((4096 * 1024))
at_end rmmod brd
OPTIONS="map_cache_mb=1 in_place=0" new_log_target t0 /dev/ram0 --segment 1M
map_pages=$(($(status_field t0 lpns) / 800))

# All over the device: most of it holds nothing, but is looked up as if it did.
read_anywhere() {
	fio --name=anywhere --filename="$TARGET" --direct=1 --rw=randread --bs=4k --ioengine=libaio --iodepth=8 \
		--numjobs=2 --number_ios=1000 --norandommap --randrepeat=0 --randseed="$RANDOM" >/dev/null
}

near_sum() {
	dd if="$TARGET" bs=1M skip=3072 count=2 iflag=direct status=none | sha256sum
}

ask_for_memory() {
	echo 2 >/proc/sys/vm/drop_caches
}

in_loop readers read_anywhere 3
in_loop shrinker ask_for_memory 20
check "writers find what they wrote, here and there" under_load "$TARGET" \
	fio --filename="$TARGET" --direct=1 --ioengine=libaio --verify=crc32c --verify_fatal=1 --verify_backlog=64 \
	--bs=4k --group_reporting --output="$T_DIR/fio.log" \
	--name=far --numjobs=2 --rw=randwrite --iodepth=4 --offset_increment=1g --size=1g --io_size="$(load 24)m" \
	--name=near --rw=randwrite --iodepth=8 --offset=3g --size=2m --loops="$(load 18)"
stop_loop readers
stop_loop shrinker
check_that "the kernel took pages of the map back" "$(status_field t0 map_given_back)" -gt 0
check_that "pages of the map came and went" "$(status_field t0 map_reads)" -gt "$map_pages"
sum=$(near_sum)
again t0
check_that "all is there after a start" "$(near_sum)" == "$sum"
dmsetup remove --retry t0
check "dieaware check finds nothing" dieaware check /dev/ram0
