# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What both machines of move_test.sh do. Sourced.

# shellcheck source=tests/vm/guest.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/../guest.sh"

# shellcheck disable=SC2034
promised=/root/lab/promised.py

# new_ssd NAME MIB FOLDER: one with its data in that folder
new_ssd() {
	nvmev-ssd create "$1" capacity_mib="$2" plp=0 lba_bytes=4096 backing_file="$3/$1" >/dev/null
}

# By which the kernel copies: a share of the time, in percent
copy_share() {
	echo "$1" >/sys/module/dm_mirror/parameters/raid1_resync_throttle
}

# As programs do that repartition, or udev's package when it is upgraded
look_at_all_again() {
	udevadm trigger --subsystem-match=block --action=change && settle
}

# leads FOLDER DEVICE: its filesystem's UUID, by which it stands in fstab, leads there; and systemd
# has it mounted, which it would not when the name had been gone for a moment
leads() {
	local uuid

	uuid=$(awk -v folder="$1" '$2 == folder { sub("UUID=", "", $1); print $1 }' /etc/fstab)
	is "$(readlink -f "/dev/disk/by-uuid/$uuid")" "$(readlink -f "$2")" &&
		is "$(systemctl show -P ActiveState "$(systemd-escape -p --suffix=mount "$1")")" active
}

# is_mirrored NAME
is_mirrored() {
	dmsetup table "$1" | grep -q " mirror "
}

# begin_move VOLUME TARGET: below the filesystem of /srv/VOLUME; returns while it is copied
begin_move() {
	modprobe dm-mirror
	copy_share 1
	dieaware move "/srv/$1" "$2" >/tmp/moved 2>&1 &
	MOVING=$!
	until_true is_mirrored "vg-$1"
}

# While it is copied, the copy has the same UUID, and must not be found by it.
is_right_while_copied() {
	settle && leads "/srv/$1" "/dev/mapper/vg-$1" && look_at_all_again && leads "/srv/$1" "/dev/mapper/vg-$1" &&
		is "$(readlink -f "/dev/vg/$1")" "$(readlink -f "/dev/mapper/vg-$1")" && is_mirrored "vg-$1"
}

ends_well() {
	copy_share 100
	wait "$MOVING" && dmsetup table "vg-$1" | grep linear && ! dmsetup info "vg-$1-old" && return
	cat /tmp/moved
	return 1
}

no_unit_failed() {
	! systemctl --failed --no-legend --plain | grep -e dieaware -e srv
}

# Whoever mounts it from now on has the new device.
is_right_afterwards() {
	until_true leads "/srv/$1" "/dev/mapper/vg-$1-log" || leads "/srv/$1" "/dev/mapper/vg-$1-log" || return
	look_at_all_again && leads "/srv/$1" "/dev/mapper/vg-$1-log" &&
		is "$(findmnt -nvo SOURCE "/srv/$1")" "/dev/mapper/vg-$1" && grep "^vg-$1-log UUID" /etc/dietab &&
		no_unit_failed
}
