#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# cost: what hint mode costs, in instructions of the CPU, against dm-linear on the same device.
#
# Usage: cost.sh added|off|buffered.FILESYSTEM|run_table...
#
# Single I/Os are measured on an NVMe device of the kernel's own over one that does nothing: there is
# nobody to wait for outside the CPU, whose time would be the host's. It keeps no data, so the
# filesystem has its metadata elsewhere: XFS in memory, with a realtime device for what is in files.
# It does not announce hints, hence hints=on, but for what the target costs where there are none.

set -euo pipefail

# shellcheck source=bench/guest/lib.sh
. "$(dirname -- "$0")/lib.sh"
# shellcheck source=bench/guest/loop.sh
. "$(dirname -- "$0")/loop.sh"
# shellcheck source=bench/guest/log.sh
. "$(dirname -- "$0")/log.sh"

MEMORY_MB=512
FILES_MB=1024
NULL_GB=2048
FILE_MB=64
BLOCKS=1000
ROUNDS=3
TURNS=5
# A difference of some hundred instructions in 20,000
HINT_TURNS=11
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

# beside ROW CASE WHERE ARGUMENT...: I/O over dm-dieaware and dm-linear in turn, to the files or to
# the devices.
beside() {
	local row=$1 case=$2 mine=$MOUNT/dieaware/file other=$MOUNT/linear/file
	if [[ $3 == device ]]; then
		mine=/dev/mapper/$TARGET other=/dev/mapper/linear
	fi
	shift 3

	cost "$row" "$case" --path "$mine" --beside "$other" "$@"
}

# All I/O over both targets
costs() {
	KIND=dieaware
	beside cost.read file file --random --span-bytes "${FILE_MB}M"
	beside cost.read device device --random --span-bytes "${FILE_MB}M" --start-bytes "${FILES_MB}M"
	reset_counters
	beside cost.write_hinted overwrite file --write --random --span-bytes "${FILE_MB}M"
	expect_hints confirmed_overwrite $((BLOCKS * ROUNDS))
	reset_counters
	beside cost.write_unhinted device device --write --random --span-bytes "${FILE_MB}M" \
		--start-bytes "${FILES_MB}M"
	# A random block sometimes follows the one before: that is an append.
	expect_hints none $((BLOCKS * ROUNDS * 9 / 10))
	beside cost.seq_1m read file --block-bytes 1M --span-bytes "${FILE_MB}M" --blocks "$FILE_MB"
	beside cost.seq_1m write file --write --block-bytes 1M --span-bytes "${FILE_MB}M" \
		--blocks "$FILE_MB"
}

# What 1 MiB costs over dm-linear where the device below costs nothing: by it a ratio is largest.
cheapest() {
	local whole=(--path /dev/mapper/cheapest --block-bytes 1M --span-bytes "${FILE_MB}M" --blocks "$FILE_MB")

	KIND=cheapest
	cost cost.seq_1m read "${whole[@]}"
	cost cost.seq_1m write "${whole[@]}" --write
}

# halves [OPTION]: the target on one half of a device that does nothing, dm-linear on the other
halves() {
	local half

	modprobe null_blk nr_devices=2 gb=$NULL_GB bs=4096 irqmode=0 queue_mode=2
	loop_device null /dev/nullb0
	half=$(($(blockdev --getsz "$DEVICE_BELOW") / 2))
	dmsetup create "$TARGET" --table "0 $half dieaware $DEVICE_BELOW 0 hint${*:+ $# $*}" ||
		die "The target was not created."
	dmsetup create linear --table "0 $half linear $DEVICE_BELOW $half"
}

# On a device that announces no hints, as all that can be bought
off() {
	local turn

	halves
	[[ $(counter hints) == off:not_announced ]] || die "Hints are $(counter hints)."
	KIND=dieaware
	for ((turn = 0; turn < HINT_TURNS; turn++)); do
		report "doing=turn_$turn"
		beside cost.off read device --random --span-bytes "${FILE_MB}M"
		beside cost.off write device --write --random --span-bytes "${FILE_MB}M"
	done
	dmsetup remove linear
	target_remove
}

added() {
	local half turn

	halves hints=on
	half=$(blockdev --getsz /dev/mapper/linear)
	dmsetup create cheapest --table "0 $half linear /dev/nullb1 0"
	fill_run_table
	files_make dieaware "/dev/mapper/$TARGET" /dev/ram1
	files_make linear /dev/mapper/linear /dev/ram2
	for ((turn = 0; turn < HINT_TURNS; turn++)); do
		report "doing=turn_$turn"
		costs
		cheapest
	done
	umount "$MOUNT/linear" "$MOUNT/dieaware"
	dmsetup remove linear
	dmsetup remove cheapest
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
	for ((pair = 0; pair < TURNS; pair++)); do
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
	off) off ;;
	buffered.*) buffered "${part#*.}" ;;
	run_table) run_table ;;
	*) die "There is no part '$part'." ;;
	esac
done
