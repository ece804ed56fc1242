#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# An SSD that something uses is neither removed nor switched off nor made a used or another one by nvmev-ssd: a mounted
# filesystem, the second device of one, which no table of mounts names, a partition, a device of device-mapper, a loop
# device, swap, a program that has it open. And no argument is left out in silence.
# kernels: uml
# long: 6.1 6.12 newest
# smp: 1
# mem: 2G
# sentences: 57
# seconds: 45
# timeout: 120
. "$(dirname "$0")/rc"

# keeps WHAT: no command takes ssd1 from what uses it
keeps() {
	exits 1 "is in use" nvmev-ssd remove ssd1
	exits 1 "is in use" nvmev-ssd power-off ssd1
	exits 1 "is in use" nvmev-ssd precondition ssd1 --fill 1
	check "$1: it is there as before" nvmev-ssd dev ssd1
}

new_ssd ssd0 capacity_mib=128
FIRST=$DEV
new_ssd ssd1 capacity_mib=128
SECOND=$DEV

# Where it is no module, it is there.
modprobe -q btrfs || true
mkfs.btrfs -q -f -d raid0 -m raid1 "$FIRST" "$SECOND" >"$T_DIR/mkfs"
btrfs device scan "$FIRST" "$SECOND"
new_mount "$FIRST" "$T_DIR/mnt"
write_mib "$T_DIR/mnt/file" 16 conv=fsync
keeps "the second device of btrfs"
check "the filesystem can be written" dd if=/dev/zero of="$T_DIR/mnt/other" bs=1M count=4 conv=fsync
umount "$T_DIR/mnt"

dmsetup create t0 --table "0 8192 linear $SECOND 0"
at_end drop_target t0
keeps "a device of device-mapper"
dmsetup remove t0

loop=$(losetup --show -f "$SECOND")
at_end losetup -D
keeps "a loop device"
losetup -d "$loop"

mkswap "$SECOND"
at_end swapoff -a
swapon "$SECOND"
keeps "swap"
swapoff "$SECOND"

# shellcheck disable=SC2217 # so it has it open
sleep 1000 <"$SECOND" &
sleeper=$!
at_end kill $sleeper
keeps "a program that has it open"
check "which is said by its name" grep -F "the program sleep ($sleeper) has $SECOND open." "$T_DIR/said"
kill $sleeper

printf 'label: gpt\nstart=2048, size=65536\n' | sfdisk -q "$SECOND"
poll 20 test -b "${SECOND}p1" || partx -a "$SECOND"
make_fs ext4 "${SECOND}p1"
new_mount "${SECOND}p1" "$T_DIR/part"
keeps "a partition"
umount "$T_DIR/part"

exits 1 "'ssd1' is an argument too many" nvmev-ssd remove ssd0 ssd1
exits 1 "There is no option 'now'" nvmev-ssd power-off ssd0 now
exits 1 "'now' is an argument too many" nvmev-ssd power-off ssd0 --force now
check "both are there" nvmev-ssd dev ssd0
check "nothing uses it any more: it becomes a used one" nvmev-ssd precondition ssd1 --fill 1
SECOND=$(nvmev-ssd dev ssd1)
make_fs ext4 "$SECOND"
new_mount "$SECOND" "$T_DIR/mnt"
check "with --force it goes off, in use or not" nvmev-ssd power-off ssd1 --force
umount "$T_DIR/mnt"
SECOND=$(nvmev-ssd power-on ssd1)
new_mount "$SECOND" "$T_DIR/mnt"
check "what is pulled out is gone, in use or not" nvmev-ssd surprise ssd1
check "and can be removed" nvmev-ssd remove ssd1
check_that "it is no more" "$(nvmev-ssd list | grep -c ssd1)" -eq 0
umount "$T_DIR/mnt"
check "nothing uses the other one" nvmev-ssd remove ssd0
