#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The power fails at chosen NAND operations, and at any time, while dieaware defrag --method share is at
# work, on a drive with a volatile cache: each filesystem recovers by itself, and the file is what it was.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# traces: yes
# seconds: 105
# timeout: 300
# sentences: 16
. "$(dirname "$0")/rc"

mnt=$T_DIR/mnt file=$T_DIR/mnt/file
dd if=/dev/urandom of="$T_DIR/data" bs=1M count=2 status=none
mkdir "$mnt"
at_end drop_mount "$mnt"

is_off() {
	[[ $(<"$CONFIGFS/ssd0/power") == 0 ]]
}

# fail_at OPERATION: of the NAND, or @SECONDS from now
fail_at() {
	if [[ $1 == @* ]]; then
		(sleep "${1#@}" && nvmev-ssd power-cut ssd0) &
	else
		nvmev-ssd power-cut ssd0 "$1"
	fi
}

# Recovery by the filesystem's own mount
recover() {
	umount "$mnt" || umount -l "$mnt"
	drop_target t0
	is_off || nvmev-ssd power-cut ssd0
	DEV=$(nvmev-ssd power-on ssd0)
	new_target t0 "$DEV"
	mount "$TARGET" "$mnt"
}

for fs in ext4 xfs f2fs btrfs; do
	new_ssd ssd0 capacity_mib=512 plp=0 share_pages=16384
	new_target t0 "$DEV"
	make_fs $fs "$TARGET"
	mount "$TARGET" "$mnt"
	wrong="" shared=0 cut=0 failed=""
	for operation in 1 2 3 5 8 13 @0.05 @0.1 @0.15 @0.2 @0.3; do
		write_fragmented "$file" 32
		sync
		sum=$(sha256sum <"$file")
		before=$(status_field t0 shared_pages)
		fail_at $operation
		dieaware defrag --threshold 0 --method share "$file" >/dev/null 2>&1 || true
		shared=$((shared + $(status_field t0 shared_pages) - before))
		wait
		# The device goes up to 50 ms later.
		! poll 1 is_off || cut=$((cut + 1))
		recover
		[[ $(sha256sum <"$file") == "$sum" ]] || wrong+=" $operation"
		umount "$mnt"
		check_fs $fs "$TARGET" >"$T_DIR/fsck" 2>&1 || failed+=" $operation"
		mount "$TARGET" "$mnt"
	done
	note "$fs: $shared of $((11 * 256)) pages were shared before the power failed"
	check_that "$fs: the power failed by itself" "$cut" -ge 4
	check_that "$fs: the file is what it was, at whatever operation the power failed" "$wrong" == ""
	check_that "$fs: fsck finds nothing" "$failed" == ""
	check_that "$fs: pages were shared" "$shared" -gt 0
	umount "$mnt"
	drop_target t0
	drop_ssd ssd0
done
