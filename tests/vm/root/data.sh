#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The machine whose root filesystem lies on nothing of ours, but a volume of LVM on a device in hint mode:
# did something take the device below it before ours was there? Writes to /out/said, see look.sh.
# shellcheck disable=SC2317 # look() calls the functions
set -uo pipefail

# shellcheck source=tests/vm/guest.sh
. "$(dirname -- "$0")/../guest.sh"

volume_is_on_it() {
	until_true findmnt /srv
	is "$(lsblk -snro NAME "$(findmnt -nvo SOURCE /srv)" | xargs)" "vg-data die nvme0n1p2 nvme0n1"
}

has_hints() {
	dmsetup status die | grep 'mode=hint ' && head -c 3000000 /dev/urandom >/srv/data && sync /srv
}

unit_made_it() {
	is "$(systemctl is-active dieaware@die)" active &&
		is "$(systemctl --failed --no-legend --plain | grep -c -e dieaware -e srv)" 0 && return
	systemctl --failed --no-pager
	journalctl -b -n 40 --no-pager -o cat -u 'dieaware@*'
	return 1
}

udev_knows() {
	is "$(udevadm info --query=property --property=ID_FS_TYPE --value /dev/nvme0n1p2)" dieaware_hint &&
		is "$(udevadm info --query=property --property=ID_FS_TYPE --value /dev/mapper/die)" LVM2_member
}

look "a volume lies on the device in hint mode, not on the one below" volume_is_on_it
look "that can be written" has_hints
look "its unit made the device, and none failed" unit_made_it
look "udev knows which of the two is LVM's" udev_knows
