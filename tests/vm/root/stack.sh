#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Puts layers on a disk, the lowest first, and a Debian on the topmost one, as an installer does: its
# initramfs is made by what is installed in it, from all that is there now. That goes to
# /out/initrd.img, the UUID of its filesystem to /out/uuid, and what a general initramfs of dracut's has
# to be told besides to /out/parameters.
#
# Usage: stack.sh DISK FILESYSTEM KERNEL-VERSION "COMMAND..." LAYER...    (hint, log, crypt, typed,
# lvm, attach, spare, without, data)
set -euo pipefail

disk=$1 filesystem=$2 version=$3 make=$4
shift 4
top=$disk
# The disk's name in the other machine
name=ID=nvme-QEMU_NVMe_Ctrl_lab
key=/tmp/key
undo=()
dietab="" crypttab="" parameters="" swap="" data="" attached=0 without=0 below_hint="" keyfile=""

# dieaware is there: what the next layer calls it
put_die() {
	dieaware create --mode "$@" die "$top"
	undo=("dieaware remove die" "${undo[@]}")
	top=/dev/mapper/die
	name=/dev/mapper/die
}

put_hint() {
	below_hint=$top
	dietab="die $name hint"
	put_die hint
}

put_log() {
	dieaware format "$top"
	dietab="die UUID=$(dieaware udev "$top" | sed -n 's/^ID_FS_UUID=//p') log"
	put_die log
}

# crypt_by FILE: by what is in $key, which the machine has in FILE, or "none"
crypt_by() {
	local luks

	cryptsetup -q luksFormat --pbkdf pbkdf2 --pbkdf-force-iterations 1000 "$top" "$key"
	cryptsetup open --key-file "$key" "$top" secret
	luks=$(cryptsetup luksUUID "$top")
	crypttab="secret UUID=$luks $1 luks"
	parameters+=" rd.luks.name=$luks=secret"
	if [[ $1 != none ]]; then
		parameters+=" rd.luks.key=$luks=$1"
		keyfile=$1
	fi
	undo=("cryptsetup close secret" "${undo[@]}")
	top=/dev/mapper/secret
	name=/dev/mapper/secret
}

put_crypt() {
	head -c 32 /dev/urandom >"$key"
	crypt_by /etc/keys/root.key
}

# The test's other half types it.
put_typed() {
	echo -n typed at the console >"$key"
	crypt_by none
}

# What is below a device in hint mode has the same signs as that, and LVM asks nobody but itself: where it
# finds them twice it makes no group of volumes.
lvm_does() {
	local config=()

	[[ -z $below_hint ]] || config=(--config "devices { global_filter = [ \"r|^$below_hint\$|\" ] }")
	"$1" -q "${config[@]}" "${@:2}"
}

put_lvm() {
	lvm_does pvcreate "$top"
	lvm_does vgcreate vg "$top"
	# As installers do it: of a group dracut opens all volumes, but where some are named only those.
	lvm_does lvcreate -y -Wn -L 8M -n swap vg
	mkswap -q /dev/vg/swap
	swap=/dev/vg/swap
	lvm_does lvcreate -y -Wn -l 100%FREE -n root vg
	parameters+=" rd.lvm.lv=vg/root"
	undo=("lvm_does vgchange -an vg" "${undo[@]}")
	top=/dev/mapper/vg-root
	name=/dev/vg/root
}

put_attach() {
	attached=1
}

# Another line, of a disk that has been unplugged
put_spare() {
	dietab+=$'\nspare ID=nvme-unplugged hint x-initrd.attach,nofail,x-systemd.device-timeout=5'
}

# The initramfs is made while the machine runs without the device in hint mode, which is the topmost layer.
put_without() {
	without=1
}

go_without() {
	umount /mnt
	dieaware remove die
	undo=("${undo[@]:1}")
	mkdir -p /dev/disk/by-id
	ln -s "$disk" /dev/disk/by-id/nvme-QEMU_NVMe_Ctrl_lab
	mount "$below_hint" /mnt
}

# The root filesystem gets a partition as it is, and the other one a volume above hint mode.
put_data() {
	sfdisk -q "$disk" <<-'END'
		label: gpt
		size=450M
		size=+
	END
	top=${disk}2 name+=-part2
	put_hint
	lvm_does pvcreate "$top"
	lvm_does vgcreate vg "$top"
	lvm_does lvcreate -y -Wn -l 100%FREE -n data vg
	data=/dev/vg/data
	mkfs.ext4 -q "$data"
	undo=("lvm_does vgchange -an vg" "${undo[@]}")
	top=${disk}1
}

# Everything that a boot of this stack needs
configure() {
	local etc=$1/etc

	echo "$dietab" >"$etc/dietab"
	echo "UUID=$uuid / ext4 defaults 0 1" >"$etc/fstab"
	if [[ -n $swap ]]; then
		echo "$swap none swap defaults 0 0" >>"$etc/fstab"
	fi
	echo "$crypttab" >"$etc/crypttab"
	if [[ -n $keyfile ]]; then
		install -D -m 600 "$key" "$1$keyfile"
		echo "install_items+=\" $keyfile \"" >"$etc/dracut.conf.d/key.conf"
	fi
	if [[ -n $data ]]; then
		echo "$data /srv ext4 nofail 0 2" >>"$etc/fstab"
	fi
	# Where nobody needs our module, our hook does not ask for the driver.
	if ((attached)) || [[ -n $data ]]; then
		echo nvme >>"$etc/initramfs-tools/modules"
	fi
	if ((attached)); then
		ln -s '/usr/lib/systemd/system/dieaware-attach@.service' \
			"$etc/systemd/system/multi-user.target.wants/dieaware-attach@-.service"
	fi
}

# Names that udev gives on a machine which runs: by these dracut finds what is below. Of two devices with
# the same UUID the upper one has it.
name_devices() {
	local device uuid

	mkdir -p /dev/block /dev/disk/by-uuid
	for device in /sys/block/ubd* /sys/block/dm-*; do
		[[ -e $device ]] || continue
		ln -sf "../${device##*/}" "/dev/block/$(<"$device/dev")"
		uuid=$(blkid -p -s UUID -o value "/dev/${device##*/}") || continue
		ln -sf "../../${device##*/}" "/dev/disk/by-uuid/$uuid"
	done
}

for layer; do
	"put_$layer"
done
dd if="$filesystem" of="$top" bs=1M oflag=direct status=none
mount "$top" /mnt
uuid=$(blkid -p -s UUID -o value "$top")
echo "$uuid" >/out/uuid
echo "$parameters" >/out/parameters
configure /mnt
if ((without)); then
	go_without
fi
name_devices
for folder in dev proc sys; do
	mount --rbind "/$folder" "/mnt/$folder"
done
if [[ -n $swap ]]; then
	chroot /mnt swapon "$swap"
fi
# shellcheck disable=SC2086 # words
chroot /mnt env PATH=/usr/sbin:/usr/bin:/sbin:/bin $make "$version"
mv /mnt/initrd.img /out/
if [[ -n $swap ]]; then
	swapoff "$swap"
fi
umount -R /mnt
for command in "${undo[@]}"; do
	$command
done
