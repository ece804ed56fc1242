#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The disk that has the backing file loses its power while the file is written: the SSD in
# it is as it was when it was switched off, this time or the time before, and nothing else.
# kernels: uml
# long: 6.12
# smp: 2
# smp on uml: 1
# mem: 2G
# seconds: 60
# timeout: 300
# sentences: 5
. "$(dirname "$0")/rc"

MNT=$T_DIR/mnt
SSD=(ssd1 capacity_mib=32 channels=2 units_per_eblk=16 wbuf_kib=2048 run_units=8 backing_file="$MNT/ssd.img")

# mount_disk: the disk of the file, after a power failure or a new one
mount_disk() {
	DISK=$(ssd_device disk0)
	poll 20 test -b "$DISK"
	mount "$DISK" "$MNT"
}

# disk_is_off: its power has failed
disk_is_off() {
	[[ $(<"$CONFIGFS/disk0/power") == 0 ]]
}

# use_ssd [KEY=VALUE...]: switch the SSD on; its reason if it does not want to
use_ssd() {
	nvmev-ssd create "${SSD[@]}" "$@" >"$T_DIR/said" 2>&1 || return 1
	DEV=$(ssd_device ssd1)
	poll 20 test -b "$DEV"
}

drop_ssd1() {
	[[ -d $CONFIGFS/ssd1 ]] || return 0
	# Without its disk the file cannot be written: that is what is wanted here.
	echo 0 >"$CONFIGFS/ssd1/power" 2>"$T_DIR/output" || true
	rmdir "$CONFIGFS/ssd1"
}

sum_of_ssd() {
	dd if="$DEV" bs=1M count=4 iflag=direct status=none | sha256sum
}

mkdir "$MNT"
new_ssd disk0 capacity_mib=160 plp=0
mkfs.ext4 -q "$DEV"
at_end drop_mount "$MNT"
mount_disk
check "an SSD is made in a file" use_ssd
at_end drop_ssd ssd1
dd if=/dev/urandom of="$DEV" bs=1M count=4 oflag=direct status=none
before=$(sum_of_ssd)
check "and switched off" drop_ssd ssd1

is_old=0 is_new=0
for n in 1 100 130 140 400; do
	use_ssd
	dd if=/dev/urandom of="$DEV" bs=1M count=4 oflag=direct status=none
	now=$(sum_of_ssd)
	sync
	nvmev-ssd power-cut disk0 "$n"
	drop_ssd1
	disk_is_off || nvmev-ssd power-cut disk0
	umount "$MNT"
	nvmev-ssd power-on disk0 >"$T_DIR/output"
	mount_disk
	if ! use_ssd; then
		[[ $(<"$T_DIR/said") =~ in\ use|two\ headers ]] || check_empty "operation $n: it is refused because it was in use" "$(<"$T_DIR/said")"
		drop_ssd1
		use_ssd backing_recover=1
	fi
	case $(sum_of_ssd) in
	"$before") is_old=$((is_old + 1)) ;;
	"$now") is_new=$((is_new + 1)) ;;
	*) check_empty "operation $n: it is one of both" "$(<"$T_DIR/said")" ;;
	esac
	before=$(sum_of_ssd)
	drop_ssd ssd1
done
note "$is_old times as before, $is_new times new"
check_that "after all failures it was one of both" $((is_old + is_new)) -eq 5
check_that "it was that of the time before" "$is_old" -ge 2
check_that "and the new one" "$is_new" -ge 1
