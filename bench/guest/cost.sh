#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# T2: what hint mode costs, in instructions of the CPU, against dm-linear on the
# same device.
#
# Usage: cost.sh ROW...
#
# The device is an NVMe namespace of the kernel's own loop transport over memory: it
# completes without waiting, so elapsed virtual time is nothing but instructions. It
# does not announce hints, hence hints=on.

set -euo pipefail

# shellcheck source=bench/guest/lib.sh
. "$(dirname -- "$0")/lib.sh"
# shellcheck source=bench/guest/loop.sh
. "$(dirname -- "$0")/loop.sh"

MEMORY_MB=512
FILESYSTEM_MB=320
FILE_MB=64
BLOCKS=1000
ROUNDS=3
# dm-linear and dm-dieaware in turn, so often: now and then something in the kernel makes
# every I/O over either of them dearer from then on, by up to 3 percent.
PAIRS=5
# Of the run table: what stands for recently written data.
TABLE_TIB=1
FRAGMENT_PAGES=256
RUNS_PER_MESSAGE=2048

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

# costs KIND TABLE: all I/O over that target.
costs() {
	KIND=$1
	local file=$MOUNT/file

	report "doing=$KIND"
	dmsetup create "$TARGET" --table "$2" || die "The target '$KIND' was not created."
	DEVICE=/dev/mapper/$TARGET
	mkfs.ext4 -q -F -b 4096 "$DEVICE" "${FILESYSTEM_MB}M"
	mount -o noinit_itable "$DEVICE" "$MOUNT"
	hypothetical --file "$file" --between none --direct --piece-bytes 1M \
		--file-bytes "${FILE_MB}M" >/dev/null
	sync

	cost T2.read file --path "$file" --random --span-bytes "${FILE_MB}M"
	cost T2.read device --path "$DEVICE" --random --span-bytes "${FILE_MB}M" \
		--start-bytes "${FILESYSTEM_MB}M"
	reset_counters
	cost T2.write_hinted overwrite --path "$file" --write --random --span-bytes "${FILE_MB}M"
	expect_hints confirmed_overwrite $((BLOCKS * ROUNDS))
	reset_counters
	cost T2.write_unhinted device --path "$DEVICE" --write --random \
		--span-bytes "${FILE_MB}M" --start-bytes "${FILESYSTEM_MB}M"
	# A random block sometimes follows the one before: that is an append.
	expect_hints none $((BLOCKS * ROUNDS * 9 / 10))
	cost T2.seq_1m read --path "$file" --block-bytes 1M --span-bytes "${FILE_MB}M" \
		--blocks "$FILE_MB"
	cost T2.seq_1m write --path "$file" --write --block-bytes 1M \
		--span-bytes "${FILE_MB}M" --blocks "$FILE_MB"

	umount "$MOUNT"
	dmsetup remove "$TARGET"
}

io_costs() {
	local sectors pair

	loop_device memory /dev/ram1
	sectors=$(blockdev --getsz "$DEVICE_BELOW")
	# Without a target of its own dm-dieaware has no probe anywhere.
	modprobe dm-dieaware
	for ((pair = 0; pair < PAIRS; pair++)); do
		costs linear "0 $sectors linear $DEVICE_BELOW 0"
		costs dieaware "0 $sectors dieaware $DEVICE_BELOW 0 hint 1 hints=on"
	done
}

# Two files at a time, their fragments in turn on the device, so that no two
# neighbours merge: every fragment is a run of its own.
table_messages() {
	awk -v pages=$((TABLE_TIB << 28)) -v step=$FRAGMENT_PAGES -v most=$RUNS_PER_MESSAGE 'BEGIN {
		for (dpn = 0; dpn < pages; ) {
			even = odd = ""
			for (i = 0; i < most && dpn < pages; i++) {
				even = even sprintf(" %d %d %d", fpage, dpn, step)
				odd = odd sprintf(" %d %d %d", fpage, dpn + step, step)
				dpn += 2 * step
				fpage += step
			}
			print "259:0 12 0" even
			print "259:0 13 0" odd
		}
	}'
}

run_table() {
	local sectors=$((TABLE_TIB << 31)) message

	modprobe null_blk nr_devices=1 gb=$((TABLE_TIB << 10)) bs=4096 memory_backed=0
	modprobe dm-dieaware
	loop_device terabyte /dev/nullb0
	report "doing=run_table"
	dmsetup create "$TARGET" --table "0 $sectors dieaware $DEVICE_BELOW 0 hint 1 hints=on" ||
		die "The target over 1 TiB was not created."
	while read -r message; do
		# shellcheck disable=SC2086
		dmsetup message "$TARGET" 0 runs add $message || die "The target refused runs."
	done < <(table_messages)
	report "row=T2.run_table_mib_per_tib bytes=$(counter runs_bytes)" \
		"evicted=$(counter runs_evicted) runs_ns=0"
	dmsetup remove "$TARGET"
}

report "kernel=$(uname -r) profile=$SSD_PROFILE"
modprobe brd rd_nr=2 rd_size=$((MEMORY_MB * 1024))
modprobe nvme-loop
case " $* " in
*" T2.read "* | *" T2.write_"* | *" T2.seq_1m "*) io_costs ;;
esac
case " $* " in
*" T2.run_table"*) run_table ;;
esac
