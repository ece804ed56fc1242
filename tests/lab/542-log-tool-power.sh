#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The power fails while the tool formats a device, or writes repaired metadata, at each of its
# writes, and all or any part of what was not flushed is lost: there is what was, nothing that
# could be taken for a device, or all that was to be.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 70
# timeout: 600
# sentences: 75
. "$(dirname "$0")/rc"

MIB=24
disk=/dev/ram0 log=/dev/ram1
modprobe brd rd_nr=3 rd_size=$((MIB * 1024))
at_end rmmod brd
modprobe dm-log-writes
at_end drop_target low

# logged COMMAND...: what it writes to $disk by way of /dev/mapper/low is logged.
logged() {
	dd if=/dev/zero of="$log" bs=64k count=1 oflag=direct status=none
	dmsetup create low --table "0 $(blockdev --getsz "$disk") log-writes $disk $log"
	"$@"
	dmsetup remove --retry low
}

# label_of DEVICE: that of its superblock, nothing if there is none
label_of() {
	{ dieaware dump --part superblock "$1" 2>/dev/null || true; } | sed -n 's/.*label="\([^"]*\)".*/\1/p' | sed -n 1p
}

contents() {
	dd if="$TARGET" bs=1M count=1 iflag=direct status=none | sha256sum
}

# left_by PLACE LOSS: sets STATE to none, or to the label of a device that is sound and has its data
left_by() {
	dd if="$T_DIR/copy" of="$disk" bs=1M conv=fsync status=none || return 1
	python3 "$LAB_DIR/log-replay.py" "$log" "$disk" "$1" "$2" || return 1
	STATE=$(label_of "$disk")
	STATE=${STATE:-none}
	if [[ $STATE == none ]]; then
		dieaware check "$disk" >"$T_DIR/found" 2>&1 || true
		cat "$T_DIR/found"
		grep -q "Neither superblock is valid" "$T_DIR/found"
		return
	fi
	dieaware check "$disk" || return 1
	dmsetup create t0 --table "${LINES_OF[$STATE]}" || return 1
	[[ $(contents) == "${SUMS[$STATE]}" ]] || return 1
	dmsetup remove t0
}

# chosen NUMBER OF: of many failures most are like their neighbours: those at the beginning and at the
# end count, and some between.
chosen() {
	(($1 < 16 || $1 >= $2 - 12 || $1 % 20 == 0))
}

# cut_everywhere WHAT STATES: the power fails in each way in which something else is left. Without
# what was not flushed, one of STATES follows the other.
cut_everywhere() {
	local failures states="" what=$1 i nr place loss

	mapfile -t failures < <(python3 "$LAB_DIR/log-replay.py" "$log" 2)
	nr=${#failures[@]}
	check_that "$what was logged" "$nr" -ge 12
	for ((i = 0; i < nr; i++)); do
		chosen "$i" "$nr" || continue
		read -r place loss <<<"${failures[i]}"
		check "$what, place $place, loss $loss: there is all of a device, or none" left_by "$place" "$loss"
		((loss)) || states+=" $STATE"
	done
	note "$what, $nr failures:$states"
	check_that "$what: one takes the place of the other" "$states" =~ "$2"
}

# new_device DEVICE LABEL: sets LINE
new_device() {
	LINE=$(dieaware format "$1" --force --segment 256K --label "$2" | tail -n 1)
}

declare -A LINES_OF SUMS
at_end drop_target t0
TARGET=/dev/mapper/t0

new_device "$disk" old
LINES_OF[old]=$LINE
dmsetup create t0 --table "$LINE"
write_mib "$TARGET" 1 oflag=direct
SUMS[old]=$(contents)
dmsetup remove t0
dd if="$disk" of="$T_DIR/copy" bs=1M status=none

logged new_device /dev/mapper/low new
LINES_OF[new]=${LINE//\/dev\/mapper\/low/$disk}
SUMS[new]=$(head -c 1M /dev/zero | sha256sum)
cut_everywhere "formatting" '^( old)+( none)+( new)+$'

# The same over another device, from one that has lost a superblock and its first root.
from=/dev/ram2
dd if="$T_DIR/copy" of="$from" bs=1M status=none
for page in 0 $(superblock_field root_even "$from"); do
	dd if=/dev/urandom of="$from" bs=4k seek="$page" count=1 oflag=direct status=none
done
new_device "$disk" other
LINES_OF[other]=$LINE
SUMS[other]=${SUMS[new]}
dd if="$disk" of="$T_DIR/copy" bs=1M conv=fsync status=none
logged dieaware repair --data --force --from "$from" --to /dev/mapper/low >"$T_DIR/output"
cut_everywhere "repairing" '^( other)+( none)+( old)+$'
