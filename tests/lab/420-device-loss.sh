#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The device below fails the target: controller resets and removal, under load.
# I/O fails where it must, nobody hangs, and a new device can take the place.
# kernels: uml
# long: 6.12
# smp: 2
# mem: 2G
# seconds: 40
# timeout: 320
# sentences: 35
. "$(dirname "$0")/rc"

new_ssd ssd0 capacity_mib=512
new_target t0 "$DEV" hints=on
ctrl=${DEV%n1}
new_load "$TARGET" --rw=randwrite --verify=crc32c --verify_backlog=32 --verify_fatal=1
for turn in 1 2 3 4; do
	check "controller reset $turn under load" nvme reset "$ctrl"
	sleep 0.7
done
check "fio lives through it" is_running "$LOAD"
check "and has verified its data" load_ends_well
check_that "resets are not taken for rejected hints" "$(status_field t0 rejected)" -eq 0

new_load "$TARGET" --rw=randwrite
check "the SSD is powered off under load" sh -c "echo 0 >$CONFIGFS/ssd0/power"
check "fio ends with an error" load_fails
check "the target can still be asked" dmsetup status t0
check "the target can be removed" dmsetup remove --retry t0
check "the SSD can be powered on again" sh -c "echo 1 >$CONFIGFS/ssd0/power"
check "it comes back" poll 20 nvmev-ssd dev ssd0

for turn in 1 2 3; do
	DEV=$(ssd_device ssd0)
	new_target t0 "$DEV" hints=on
	new_load "$TARGET" --rw=randwrite
	check "surprise removal $turn under load" \
		sh -c "echo 1 >$(readlink -f "/sys/class/nvme/${DEV:5:-2}/device")/remove"
	check "fio ends with an error" load_fails
	check "the target can be removed" dmsetup remove --retry t0
	check "the SSD is powered off" sh -c "echo 0 >$CONFIGFS/ssd0/power"
	check "and on" sh -c "echo 1 >$CONFIGFS/ssd0/power"
	check "it comes back" poll 20 nvmev-ssd dev ssd0
done
DEV=$(ssd_device ssd0)
new_target t0 "$DEV" hints=on
check "data is right on the new device" fio --name=v --filename="$TARGET" --direct=1 --ioengine=libaio --iodepth=8 \
	--size=16m --rw=randwrite --bs=16k --verify=crc32c --verify_fatal=1

# With a filesystem on it: it shuts down, and can be unmounted.
make_fs ext4 "$TARGET"
new_mount "$TARGET" "$T_DIR/mnt"
dd if=/dev/urandom of="$T_DIR/mnt/file" bs=1M count=8 status=none
sync
echo 0 >"$CONFIGFS/ssd0/power"
check_fails "a mounted filesystem reports the loss" \
	sh -c "dd if=/dev/zero of=$T_DIR/mnt/new bs=1M count=2 conv=fsync && dd if=$T_DIR/mnt/file of=/dev/null bs=1M iflag=direct"
check "it can be unmounted" umount "$T_DIR/mnt"
check "the target can be removed" dmsetup remove --retry t0
