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

sum_of() {
	sha256sum "$1" | cut -d ' ' -f 1
}

# use SEED STEPS: durable in the end; sets SUM, of what is on the device then
use() {
	python3 image-data.py "$TARGET" "$@"
	SUM=$(sum_of "$TARGET")
}

# write_small FIRST NR: pages with a flush behind each, until log mode expects that and writes drafts
write_small() {
	local lpn

	for ((lpn = $1; lpn < $1 + $2; lpn++)); do
		python3 -c 'print(end=f"{'"$lpn"':8}" * 512)' |
			dd of="$TARGET" bs=4k count=1 seek="$lpn" iflag=fullblock oflag=direct \
				conv=fsync,notrunc status=none
	done
	SUM=$(sum_of "$TARGET")
}

# place_of_draft LOOP: of the data of the journal's last batch, which has to be a draft
place_of_draft() {
	dieaware dump --part journal "$1" | grep -E '\bmap lpn=' | tail -n 1 | grep -w draft |
		grep -oE '\bdpn=[0-9]+' | cut -d = -f 2
}

# describe IMAGE HOW: start it with what is here now, which has to read what was on it
describe() {
	local name=$1 file=/out/$1.img copy records lpns sum
	shift
	copy=$(losetup -f --show --sector-size "$LOGICAL" "$file")
	case $name in
	*-draft | *-checksums)
		place_of_draft "$copy" >/dev/null
		;;
	*-torn)
		dd if=/dev/zero of="$copy" bs=2k count=1 seek=$(($(place_of_draft "$copy") * 2 + 1)) \
			conv=fsync status=none
		;;
	esac
	dieaware check "$copy" >/dev/null
	records=$(dieaware dump --part journal "$copy" | grep -c '^record' || true)
	lpns=$(dieaware dump --part superblock "$copy" | grep -oE 'lpns=[0-9]+' | cut -d = -f 2)
	at_end drop_target t1
	dmsetup create t1 --readonly --table "0 $((lpns * 8)) dieaware $copy 0 log"
	sum=$(sum_of /dev/mapper/t1)
	if [[ $sum != "$SUM" ]]; then
		echo "$name: what was on the device is not what is read" >&2
		exit 1
	fi
	echo "image=$name version=$(od -An -tu2 -j8 -N2 "$file" | tr -d ' ')" \
		"$(dieaware dump --part superblock "$copy" | sed -n 's/^features //p')" \
		"logical=$LOGICAL lpns=$lpns records=$records" \
		"sha256=$sum how=$*" >>/out/manifest
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

LOGICAL=512
IN_PLACE=60
begin 12
use 9 60
write_small 70 20
keep draft "the journal ends with a draft, whose data is there"
end

begin 12
use 10 60
write_small 70 20
sum=$SUM
write_small 90 1
SUM=$sum
keep torn "the journal ends with a draft that does not count: of its data, a half was never written"
end

begin 12 --checksums
use 11 120
dmsetup message t0 0 clean
use 12 60
write_small 70 20
keep checksums "with checksums of data, written, trimmed and cleaned; the journal ends with a draft"
end
