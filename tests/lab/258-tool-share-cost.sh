#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What dieaware defrag --method share has the SSD program, by what the filesystem's own way has it program
# for the same file on the same drive: 1 % or less, and the file reads as fast, in virtual time. On btrfs it
# is up to 4 %, which its trees take in both cases.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 30
# timeout: 300
# sentences: 16
. "$(dirname "$0")/rc"
. "$LAB_DIR/share"

PIECES=512
dd if=/dev/urandom of="$T_DIR/data" bs=32k count=$PIECES status=none

# speed_of FILE: KiB/s
speed_of() {
	echo 3 >/proc/sys/vm/drop_caches
	fio --clocksource=clock_gettime --output-format=json --filename="$1" --direct=1 --ioengine=libaio --iodepth=1 --rw=read --bs=1m --loops=3 --name=read |
		jq '.jobs[0].read.bw'
}

# measure METHOD: from the state; sets PROGRAMMED to pages, SPEED, and PIECES_AFTER
measure() {
	local before

	nvmev-ssd load ssd0 "$T_DIR/state"
	mount_target
	sleep 1
	before=$(ssd_stat ssd0 nand_pages_programmed)
	dieaware defrag --json --threshold 0 --method "$1" "$file" >"$T_DIR/said"
	sync -f "$mnt"
	# What waits in open units is programmed.
	sleep 3
	PROGRAMMED=$(($(ssd_stat ssd0 nand_pages_programmed) - before))
	PIECES_AFTER=$(figure "$file" pieces)
	SPEED=$(speed_of "$file")
	umount "$mnt"
	end_failure
}

for fs in ext4 xfs f2fs btrfs; do
	how=allocated most=1
	[[ $fs != f2fs ]] || how=written
	[[ $fs != btrfs ]] || most=4
	new_ssd ssd0 capacity_mib=512 time_scale=4 share_pages=16384
	new_target t0 "$DEV"
	make_fs $fs "$TARGET" >"$T_DIR/said" 2>&1
	mount "$TARGET" "$mnt"
	python3 "$LAB_DIR/fragment.py" "$file" $PIECES "$T_DIR/data" $how
	sync
	check_that "$fs: the file is in pieces" "$(figure "$file" pieces)" -ge $((PIECES / 2))
	umount "$mnt"
	drop_target t0
	rm -f "$T_DIR/state"
	nvmev-ssd save ssd0 "$T_DIR/state" >"$T_DIR/said"
	nvmev-ssd power-off ssd0
	measure move
	moved=$PROGRAMMED speed=$SPEED pieces=$PIECES_AFTER
	measure share
	note "$fs: share $PROGRAMMED pages programmed, $PIECES_AFTER pieces, $SPEED KiB/s; the filesystem alone $moved, $pieces, $speed"
	check_that "$fs: the filesystem alone has the file written again" "$moved" -ge $((PIECES * 8))
	check_that "$fs: $most % of that is programmed, or less" $((PROGRAMMED * 100)) -le $((moved * most))
	check_that "$fs: it reads at 99 % of the speed, or faster" $((SPEED * 100)) -ge $((speed * 99))
	drop_ssd ssd0
done
