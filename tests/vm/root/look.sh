#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The machine whose root filesystem lies on a device of its dietab, or of "dieaware attach": how has it
# come up? Writes "ok - SENTENCE" or "not ok - SENTENCE" to /out/said. The layers are the first
# argument, such as hint+crypt, from the disk up.
# shellcheck disable=SC2317 # look() calls the functions
set -uo pipefail

# shellcheck source=tests/vm/guest.sh
. "$(dirname -- "$0")/../guest.sh"

IFS=+ read -ra layers <<<"$1"
declare -A NAMES=([hint]=die [log]=die [crypt]=secret [typed]=secret [lvm]=vg-root)
names=(nvme0n1) node=/dev/nvme0n1 ours=die
for layer in "${layers[@]}"; do
	case $layer in
	hint | log) mode=$layer below=$node ;;
	attach)
		mode=hint ours=vg-root
		continue
		;;
	spare | without) continue ;;
	esac
	names=("${NAMES[$layer]}" "${names[@]}")
	node=/dev/mapper/${NAMES[$layer]}
done

has_target() {
	dmsetup status $ours | grep "mode=$mode " && dmsetup table $ours | grep " dieaware "
}

# No layer is left out: in hint mode there are two devices with the same UUID.
root_is_on_all() {
	is "$(lsblk -snro NAME "$(findmnt -nvo SOURCE /)" | xargs)" "${names[*]}" && until_true has_target && has_target
}

can_be_written() {
	is "$(findmnt -no FSTYPE,OPTIONS / | grep -c 'rw')" 1 && head -c 3000000 /dev/urandom >/root/data &&
		sync / && echo 3 >/proc/sys/vm/drop_caches && sha256sum /root/data && rm /root/data
}

# systemd finds it there already, and must neither make it again nor call that a failure.
unit_is_right() {
	if [[ $ours == die ]]; then
		until_true systemctl is-active dieaware.target && is "$(systemctl is-failed dieaware@die)" inactive
	else
		until_true systemctl is-active dieaware-attach@-
	fi
}

nothing_failed() {
	unit_is_right &&
		is "$(systemctl --failed --no-legend --plain | grep -c -e dieaware -e root -e crypt)" 0 && return
	systemctl --failed --no-pager
	journalctl -b -n 40 --no-pager -o cat -u 'dieaware@*'
	return 1
}

udev_knows() {
	is "$(readlink -f "/dev/disk/by-uuid/$(findmnt -no UUID /)")" "$(readlink -f "$(findmnt -nvo SOURCE /)")" || return
	# What is attached is LVM's, and has no line in dietab.
	[[ $ours == die ]] || return 0
	until_true systemctl is-active dieaware-watch@die &&
		is "$(udevadm info --query=property --property=ID_FS_TYPE --value "$below")" "dieaware_$mode"
}

# As who does not run from it yet has to ask for it
asked_for() {
	echo 'other /dev/null hint x-initrd.attach' >/tmp/dietab
	echo 'third /dev/null hint' >>/tmp/dietab
	is "$(DIEAWARE_DIETAB=/tmp/dietab /usr/lib/dieaware/initrd-dietab --needed)" other
}

look "the root filesystem is on it" root_is_on_all
look "it can be written" can_be_written
look "no unit failed" nothing_failed
look "udev knows what is what, and somebody watches it" udev_knows
look "a device that is not below it yet is in the initramfs by an option" asked_for
