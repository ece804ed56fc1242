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

# dracut names each volume of LVM on which it knows anything, such as swap, and then opens no others. What
# is on one with a log it does not know.
cmdline() {
	local name mode volume type

	while read -r name _ mode _; do
		[[ $mode == log ]] || continue
		read -r volume type < <(lsblk -snro NAME,TYPE "/dev/mapper/$name" 2>/dev/null | sed -n 2p)
		[[ $type == lvm ]] || continue
		eval "$(dmsetup splitname --nameprefixes --noheadings --rows "$volume")"
		# shellcheck disable=SC2154 # dmsetup says them
		printf ' rd.lvm.lv=%s/%s' "$DM_VG_NAME" "$DM_LV_NAME"
	done < <(/usr/lib/dieaware/initrd-dietab)
}

installkernel() {
	# Otherwise only what is loaded now
	hostonly="" instmods dm-dieaware nvme
}

install() {
	# shellcheck disable=SC2154 # dracut's
	mkdir -p "$initdir/etc"
	/usr/lib/dieaware/initrd-dietab >"$initdir/etc/dietab"
	# Only in an initramfs for this machine, as dracut's own do it
	# shellcheck disable=SC2154 # likewise
	if [[ $hostonly_cmdline == yes ]]; then
		mkdir -p "$initdir/etc/cmdline.d"
		cmdline >"$initdir/etc/cmdline.d/90dieaware.conf"
	fi
	inst_multiple dieaware dmsetup
	inst_rules 61-dieaware.rules
	# shellcheck disable=SC2154 # likewise
	inst_hook initqueue/finished 50 "$moddir/dieaware-boot.sh"
	dracut_need_initqueue
}
