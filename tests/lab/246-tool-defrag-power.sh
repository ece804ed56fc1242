#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The power fails while dieaware defrag is at work: the file is what it was, and so is ext4.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 20
# timeout: 240
# sentences: 8
. "$(dirname "$0")/rc"

dd if=/dev/urandom of="$T_DIR/data" bs=1M count=3 status=none
new_ssd ssd0 capacity_mib=512 plp=0
make_fs ext4 "$DEV"
mnt=$T_DIR/mnt file=$mnt/file
mkdir "$mnt"
at_end drop_mount "$mnt"
for method in move rewrite; do
	for operation in 10 60; do
		mount "$DEV" "$mnt"
		write_fragmented "$file" 96
		sync
		sum=$(sha256sum <"$file")
		nvmev-ssd power-cut ssd0 $operation
		dieaware defrag --threshold 0 --method $method "$file" >/dev/null 2>&1 || true
		umount "$mnt" || umount -l "$mnt"
		[[ $(<"$CONFIGFS/ssd0/power") == 0 ]] || nvmev-ssd power-cut ssd0
		DEV=$(nvmev-ssd power-on ssd0)
		mount "$DEV" "$mnt"
		check_that "$method: after a power failure at operation $operation it is the same" "$(sha256sum <"$file")" == "$sum"
		umount "$mnt"
		check "$method: fsck finds nothing" check_fs ext4 "$DEV"
	done
done
