#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The machine whose root filesystem lies on the device "root" of its dietab: how has it come up?
# Writes "ok - SENTENCE" or "not ok - SENTENCE" to /out/said. The mode is the first argument.
# shellcheck disable=SC2317 # look() calls the functions
set -uo pipefail

# shellcheck source=tests/vm/guest.sh
. "$(dirname -- "$0")/../guest.sh"

mode=$1

root_is_ours() {
	is "$(findmnt -nvo SOURCE /)" /dev/mapper/root &&
		dmsetup status root | grep "mode=$mode " && dmsetup table root | grep " dieaware "
}

can_be_written() {
	is "$(findmnt -no FSTYPE,OPTIONS / | grep -c 'rw')" 1 && head -c 3000000 /dev/urandom >/root/data &&
		sync / && echo 3 >/proc/sys/vm/drop_caches && sha256sum /root/data && rm /root/data
}

# systemd finds it there already, and must neither make it again nor call that a failure.
nothing_failed() {
	until_true systemctl is-active dieaware.target && is "$(systemctl is-failed dieaware@root)" inactive &&
		is "$(systemctl --failed --no-legend --plain | grep -c -e dieaware -e root)" 0 && return
	systemctl --failed --no-pager
	journalctl -b -n 40 --no-pager -o cat -u 'dieaware@*'
	return 1
}

udev_knows() {
	until_true systemctl is-active dieaware-watch@root || return
	is "$(udevadm info --query=property --property=ID_FS_TYPE --value /dev/nvme0n1)" "dieaware_$mode" &&
		is "$(readlink -f "/dev/disk/by-uuid/$(findmnt -no UUID /)")" "$(readlink -f /dev/mapper/root)"
}

# Who has not asked for it gets it all the same, since it is below the root filesystem.
hook_finds_it() {
	sed 's/,*x-initrd.attach//' /etc/dietab >/tmp/dietab && ! grep initrd /tmp/dietab || return
	echo 'other /dev/null hint' >>/tmp/dietab
	is "$(DIEAWARE_DIETAB=/tmp/dietab /usr/lib/dieaware/initrd-dietab | cut -d ' ' -f 1 | xargs)" root
}

look "the root filesystem is on it" root_is_ours
look "it can be written" can_be_written
look "no unit failed" nothing_failed
look "udev knows what is what, and somebody watches it" udev_knows
look "the hook would have found the device by itself" hook_finds_it
