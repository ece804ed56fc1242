#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# dieaware move below mounted filesystems, with systemd and udev at work: one guest moves one to its end,
# and its power fails while it moves another one; a second one boots from what is left. Prints
# ok / not ok lines and a closing line. Takes some 2 minutes.

set -euo pipefail

# shellcheck source=tests/vm/lib.sh
. "$(dirname -- "$(readlink -f -- "$0")")/lib.sh"

scripts=$top/tests/vm/move

# guest SCRIPT
guest() {
	relay --mem 3G --copy "$scripts" --copy "$top/tests/lab/promised.py" \
		--root "$work/root" --systemd --timeout 600 -- bash "move/$1"
}

# What the first machine had on its disks is on the second one's.
pass_on() {
	local etc=$work/root/etc

	mkdir -p "$etc/systemd/system/sysinit.target.wants" "$work/root/var/lib" "$work/root/srv"/{whole,half}
	cp "$work/files"/{dietab,fstab} "$etc/" && cp -r "$work/files/dieaware" "$work/root/var/lib/" || return
	sed 's|boot/attach.sh|move/attach.sh|' "$top/tests/vm/boot/virtual-ssds.service" >"$etc/systemd/system/virtual-ssds.service"
	ln -s ../virtual-ssds.service "$etc/systemd/system/sysinit.target.wants/"
}

expect "the files that a boot needs are installed" install_root
expect "a machine moves filesystems" guest make.sh
expect_said "$work/files/said" "$scripts/make.sh"
expect "what it had goes to another one" pass_on
expect "which boots" guest look.sh
expect_said "$work/files/said" "$scripts/look.sh" "after that: "
conclude
