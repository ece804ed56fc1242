#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode on a device that becomes another one while it is suspended, which does not write pages whole: they
# are not overwritten in place any more, which is said, and are again when it is the first one. One that is too
# small is refused.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 3
# timeout: 120
# sentences: 10
. "$(dirname "$0")/rc"

KIB=$((64 * 1024))

modprobe brd rd_nr=2 rd_size=$((KIB + 4))
at_end rmmod brd
at_end drop_target low
dmsetup create low --table "0 $((KIB * 2)) linear /dev/ram0 0"
OPTIONS="in_place=0 idle_ms=0" new_log_target t0 /dev/mapper/low --segment 512K
write_mib "$TARGET" 1 oflag=direct conv=fsync

# in_place_now: pages of one that are overwritten in place
in_place_now() {
	local before

	before=$(status_field t0 in_place_pages)
	dd if=/dev/urandom of="$TARGET" bs=4k count=1 oflag=direct conv=fsync,notrunc status=none
	echo $(($(status_field t0 in_place_pages) - before))
}

# moves_to FROM START TO START: the device is copied there, while the target is suspended
moves_to() {
	dmsetup suspend t0
	dd if="$1" of="$3" bs=1M count=$((KIB / 1024)) iflag=skip_bytes oflag=seek_bytes skip=$(($2 * 512)) \
		seek=$(($4 * 512)) conv=notrunc,fsync status=none
	becomes low "0 $((KIB * 2)) linear $3 $4"
	dmsetup resume t0
}

check_that "a page is overwritten in place where the disk writes it whole" "$(in_place_now)" -eq 1
mark_log
moves_to /dev/ram0 0 /dev/ram1 1
check_that "not where it lies on two blocks of the disk" "$(in_place_now)" -eq 0
check "which it says" log_has "No pages are overwritten in place: a power failure might tear them\.\$"
mark_log
moves_to /dev/ram1 1 /dev/ram0 0
check "and that they are again" log_has "Pages are overwritten in place again\.\$"
check_that "and again where it does not" "$(in_place_now)" -eq 1
dmsetup suspend t0
becomes low "0 $KIB linear /dev/ram0 0"
mark_log
check_fails "it is not resumed on a device that is too small" dmsetup resume t0
check "which it says" log_has "It cannot be resumed: The device is smaller than when it was formatted\.\$"
becomes low "0 $((KIB * 2)) linear /dev/ram0 0"
check "but on the first one" timeout 60 dmsetup resume t0
check_that "the target writes" "$(status_field t0 state)" == write
dmsetup remove --retry t0
check "dieaware check finds nothing" dieaware check /dev/mapper/low
