#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The machine that makes everything: an SSD with a device in hint mode, and one with two
# partitions in log mode, the first of which holds LVM.
set -euo pipefail

# shellcheck source=tests/vm/boot/common.sh
. "$(dirname -- "$0")/common.sh"

write_files() {
	head -c 4000000 /dev/urandom >"$1/data"
	(cd "$1" && sha256sum data) >"/out/$2.sum"
}

make_fast() {
	dieaware create --mode hint fast "$1"
	mkfs.ext4 -q -b 4096 -L fast /dev/mapper/fast
	mount /dev/mapper/fast /mnt
	write_files /mnt fast
	dieaware runs save --list /out/fast.runs /mnt
	umount /mnt
	blkid -p -s UUID -o value /dev/mapper/fast >/out/fast.uuid
	dieaware remove fast
}

make_partitions() {
	sfdisk -q "$1" <<-'END'
		label: gpt
		size=136M, name=db
		name=small
	END
	settle
}

make_db() {
	dieaware create --mode log --format db "${1}p1"
	pvcreate -q /dev/mapper/db
	vgcreate -q vg /dev/mapper/db
	lvcreate -q -y -L 28M -n volume vg
	lvcreate -q -y -L 32M --type thin-pool -n pool vg
	lvcreate -q -y -V 32M --thin -n thin vg/pool
	mkfs.ext4 -q /dev/vg/volume
	mount /dev/vg/volume /mnt
	write_files /mnt volume
	umount /mnt
	vgchange -q -an vg
	dieaware remove db
	settle
	udevadm info --query=property --property=ID_FS_UUID --value "${1}p1" >/out/uuid
}

make_small() {
	dieaware create --mode log --format small "${1}p2"
	mkfs.f2fs -q /dev/mapper/small >/dev/null
	mount /dev/mapper/small /mnt
	write_files /mnt small
	umount /mnt
	dieaware remove small
}

one=$(nvmev-ssd create one capacity_mib=$ONE_MIB backing_file=/out/one)
two=$(nvmev-ssd create two capacity_mib=$TWO_MIB backing_file=/out/two)
settle
make_fast "$one"
make_partitions "$two"
make_db "$two"
make_small "$two"
nvmev-ssd remove one
nvmev-ssd remove two
# Without their holes, since an emulated machine takes long to unpack what it boots with
cd /out
tar --sparse --hole-detection=raw -czf ssds.tar.gz one two
rm one two
