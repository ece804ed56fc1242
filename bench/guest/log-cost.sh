#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# T3: what log mode costs: instructions of an I/O against dm-linear, dm-thin and dm-vdo on the
# same device, memory of the map, commits for fsyncs, and the time to replay a journal.
#
# Usage: log-cost.sh insn|vdo|map|fsync|replay...

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
REPLAY_SSD_MB=4096
REPLAY_STEP=20000

# ---- instructions -----------------------------------------------------------

# So many MiB, and nothing that dm-vdo would leave out
fill() {
	dd of="$1" bs=1M count="$2" iflag=fullblock oflag=direct status=none < <(yes dieaware)
}

# What is read and written over it was written before, so dm-thin and dm-vdo have places for it.
target_costs() {
	local kind=$1

	report "doing=$kind"
	fill "$DEVICE" $SPAN_MB || die "The target '$kind' cannot be filled."
	measure "row=T3.insn_read target=$kind" io_cost --path "$DEVICE" --random \
		--span-bytes "${SPAN_MB}M" --blocks $BLOCKS --rounds $ROUNDS
	measure "row=T3.insn_write target=$kind" io_cost --path "$DEVICE" --random --write \
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
	log_create
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
	fill "$DEVICE_BELOW" $MEMORY_MB || die "The device below cannot be filled."
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
	fill "$DEVICE_BELOW" $MEMORY_MB || die "The device below cannot be filled."
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
	STRUCTURE_BYTES=$((($(slab_bytes) - before) / ($(map_pages) - pages)))
	log_check structures
	target_remove
	ssd_remove
}

# A device that is written from front to back, so that every page of the map is full
map_memory() {
	local lpns

	report "doing=map"
	loop_device wide /dev/ram2
	log_format "$DEVICE_BELOW"
	log_create
	lpns=$(counter lpns)
	dd if=/dev/zero of="$DEVICE" bs=1M oflag=direct status=none count=$((lpns / 256)) ||
		die "The log cannot be filled."
	MAP_PAGES=$(map_pages)
	MAPPED_PAGES=$(counter mapped_pages)
	log_check map
	target_remove
	structure_bytes
	report "row=T3.map_bytes_per_4k pages=$MAP_PAGES mapped=$MAPPED_PAGES" \
		"structure_bytes=$STRUCTURE_BYTES runs_ns=0"
}

# ---- commits ----------------------------------------------------------------

fsyncs() {
	local commits flushes

	report "doing=fsync"
	ssd_create
	log_format "$SSD"
	log_create
	commits=$(counter commits) flushes=$(counter flushes)
	fio --name=fsync --filename="$DEVICE" --rw=randwrite --bs=4k --fsync=1 --thread \
		--numjobs=$FSYNC_THREADS --size=256m --number_ios=$FSYNCS --randseed=1 \
		--end_fsync=0 --group_reporting --output-format=json --output=/tmp/fsync.json ||
		die "fio failed: $(tail -n 3 /tmp/fsync.json | tr '\n' ' ')"
	log_check fsync
	report "row=T3.commits_per_fsync commits=$(($(counter commits) - commits))" \
		"flushes=$(($(counter flushes) - flushes))" \
		"fsyncs=$(jq '.jobs[0].sync.total_ios' /tmp/fsync.json) runs_ns=0"
	target_remove
	ssd_remove
}

# ---- replay -----------------------------------------------------------------

journal_used() {
	local used

	used=$(counter journal_sectors)
	echo "${used%/*}"
}

# A checkpoint begins when half of the ring is in use. So the ring is made twice as large
# as format would choose, and nearly half of it is filled with records of random writes
# of a page each. Then the power of the drive, which loses nothing, fails below the target.
replay() {
	local ring size used=0 last=-1 begin end

	report "doing=replay"
	SSD_CAPACITY_MB=$REPLAY_SSD_MB SSD_SCALE=1 ssd_create
	log_format "$SSD"
	log_create
	ring=$(counter journal_sectors)
	ring=${ring#*/}
	target_remove
	log_format "$SSD" --journal $((2 * ring * 512))
	log_create cleaning=off
	size=$(counter lpns)
	while ((used < ring * 9 / 10)); do
		((used > last)) || die "The ring was emptied at $last of $ring sectors."
		last=$used
		io_cost --path "$DEVICE" --random --write --span-bytes $((size * 4096)) \
			--blocks $REPLAY_STEP --rounds 1 >/dev/null
		used=$(journal_used)
	done
	log_check replay
	nvmev-ssd power-cut "$SSD_NAME" || die "The power did not fail."
	target_remove
	SSD=$(nvmev-ssd power-on "$SSD_NAME") || die "The power does not come back."
	wait_for_block_device "$SSD"
	begin=$(awk '/^now at/ { print $3 }' /proc/timer_list)
	log_create
	end=$(awk '/^now at/ { print $3 }' /proc/timer_list)
	log_check replayed
	report "row=T3.replay_s ring=$ring used=$used runs_ns=$((end - begin))"
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
	replay) replay ;;
	*) die "There is no part '$part'." ;;
	esac
done
