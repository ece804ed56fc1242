#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The root filesystem on a device of /etc/dietab, below and above LUKS and LVM: a Debian with
# initramfs-tools or with dracut makes its initramfs by what is installed there for that, and boots from
# it. Prints ok / not ok lines and a closing line. Each stack takes some 1.5 minutes.
#
# Usage: tests/vm/root_test.sh [SUITE] TOOL STACK... [[SUITE] TOOL STACK...]...
#
# A SUITE is bookworm or trixie, without one that of this machine.
# A TOOL is initramfs-tools, dracut, which makes a general initramfs, as Debian has it, or
# dracut-hostonly, which makes one for that machine.
# A STACK is layers from the disk up with + between them, of tests/vm/root/stack.sh: hint, log, crypt,
# typed (whose passphrase is typed at the console), lvm, attach, spare (a line with nofail whose disk is
# not there). Or it is
#   data    below the root filesystem is nothing of ours, but below a volume on a second partition
#   hint+without, and other stacks with hint at their top
#           as without that, but the initramfs is made while the machine runs without the target
#   off     as hint, but the kernel's parameters ask for the device below, without the target

set -euo pipefail

# shellcheck source=tests/vm/lib.sh
. "$(dirname -- "$(readlink -f -- "$0")")/lib.sh"
# shellcheck source=scripts/lib/load.sh
. "$top/scripts/lib/load.sh"
# shellcheck source=scripts/lib/qemu.sh
. "$DIEAWARE_LIB/qemu.sh"

SUITE=$(host_suite) TOOL=""
root=$work/root
disk=$work/disk
# The filesystem, and room for a log, LUKS and LVM around it
ROOT_MIB=448 DISK_MIB=640

# How the tool is called, and which packages it has, also for LUKS
declare -A MAKE=(
	[initramfs-tools]="mkinitramfs -o /initrd.img"
	[dracut]="dracut --no-hostonly --no-early-microcode --force /initrd.img"
	[dracut-hostonly]="dracut --hostonly --no-early-microcode --force /initrd.img"
)
declare -A PACKAGES=(
	[initramfs-tools]="cryptsetup-initramfs,initramfs-tools"
	[dracut]="cryptsetup-bin,dracut"
	[dracut-hostonly]="cryptsetup-bin,dracut"
)

# What else they need in a suite
declare -A MORE_PACKAGES=(
	["trixie dracut"]=",systemd-cryptsetup"
	["trixie dracut-hostonly"]=",systemd-cryptsetup"
)

# Builder: DIR/root, a Debian that makes an initramfs by these packages, but has no kernel.
bootable_build() {
	local suite=$1 packages=$2 dir=$3

	say "building a Debian ($suite) with $packages (once, about a minute)"
	quietly as_root mmdebstrap --variant=minbase \
		--include="$packages,dmsetup,e2fsprogs,kmod,lvm2,systemd,systemd-sysv,udev" \
		--aptopt='APT::Install-Recommends "false"' --aptopt='APT::Sandbox::User "root"' \
		--aptopt="$(host_apt_settings)" --dpkgopt=force-unsafe-io \
		--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		"$suite" "$dir/root" "$(debian_mirror)" ||
		die "The Debian could not be built: see the lines above."
	as_root rm -rf "$dir/root"/var/{cache,lib/apt,log}/* "$dir/root/usr/lib/udev/hwdb.bin"
	as_root chown -R --no-dereference "$(id -u):$(id -g)" "$dir/root"
}

# The kernel's modules, ours, the tool, and the lab's job as the last service.
prepare() {
	local packages

	need_groups base fetch rootfs qemu modules
	lab_kernel_need 6.12
	toolchain_need 6.12
	stock_modules_need
	own_modules_need plain "${OWN_MODULE_FOLDERS[@]}"
	own_modules_packed
	packages=${PACKAGES[$TOOL]}${MORE_PACKAGES[$SUITE $TOOL]:-}
	cache_get bootable "$(hash_words "$SUITE" "$packages" "$(declare -f bootable_build)")" \
		bootable_build "$SUITE" "$packages"
	rm -rf "$root"
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
	# Of modules, only what the hooks ask for, which the modprobes for all others would take most of the time for
	mkdir -p "$root"/etc/{cryptsetup-initramfs,dracut.conf.d,initramfs-tools/conf.d}
	echo MODULES=list >"$root/etc/initramfs-tools/conf.d/lab"
	echo ext4 >>"$root/etc/initramfs-tools/modules"
	# For its own machine dracut takes modules that are loaded, and here another kernel runs.
	echo 'add_drivers+=" dm_crypt ext4 "' >"$root/etc/dracut.conf.d/lab.conf"
	# Nobody types a passphrase.
	echo 'KEYFILE_PATTERN="/etc/keys/*.key"' >"$root/etc/cryptsetup-initramfs/conf-hook"
	install -m 755 "$DIEAWARE_LIB/guest-init" "$root/usr/local/sbin/lab-job"
	cp -r "$top/tests/vm/root" "$top/tests/vm/guest.sh" "$top/scripts/lib/whole.sh" "$root/root/lab/"
}

# quiet COMMAND...: what it says is shown when it fails.
quiet() {
	"$@" >"$work/log" 2>&1 || {
		tail -n 40 "$work/log" | sed 's/^/# /'
		return 1
	}
}

# look_of STACK: what its machine looks at
look_of() {
	case $1 in
	data | off) echo "root/$1.sh" ;;
	*) echo root/look.sh ;;
	esac
}

# make STACK: the disk, in a machine that is not emulated, and the initramfs
make() {
	local layers

	IFS=+ read -ra layers <<<"${1/#off/hint}"
	COMMAND=(bash "$(look_of "$1")" "$1")
	print_command >"$root/lab/command"
	rm -rf "$disk" "$work/fs" "$work/made"
	truncate -s "${DISK_MIB}M" "$disk"
	# A disk has blocks of 512 bytes, and log mode 4096.
	quiet mkfs.ext4 -q -b 4096 -m 0 -E root_owner=0:0 -d "$root" "$work/fs" "${ROOT_MIB}M" &&
		quiet "$top/scripts/uml" --plain --disk "$disk" --disk "$work/fs" --copy "$top/tests/vm/root" \
			--out "$work/made" -- bash root/stack.sh /dev/ubdb /dev/ubdc "$KERNEL_VERSION" "${MAKE[$TOOL]}" "${layers[@]}"
}

# In log mode no device below has the filesystem's UUID: by its node, the root filesystem is found as well.
parameters_of() {
	case $1 in
	log) echo root=/dev/mapper/die ;;
	off) echo root=/dev/nvme0n1 dieaware=off ;;
	*) echo "root=UUID=$(<"$work/made/uuid")" ;;
	esac
	if [[ $TOOL == dracut ]]; then
		cat "$work/made/parameters"
	fi
}

# The machine's console reads what is typed, and goes to the same file as without that.
console_with_keys() {
	mkfifo "$RUN/keys.in" "$RUN/keys.out"
	QEMU_ARGS=("${QEMU_ARGS[@]/#"file,id=console,path=$RUN/console"/"pipe,id=console,path=$RUN/keys,logfile=$RUN/console"}")
	cat "$RUN/keys.out" >/dev/null &
	type_passphrase &
}

# Each time that it is asked for, also when the machine has to boot again
type_passphrase() {
	while sleep 1 && [[ -e $RUN/console ]]; do
		grep -aqE 'Please (unlock|enter passphrase)' "$RUN/console" || continue
		echo typed at the console >"$RUN/keys.in"
		sleep 60
	done
}

boots() {
	(
		OUT=$work/back
		run_begin
		CONSOLE=$work/console
		qemu_arguments "$KERNEL_IMAGE" "$work/made/initrd.img" 2 1G 0 "$(parameters_of "$1" | xargs) ro oops=panic"
		QEMU_ARGS+=(-drive "file=$disk,format=raw,if=none,id=root,cache=unsafe" -device "nvme,drive=root,serial=lab")
		console_with_keys
		machine_run
	)
}

look_at() {
	local name="$1 with $TOOL of $SUITE"

	rm -rf "$work/back"
	expect "$name: an initramfs is made, and a disk has the filesystem" make "$1"
	expect "$name: a machine boots from it" quiet boots "$1"
	expect_said "$work/back/said" "$top/tests/vm/$(look_of "$1")" "$name: "
}

[[ -n ${MAKE[${1:-none}]:-}${MAKE[${2:-none}]:-} && $# -gt 1 ]] || {
	echo "root_test.sh: name initramfs-tools, dracut or dracut-hostonly, and a stack such as hint+crypt." >&2
	exit 2
}
for word; do
	if [[ $word == bookworm || $word == trixie ]]; then
		SUITE=$word
	elif [[ -n ${MAKE[$word]:-} ]]; then
		TOOL=$word
		prepare
	else
		look_at "$word"
	fi
done
conclude
