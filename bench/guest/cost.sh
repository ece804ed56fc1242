#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# cost: what hint mode costs, in instructions of the CPU, against dm-linear on the same device.
#
# Usage: cost.sh added|buffered.FILESYSTEM|run_table...
#
# Single I/Os are measured on QEMU's own NVMe device, the cheapest there is. It keeps no data,
# so the filesystem has its metadata elsewhere: XFS in memory, with a realtime device for what is
# in files. It does not announce hints, hence hints=on.

set -euo pipefail

# shellcheck source=bench/guest/lib.sh
. "$(dirname -- "$0")/lib.sh"
# shellcheck source=bench/guest/loop.sh
. "$(dirname -- "$0")/loop.sh"
# shellcheck source=bench/guest/log.sh
. "$(dirname -- "$0")/log.sh"

MEMORY_MB=512
FILES_MB=1024
FILE_MB=64
BLOCKS=1000
ROUNDS=3
# dm-linear and dm-dieaware in turn, so often: now and then something in the kernel makes
# every I/O over either of them dearer from then on, by up to 3 percent.
PAIRS=5
BUFFERED_MB=128
# Of the run table: what stands for recently written data.
TABLE_TIB=1
FRAGMENT_PAGES=256
# Files of all sizes begin here, behind those that are measured.
OTHER_FILES_PAGE=$((FILES_MB * 2 * 256))

# ---- single I/Os ------------------------------------------------------------

# cost ROW CASE ARGUMENT...: one io_cost run on the present target.
cost() {
	local row=$1 case=$2
	shift 2

	measure "row=$row case=$case target=$KIND" io_cost --blocks "$BLOCKS" \
		--rounds "$ROUNDS" "$@"
}

# expect_hints KIND NUMBER: the writes just made were what their row says.
expect_hints() {
	local kind=$1 number=$2 found

	if [[ $KIND == dieaware ]]; then
		found=$(counter "$kind")
		((found >= number)) ||
			die "Only $found of $number writes were counted as '$kind': $(dmsetup status "$TARGET")"
	fi
}

reset_counters() {
	if [[ $KIND == dieaware ]]; then
		dmsetup message "$TARGET" 0 reset_counters
	fi
}

# As in use for a long time: files of all sizes, and what comes new has to push out what is old.
fill_run_table() {
	report "doing=filling_the_run_table"
	fill_runs --target "$TARGET" --first-page $OTHER_FILES_PAGE ||
		die "The run table could not be filled."
	echo "runs: $(dmsetup status "$TARGET")"
}

# files_make KIND DEVICE MEMORY: XFS whose files are on DEVICE and all else in MEMORY.
files_make() {
	mkdir -p "$MOUNT/$1"
	mkfs.xfs -q -f -K -d rtinherit=1 -r "rtdev=$2,size=${FILES_MB}m" "$3" ||
		die "XFS with a realtime device could not be made."
	mount -o "rtdev=$2,noatime,lazytime" "$3" "$MOUNT/$1" ||
		die "XFS with a realtime device could not be mounted."
	hypothetical --file "$MOUNT/$1/file" --between none --direct --piece-bytes 1M \
		--file-bytes "${FILE_MB}M" >/dev/null
	sync
}

# costs KIND DEVICE: all I/O over that target.
costs() {
	local file=$MOUNT/$1/file device=$2
	KIND=$1

	report "doing=$KIND"
	cost cost.read file --path "$file" --random --span-bytes "${FILE_MB}M"
	cost cost.read device --path "$device" --random --span-bytes "${FILE_MB}M" \
		--start-bytes "${FILES_MB}M"
	reset_counters
	cost cost.write_hinted overwrite --path "$file" --write --random --span-bytes "${FILE_MB}M"
	expect_hints confirmed_overwrite $((BLOCKS * ROUNDS))
	reset_counters
	cost cost.write_unhinted device --path "$device" --write --random \
		--span-bytes "${FILE_MB}M" --start-bytes "${FILES_MB}M"
	# A random block sometimes follows the one before: that is an append.
	expect_hints none $((BLOCKS * ROUNDS * 9 / 10))
	cost cost.seq_1m read --path "$file" --block-bytes 1M --span-bytes "${FILE_MB}M" \
		--blocks "$FILE_MB"
	cost cost.seq_1m write --path "$file" --write --block-bytes 1M \
		--span-bytes "${FILE_MB}M" --blocks "$FILE_MB"
}

added() {
	local below half pair

	below=$(qemu_device)
	half=$(($(blockdev --getsz "$below") / 2))
	dmsetup create "$TARGET" --table "0 $half dieaware $below 0 hint 1 hints=on" ||
		die "The target was not created."
	dmsetup create linear --table "0 $half linear $below $half"
	fill_run_table
	files_make dieaware "/dev/mapper/$TARGET" /dev/ram1
	files_make linear /dev/mapper/linear /dev/ram2
	for ((pair = 0; pair < PAIRS; pair++)); do
		costs linear /dev/mapper/linear
		costs dieaware "/dev/mapper/$TARGET"
	done
	umount "$MOUNT/linear" "$MOUNT/dieaware"
	dmsetup remove linear
	target_remove
}

# ---- sequential writes through the page cache -------------------------------

# buffered_write FILESYSTEM KIND TABLE
buffered_write() {
	local begin end

	dmsetup create "$TARGET" --table "$3" || die "The target '$2' was not created."
	# shellcheck disable=SC2034 # of plain_filesystem
	DEVICE=/dev/mapper/$TARGET
	plain_filesystem "$1"
	settle
	begin=$(date +%s%N)
	dd if=/dev/zero of="$MOUNT/file" bs=1M count=$BUFFERED_MB conv=fsync status=none ||
		die "The file could not be written."
	end=$(date +%s%N)
	report "row=cost.buffered_seq.$1 target=$2 runs_ns=$((end - begin))"
	umount "$MOUNT"
	dmsetup remove "$TARGET"
}

# On a device that takes no time of its own, so that the CPU is all that counts; it keeps data.
buffered() {
	local type=$1 sectors pair

	report "doing=buffered_writes_on_$type"
	[[ -n ${DEVICE_BELOW:-} ]] || loop_device memory /dev/ram1
	sectors=$(blockdev --getsz "$DEVICE_BELOW")
	for ((pair = 0; pair < PAIRS; pair++)); do
		buffered_write "$type" linear "0 $sectors linear $DEVICE_BELOW 0"
		buffered_write "$type" dieaware "0 $sectors dieaware $DEVICE_BELOW 0 hint 1 hints=on"
	done
}

# ---- the run table ----------------------------------------------------------

run_table() {
	local sectors=$((TABLE_TIB << 31))

	report "doing=run_table"
	dmsetup create "$TARGET" --table "0 $sectors dieaware $(qemu_device) 0 hint 1 hints=on" ||
		die "The target over 1 TiB was not created."
	# Two files whose fragments take turns, so that every fragment is a run of its own
	fill_runs --target "$TARGET" --pages $((TABLE_TIB << 28)) --fragment-pages $FRAGMENT_PAGES ||
		die "The target refused runs."
	report "row=cost.run_table_mib bytes=$(counter runs_bytes)" \
		"inserted=$(((TABLE_TIB << 28) / FRAGMENT_PAGES)) evicted=$(counter runs_evicted) runs_ns=0"
	dmsetup remove "$TARGET"
}

report "kernel=$(uname -r) profile=$SSD_PROFILE"
modprobe brd rd_nr=3 rd_size=$((MEMORY_MB * 1024))
modprobe -a nvme nvme-loop dm-dieaware
for part; do
	case $part in
	added) added ;;
	buffered.*) buffered "${part#*.}" ;;
	run_table) run_table ;;
	*) die "There is no part '$part'." ;;
	esac
done
