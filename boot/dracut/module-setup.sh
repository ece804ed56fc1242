#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What dracut's initramfs needs where the root filesystem lies on a device of dietab(5), or udev has to
# hide what is below one. dracut calls these functions; $initdir is what the initramfs is made of, and
# $moddir has this file.

check() {
	local lines

	require_binaries dieaware dmsetup || return 1
	# What fails here, or is wrong, would be left out without a word: installkernel() says it.
	lines=$(/usr/lib/dieaware/initrd-dietab) || return 0
	# Where nothing asks for it, only who names the module gets it.
	[[ -n $lines ]] || return 255
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

# The machine would not boot without this: when it fails, dracut makes no initramfs.
installkernel() {
	local named needed wanted

	needed=$(/usr/lib/dieaware/initrd-dietab --needed) || {
		derror "dieaware: it cannot be found out what of /etc/dietab the root filesystem needs."
		return 1
	}
	# By name, the module is taken without it as well.
	[[ -n $needed || -e /etc/dietab ]] || return 0
	# shellcheck disable=SC2086 # names have no blanks
	dieaware boot --check /etc/dietab $needed || {
		derror "dieaware: /etc/dietab is wrong: the root filesystem would not be found."
		return 1
	}
	# dracut reads crypttab in an initramfs for this machine only.
	# shellcheck disable=SC2154 # dracut's
	if [[ $hostonly == yes ]]; then
		named=$(/usr/lib/dieaware/initrd-dietab --named all)
		[[ -z $named ]] || {
			derror "dieaware: /etc/crypttab names what $named lies on by itself, and it would be in use: name it by UUID=."
			return 1
		}
	fi
	wanted=$(/usr/lib/dieaware/initrd-dietab --wanted)
	[[ -n $needed$wanted ]] || return 0
	# By hostonly, it would be only what is loaded now.
	# shellcheck disable=SC2154 # dracut's
	hostonly="" instmods -c dm-dieaware || {
		[[ -n $needed ]] || {
			dwarn "dieaware: the kernel $kernel has no module dm-dieaware (dkms status): the machine would not wake from hibernation."
			return 0
		}
		derror "dieaware: the kernel $kernel has no module dm-dieaware (dkms status): the root filesystem would not be found."
		return 1
	}
	hostonly="" instmods nvme
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
	# By the lines that are left, no device is made.
	[[ -n $(/usr/lib/dieaware/initrd-dietab --needed)$(/usr/lib/dieaware/initrd-dietab --wanted) ]] || return 0
	# shellcheck disable=SC2154 # likewise
	inst_hook initqueue/finished 50 "$moddir/dieaware-boot.sh"
	dracut_need_initqueue
}
