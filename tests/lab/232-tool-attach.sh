#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Hint mode comes below mounted filesystems in use, and goes again: dieaware attach and detach, on two
# linear segments and on volumes of LVM, under load; and what they refuse.
# kernels: uml
# long: 6.12
# smp: 2
# smp on uml: 1
# mem: 2G
# seconds: 90
# timeout: 500
# sentences: 96
# shellcheck disable=SC2154
. "$(dirname "$0")/rc"
. "$(dirname "$0")/attach-volume"

# ---- what cannot have it
new_ssd ssd0 capacity_mib=1024 plp=0
at_end drop_target other
dieaware create other "$DEV" --start $((900 * MIB)) --mode hint >"$T_DIR/output"
exits 2 "made by \"dieaware create\"" dieaware detach other
dmsetup remove other
new_volume
exits 2 "is no device of device-mapper, so nothing can be put below" dieaware attach "$DEV"
exits 2 "Nothing is mounted at $mnt" dieaware attach "$mnt"
exits 2 "There is no device nothing" dieaware attach nothing
exits 2 "all of it would have to be moved" dieaware attach --mode log volume
exits 2 "is not of the form KEY=VALUE" dieaware attach --option runs_mb volume
exits 3 "only root can use device-mapper" setpriv --reuid=65534 --clear-groups dieaware attach volume
dmsetup create other --table "0 16384 striped 2 8 $DEV $((800 * MIB)) $DEV $((900 * MIB))"
exits 2 "a target of type striped, through which no hint gets" dieaware attach other
dmsetup remove other
dmsetup load volume --table "0 8 zero"
exits 2 "has another table loaded" dieaware attach volume
exits 2 "has another table loaded" dieaware detach volume
dmsetup clear volume
dmsetup suspend volume
exits 2 "volume is suspended" dieaware attach volume
dmsetup resume volume
modprobe -r dm-dieaware
echo "install dm-dieaware /bin/false" >/etc/modprobe.d/none.conf
exits 3 "is the module dm-dieaware installed?" dieaware attach volume
rm /etc/modprobe.d/none.conf
exits 2 "The target refuses: " dieaware attach --option runs_mb=0 volume
exits 0 "would load into volume: 0 $((100 * MIB)) dieaware 259:" dieaware attach --dry-run volume
exits 0 "volume has no dieaware target" dieaware detach volume
exits 0 '"done": false' dieaware detach --json volume
check_that "after all that its table is what it was" "$(table_of volume)" == "$plain"

# ---- below mounted filesystems in use
before=$(limits)
turns=20
for fs in ext4 xfs; do
	make_fs $fs /dev/mapper/volume
	mount /dev/mapper/volume "$mnt"
	write_mib "$mnt/still" 8 conv=fsync
	begin_load
	poll 20 test -s "$mnt/writer1"
	check_that "$fs: without the target there are no hints" "$(hints_seen)" -eq "${seen:-0}"
	check "$fs: it is attached by the mount point" dieaware attach "$mnt"
	check_that "$fs: each segment has its target" "$(table_of volume)" == "$attached"
	check_that "$fs: nothing else has changed" "$(limits)" == "$before"
	check "$fs: hints reach the SSD" poll 20 sh -c "dmsetup status volume | grep -q 'confirmed_overwrite=[1-9]'"
	check_that "$fs: which counts them" "$(hints_seen)" -gt "${seen:-0}"
	exits 2 "has a dieaware target already" dieaware attach volume
	exits 2 "volume was not made by \"dieaware create\"" dieaware grow volume
	exits 0 '"done": true' dieaware detach --json /dev/mapper/volume
	check_that "$fs: the table is what it was" "$(table_of volume)" == "$plain"
	check_that "$fs: and all the rest" "$(limits)" == "$before"
	wrong=""
	for ((turn = 1; turn <= turns; turn++)); do
		dieaware attach volume >"$T_DIR/said" 2>&1 && [[ $(dmsetup table volume) == "$attached" ]] || wrong+=" +$turn"
		dieaware detach volume >"$T_DIR/said" 2>&1 && [[ $(dmsetup table volume) == "$plain" ]] || wrong+=" -$turn"
	done
	check_empty "$fs: it comes and goes $turns times" "$wrong"
	check "$fs: those that write have seen nothing of it, and what they wrote" end_load
	dieaware attach volume >"$T_DIR/said"
	written=$(sums "$mnt")
	umount "$mnt"
	dieaware detach volume >"$T_DIR/said"
	check "$fs: fsck finds nothing" check_fs $fs /dev/mapper/volume
	mount /dev/mapper/volume "$mnt"
	check_that "$fs: all bytes are the same without the target" "$(sums "$mnt")" == "$written"
	umount "$mnt"
	seen=$(hints_seen) turns=5
done

drop_target volume
wipefs -qa "$DEV"

# ---- LVM
export LVM_SUPPRESS_FD_WARNINGS=1
lvm_config="devices { filter=[\"a|$DEV\$|\",\"r|.*|\"] use_devicesfile=0 }"
lvm_does() {
	"$1" --config "$lvm_config" "${@:2}"
}
lvm_does pvcreate -q -y "$DEV" >"$T_DIR/output"
lvm_does vgcreate -q vg "$DEV" >"$T_DIR/output"
at_end lvm_does vgremove -q -f vg
lvm_does lvcreate -q -y -Wn -L 200M -n data vg >"$T_DIR/output"
lvm_does lvcreate -q -y -Wn -L 20M -n other vg >"$T_DIR/output"
lvm_does lvextend -q -L +200M vg/data >"$T_DIR/output"
make_fs xfs /dev/vg/data
mount /dev/vg/data "$mnt"
begin_load

# targets: how many the volume has
targets() {
	dmsetup table vg-data | grep -c dieaware || true
}

check "a volume of two segments is attached" dieaware attach /dev/vg/data
check_that "with two targets" "$(targets)" -eq 2
note "lvs says: $(lvm_does lvs vg/data 2>&1)"
check_that "LVM knows its own names and sizes" "$(lvm_does lvs --noheadings -o lv_name,seg_count,lv_active vg/data 2>&1 | xargs)" == "data 2 active"
check_that "and warns that the kernel has another type of target" \
	"$(lvm_does lvs --noheadings -o health_status vg/data 2>&1)" =~ "does not match expected type"
check "LVM extends it" lvm_does lvextend -q -L +100M vg/data
note "after lvextend it has $(targets) targets: $(dmsetup table vg-data | paste -sd';')"
check_that "which takes hint mode away" "$(targets)" -eq 0
check "it is attached again" dieaware attach "$mnt"
check "and refreshed" lvm_does lvchange --refresh vg/data
note "after lvchange --refresh it has $(targets) targets"
dieaware attach vg-data >"$T_DIR/said" 2>&1 || true
check "a snapshot is made" lvm_does lvcreate -q -y -s -L 40M -n snap vg/data
dmsetup table | grep ^vg- | sed 's/^/# /'
exits 2 "a target of type snapshot-origin" dieaware attach vg-data
exits 2 "vg-data-real is a part of another volume" dieaware attach vg-data-real
check "and taken away" lvm_does lvremove -q -f vg/snap
check "it is attached again" dieaware attach "$mnt"
check "those that write have seen nothing of it" end_load
written=$(sums "$mnt")
umount "$mnt"
exits 2 "vg-data was not made by \"dieaware create\"" dieaware remove vg-data
check "LVM deactivates it" lvm_does lvchange -an vg/data
check "and activates it" lvm_does lvchange -ay vg/data
check_that "without the target, as after a reboot" "$(targets)" -eq 0
mount /dev/vg/data "$mnt"
check_that "with the same bytes" "$(sums "$mnt")" == "$written"
umount "$mnt"
check "fsck finds nothing" check_fs xfs /dev/vg/data
lvm_does lvchange -q -pr vg/data
check "one that can only be read is attached" dieaware attach vg-data
check_that "and remains so" "$(targets) $(blockdev --getro /dev/vg/data)" == "2 1"
check "and detached" dieaware detach vg-data
check_that "and remains so" "$(targets) $(blockdev --getro /dev/vg/data)" == "0 1"
