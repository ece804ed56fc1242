#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode on a partition that begins at an odd sector, so that none of its pages is a block of the drive: on a
# drive that writes 64 KiB whole wherever they begin they are overwritten in place, on one that does so with its
# blocks of 4096 bytes only they are not, though it announces these.
# kernels: uml
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 2
# timeout: 300
# sentences: 12
. "$(dirname "$0")/rc"

at_end drop_target t0
write_mib "$T_DIR/data" 1

# put COUNT: pages from the first one on
put() {
	dd if="$T_DIR/data" of="$TARGET" bs=$(($1 * 4096)) count=1 oflag=direct conv=fsync,notrunc status=none
}

# log_on_odd_partition DRIVE: on the one that was made last; sets IN_PLACE, pages that were overwritten so
log_on_odd_partition() {
	local disk=${DEV##*/}

	printf 'label: dos\nstart=2049, type=83\n' | sfdisk --quiet --no-reread "$DEV" 2>"$T_DIR/sfdisk" || true
	blockdev --rereadpt "$DEV" 2>>"$T_DIR/sfdisk" || true
	poll 10 test -b "${DEV}p1"
	mark_log
	OPTIONS="in_place=0 idle_ms=0" new_log_target t0 "${DEV}p1" --segment 512K
	check_that "$1: the partition begins at an odd sector" "$(</sys/class/block/"${disk}p1"/start)" -eq 2049
	check_that "$1: ... of a drive that announces blocks of 4096 bytes" \
		"$(queue_limit "$DEV" physical_block_size)" -eq 4096
	check "$1: ... pages are written" put 64
	IN_PLACE=$(status_field t0 in_place_pages)
	check "$1: ... and one of them again" put 1
	IN_PLACE=$(($(status_field t0 in_place_pages) - IN_PLACE))
}

new_ssd ssd0 capacity_mib=128 lba_bytes=512 atomic_kib=64
log_on_odd_partition "64 KiB whole"
check_that "64 KiB whole: ... where it is" "$IN_PLACE" -eq 1
check_fails "64 KiB whole: ... and nothing is said against it" log_has "No pages are overwritten in place"
drop_target t0

new_ssd ssd1 capacity_mib=128 lba_bytes=512
log_on_odd_partition "blocks whole"
check_that "blocks whole: ... at a new place" "$IN_PLACE" -eq 0
check "blocks whole: ... as a power failure might tear it" log_has "No pages are overwritten in place: a power failure might tear them"
drop_target t0
