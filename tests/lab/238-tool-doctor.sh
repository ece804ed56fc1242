#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dieaware doctor against the truth, on profiles of the virtual SSD: files in one piece, files in
# pieces that lie on one die each, files in pieces that lie in order. Its verdict is what the files'
# speeds say before and after they have been defragmented; what defrag promises comes, and the upper end
# of that is no more than a quarter above it. large is in 266; huge is left out, as what lies between the pieces of a
# file on one of its 1024 dies is more than the machine's memory.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# sentences: 254
# seconds: 70
# timeout: 900
. "$(dirname "$0")/rc"
. "$LAB_DIR/doctor"

# try PROFILE CAUSE: files of all three kinds; the cause is that of pieces on one die each.
try() {
	local unit stripe turns

	try_begin "$1"
	try_whole "$1"
	try_dies "$1" "$2"
	try_order "$1"
	try_end
}

mkdir "$mnt"
at_end drop_ssd ssd0
at_end drop_mount "$mnt"
dd if=/dev/urandom of="$T_DIR/data" bs=1k count=$FILE_KIB status=none
for profile in fast24 nvme-a nvme-b nvme-c nvme-d sata-a sata-b dramless tlc qlc modern slc-cache ufs; do
	try $profile places
done
# One die is nearly as fast as its link: requests cost more, or nothing does.
try emmc splitting
try microsd None
try sata None
# Where a piece is decides its number there, and not what was written before it.
try xpoint None
