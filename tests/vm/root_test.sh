#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The root filesystem on a device of /etc/dietab, in both modes: a Debian with initramfs-tools or
# with dracut makes its initramfs by what is installed there for that, and boots from it. Prints
# ok / not ok lines and a closing line. Takes some 2 minutes.
#
# Usage: tests/vm/root_test.sh initramfs-tools|dracut

set -euo pipefail

# shellcheck source=tests/vm/lib.sh
. "$(dirname -- "$(readlink -f -- "$0")")/lib.sh"
# shellcheck source=scripts/lib/load.sh
. "$top/scripts/lib/load.sh"
# shellcheck source=scripts/lib/qemu.sh
. "$DIEAWARE_LIB/qemu.sh"

TOOL=${1:-}
root=$work/root
disk=$work/disk
# The filesystem, and a log with room for it
ROOT_MIB=448 DISK_MIB=640

# Builder: DIR/root, a Debian that makes an initramfs by that tool, but has no kernel.
bootable_build() {
	local tool=$1 dir=$2

	say "building a Debian with $tool (once, about a minute)"
	quietly as_root mmdebstrap --variant=minbase \
		--include="dmsetup,e2fsprogs,$tool,kmod,systemd,systemd-sysv,udev" \
		--aptopt='APT::Install-Recommends "false"' --aptopt='APT::Sandbox::User "root"' \
		--aptopt="$(host_apt_settings)" --dpkgopt=force-unsafe-io \
		--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		"$(host_suite)" "$dir/root" "$(debian_mirror)" ||
		die "The Debian could not be built: see the lines above."
	as_root rm -rf "$dir/root"/var/{cache,lib/apt,log}/* "$dir/root/usr/lib/udev/hwdb.bin"
	as_root chown -R --no-dereference "$(id -u):$(id -g)" "$dir/root"
}

# The kernel's modules, ours, the tool, and the lab's job as the last service.
prepare() {
	need_groups base fetch rootfs qemu modules
	lab_kernel_need 6.12
	stock_modules_need
	toolchain_need 6.12
	own_modules_need plain "${OWN_MODULE_FOLDERS[@]}"
	own_modules_packed
	cache_get bootable "$(hash_words "$(host_suite)" "$TOOL" "$(declare -f bootable_build)")" \
		bootable_build "$TOOL"
	cp -a "$CACHE_ENTRY/root" "$root"
	cp -a "$STOCK_MODULES_TREE/." "$root/"
	(cd "$root" && cpio --quiet -idu <"$OWN_MODULES_CPIO")
	depmod -b "$root/usr" "$KERNEL_VERSION"
	# By it, mkinitramfs knows how the kernel unpacks.
	install -D -m 644 "$KERNEL_HEADERS/.config" "$root/boot/config-$KERNEL_VERSION"
	tools_need
	"$top/scripts/install" "$root"
	rootfs_config "$root"
	rootfs_with_systemd "$root"
	echo "/dev/mapper/root / ext4 defaults 0 1" >"$root/etc/fstab"
	install -m 755 "$DIEAWARE_LIB/guest-init" "$root/usr/local/sbin/lab-job"
	cp -r "$top/tests/vm/root" "$top/tests/vm/guest.sh" "$root/root/lab/"
}

# How the tool is called
declare -A MAKE=(
	[initramfs-tools]="mkinitramfs -o /initrd.img"
	[dracut]="dracut --no-hostonly --no-early-microcode --force /initrd.img"
)

# make_initramfs LINE-OF-DIETAB COMMAND...: what is in the root filesystem from now on, and initrd.img
make_initramfs() {
	echo "$1" >"$root/etc/dietab"
	shift
	COMMAND=("$@")
	print_command >"$root/lab/command"
	# shellcheck disable=SC2086 # words
	TOOLCHAIN=$root toolchain_run env PATH=/usr/sbin:/usr/bin:/sbin:/bin \
		${MAKE[$TOOL]} "$KERNEL_VERSION" >"$work/log" 2>&1 || {
		sed 's/^/# /' "$work/log"
		return 1
	}
	mv "$root/initrd.img" "$work/initrd.img"
}

# make_fs FILE [OPTION...]: the root filesystem
make_fs() {
	rm -f "$1"
	mkfs.ext4 -q -b 4096 -m 0 -E root_owner=0:0 -d "$root" "${@:2}" "$1" "${ROOT_MIB}M" >"$work/log" 2>&1 || {
		sed 's/^/# /' "$work/log"
		return 1
	}
}

# Its UUID is that of the disk below, too, and it is the device above that has to be taken.
prepare_hint() {
	make_initramfs "root ID=nvme-QEMU_NVMe_Ctrl_lab hint x-initrd.attach" bash root/look.sh hint &&
		make_fs "$disk" -U "$UUID" && truncate -s "${DISK_MIB}M" "$disk"
}

# The filesystem goes into the log through the target, in a machine that is not emulated.
prepare_log() {
	local uuid

	rm -f "$disk"
	truncate -s "${DISK_MIB}M" "$disk"
	"$TOOLS_DIR/dieaware" format "$disk" >/dev/null
	uuid=$("$TOOLS_DIR/dieaware" udev "$disk" | sed -n 's/^ID_FS_UUID=//p')
	make_initramfs "root UUID=$uuid log x-initrd.attach" bash root/look.sh log && make_fs "$work/fs" || return
	"$top/scripts/uml" --plain --disk "$disk" --disk "$work/fs" -- \
		'dieaware create --mode log root /dev/ubdb && dd if=/dev/ubdc of=/dev/mapper/root bs=1M oflag=direct status=none &&
		dieaware remove root' >"$work/log" 2>&1 || {
		sed 's/^/# /' "$work/log"
		return 1
	}
}

# boots MODE PARAMETER: from that disk, with that initramfs
boots() {
	local status=0

	(
		OUT=$work/back-$1
		run_begin
		CONSOLE=$work/console
		qemu_arguments "$KERNEL_IMAGE" "$work/initrd.img" 2 1G 0 "$2 ro oops=panic"
		QEMU_ARGS+=(-drive "file=$disk,format=raw,if=none,id=root,cache=unsafe" -device "nvme,drive=root,serial=lab")
		machine_run
	) >"$work/log" 2>&1 || status=$?
	((status == 0)) || tail -n 40 "$work/log" | sed 's/^/# /'
	return "$status"
}

# look_at MODE PARAMETER
look_at() {
	local mode=$1

	expect "$mode mode: $TOOL makes an initramfs, and a disk has the filesystem" "prepare_$mode"
	expect "$mode mode: a machine boots from it" boots "$mode" "$2"
	expect_said "$work/back-$mode/said" "$top/tests/vm/root/look.sh" "$mode mode: "
}

[[ -n ${MAKE[$TOOL]:-} ]] || {
	echo "root_test.sh: name initramfs-tools or dracut, not '$TOOL'." >&2
	exit 2
}
UUID=$(</proc/sys/kernel/random/uuid)
prepare
look_at hint "root=UUID=$UUID"
look_at log root=/dev/mapper/root
conclude
