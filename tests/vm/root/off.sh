#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The machine that was told to do without the devices of its dietab, and to take the one below for its root
# filesystem. Writes to /out/said, see look.sh.
# shellcheck disable=SC2317 # look() calls the functions
set -uo pipefail

# shellcheck source=tests/vm/guest.sh
. "$(dirname -- "$0")/../guest.sh"

root_is_below() {
	is "$(findmnt -nvo SOURCE /)" /dev/nvme0n1 && is "$(dmsetup ls --target dieaware 2>/dev/null)" "No devices found"
}

can_be_written() {
	is "$(findmnt -no FSTYPE,OPTIONS / | grep -c 'rw')" 1 && head -c 3000000 /dev/urandom >/root/data && sync / && rm /root/data
}

nothing_failed() {
	is "$(systemctl --failed --no-legend --plain | grep -c -e dieaware -e root)" 0 &&
		is "$(systemctl is-enabled dieaware@die 2>/dev/null)" "" && return
	systemctl --failed --no-pager
	return 1
}

udev_hides_nothing() {
	is "$(readlink -f "/dev/disk/by-uuid/$(findmnt -no UUID /)")" /dev/nvme0n1
}

look "the root filesystem is on the device below, and nothing of ours is there" root_is_below
look "it can be written" can_be_written
look "no unit failed" nothing_failed
look "its UUID leads there" udev_hides_nothing
