#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Segments that became free while segments lacked, and so without a discard: when there are enough
# again, the drive is told of them, and data that comes afterwards is right.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 15
# timeout: 180
# sentences: 9
. "$(dirname "$0")/rc"

SEGMENT_PAGES=256

# Each segment keeps something that is valid, until there is none left for users.
overwrite() {
	fio --name=over --filename="$TARGET" --rw=randwrite --bs=64k --size=100% --direct=1 --ioengine=libaio \
		--iodepth=8
}

# Pages of which the drive believes that they hold something
nr_mapped() {
	awk '$1 == "pages_mapped" { print $2 }' /sys/kernel/debug/nvmev/ssd0/ftl
}

# How many may: those before the segments, and those of segments that are not free
nr_in_use() {
	echo $((first + ($(status_field t0 segments) - $(status_field t0 free_segments)) * SEGMENT_PAGES))
}

knows_free() {
	(($(status_field t0 free_segments) >= $(status_field t0 segments) - 8)) &&
		(($(nr_mapped) <= $(nr_in_use)))
}

# Free segments of which the drive believes that they hold something. The target is not there.
nr_unknown() {
	dieaware dump --part segments "$DEV" | awk '$1 == "segment" && $3 == "state=free" { print $2 }' |
		awk -v first="$first" -v pages=$SEGMENT_PAGES -v lbas=$LBAS '
			NR == FNR { is_free[$1] = 1; next }
			$2 != "-" { seg = int(($1 / lbas - first) / pages)
				if ($1 / lbas >= first && seg in is_free && !(seg in seen)) { seen[seg] = 1; nr++ } }
			END { print nr + 0 }' - <(nvmev-ssd map ssd0 0 $((NR_PAGES * LBAS)))
}

new_ssd ssd0 capacity_mib=96 plp=0
LBAS=$((4096 / $(blockdev --getss "$DEV")))
NR_PAGES=$(($(blockdev --getsize64 "$DEV") / 4096))
OPTIONS="cleaning=off no_space_timeout=1" new_log_target t0 "$DEV" --segment 1M
first=$(dieaware dump --part superblock "$DEV" | sed -nE 's/^area .*segments=([0-9]+) .*/\1/p')
lpns=$(status_field t0 lpns)
check "all pages of the device can be written" \
	dd if=/dev/zero of="$TARGET" bs=64k count=$((lpns / 16)) oflag=direct status=none
check_error "overwritten at random, it runs full" "No space left" overwrite
check_that "users get none of the free segments" "$(status_field t0 free_segments)" -le 3
check "all is discarded" blkdiscard "$TARGET"
check "the drive knows of all segments that are free now" poll 20 knows_free
dmsetup remove --retry t0
check_that "of each of them" "$(nr_unknown)" == 0
dmsetup create t0 --table "$LINE"
check "they can be written" \
	fio --name=written --filename="$TARGET" --rw=write --bs=64k --size=100% --direct=1 --end_fsync=1 \
	--verify=crc32c --do_verify=0
nvmev-ssd power-cut ssd0
dmsetup remove --retry t0
DEV=$(nvmev-ssd power-on ssd0)
check "dieaware check finds nothing" dieaware check "$DEV"
dmsetup create t0 --table "${LINE/ \/dev\/nvme[0-9]*n1 / $DEV }"
check "after a power failure they have what was written" \
	fio --name=written --filename="$TARGET" --rw=write --bs=64k --size=100% --direct=1 --verify=crc32c \
	--verify_only=1
