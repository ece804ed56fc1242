#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dieaware grow: a device in hint mode and one in log mode take what the device below has become
# larger by, mounted; what it refuses; and an SSD that fails meanwhile.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 35
# timeout: 120
# sentences: 41
. "$(dirname "$0")/rc"

# low_is SECTORS: the device below is so large
low_is() {
	dmsetup load low --table "0 $1 linear $DEV 0"
	dmsetup resume low
}

sectors_of() {
	blockdev --getsz "/dev/mapper/$1"
}

new_ssd ssd0 capacity_mib=384
sectors=$(blockdev --getsz "$DEV")
at_end drop_target low
at_end drop_target t0
for mode in hint log; do
	dmsetup create low --table "0 $((sectors / 2)) linear $DEV 0"
	[[ $mode == hint ]] || dieaware format --force /dev/mapper/low >/dev/null
	dieaware create t0 /dev/mapper/low --mode $mode >/dev/null
	before=$(sectors_of t0)
	make_fs ext4 /dev/mapper/t0
	new_mount /dev/mapper/t0 "$T_DIR/mnt"
	write_mib "$T_DIR/mnt/data" 16 conv=fsync
	sum=$(sha256sum <"$T_DIR/mnt/data")
	exits 0 "t0 has all of the device below: $before sectors" dieaware grow t0
	low_is "$sectors"
	exits 0 "would load into t0: 0 " dieaware grow --dry-run t0
	check_that "$mode: --dry-run does nothing" "$(sectors_of t0)" -eq "$before"
	exits 0 "t0 has grown from $before to " dieaware grow t0
	check_that "$mode: it is larger" "$(sectors_of t0)" -gt $((before * 3 / 2))
	check_that "$mode: no table is left waiting" "$(dmsetup info -c --noheadings -o tables_loaded t0)" =~ ^[Ll]ive$
	check "$mode: resize2fs" resize2fs "/dev/mapper/t0"
	write_mib "$T_DIR/mnt/more" 200 conv=fsync
	check_that "$mode: the file is the same" "$(sha256sum <"$T_DIR/mnt/data")" == "$sum"
	umount "$T_DIR/mnt"
	check "$mode: fsck finds nothing" check_fs ext4 /dev/mapper/t0
	dieaware remove t0
	[[ $mode == hint ]] || check "log: dieaware check finds nothing" dieaware check /dev/mapper/low
	dmsetup remove low
	wipefs -qa "$DEV"
done

# The superblock for the new size cannot be written.
dmsetup create low --table "0 $((sectors / 2)) linear $DEV 0"
dieaware format --force /dev/mapper/low >/dev/null
dieaware create t0 /dev/mapper/low --mode log >/dev/null
make_fs ext4 /dev/mapper/t0
new_mount /dev/mapper/t0 "$T_DIR/mnt"
write_mib "$T_DIR/mnt/data" 16 conv=fsync
table=$(dmsetup table t0)
low_is "$sectors"
# Both superblocks
for sector in 0 128; do
	echo "write_fault $sector 8" >/sys/kernel/debug/nvmev/ssd0/inject
done
exits 3 "t0 has not grown" dieaware grow t0
check_that "it has its old table then" "$(dmsetup table t0)" == "$table"
check_that "and is at work" "$(dmsetup info -c --noheadings -o suspended t0)" == Active
check "what lies on it can be written" timeout 20 dd if=/dev/zero of="$T_DIR/mnt/more" bs=1M count=1 conv=fsync status=none
umount "$T_DIR/mnt"
dieaware remove t0
dmsetup remove low
wipefs -qa "$DEV"

# Who made it so that nobody can write to it meant that.
dmsetup create low --table "0 $((sectors / 2)) linear $DEV 0"
dmsetup create t0 --readonly --uuid DIEAWARE-HINT-t0 --table "0 $((sectors / 2)) dieaware /dev/mapper/low 0 hint"
low_is "$sectors"
exits 0 "t0 has grown from $((sectors / 2)) to $sectors" dieaware grow t0
exits 0 "\"grown\": false" dieaware grow --json t0
check_that "a device that nobody can write stays one" "$(blockdev --getro /dev/mapper/t0)" -eq 1
dieaware remove t0
dmsetup remove low

exits 2 "There is no device t0" dieaware grow t0
dmsetup create t0 --table "0 8 zero"
exits 2 "t0 has no dieaware target" dieaware grow t0
dmsetup remove t0
exits 3 "only root can use device-mapper" setpriv --reuid=65534 --clear-groups dieaware grow t0
