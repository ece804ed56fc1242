#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What log mode costs: instructions of an I/O against dm-linear, dm-thin and dm-vdo on the
# same device, memory of the map, commits for fsyncs, and the time to start.
#
# Usage: log-cost.sh insn|vdo|map|fsync|start|start_wide...
#
# Instructions are counted on a device that completes without waiting and, unlike QEMU's own,
# keeps the log. It does not announce hints, hence hints=on.

set -euo pipefail

# shellcheck source=bench/guest/lib.sh
. "$(dirname -- "$0")/lib.sh"
# shellcheck source=bench/guest/loop.sh
. "$(dirname -- "$0")/loop.sh"
# shellcheck source=bench/guest/log.sh
. "$(dirname -- "$0")/log.sh"

MEMORY_MB=512
SPAN_MB=256
BLOCKS=1000
ROUNDS=3
PAIRS=5
THIN_META=/dev/ram0
THIN_BLOCK_SECTORS=128
# dm-vdo has some 2.6 GiB of metadata, most of it the smallest index there is.
VDO_BELOW_MB=4096
FSYNC_THREADS=8
FSYNCS=250
MAP_SSD_MB=20480
MAP_SPARSE_PAGES=4096
# What one of them knows
MAP_ENTRIES=806
# In the table of pages at hand, which is no slab's (log/near.h)
MAP_NEAR_BYTES=8
# From 32 GiB on, format chooses the same journal.
START_SSD_MB=33792
# Its map has as many pages as may be changed before a checkpoint is taken for their number (log/journal.c), nearly.
START_WIDE_SSD_MB=335872
# So many stay in the cache, of 65,536, while the journal is filled: one that goes and comes back counts as another.
START_HOT_PAGES=60000
# Then so many more are changed, once.
START_COLD_PAGES=35000
START_STEP=20000

# ---- instructions -----------------------------------------------------------

# What is read and written over it was written before, so dm-thin and dm-vdo have places for it.
target_costs() {
	local kind=$1

	report "doing=$kind"
	fill_pattern "$DEVICE" $SPAN_MB
	measure "row=cost.log_read target=$kind" io_cost --path "$DEVICE" --random \
		--span-bytes "${SPAN_MB}M" --blocks $BLOCKS --rounds $ROUNDS
	measure "row=cost.log_write target=$kind" io_cost --path "$DEVICE" --random --write \
		--span-bytes "${SPAN_MB}M" --blocks $BLOCKS --rounds $ROUNDS
}

linear_costs() {
	dmsetup create "$TARGET" --table "0 $(blockdev --getsz "$DEVICE_BELOW") linear $DEVICE_BELOW 0" ||
		die "dm-linear was not created."
	DEVICE=/dev/mapper/$TARGET
	target_costs linear
	target_remove
}

log_costs() {
	log_format "$DEVICE_BELOW"
	log_create hints=on
	target_costs log
	log_check insn
	target_remove
}

# Its metadata are in memory: a pool of blocks of 64 KiB, the smallest there are.
thin_costs() {
	local sectors

	sectors=$(blockdev --getsz "$DEVICE_BELOW")
	dd if=/dev/zero of=$THIN_META bs=1M count=1 oflag=direct status=none
	dmsetup create pool --table "0 $sectors thin-pool $THIN_META $DEVICE_BELOW $THIN_BLOCK_SECTORS 0 1 skip_block_zeroing"
	dmsetup message /dev/mapper/pool 0 "create_thin 0"
	dmsetup create "$TARGET" --table "0 $sectors thin /dev/mapper/pool 0" || die "dm-thin was not created."
	DEVICE=/dev/mapper/$TARGET
	target_costs dm-thin
	target_remove
	dmsetup remove pool
}

instructions() {
	local pair

	modprobe dm-thin-pool
	loop_device memory /dev/ram1
	# Memory below must not be allocated while writes are counted.
	fill_pattern "$DEVICE_BELOW" $MEMORY_MB
	for ((pair = 0; pair < PAIRS; pair++)); do
		linear_costs
		log_costs
		thin_costs
	done
}

# Only a device whose first block is zero is formatted, for which no tool is needed then.
vdo_costs() {
	local blocks=$((MEMORY_MB * 256))

	dd if=/dev/zero of="$DEVICE_BELOW" bs=4k count=1 oflag=direct status=none
	dmsetup create "$TARGET" --table "0 $((SPAN_MB * 2048)) vdo V4 $DEVICE_BELOW $blocks 4096 32768 16380 indexMemory 0.25 slabSize 32768 deduplication off" ||
		die "dm-vdo was not created: $(dmesg | grep vdo | tail -n 1)"
	DEVICE=/dev/mapper/$TARGET
	target_costs dm-vdo
	target_remove
}

# Since its version 9.2 (Linux 7.1), dm-vdo formats a device itself.
vdo_instructions() {
	local pair version

	modprobe dm-vdo || die "This kernel has no dm-vdo."
	version=$(dmsetup targets | sed -n 's/^vdo *v//p')
	[[ $(printf '%s\n' 9.2.0 "$version" | sort -V | head -n 1) == 9.2.0 ]] ||
		die "dm-vdo $version does not format devices, and Debian has no vdoformat."
	loop_device memory /dev/ram1
	fill_pattern "$DEVICE_BELOW" $MEMORY_MB
	for ((pair = 0; pair < PAIRS; pair++)); do
		linear_costs
		log_costs
		vdo_costs
	done
}

# ---- memory of the map ------------------------------------------------------

# Bytes in the caches that pages of the map have their structures and their index from
slab_bytes() {
	local cache slabs sum=0

	for cache in /sys/kernel/slab/{dmda_map_page,radix_tree_node}; do
		# Else objects that each CPU keeps at hand count as used.
		echo 1 >"$cache/shrink"
		read -r slabs _ <"$cache/slabs"
		sum=$((sum + (slabs << $(<"$cache/order")) * 4096))
	done
	echo $sum
}

map_pages() {
	local pages

	pages=$(counter map_pages)
	echo "${pages%/*}"
}

# How many bytes of structures a page of the map has: of many, one block mapped in each.
structure_bytes() {
	local before pages

	SSD_CAPACITY_MB=$MAP_SSD_MB ssd_create
	log_format "$SSD"
	log_create
	pages=$(map_pages)
	before=$(slab_bytes)
	fio --name=fill --filename="$DEVICE" --direct=1 --bs=4k \
		--rw=write:$((MAP_ENTRIES * 4 - 4))k --size=$((MAP_SPARSE_PAGES * MAP_ENTRIES * 4))k \
		--output=/tmp/fill.txt || die "The log cannot be written."
	STRUCTURE_BYTES=$((($(slab_bytes) - before) / ($(map_pages) - pages) + MAP_NEAR_BYTES))
	log_check structures
	target_remove
	ssd_remove
}

# A device that is written from front to back, but for what the last page of the map has of it: so every one is full,
# as nearly all are of a device of any size.
map_memory() {
	local lpns

	report "doing=map"
	loop_device wide /dev/ram2
	log_format "$DEVICE_BELOW"
	log_create
	lpns=$(counter lpns)
	dd if=/dev/zero of="$DEVICE" bs=$((MAP_ENTRIES * 4))k oflag=direct status=none \
		count=$((lpns / MAP_ENTRIES)) || die "The log cannot be filled."
	MAP_PAGES=$(map_pages)
	MAPPED_PAGES=$(counter mapped_pages)
	log_check map
	target_remove
	structure_bytes
	report "row=log.map_bytes_per_4k pages=$MAP_PAGES mapped=$MAPPED_PAGES" \
		"structure_bytes=$STRUCTURE_BYTES runs_ns=0"
}

# ---- commits ----------------------------------------------------------------

fsync_job() {
	fio --name=fsync --filename="$DEVICE" --rw=randwrite --bs=4k --fsync=1 --thread \
		--numjobs="$1" --size=256m --number_ios=$FSYNCS \
		--end_fsync=0 --group_reporting --output-format=json --output=/tmp/fsync.json ||
		die "fio failed: $(tail -n 3 /tmp/fsync.json | tr '\n' ' ')"
}

# fsync_latency KIND: of a write and its fsync, one after the other.
fsync_latency() {
	fsync_job 1
	report "row=log.fsync_latency target=$1" "$(jq -r '.jobs[0] |
		"mean_ns=\(.write.runtime * 1000000 / .write.total_ios | floor) runs_ns=\(.write.runtime * 1000000)"' \
		/tmp/fsync.json)"
}

fsyncs() {
	local commits flushes

	report "doing=fsync"
	ssd_create
	dmsetup create "$TARGET" --table "0 $(blockdev --getsz "$SSD") linear $SSD 0"
	DEVICE=/dev/mapper/$TARGET
	fsync_latency linear
	target_remove
	ssd_remove
	ssd_create
	log_format "$SSD"
	log_create
	fsync_latency log
	commits=$(counter commits) flushes=$(counter flushes)
	fsync_job $FSYNC_THREADS
	log_check fsync
	report "row=log.commits_per_fsync commits=$(($(counter commits) - commits))" \
		"flushes=$(($(counter flushes) - flushes))" \
		"fsyncs=$(jq '.jobs[0].sync.total_ios' /tmp/fsync.json) runs_ns=0"
	target_remove
	ssd_remove
}

# ---- start ------------------------------------------------------------------

# Sectors of the journal in use
journal_used() {
	local used

	used=$(counter journal_sectors)
	echo "${used%/*}"
}

# in_map_pages FIRST COUNT: write one page in each of so many pages of the map
in_map_pages() {
	fio --name=stride --filename="$DEVICE" --direct=1 --bs=4k --ioengine=libaio --iodepth=32 \
		--rw=write:$((MAP_ENTRIES * 4 - 4))k --offset=$(($1 * MAP_ENTRIES * 4))k \
		--size=$(($2 * MAP_ENTRIES * 4))k --number_ios="$2" --output=/tmp/stride.txt ||
		die "The log cannot be written."
}

# As on a drive that has been in use: all of the map is on the flash. What never was is not read either.
use_map() {
	in_map_pages 0 $NR_MAP_PAGES
	dmsetup message "$TARGET" 0 checkpoint || die "No checkpoint was taken."
}

# fill_journal SECTORS FIRST: records of random writes of a page each, over so many at least, to what this page of
# the map and those behind it are about. Each step writes other pages.
fill_journal() {
	local last=-1 step=0 offset=$(($2 * MAP_ENTRIES * 4))

	USED=$(journal_used)
	while ((USED < $1)); do
		((USED > last)) || die "The journal was emptied at $last of $RING sectors."
		last=$USED
		fio --name=fill --filename="$DEVICE" --rw=randwrite --bs=4k --direct=1 \
			--ioengine=libaio --iodepth=32 --norandommap --randrepeat=0 \
			--randseed=$((++step)) --number_ios=$START_STEP --offset=${offset}k \
			--size=$((NR_MAP_PAGES * MAP_ENTRIES * 4 - offset))k --output=/tmp/fill.txt ||
			die "The log cannot be written."
		USED=$(journal_used)
		echo "journal: $USED of $RING sectors"
	done
}

# use_drive: before it crashes; sets USED, and CHANGED, how many pages of the map the journal's records are about
use_drive() {
	local checkpoints hot=$((NR_MAP_PAGES < START_HOT_PAGES ? NR_MAP_PAGES : START_HOT_PAGES)) cold=0

	if ((NR_MAP_PAGES >= START_HOT_PAGES + START_COLD_PAGES)); then
		cold=$START_COLD_PAGES
	fi
	use_map
	checkpoints=$(counter checkpoints)
	fill_journal $((RING * 9 / 20)) $((NR_MAP_PAGES - hot))
	((cold == 0)) || in_map_pages 0 $cold
	(($(counter checkpoints) == checkpoints)) || die "A checkpoint has emptied the journal."
	USED=$(journal_used)
	CHANGED=$((hot + cold))
}

# start ROW: activate what is on the drive; how long that takes.
start() {
	local begin end

	begin=$(awk '/^now at/ { print $3 }' /proc/timer_list)
	log_create
	end=$(awk '/^now at/ { print $3 }' /proc/timer_list)
	log_check "$1"
	report "row=$1 ring=$RING used=$USED map_reads=$(counter map_reads) runs_ns=$((end - begin))"
}

# starts MIB CRASH CLEAN: of a drive of so many MiB, and the two rows. The journal is as large as format chooses for
# every large drive. A checkpoint begins when half of it is in use; so nearly half is filled. Then the power of the
# drive, which loses nothing, fails below the target.
starts() {
	report "doing=$2"
	SSD_CAPACITY_MB=$1 SSD_SCALE=1 ssd_create
	log_format "$SSD"
	log_create cleaning=off
	RING=$(counter journal_sectors)
	RING=${RING#*/}
	NR_MAP_PAGES=$(($(counter lpns) / MAP_ENTRIES))
	use_drive
	log_check "$2"
	nvmev-ssd power-cut "$SSD_NAME" || die "The power did not fail."
	target_remove
	SSD=$(nvmev-ssd power-on "$SSD_NAME") || die "The power does not come back."
	wait_for_block_device "$SSD"
	start "$2"
	(($(counter map_reads) > CHANGED * 19 / 20)) ||
		die "It has read $(counter map_reads) pages of the map, and $CHANGED were changed."
	target_remove
	USED=0
	start "$3"
	target_remove
	ssd_remove
}

report "kernel=$(uname -r) profile=$SSD_PROFILE"
if [[ $* == vdo ]]; then
	MEMORY_MB=$VDO_BELOW_MB
fi
modprobe brd rd_nr=3 rd_size=$((MEMORY_MB * 1024))
modprobe nvme-loop
modprobe dm-dieaware
for part; do
	case $part in
	insn) instructions ;;
	vdo) vdo_instructions ;;
	map) map_memory ;;
	fsync) fsyncs ;;
	start) starts $START_SSD_MB log.start_crash_s log.start_clean_s ;;
	start_wide) starts $START_WIDE_SSD_MB log.start_crash_wide_s log.start_clean_wide_s ;;
	*) die "There is no part '$part'." ;;
	esac
done
