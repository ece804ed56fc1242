#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# T3: how fast random writes are in log mode: with room on the device, on an aged device,
# and while it is cleaned; what a small cache of the map costs; and how cleaning puts files
# in order.
#
# Usage: log-write.sh room.FILESYSTEM|aged.FILESYSTEM|spare.FILESYSTEM|
#	cleaning.PERCENT|cache|fragments...

set -euo pipefail

# shellcheck source=bench/guest/lib.sh
. "$(dirname -- "$0")/lib.sh"
# shellcheck source=bench/guest/log.sh
. "$(dirname -- "$0")/log.sh"

# Erase blocks so small that there are many of them, as on a large drive; erasing one takes
# so much less.
SMALL_EBLKS="units_per_eblk=4 erase_ns=$((3000000 * 4 / 512))"

# ---- a device with room: the paper's case -----------------------------------

ROOM_SSD_MB=2048
ROOM_FILE_MB=32

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

	limit_dirty $((JOBS * ROOM_FILE_MB * 1024 * 1024))
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
AGED_FILE_MB=$((AGED_SSD_MB * 60 / 100 / JOBS))
AGED_LAPS=3

ftl_counter() {
	awk -v name="$1" '$1 == name { print $2 }' "$SSD_DEBUG/ftl"
}

# What the filesystem wrote
user_pages() {
	if [[ $1 == log* ]]; then
		counter user_pages
	else
		ftl_counter host_pages_written
	fi
}

aged_laps() {
	local row=T3.$1 kind=$2 lap host nand user

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
		report "row=$row target=$kind lap=$lap bytes=$NR_BYTES runs_ns=$RUN_NS" \
			"user_pages=$user host_pages=$host nand_pages=$nand"
	done
}

# aged PART.FILESYSTEM KIND...
aged() {
	local part=$1 type=${1#*.} kind
	shift

	for kind; do
		report "doing=$part,_$kind"
		SSD_CAPACITY_MB=$AGED_SSD_MB \
			SSD_PROPERTIES=$SMALL_EBLKS \
			device_begin "$kind"
		dd if=/dev/zero of="$DEVICE" bs=1M oflag=direct status=none \
			count=$(($(blockdev --getsize64 "$DEVICE") >> 20)) || die "The device cannot be filled."
		plain_filesystem "$type"
		run_fio --directory="$MOUNT" --size=${AGED_FILE_MB}m --bs=1m --rw=write --direct=1
		settle
		aged_laps "$part" "$kind"
		filesystem_remove
		device_end "$kind" "$type"
	done
}

# ---- cleaning ---------------------------------------------------------------

CLEANING_SSD_MB=1024
CLEANING_WRITE_PERCENT=15
PLACE_MAX_LAPS=12
PLACE_FULL_PERCENT=60

# cleaning_write FULL CASE PERCENT SEED: random overwrites of the first FULL percent, of so
# much of the drive. The same order twice would leave whole segments empty.
cleaning_write() {
	local cleaned moved stayed

	cleaned=$(counter cleaned_segments) moved=$(counter moved_pages)
	stayed=$(counter in_place_pages)
	run_fio --filename="$DEVICE" --direct=1 --rw=randwrite --bs=4k --norandommap --randseed="$4" \
		--size=$((CLEANING_SSD_MB * $1 / 100))m \
		--io_size=$((CLEANING_SSD_MB * $3 / 100 / JOBS))m
	read_fio
	report "row=T3.cleaning case=$2 bytes=$NR_BYTES runs_ns=$RUN_NS" \
		"max_ns=$(jq '.jobs[0].write.clat_ns.max' $FIO_JSON)" \
		"cleaned=$(($(counter cleaned_segments) - cleaned))" \
		"in_place_pages=$(($(counter in_place_pages) - stayed))" \
		"moved_pages=$(($(counter moved_pages) - moved))" \
		"starved=$(counter starved)"
}

# overwrite_in_place FULL PERCENT: with default options, until nothing is cleaned for it any more,
# and twice more.
overwrite_in_place() {
	local lap cleaned=""

	for ((lap = 1; lap <= PLACE_MAX_LAPS; lap++)); do
		[[ $cleaned != "$(counter cleaned_segments)" ]] || break
		cleaned=$(counter cleaned_segments)
		cleaning_write "$1" "default_lap_$lap" "$2" $((100 + lap))
	done
	cleaning_write "$1" default "$2" 5
	cleaning_write "$1" default "$2" 6
}

# cleaning FULL: a drive of which so many percent hold data, without cleaning as long as there
# are free segments, then with as much as is needed for every write; and in place, if it is full
# enough for that.
cleaning() {
	local use_up=$((105 - $1))

	report "doing=cleaning_of_a_drive_$1_%_full"
	SSD_CAPACITY_MB=$CLEANING_SSD_MB SSD_PROPERTIES=$SMALL_EBLKS ssd_create
	log_format "$SSD"
	log_create cleaning=off in_place=100
	dd if=/dev/zero of="$DEVICE" bs=1M oflag=direct status=none \
		count=$((CLEANING_SSD_MB * $1 / 100)) || die "The log cannot be filled."
	cleaning_write "$1" off $CLEANING_WRITE_PERCENT 1
	target_remove
	log_create in_place=100
	cleaning_write "$1" first $use_up 2
	cleaning_write "$1" on $use_up 3
	cleaning_write "$1" on $use_up 4
	if (($1 >= PLACE_FULL_PERCENT)); then
		target_remove
		log_create
		overwrite_in_place "$1" $use_up
	fi
	device_end log cleaning
}

# ---- a small cache of the map -----------------------------------------------

# Each block has a page of the map to itself; 64 MiB of map, and 1 MiB of cache
CACHE_SSD_MB=81920
CACHE_BLOCKS=16384
CACHE_OPS=24000
CACHE_THETA=1.2
CACHE_LARGE_MB=128
CACHE_SMALL_MB=1

# cache_iologs: for each job a list of writes to blocks by Zipf's law, the same every time.
cache_iologs() {
	local i

	for ((i = 0; i < JOBS; i++)); do
		awk -v seed=$((7 + i)) -v blocks=$CACHE_BLOCKS -v nr=$((CACHE_OPS / JOBS)) \
			-v theta=$CACHE_THETA -v device="$DEVICE" 'BEGIN {
			srand(seed)
			for (i = 0; i < blocks; i++)
				sum[i] = sum[i - 1] + 1 / (i + 1) ^ theta
			print "fio version 2 iolog\n" device " add\n" device " open"
			while (nr--) {
				wanted = rand() * sum[blocks - 1]
				low = 0
				for (high = blocks - 1; low < high;) {
					middle = int((low + high) / 2)
					if (sum[middle] < wanted) low = middle + 1; else high = middle
				}
				# Neighbours by rank are none by place.
				printf "%s write %.0f 4096\n", device, low * 7919 % blocks * 4194304
			}
			print device " close"
		}' >"/tmp/cache.$i"
	done
}

# fio replays a list by a job: the jobs run at once, and the slowest counts.
cache_write() {
	local jobs=() i

	cache_iologs
	for ((i = 0; i < JOBS; i++)); do
		jobs+=(--name="cache$i" --read_iolog="/tmp/cache.$i" --replay_no_stall=1)
	done
	fio --thread --ioengine=psync --direct=1 --group_reporting --output-format=json \
		--output=$FIO_JSON "${jobs[@]}" ||
		die "fio failed: $(tail -n 3 $FIO_JSON | tr '\n' ' ')"
	read_fio
	report "row=T3.cache case=$1 bytes=$NR_BYTES runs_ns=$RUN_NS map_pages=$(counter map_pages)" \
		"map_reads=$(counter map_reads)"
}

cache() {
	report "doing=cache"
	SSD_CAPACITY_MB=$CACHE_SSD_MB ssd_create
	log_format "$SSD"
	log_create map_cache_mb=$CACHE_LARGE_MB
	# One block in 4 MiB
	fio --name=fill --filename="$DEVICE" --direct=1 --rw=write:4092k --bs=4k \
		--size=$((CACHE_BLOCKS * 4))m --output=/tmp/fill.txt || die "The log cannot be filled."
	cache_write large
	target_remove
	log_create map_cache_mb=$CACHE_SMALL_MB
	cache_write small
	device_end log cache
}

# ---- files in pieces --------------------------------------------------------

FRAGMENTS_SSD_MB=1024
FRAGMENTS_FILE_MB=4
FRAGMENTS_KEPT=4

# fragments_row CASE: count them, with the filesystem and the target away, and read the files.
fragments_row() {
	local nr

	sync
	extents_of_files >/tmp/extents
	run_fio --directory="$MOUNT" --size=${FRAGMENTS_FILE_MB}m --bs=1m --rw=read --direct=1 \
		--numjobs=$FRAGMENTS_KEPT
	filesystem_remove
	target_remove
	nr=$(nr_fragments /tmp/extents)
	report "row=T3.fragments case=$1 nr=$nr files=$FRAGMENTS_KEPT" \
		"bytes=$(jq '.jobs[0].read.io_bytes' $FIO_JSON)" \
		"runs_ns=$(jq '.jobs[0].read.runtime * 1000000' $FIO_JSON)"
	log_create cleaning=off
	mount -o discard "$DEVICE" "$MOUNT"
}

# Threads append synchronously to a file each, some files are deleted, then everything is
# cleaned.
fragments() {
	local i

	report "doing=fragments"
	SSD_CAPACITY_MB=$FRAGMENTS_SSD_MB ssd_create
	log_format "$SSD"
	log_create cleaning=off
	mkfs.ext4 -q -F "$DEVICE" || die "The ext4 filesystem could not be made."
	mount -o discard "$DEVICE" "$MOUNT"
	run_fio --directory="$MOUNT" --size=${FRAGMENTS_FILE_MB}m --bs=4k --rw=write --sync=1
	for ((i = FRAGMENTS_KEPT; i < JOBS; i++)); do
		rm "$MOUNT/t3.$i.0"
	done
	fragments_row before
	dmsetup message "$TARGET" 0 clean || die "Cleaning failed."
	log_check clean
	fragments_row after
	filesystem_remove
	device_end log fragments
}

report "kernel=$(uname -r) profile=$SSD_PROFILE"
modprobe dm-dieaware
for part; do
	case $part in
	room.*) room "${part#*.}" ;;
	aged.*) aged "$part" raw log ;;
	spare.*) aged "$part" raw raw_spare log_spare ;;
	cleaning.*) cleaning "${part#*.}" ;;
	cache) cache ;;
	fragments) fragments ;;
	*) die "There is no part '$part'." ;;
	esac
done
