#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The machine that has the packages: does what they brought work?
set -euxo pipefail

# Not the programs that the lab brings
export PATH=/usr/sbin:/usr/bin:/sbin:/bin

depmod -a
modprobe dm-dieaware
[[ $(modinfo -n dm-dieaware) == */updates/dkms/dm-dieaware.ko ]]
drive=$(nvmev-ssd create ssd0 capacity_mib=128)
dieaware create --mode log --format db "$drive"
mkfs.ext4 -q /dev/mapper/db
mount /dev/mapper/db /mnt
head -c 1000000 /dev/urandom >/mnt/file
before=$(sha256sum </mnt/file)
umount /mnt
dieaware status db
dieaware remove db
dieaware check "$drive"
if [[ -d /run/systemd/system ]]; then
	# udev's rules and the generator, as the package puts them
	udevadm trigger --settle "$drive"
	[[ $(udevadm info --query=property --property=ID_FS_TYPE --value "$drive") == dieaware_log ]]
	echo "db $drive log noauto" >/etc/dietab
	systemctl daemon-reload
	systemctl start dieaware@db.service
else
	dieaware create --mode log db "$drive"
fi
mount /dev/mapper/db /mnt
[[ $(sha256sum </mnt/file) == "$before" ]]
umount /mnt
dieaware remove db
nvmev-ssd remove ssd0
