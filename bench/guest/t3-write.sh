#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# T3: how fast random writes are in log mode: with room on the device, and on an aged device.
#
# Usage: t3-write.sh room.FILESYSTEM|aged.FILESYSTEM...

set -euo pipefail

# shellcheck source=bench/guest/lib.sh
. "$(dirname -- "$0")/lib.sh"
# shellcheck source=bench/guest/log.sh
. "$(dirname -- "$0")/log.sh"

JOBS=8
FIO_JSON=/tmp/t3.json

# As mkfs makes and mount mounts them, but nothing is trimmed.
plain_filesystem() {
	local type=$1

	case $type in
	ext4) mkfs.ext4 -q -F -E nodiscard,lazy_itable_init=0,lazy_journal_init=0 "$DEVICE" ;;
	xfs) mkfs.xfs -q -f -K "$DEVICE" ;;
	btrfs) modprobe btrfs && mkfs.btrfs -q -f -K "$DEVICE" >/dev/null 2>&1 ;;
	f2fs) mkfs.f2fs -q -f -t 0 "$DEVICE" >/dev/null ;;
	*) die "There is no filesystem '$type' here." ;;
	esac || die "The $type filesystem could not be made."
	case $type in
	btrfs | f2fs) mount -o nodiscard "$DEVICE" "$MOUNT" ;;
	*) mount "$DEVICE" "$MOUNT" ;;
	esac || die "The $type filesystem could not be mounted."
}

# run_fio OPTION...: one fio job of JOBS threads, its result in FIO_JSON.
run_fio() {
	echo 1 >/proc/sys/vm/drop_caches
	fio --name=t3 --thread --numjobs=$JOBS --ioengine=psync --randseed=7 --fallocate=none \
		--group_reporting --output-format=json --output=$FIO_JSON "$@" ||
		die "fio failed: $(tail -n 3 $FIO_JSON | tr '\n' ' ')"
}

# Sets NR_BYTES and RUN_NS of the writes just made.
read_fio() {
	NR_BYTES=$(jq '.jobs[0].write.io_bytes' $FIO_JSON)
	RUN_NS=$(jq '.jobs[0].write.runtime * 1000000' $FIO_JSON)
}

# raw DEVICE or log: what is measured is DEVICE.
device_begin() {
	local kind=$1
	shift

	ssd_create
	DEVICE=$SSD
	if [[ $kind == log ]]; then
		log_format "$SSD" "$@"
		# shellcheck disable=SC2119 # no options
		log_create
	fi
}

device_end() {
	if [[ $1 == log ]]; then
		log_check "$2"
		target_remove
	fi
	echo "ftl of $2 $1: $(tr '\n' ' ' <"$SSD_DEBUG/ftl")"
	ssd_remove
}

# ---- a device with room: the paper's case -----------------------------------

ROOM_SSD_MB=2048
ROOM_FILE_MB=32
# The paper's machine may have 13 percent of what it writes in memory and dirty.
ROOM_DIRTY_BYTES=$((JOBS * ROOM_FILE_MB * 1024 * 1024 / 8))

# What the drive was sent
nr_write_commands() {
	awk '{ print $5 }' "/sys/block/${SSD##*/}/stat"
}

# room_write FILESYSTEM KIND ORDER: overwrite files in that order; buffered, with all of
# it on the device at the end.
room_write() {
	local before

	before=$(nr_write_commands)
	run_fio --directory="$MOUNT" --size=${ROOM_FILE_MB}m --bs=4k --rw="$3" --end_fsync=1
	read_fio
	report "row=T3.room.$1 target=$2 order=$3 bytes=$NR_BYTES runs_ns=$RUN_NS" \
		"commands=$(($(nr_write_commands) - before))"
}

room() {
	local type=$1 kind

	echo $ROOM_DIRTY_BYTES >/proc/sys/vm/dirty_bytes
	echo $((ROOM_DIRTY_BYTES / 2)) >/proc/sys/vm/dirty_background_bytes
	for kind in raw log; do
		report "doing=$type,_room,_$kind"
		SSD_PROFILE=sata SSD_CAPACITY_MB=$ROOM_SSD_MB device_begin $kind
		plain_filesystem "$type"
		run_fio --directory="$MOUNT" --size=${ROOM_FILE_MB}m --bs=1m --rw=write --end_fsync=1
		settle
		if [[ $kind == raw ]]; then
			room_write "$type" raw write
			settle
		fi
		room_write "$type" $kind randwrite
		filesystem_remove
		device_end $kind "$type"
	done
}

# ---- an aged device ---------------------------------------------------------

AGED_SSD_MB=512
AGED_UNITS_PER_EBLK=16
AGED_FILE_MB=$((AGED_SSD_MB * 60 / 100 / JOBS))
AGED_LAPS=3

ftl_counter() {
	awk -v name="$1" '$1 == name { print $2 }' "$SSD_DEBUG/ftl"
}

# What the filesystem wrote
user_pages() {
	if [[ $1 == log ]]; then
		counter user_pages
	else
		ftl_counter host_pages_written
	fi
}

aged_laps() {
	local type=$1 kind=$2 lap host nand user

	for ((lap = 1; lap <= AGED_LAPS; lap++)); do
		host=$(ftl_counter host_pages_written)
		nand=$(ftl_counter nand_pages_programmed)
		user=$(user_pages "$kind")
		run_fio --directory="$MOUNT" --size=${AGED_FILE_MB}m --bs=4k --rw=randwrite \
			--direct=1 --norandommap --randseed=$lap --io_size=$((AGED_SSD_MB / JOBS))m
		read_fio
		host=$(($(ftl_counter host_pages_written) - host))
		nand=$(($(ftl_counter nand_pages_programmed) - nand))
		user=$(($(user_pages "$kind") - user))
		report "row=T3.aged.$type target=$kind lap=$lap bytes=$NR_BYTES runs_ns=$RUN_NS" \
			"user_pages=$user host_pages=$host nand_pages=$nand"
	done
}

aged() {
	local type=$1 kind

	for kind in raw log; do
		report "doing=$type,_aged,_$kind"
		SSD_CAPACITY_MB=$AGED_SSD_MB SSD_PROPERTY="units_per_eblk=$AGED_UNITS_PER_EBLK" \
			device_begin $kind
		dd if=/dev/zero of="$DEVICE" bs=1M oflag=direct status=none \
			count=$(($(blockdev --getsize64 "$DEVICE") >> 20)) || die "The device cannot be filled."
		plain_filesystem "$type"
		run_fio --directory="$MOUNT" --size=${AGED_FILE_MB}m --bs=1m --rw=write --direct=1
		settle
		aged_laps "$type" $kind
		filesystem_remove
		device_end $kind "$type"
	done
}

report "kernel=$(uname -r) profile=$SSD_PROFILE"
modprobe dm-dieaware
for part; do
	case $part in
	room.*) room "${part#*.}" ;;
	aged.*) aged "${part#*.}" ;;
	*) die "There is no part '$part'." ;;
	esac
done
