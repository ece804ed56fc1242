#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Devices of /etc/dietab come back: one guest makes them and stops, another one boots with
# systemd and has their filesystems mounted. Prints ok / not ok lines and a closing line.
# Takes some 3 minutes.

set -euo pipefail

# shellcheck source=tests/vm/lib.sh
. "$(dirname -- "$(readlink -f -- "$0")")/lib.sh"

scripts=$top/tests/vm/boot

# guest SCRIPT
guest() {
	relay --mem 3G --copy "$scripts" --root "$work/root" --systemd -- bash "boot/$1"
}

# The second machine finds these at boot.
install_tables() {
	local etc=$work/root/etc

	mkdir -p "$etc/systemd/system/sysinit.target.wants"
	cp "$scripts"/{dietab,fstab} "$etc/"
	cp "$scripts/virtual-ssds.service" "$etc/systemd/system/"
	ln -s ../virtual-ssds.service "$etc/systemd/system/sysinit.target.wants/"
	sed -i "s/@UUID@/$(<"$work/files/uuid")/" "$etc/dietab"
	mkdir -p "$work/root/srv"/{fast,small,volume} "$etc/systemd/system/multi-user.target.wants"
	# As "systemctl enable" does
	ln -s '/usr/lib/systemd/system/dieaware-runs@.service' \
		"$etc/systemd/system/multi-user.target.wants/dieaware-runs@srv-fast.service"
	ln -s '/usr/lib/systemd/system/dieaware-attach@.service' \
		"$etc/systemd/system/multi-user.target.wants/dieaware-attach@srv-volume.service"
	install -D -m 644 "$scripts/multipath.conf" "$etc/multipath.conf"
	mkdir -p "$work/root/var/lib/prometheus/node-exporter" "$etc/systemd/system/timers.target.wants"
	ln -s '/usr/lib/systemd/system/dieaware-export.timer' \
		"$etc/systemd/system/timers.target.wants/dieaware-export.timer"
	install -D -m 755 "$scripts/event.sh" "$etc/dieaware/events.d/10-note"
	install -D "$work/files/fast.runs" "$work/root/var/lib/dieaware/runs/srv-fast"
}

expect "the files that a boot needs are installed" install_root
expect "a machine makes devices in both modes, filesystems and volumes" guest make.sh
install_tables
expect "another one boots" guest look.sh
expect_said "$work/files/said" "$scripts/look.sh"

conclude
