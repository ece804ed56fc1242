#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What dracut's initramfs needs where the root filesystem lies on a device of dietab(5). dracut calls
# these functions; $initdir is what the initramfs is made of, and $moddir has this file.

check() {
	require_binaries dieaware dmsetup || return 1
	# Where nothing asks for it, only who names the module gets it.
	[[ -n $(/usr/lib/dieaware/initrd-dietab) ]] || return 255
}

depends() {
	echo dm
}

installkernel() {
	# Otherwise only what is loaded now
	hostonly="" instmods dm-dieaware nvme
}

install() {
	# shellcheck disable=SC2154 # dracut's
	mkdir -p "$initdir/etc"
	/usr/lib/dieaware/initrd-dietab >"$initdir/etc/dietab"
	inst_multiple dieaware dmsetup
	inst_rules 61-dieaware.rules
	# shellcheck disable=SC2154 # likewise
	inst_hook initqueue/finished 50 "$moddir/dieaware-boot.sh"
	dracut_need_initqueue
}
