#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A virtual SSD in a backing file outlives its machine: one guest writes, another one
# reads. Prints ok / not ok lines and a closing line. Takes some 30 seconds.

set -euo pipefail

# shellcheck source=tests/vm/lib.sh
. "$(dirname -- "$(readlink -f -- "$0")")/lib.sh"

ssd="nvmev-ssd create ssd0 capacity_mib=64 plp=0 backing_file"

# guest COMMAND
guest() {
	relay --mem 2G -- "$1"
}

# A filesystem on an SSD in /out/FILE, whose power goes off by WAY. What the guest's last
# command is not answered for may be lost: only what was synced is compared.
write_on() {
	local file=$1 way=$2

	guest "set -e
		$ssd=/out/$file && mkfs.ext4 -q /dev/nvme0n1 && mount /dev/nvme0n1 /mnt
		head -c 8000000 /dev/urandom >/mnt/data && sync && sha256sum </mnt/data >/out/sum
		$way"
}

read_again() {
	guest "set -e
		cp files/$1 /tmp/image && $ssd=/tmp/image
		fsck.ext4 -fp /dev/nvme0n1 >/dev/null || [ \$? -eq 1 ]
		mount /dev/nvme0n1 /mnt && sha256sum </mnt/data | cmp - files/sum"
}

expect "a machine writes, switches its SSD off and stops" \
	write_on ordered "umount /mnt && nvmev-ssd remove ssd0"
expect "another one has the files" read_again ordered
expect "a machine writes, and the power of its SSD fails" \
	write_on cut "nvmev-ssd power-cut ssd0; umount -l /mnt; rmdir /sys/kernel/config/nvmev/ssd0"
expect "another one has what was synced" read_again cut
expect "a machine writes, and stops with its SSD on" write_on used "sync /out"
expect "the file it left is refused" guest "
	cp files/used /tmp/image
	$ssd=/tmp/image >/tmp/said 2>&1 && exit 1
	grep -q 'in use' /tmp/said || { cat /tmp/said; exit 1; }"

conclude
