#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What log mode does inside its locks, with a module that counts it (bench/locks): for each read
# and write, and at most at once on a device of 16 TiB.
#
# Usage: log-locks.sh scaling|longest...

set -euo pipefail

# shellcheck source=bench/guest/lib.sh
. "$(dirname -- "$0")/lib.sh"
# shellcheck source=bench/guest/loop.sh
. "$(dirname -- "$0")/loop.sh"
# shellcheck source=bench/guest/log.sh
. "$(dirname -- "$0")/log.sh"

COSTS=/sys/module/dm_dieaware/parameters/lock_costs
MEMORY_MB=512
SPAN_MB=256
DEPTH=32
OPERATIONS=20000
# Sparse in memory: only what is written takes any.
HUGE_KIB=$((16 << 30))
HUGE_OPERATIONS=10000
HUGE_TRIM_GIB=1024
# Of so many pages each is written once, in any order, and cleaning brings them in order.
HUGE_SCATTERED_MIB=128
# The smallest cache of the map there is: nearly each write needs a page that has gone.
SMALL_CACHE_MIB=1

# The module that counts, in the place of the one that the lab has
load_module() {
	modprobe dm-dieaware
	rmmod dm-dieaware
	insmod "$BENCH_DIR/dm-dieaware.ko" || die "The module that counts does not load."
	[[ -e $COSTS ]] || die "This dm-dieaware does not count what it does inside locks."
	echo 0 >$COSTS
}

# report_costs ROW CASE [WORD...]: since the last time
report_costs() {
	local row=$1 case=$2 name nr ticks most costs
	shift 2

	costs=$(<$COSTS)
	echo 0 >$COSTS
	while read -r name nr ticks most; do
		# No lock was taken.
		[[ $name ]] || continue
		[[ $name != nested ]] || die "One lock was taken inside another."
		report "row=$row case=$case site=$name holdings=$nr insn=$ticks most=$most"
	done <<<"$costs"
	report "row=$row case=$case $*"
}

# Of the last job
SEED=0

# job RW [OPTION]...: fio on the device, many at a time; sets INSN, what one took altogether. The
# device below never waits, so that time is instructions. Each job has other offsets than those
# before, but for one that is told --randseed=$SEED: that has those of the last.
job() {
	local rw=$1 kind
	shift

	SEED=$((SEED + 1))
	fio --name=job --filename="$DEVICE" --direct=1 --bs=4k --rw="$rw" --ioengine=libaio \
		--iodepth=$DEPTH --norandommap --randrepeat=0 --randseed=$SEED \
		--output-format=json --output=$FIO_JSON "$@" || die "fio failed: $(tail -n 3 $FIO_JSON | tr '\n' ' ')"
	kind=${rw#rand}
	INSN=$(jq ".jobs[0].$kind | .runtime * 1000000 / .total_ios | floor" $FIO_JSON)
}

# ---- for each operation -------------------------------------------------------

# scaling_case CASE RW [OPTION]...
scaling_case() {
	local name=$1
	shift

	settle
	echo 0 >$COSTS
	job "$@" --size=${SPAN_MB}m --number_ios=$OPERATIONS
	report_costs log.scaling "$name" "operations=$OPERATIONS insn=$INSN runs_ns=0"
}

scaling() {
	local moved

	report "doing=scaling"
	loop_device memory /dev/ram1
	# Memory below must not be allocated while something is counted.
	fill_pattern "$DEVICE_BELOW" $MEMORY_MB
	log_format "$DEVICE_BELOW"
	log_create hints=on
	fill_pattern "$DEVICE" $SPAN_MB
	scaling_case read randread
	scaling_case write randwrite
	log_check scaling
	target_remove
	# A twelfth of the device is left alone for cleaning, which all is for from here on, none of it in advance.
	log_format "$DEVICE_BELOW"
	log_create hints=on in_place=100 idle_ms=0
	SPAN_MB=$(($(counter lpns) * 6 / 10 / 256))
	fill_pattern "$DEVICE" $SPAN_MB
	job randwrite --size=${SPAN_MB}m --number_ios=$((MEMORY_MB * 256))
	moved=$(counter moved_pages)
	scaling_case cleaning randwrite
	(($(counter moved_pages) - moved > OPERATIONS / 4)) ||
		die "$(($(counter moved_pages) - moved)) pages were moved for $OPERATIONS writes."
	log_check cleaning
	target_remove
}

# ---- the longest ----------------------------------------------------------------

huge() {
	local name=$1
	shift

	"$@" || die "'$name' failed."
	report_costs log.max_locked_insn "$name"
}

huge_fsyncs() {
	job randwrite --fsync=1 --number_ios=1000
}

huge_trim() {
	blkdiscard -o 0 -l ${HUGE_TRIM_GIB}G "$DEVICE"
	sync "$DEVICE"
}

huge_suspend() {
	dmsetup suspend "$TARGET" && dmsetup resume "$TARGET"
}

# A checkpoint is due when so many pages of the map were changed that a start would take long.
huge_checkpoint() {
	local before

	before=$(counter checkpoints)
	while (($(counter checkpoints) == before)); do
		job randwrite --number_ios=$HUGE_OPERATIONS
	done
}

# Pages that were next to each other in no segment are moved to one place together.
huge_clean() {
	local before

	before=$(counter moved_pages)
	dmsetup message "$TARGET" 0 clean
	(($(counter moved_pages) - before >= HUGE_SCATTERED_MIB * 128)) ||
		die "What was scattered was not moved."
}

# The map does not go into memory: what is needed least goes.
huge_evictions() {
	local before

	before=$(counter map_reads)
	job randwrite --number_ios=$HUGE_OPERATIONS
	job randread --number_ios=$HUGE_OPERATIONS --randseed=$SEED
	(($(counter map_reads) > before)) || die "Nothing of the map has gone."
}

# What is clean goes when the kernel asks for memory.
huge_shrink() {
	local before

	before=$(counter map_given_back)
	sync "$DEVICE"
	dmsetup suspend "$TARGET" && dmsetup resume "$TARGET"
	echo 2 >/proc/sys/vm/drop_caches
	(($(counter map_given_back) > before)) || die "Nothing of the map was given back."
}

# scattered SUFFIX: written in any order, and cleaned; the cases have SUFFIX behind their names
scattered() {
	huge "scattered$1" job randwrite --norandommap=0 --size=${HUGE_SCATTERED_MIB}m \
		--number_ios=$((HUGE_SCATTERED_MIB * 256))
	huge "clean$1" huge_clean
}

longest_with_sums() {
	log_format /dev/ram0 --checksums
	huge start_sums log_create hints=on "map_cache_mb=$SMALL_CACHE_MIB"
	scattered _sums
	huge evictions_sums huge_evictions
	log_check longest_with_sums
	huge end_sums target_remove
}

longest() {
	report "doing=longest"
	log_format /dev/ram0
	huge start log_create "hints=on"
	report "row=log.max_locked_insn lpns=$(counter lpns)"
	huge writes job randwrite --number_ios=$HUGE_OPERATIONS
	huge reads job randread --number_ios=$HUGE_OPERATIONS --randseed=$SEED
	huge in_order job write --bs=1m --number_ios=1000
	huge overwrites job randwrite --number_ios=$HUGE_OPERATIONS --size=64m
	huge fsyncs huge_fsyncs
	huge checkpoint huge_checkpoint
	huge trim huge_trim
	scattered ""
	huge shrink huge_shrink
	huge status dmsetup status "$TARGET"
	huge suspend huge_suspend
	log_check longest
	huge end target_remove
	huge small_start log_create hints=on "map_cache_mb=$SMALL_CACHE_MIB"
	huge evictions huge_evictions
	huge small_end target_remove
	longest_with_sums
	report "row=log.max_locked_insn runs_ns=0"
}

report "kernel=$(uname -r) profile=$SSD_PROFILE"
modprobe nvme-loop
load_module
for part; do
	case $part in
	scaling)
		modprobe brd rd_nr=2 rd_size=$((MEMORY_MB * 1024))
		scaling
		;;
	longest)
		modprobe brd rd_nr=1 rd_size=$HUGE_KIB
		longest
		;;
	*) die "There is no part '$part'." ;;
	esac
done
