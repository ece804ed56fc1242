#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Inside the guest: use devices in log mode, keep what lies on them, and say what must be read
# from it, one line of the manifest for each image. See make-images.
set -euo pipefail
cd "$(dirname "$0")"
modprobe -a loop dm-dieaware
# shellcheck source=../lab/rc
. lab/rc

PREFIX=$1

# begin MIB FORMAT-OPTION...: a new device in log mode, on a file
begin() {
	local mib=$1
	shift
	truncate -s "${mib}M" "$T_DIR/file"
	LOOP=$(losetup -f --show --sector-size "$LOGICAL" "$T_DIR/file")
	OPTIONS="in_place=${IN_PLACE:-60} idle_ms=0" new_log_target t0 "$LOOP" --segment 256K --label "$PREFIX" "$@"
}

# end: forget it
end() {
	drop_target t0
	losetup -d "$LOOP"
	rm -f "$T_DIR/file"
}

use() {
	python3 image-data.py "$TARGET" "$@"
}

# describe IMAGE HOW: start it with what is here now, and say what is read
describe() {
	local name=$1 file=/out/$1.img copy records lpns
	shift
	copy=$(losetup -f --show --sector-size "$LOGICAL" "$file")
	dieaware check "$copy" >/dev/null
	records=$(dieaware dump --part journal "$copy" | grep -c '^record' || true)
	lpns=$(dieaware dump --part superblock "$copy" | grep -oE 'lpns=[0-9]+' | cut -d = -f 2)
	at_end drop_target t1
	dmsetup create t1 --readonly --table "0 $((lpns * 8)) dieaware $copy 0 log"
	echo "image=$name version=$(od -An -tu2 -j8 -N2 "$file" | tr -d ' ')" \
		"$(dieaware dump --part superblock "$copy" | sed -n 's/^features //p')" \
		"logical=$LOGICAL lpns=$lpns records=$records" \
		"sha256=$(sha256sum /dev/mapper/t1 | cut -d ' ' -f 1) how=$*" >>/out/manifest
	dmsetup remove t1
	losetup -d "$copy"
}

# keep NAME HOW: what is on the device now, which is in use. A second one of the same UUID is refused.
keep() {
	local name=$PREFIX-$1
	shift
	sync
	cp --sparse=always "$T_DIR/file" "/out/$name.img"
	drop_target t0
	describe "$name" "$*"
}

LOGICAL=512
begin 12
use 1 120
dmsetup message t0 0 clean
use 2 40
dmsetup remove --retry t0
keep clean "written, trimmed and cleaned, then removed in order"
end

begin 12
use 3 120
dmsetup message t0 0 checkpoint
use 4 60
keep crash "the same, without a checkpoint at the end"
end

begin 12
use 5 60
dmsetup message t0 0 checkpoint
truncate -s 16M "$T_DIR/file"
losetup -c "$LOOP"
grown=$(status_field t0 grown_lpns)
dmsetup load t0 --table "0 $((grown * 8)) ${LINE#0 * }"
dmsetup suspend t0
dmsetup resume t0
use 6 60
keep grown "grown from 12 to 16 MiB, without a checkpoint at the end"
end

LOGICAL=4096
IN_PLACE=10
begin 12
use 7 80
dmsetup message t0 0 checkpoint
use 8 40
keep 4096 "logical blocks of 4096 bytes, written in place as well, without a checkpoint at the end"
end
