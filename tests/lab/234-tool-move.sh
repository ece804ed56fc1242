#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A mounted filesystem in use moves into log mode on another device: dieaware move, there and back; what
# it refuses; and what is found after a reboot.
# kernels: uml
# long: 6.12
# smp: 2
# smp on uml: 1
# mem: 2G
# seconds: 60
# timeout: 400
# sentences: 125
# shellcheck disable=SC2154
. "$(dirname "$0")/rc"
. "$(dirname "$0")/move-volume"

# shellcheck disable=SC2119
new_machine

# ---- what cannot be moved
exits 2 "is no device of device-mapper" dieaware move "$TO" "$DEV"
exits 2 "holds nothing that libblkid knows: only what can be hidden is moved" dieaware move volume "$TO"
mkswap -q /dev/mapper/volume
exits 2 "holds something (swap): only what can be hidden is moved" dieaware move volume "$TO"
wipefs -qa /dev/mapper/volume
make_fs ext4 /dev/mapper/volume
mount /dev/mapper/volume "$mnt"
exits 2 "required arguments were not provided" dieaware move volume
exits 2 "$DEV is in use" dieaware move volume "$DEV"
make_fs xfs "$TO"
exits 2 "$TO holds a filesystem (xfs), whose sign is at byte 0; --force destroys it" dieaware move "$mnt" "$TO"
ln -s "$TO" "$T_DIR/a disk"
exits 2 "cannot be in a table line: name the device without blanks" dieaware move --force volume "$T_DIR/a disk"
check_that "what that holds stays" "$(blkid -p -s TYPE -o value "$TO")" == xfs
wipefs -qa "$TO"
dmsetup create small --table "0 $((320 * MIB)) linear $TO 0"
at_end drop_target small
exits 2 "is too small: of its 335544320 bytes" dieaware move volume /dev/mapper/small
dmsetup remove small
dmsetup create small --table "0 $((90 * MIB)) linear /dev/mapper/volume 0" 2>/dev/null &&
	exits 2 "lies on /dev/mapper/volume itself" dieaware move volume /dev/mapper/small
drop_target small
truncate -s 64M "$mnt/image"
modprobe loop
loop=$(losetup -f --show "$mnt/image")
exits 2 "$loop lies on /dev/mapper/volume itself" dieaware move volume "$loop"
losetup -d "$loop"
rm "$mnt/image"
exits 2 "There is a device volume already: --name chooses another name" dieaware move --name volume volume "$TO"
exits 2 "cannot be the name of a device" dieaware move --name a/b volume "$TO"
exits 2 "is not of the form KEY=VALUE" dieaware move --option idle_ms volume "$TO"
exits 2 "The target refuses: " dieaware move --option idle_ms=x volume "$TO"
check "which is undone" is_plain
mount --bind "$mnt" /boot
exits 2 "is mounted at /boot, which the machine needs" dieaware move volume "$TO"
umount /boot
cp /etc/fstab "$T_DIR/fstab" 2>/dev/null || : >"$T_DIR/fstab"
printf '# f\xfcr uns, in Latin-1\n%s ext4 defaults 0 0\n' "/dev/mapper/volume $mnt" >/etc/fstab
exits 2 "/etc/fstab names /dev/mapper/volume, which after the next boot is the old device" dieaware move volume "$TO"
cp "$T_DIR/fstab" /etc/fstab
printf '# f\xfcr uns\n%s\n' "volume-log UUID=1-2 log" >/etc/dietab
exits 2 "/etc/dietab has a line for volume-log already" dieaware move volume "$TO"
for mode in log hint; do
	echo "stale $TO $mode noauto" >/etc/dietab
	exits 2 "/etc/dietab, line 1: stale lies on $TO: remove the line" dieaware move volume "$TO"
done
rm /etc/dietab
dmsetup load volume --table "0 8 zero"
exits 2 "somebody is at work there" dieaware move volume "$TO"
dmsetup clear volume
dieaware attach volume >"$T_DIR/said"
exits 2 "volume cannot be moved: it has a dieaware target already" dieaware move volume "$TO"
dieaware detach volume >"$T_DIR/said"
exits 0 "no move of volume was begun" dieaware move --undo volume
exits 0 '{"version":1,"step":"none","name":"volume","notes":[]}' dieaware move --undo --json volume
exits 0 "would copy volume to it, $((300 << 20)) bytes" dieaware move --dry-run "$mnt" "$TO"
exits 0 '{"version":1,"step":"planned","name":"volume","log":"volume-log","notes":["would format ' dieaware move --dry-run --json \
	"$mnt" "$TO"
check "after all that its table is what it was" is_plain
umount "$mnt"

# ---- blocks of 512 bytes
new_ssd ssd2 capacity_mib=512 lba_bytes=512
dmsetup create small --table "0 $((300 * MIB)) linear $DEV 0"
mkfs.ext4 -q -F -b 1024 /dev/mapper/small
exits 2 "its filesystem uses less than 4096" dieaware move small "$TO"
mkfs.xfs -q -f -s size=512 /dev/mapper/small
exits 2 "its filesystem uses less than 4096" dieaware move small "$TO"
for fs in btrfs f2fs; do
	make_fs $fs /dev/mapper/small
	exits 2 "--blocks-4k says that none does" dieaware move small "$TO"
	mount /dev/mapper/small "$mnt"
	truncate -s 400M "$mnt/f"$'\xfc'"r uns"
	loop=$(losetup -f --show "$mnt/f"$'\xfc'"r uns")
	exits 2 "$loop lies on /dev/mapper/small itself" dieaware move --dry-run --blocks-4k small "$loop"
	losetup -d "$loop"
	rm "$mnt/f"$'\xfc'"r uns"
	write_mib "$mnt/still" 8 conv=fsync
	written=$(sums "$mnt")
	check "$fs: with --blocks-4k it is moved" dieaware move --blocks-4k --checksums small "$TO"
	write_mib "$mnt/more" 2
	umount "$mnt"
	dmsetup remove small
	check "$fs: fsck finds nothing" check_fs $fs /dev/mapper/small-log
	check_empty "$fs: the old device holds nothing" "$(blkid -p -O 0 -s TYPE -o value "$DEV")"
	mount /dev/mapper/small-log "$mnt"
	rm "$mnt/more"
	check_that "$fs: and the log all of it" "$(sums "$mnt")" == "$written"
	umount "$mnt"
	dmsetup remove small-log
	dieaware_forgets
	blkdiscard -f "$TO"
	dmsetup create small --table "0 $((300 * MIB)) linear $DEV 0"
done
dmsetup remove small
drop_ssd ssd2
DEV=$(ssd_device ssd0)

# ---- mounted filesystems in use
modprobe dm-mirror
at_end copy_share 100
for fs in ext4 xfs; do
	forget_all
	make_fs $fs /dev/mapper/volume
	mount /dev/mapper/volume "$mnt"
	write_mib "$mnt/still" 60 conv=fsync
	begin_slow_load
	begin_slow_move "$mnt" 3
	exits 2 "Another \"dieaware move\" is at work on volume" dieaware move "$mnt" "$TO"
	kill -INT $MOVING
	status=0
	wait $MOVING || status=$?
	check_that "$fs: Ctrl-C ends it" "$status" -eq 130
	check "$fs: and goes back" is_plain
	copy_share 100
	check_that "$fs: it says so" "$(<"$T_DIR/moved")" =~ "volume is as it was: Interrupted"
	exits 0 "\"total_bytes\":$((300 << 20))}" dieaware move --json "$mnt" "$TO"
	check_that "$fs: how far it is comes first" "$(head -n 1 "$T_DIR/said")" =~ '"step":"copying","done_bytes":[0-9]+,'
	check_that "$fs: and then what has come of it" "$(tail -n 1 "$T_DIR/said")" =~ '"step":"done","name":"volume","log":"volume-log"'
	check "$fs: it lies on the log" is_moved
	exits 0 "volume is in log mode" dieaware move "$mnt" "$TO"
	exits 2 "volume is in log mode on volume-log already" dieaware move --undo volume
	check "$fs: those that write have seen nothing of it, and what they wrote" end_load
	written=$(sums "$mnt")
	umount "$mnt"
	check "$fs: fsck finds nothing" check_fs $fs /dev/mapper/volume
	after_reboot
	check_that "$fs: after a reboot there is one filesystem" "$WHERE" == /dev/mapper/volume-log
	exits 2 "holds nothing that libblkid knows" dieaware move volume "$TO"
	check "$fs: with fsck content" check_fs $fs "$WHERE"
	mount "$WHERE" "$mnt"
	check_that "$fs: and all bytes" "$(sums "$mnt")" == "$written"
	umount "$mnt"
	dmsetup remove volume-log
	check "$fs: dieaware check finds nothing" dieaware check "$TO"
done

# ---- LVM
forget_all
drop_target volume
wipefs -qa "$DEV"
export LVM_SUPPRESS_FD_WARNINGS=1
lvm_config="devices { filter=[\"a|$DEV\$|\",\"r|.*|\"] use_devicesfile=0 }"
lvm_does() {
	"$1" --config "$lvm_config" "${@:2}"
}
lvm_does pvcreate -q -y "$DEV" >"$T_DIR/output"
lvm_does vgcreate -q vg "$DEV" >"$T_DIR/output"
at_end lvm_does vgremove -q -f vg
at_end drop_target vg-data-log
lvm_does lvcreate -q -y -Wn -L 300M -n data vg >"$T_DIR/output"
make_fs ext4 /dev/vg/data
mount /dev/vg/data "$mnt"
own=$(table_of vg-data)
begin_slow_load
copy_share 3
dieaware move /dev/vg/data "$TO" >"$T_DIR/moved" 2>&1 &
moving=$!
poll 20 sh -c "dmsetup table vg-data | grep -q mirror"
check "LVM loads its own table meanwhile" lvm_does lvchange --refresh vg/data
status=0
wait $moving || status=$?
check_that "which ends the move" "$status" -eq 3
check_that "and it says so" "$(<"$T_DIR/moved")" =~ "Somebody else has given vg-data another table"
check_that "nothing of it is left" "$(table_of vg-data) $(dmsetup ls | grep -c vg-data)" == "$own 1"
copy_share 100
check "a volume of LVM is moved" dieaware move "$mnt" "$TO"
said=$(lvm_does lvs --noheadings -o lv_name,lv_size,lv_active vg/data 2>&1 | xargs)
check_that "LVM knows its name and size" "$said" =~ "data 300.00m active"
check_that "and warns that it lies elsewhere" "$said" =~ "accessing /dev/mapper/vg-data-log instead of"
check "those that write have seen nothing of it" end_load
written=$(sums "$mnt")
umount "$mnt"
check "LVM removes the old volume" lvm_does lvremove -q -f vg/data
mount /dev/mapper/vg-data-log "$mnt"
check_that "and the new device has all bytes" "$(sums "$mnt")" == "$written"
umount "$mnt"
