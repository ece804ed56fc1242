#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The machine that moves filesystems while they are mounted and written: one to the end; in the middle
# of the other one the power fails. Writes "ok - SENTENCE" or "not ok - SENTENCE" to /out/said, and
# what the next machine needs to /out.
# shellcheck disable=SC2317 # look() calls the functions
set -uo pipefail

# shellcheck source=tests/vm/move/common.sh
. "$(dirname -- "$0")/common.sh"

# make_volume NAME: a filesystem that fstab names by its UUID, mounted by systemd, with somebody who writes
make_volume() {
	local uuid

	lvcreate -q -y -Wn -L 64M -n "$1" vg && mkfs.ext4 -q "/dev/vg/$1" && mkdir -p "/srv/$1" || return
	uuid=$(blkid -p -s UUID -o value "/dev/vg/$1")
	echo "UUID=$uuid /srv/$1 ext4 nofail 0 0" >>/etc/fstab
	# Of what is on a new volume, LVM has udev look away.
	look_at_all_again && until_true test -e "/dev/disk/by-uuid/$uuid" && systemctl daemon-reload && mount "/srv/$1" || return
	python3 $promised write "/srv/$1" "/out/$1.promises" >/dev/null 2>&1 &
	WRITERS+=($!)
	until_true test -s "/out/$1.promises"
}

make_volumes() {
	new_ssd one 160 /out && new_ssd two 128 /out && new_ssd three 128 /out && settle || return
	pvcreate -q "$(nvmev-ssd dev one)" && vgcreate -q vg "$(nvmev-ssd dev one)" &&
		make_volume whole && make_volume half
}

# The old volume has the new device for itself, until LVM gives it up. Then the same line of fstab mounts that.
is_mounted_anew() {
	kill "${WRITERS[0]}"
	wait "${WRITERS[0]}" || true
	systemctl stop srv-whole.mount && lvremove -q -y vg/whole && systemctl start srv-whole.mount &&
		is "$(findmnt -nvo SOURCE /srv/whole)" /dev/mapper/vg-whole-log &&
		python3 $promised check /srv/whole /out/whole.promises && systemctl stop srv-whole.mount &&
		fsck.ext4 -fn /dev/mapper/vg-whole-log && dmsetup remove vg-whole-log &&
		dieaware check "$(nvmev-ssd dev two)"
}

# What waits for the devices has to end before this machine can.
is_cut() {
	for ssd in one two three; do
		nvmev-ssd power-cut $ssd
	done
	kill -9 "$MOVING" "${WRITERS[@]}"
	dmsetup wipe_table --noflush --nolockfs vg-half && systemctl stop srv-half.mount &&
		cp -r /etc/dietab /etc/fstab /var/lib/dieaware /out/ &&
		tar -C /out --sparse --hole-detection=raw -czf /tmp/ssds.tar.gz one two three &&
		rm /out/one /out/two /out/three && mv /tmp/ssds.tar.gz /out/
}

WRITERS=()
look "volumes are mounted, and written" make_volumes
look "a move begins" begin_move whole "$(nvmev-ssd dev two)"
look "while it is copied, names lead to the device that counts" is_right_while_copied whole
look "it ends" ends_well whole
look "names lead to the new device, and it stays mounted" is_right_afterwards whole
look "LVM gives up the old one, and fstab mounts the new one" is_mounted_anew
look "another one begins" begin_move half "$(nvmev-ssd dev three)"
look "and the power fails" is_cut
