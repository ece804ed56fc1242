#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The power fails while a slow CPU has many writes on their way: the drive does nothing any
# more, and what waits for it ends.
# kernels: 6.12
# smp: 1
# mem: 1G
# clock: virtual
# seconds: 8
# timeout: 180
# sentences: 6
. "$(dirname "$0")/rc"

power_is_off() {
	[[ $(<"$CONFIGFS/ssd0/power") == 0 ]]
}

MNT=$T_DIR/mnt
mkdir -p "$MNT"
new_ssd ssd0 capacity_mib=64 plp=0
at_end drop_mount "$MNT"
make_fs ext4 "$DEV"
for turn in 1 2; do
	mount -t ext4 "$DEV" "$MNT"
	dd if=/dev/zero of="$MNT/file" bs=1M count=16 conv=fsync status=none
	nvmev-ssd power-cut ssd0 20
	dd if=/dev/urandom of="$MNT/file" bs=1M count=16 conv=notrunc,fsync status=none 2>/dev/null || true
	check "the power fails, round $turn" poll 10 power_is_off
	umount "$MNT" || umount -l "$MNT"
	DEV=$(nvmev-ssd power-on ssd0)
	# Mounting replays the journal, which is all that may be needed.
	check "ext4 can be mounted again, round $turn" mount -t ext4 "$DEV" "$MNT"
	umount "$MNT"
	check "and is whole without a repair, round $turn" check_fs ext4 "$DEV"
done
