#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# How fast random writes are in log mode: with room on the device, on an aged device,
# and while it is cleaned; what a small cache of the map costs; and how cleaning puts files
# in order.
#
# Usage: log-write.sh room.FILESYSTEM|dramless.FILESYSTEM|dramless_bursts.FILESYSTEM|aged_uniform.FILESYSTEM|
#	aged_skewed.FILESYSTEM|aged_tenth.FILESYSTEM|aged_tenth_fdp.FILESYSTEM|
#	aged_reserve.FILESYSTEM|cleaning.uniform|cleaning.skewed|cleaning.fdp|
#	cache|fragments...

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
	report "row=log.room.$1 target=$2 order=$3 bytes=$NR_BYTES runs_ns=$RUN_NS" \
		"commands=$(($(nr_write_commands) - before))"
}

room() {
	local type=$1 kind

	limit_dirty $((JOBS * ROOM_FILE_MB * 1024 * 1024))
	for kind in raw raw_same_space log; do
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

# ---- a drive whose map is on its flash ---------------------------------------

# A quarter of the map is in the drive's memory, as of the 120 GB of the profile; files take more.
DRAMLESS_SSD_MB=8192
DRAMLESS_MAP="map_cache_mib=2"
DRAMLESS_FILE_MB=$((DRAMLESS_SSD_MB * 45 / 100 / JOBS))
DRAMLESS_WRITE_MB=96

# dramless_write FILESYSTEM KIND ORDER HOW: overwrite so much of the files, 32 pages at a time past
# the page cache, or through it.
dramless_write() {
	local how=(--direct=1 --ioengine=libaio --iodepth=$((32 / JOBS)))

	[[ $4 == direct ]] || how=(--end_fsync=1)
	run_fio --directory="$MOUNT" --size=${DRAMLESS_FILE_MB}m --bs=4k --rw="$3" \
		--io_size=${DRAMLESS_WRITE_MB}m "${how[@]}"
	read_fio
	report "row=log.dramless.$1 target=$2 order=$3 how=$4 bytes=$NR_BYTES runs_ns=$RUN_NS"
	settle
}

dramless() {
	local type=$1 kind how order

	limit_dirty $((JOBS * DRAMLESS_WRITE_MB * 1024 * 1024))
	for kind in raw raw_same_space log; do
		report "doing=$type,_dramless,_$kind"
		SSD_PROFILE=dramless SSD_CAPACITY_MB=$DRAMLESS_SSD_MB SSD_PROPERTIES=$DRAMLESS_MAP \
			device_begin $kind
		plain_filesystem "$type"
		run_fio --directory="$MOUNT" --size=${DRAMLESS_FILE_MB}m --bs=1m --rw=write --end_fsync=1
		settle
		for how in direct buffered; do
			for order in write randwrite; do
				dramless_write "$type" $kind $order $how
			done
		done
		filesystem_remove
		device_end $kind "$type"
	done
}

# ---- the same, so full that small overwrites need not go to new places --------

BURSTS_SSD_MB=4096
BURSTS_MAP="map_cache_mib=1"
BURSTS_FILE_MB=$((BURSTS_SSD_MB * 60 / 100 / JOBS))
BURSTS=6
BURST_MB=32
# By the drive's clock it is a 16th of that, about twice as long as a burst takes.
REST_SECONDS=20

# Bursts of random overwrites past the page cache, with a rest after each
dramless_bursts() {
	local type=$1 kind n before

	for kind in raw_same_space log; do
		report "doing=$type,_dramless_bursts,_$kind"
		SSD_PROFILE=dramless SSD_CAPACITY_MB=$BURSTS_SSD_MB SSD_PROPERTIES=$BURSTS_MAP \
			device_begin $kind
		plain_filesystem "$type"
		run_fio --directory="$MOUNT" --size=${BURSTS_FILE_MB}m --bs=1m --rw=write --end_fsync=1
		settle
		before=$(ftl_counter nand_pages_programmed)
		for ((n = 1; n <= BURSTS; n++)); do
			run_fio --directory="$MOUNT" --size=${BURSTS_FILE_MB}m --bs=4k --rw=randwrite \
				--norandommap --randseed=$n --io_size=${BURST_MB}m --direct=1 \
				--ioengine=libaio --iodepth=$((32 / JOBS))
			read_fio
			report "row=log.dramless_bursts.$type target=$kind case=burst bytes=$NR_BYTES" \
				"runs_ns=$RUN_NS"
			sleep $REST_SECONDS
		done
		report "row=log.dramless_bursts.$type target=$kind case=all" \
			"flash_pages=$(($(ftl_counter nand_pages_programmed) - before))" \
			"user_pages=$((BURSTS * BURST_MB * JOBS * 256))"
		filesystem_remove
		device_end $kind "$type"
	done
}

# ---- an aged device ---------------------------------------------------------

AGED_SSD_MB=512
AGED_FILE_MB=$((AGED_SSD_MB * 60 / 100 / JOBS))
AGED_LAPS=3
# Some pages are overwritten again and again, and most hardly ever.
SKEW=--random_distribution=zipf:0.99
# A tenth of each file gets nine tenths of its writes, as if it were a file by itself.
TENTH=--random_distribution=zoned:90/10:10/90
# A drive that knows no hints, but keeps data of its placement handles apart
FDP_DRIVE="hints=0 fdp=1 fdp_handles=8"
# Percent that a log leaves to cleaning in the rows which have more than usual
AGED_RESERVE=30

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

# count_pages KIND: pages of the user, to the drive, and on its flash; and the time
count_pages() {
	echo "$(user_pages "$1") $(ftl_counter host_pages_written)" \
		"$(ftl_counter nand_pages_programmed) $(date +%s%N)"
}

# lap_row ROW KIND LAP BEFORE: what was counted since
lap_row() {
	local user host nand at old=() new=()

	read -ra old <<<"$4"
	read -ra new <<<"$(count_pages "$2")"
	user=$((new[0] - old[0])) host=$((new[1] - old[1])) nand=$((new[2] - old[2]))
	at=$((new[3] - old[3]))
	report "row=$1 target=$2 lap=$3 bytes=$((user * PAGE_BYTES)) runs_ns=$at" \
		"user_pages=$user host_pages=$host nand_pages=$nand"
}

# overwrite LAPS OPTION...: the files, at random, so many times the drive's capacity.
overwrite() {
	local laps=$1
	shift

	run_fio --directory="$MOUNT" --size=${AGED_FILE_MB}m --bs=4k --rw=randwrite --direct=1 \
		--norandommap --io_size=$((laps * AGED_SSD_MB / JOBS))m "$@"
}

uniform_laps() {
	local lap before

	for ((lap = 1; lap <= AGED_LAPS; lap++)); do
		before=$(count_pages "$2")
		overwrite 1 --randseed=$lap
		lap_row "$1" "$2" $lap "$before"
	done
}

# wait_for_pages JOB NR KIND: until a job in the background has written so many, or has ended.
wait_for_pages() {
	local goal=$(($(user_pages "$3") + $2))

	while kill -0 "$1" 2>/dev/null && (($(user_pages "$3") < goal)); do
		sleep 0.5
	done
}

# in_one_go ROW KIND OPTION: another seed would make other pages hot, so the last lap begins when so
# much has been written. The option says how writes are spread.
in_one_go() {
	local row=$1 kind=$2 job before

	overwrite $AGED_LAPS "$3" &
	job=$!
	wait_for_pages $job $(((AGED_LAPS - 1) * AGED_SSD_MB * 256)) "$kind"
	before=$(count_pages "$kind")
	wait $job || die "The files could not be overwritten."
	lap_row "$row" "$kind" $AGED_LAPS "$before"
}

skewed_laps() {
	in_one_go "$1" "$2" "$SKEW"
}

tenth_laps() {
	in_one_go "$1" "$2" "$TENTH"
}

# aged PART LAPS [FORMAT OPTION]...: PART ends with the filesystem; AGED_DRIVE are properties,
# AGED_KINDS what is compared.
aged() {
	local row=log.$1 laps=$2 type=${1#*.} kind
	shift 2

	for kind in ${AGED_KINDS:-raw_same_space log raw}; do
		report "doing=$row,_$kind"
		SSD_CAPACITY_MB=$AGED_SSD_MB SSD_PROPERTIES="$SMALL_EBLKS ${AGED_DRIVE:-}" \
			device_begin "$kind" "$@"
		fill_pattern "$DEVICE" $(($(blockdev --getsize64 "$DEVICE") >> 20))
		plain_filesystem "$type"
		run_fio --directory="$MOUNT" --size=${AGED_FILE_MB}m --bs=1m --rw=write --direct=1
		settle
		same_pages "$row" "$kind"
		$laps "$row" "$kind"
		filesystem_remove
		device_end "$kind" "$type"
	done
}

# ---- cleaning ---------------------------------------------------------------

CLEANING_SSD_MB=1024
CLEANING_FULL=60
CLEANING_WRITE_PERCENT=15
PLACE_MAX_LAPS=12

# cleaning_job PERCENT SEED OPTION...: random overwrites of what the drive holds, of so much of the
# drive.
cleaning_job() {
	local percent=$1 seed=$2
	shift 2

	run_fio --filename="$DEVICE" --direct=1 --rw=randwrite --bs=4k --norandommap \
		--randseed="$seed" --size=$((CLEANING_SSD_MB * CLEANING_FULL / 100))m \
		--io_size=$((CLEANING_SSD_MB * percent / 100 / JOBS))m "$@"
}

# Time that all dies have been at work, by the drive's clock
busy_ns() {
	awk 'NR > 1 { sum += $9 } END { printf "%.0f\n", sum }' "$SSD_DEBUG/dies"
}

cleaning_counters() {
	echo "$(counter cleaned_segments) $(counter moved_pages) $(counter in_place_pages)" \
		"$(counter user_pages) $(date +%s%N) $(busy_ns) $(ftl_counter nand_pages_programmed)"
}

CLEANING_ROW=log.cleaning

# cleaning_row CASE BEFORE [BYTES NS]: what was counted since, and how fast it was
cleaning_row() {
	local old=() new=()

	read -ra old <<<"$2"
	read -ra new <<<"$(cleaning_counters)"
	report "row=$CLEANING_ROW case=$1" \
		"bytes=${3:-$(((new[3] - old[3]) * PAGE_BYTES))} runs_ns=${4:-$((new[4] - old[4]))}" \
		"max_ns=$(jq '.jobs[0].write.clat_ns.max' $FIO_JSON)" \
		"cleaned=$((new[0] - old[0])) moved_pages=$((new[1] - old[1]))" \
		"in_place_pages=$((new[2] - old[2])) starved=$(counter starved)" \
		"busy_ns=$((new[5] - old[5])) flash_pages=$((new[6] - old[6]))"
}

# cleaning_write CASE PERCENT SEED OPTION...: the same order twice would leave whole segments empty.
cleaning_write() {
	local case=$1 before
	shift

	before=$(cleaning_counters)
	cleaning_job "$@"
	read_fio
	cleaning_row "$case" "$before" "$NR_BYTES" "$RUN_NS"
}

# overwrite_in_place PERCENT: with default options, until nothing is cleaned for it any more,
# and twice more.
overwrite_in_place() {
	local lap cleaned=""

	for ((lap = 1; lap <= PLACE_MAX_LAPS; lap++)); do
		[[ $cleaned != "$(counter cleaned_segments)" ]] || break
		cleaned=$(counter cleaned_segments)
		cleaning_write "default_lap_$lap" "$1" $((100 + lap))
	done
	cleaning_write default "$1" 5
	cleaning_write default "$1" 6
}

# The first lap uses up what is free.
cleaning_uniform() {
	cleaning_write first "$1" 2
	cleaning_write on "$1" 3
	cleaning_write on "$1" 4
	target_remove
	log_create
	overwrite_in_place "$1"
}

# The same in one go, for another seed would make other pages hot.
cleaning_skewed() {
	local job before

	cleaning_job $((3 * $1)) 1 "$SKEW" &
	job=$!
	wait_for_pages $job $((CLEANING_SSD_MB * $1 * 256 / 100)) log
	before=$(cleaning_counters)
	wait $job || die "What the drive holds could not be overwritten."
	cleaning_row on "$before"
}

# cleaning_on DRIVE uniform|skewed: a drive that is CLEANING_FULL percent full, without cleaning as
# long as there are free segments, then with as much as is needed for every write; and, uniform, in
# place. DRIVE are properties.
cleaning_on() {
	local how=()

	[[ $2 != skewed ]] || how=("$SKEW")
	SSD_CAPACITY_MB=$CLEANING_SSD_MB SSD_PROPERTIES="$SMALL_EBLKS $1" ssd_create
	log_format "$SSD"
	log_create cleaning=off in_place=100
	fill_pattern "$DEVICE" $((CLEANING_SSD_MB * CLEANING_FULL / 100))
	cleaning_write off $CLEANING_WRITE_PERCENT 1 "${how[@]}"
	target_remove
	log_create in_place=100
	"cleaning_$2" $((105 - CLEANING_FULL))
	device_end log cleaning
}

# cleaning uniform|skewed|fdp: fdp is skewed on a drive that knows no hints but has placement
# handles; and, as the control, on the same drive without these.
cleaning() {
	report "doing=cleaning,_$1"
	if [[ $1 != fdp ]]; then
		cleaning_on "" "$1"
		return
	fi
	CLEANING_ROW=log.cleaning_plain
	cleaning_on "hints=0" skewed
	CLEANING_ROW=log.cleaning
	report "doing=cleaning,_with_handles"
	cleaning_on "$FDP_DRIVE" skewed
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
	report "row=log.cache case=$1 bytes=$NR_BYTES runs_ns=$RUN_NS map_pages=$(counter map_pages)" \
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
	report "row=log.fragments case=$1 nr=$nr files=$FRAGMENTS_KEPT" \
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
		rm "$MOUNT/bench.$i.0"
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
	dramless.*) dramless "${part#*.}" ;;
	dramless_bursts.*) dramless_bursts "${part#*.}" ;;
	aged_uniform.*) aged "$part" uniform_laps ;;
	aged_skewed.*) aged "$part" skewed_laps ;;
	aged_tenth.*) AGED_KINDS="raw_same_space log" aged "$part" tenth_laps ;;
	aged_tenth_fdp.*)
		AGED_KINDS="raw_same_space log" AGED_DRIVE=$FDP_DRIVE aged "$part" tenth_laps
		;;
	aged_reserve.*) aged "$part" uniform_laps --reserve $AGED_RESERVE ;;
	cleaning.*) cleaning "${part#*.}" ;;
	cache) cache ;;
	fragments) fragments ;;
	*) die "There is no part '$part'." ;;
	esac
done
