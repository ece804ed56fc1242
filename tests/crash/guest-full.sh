#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Usage: guest-full.sh GENERATIONS OPERATIONS SEED
#
# A device in log mode that is full, and is cleaned all the time. All that reaches the disk is
# logged, and of all power failures that there could have been the one is taken that leaves the
# fewest segments without data. The next generation begins with what it leaves: writes have to go
# on, however often that happens. If they did, /out/went_on says so.

# shellcheck source=tests/crash/rc
. "${BASH_SOURCE[0]%/*}/rc"

GENERATIONS=$1 OPERATIONS=$2 SEED=$3
LOG_OPTION="in_place=100 idle_ms=0 no_space_timeout=5"
BASE=/tmp/base LOGGED=/tmp/log TRACED=/tmp/trace

play() {
	local status=0

	crash-replay --seed "$SEED" --losses 2 --scarcest "$BASE" "$LOGGED" "$TRACED" >/tmp/played ||
		status=$?
	sed 's/^/# /' /tmp/played
	return "$status"
}

# Return: whether all operations were done. Sets NEXT, the version of the next operation.
generation() {
	local status=0 cut

	disk_holds "$BASE"
	logging_begin 0
	dmsetup create t --table "$(table_of /dev/mapper/log)"
	crash-load /dev/mapper/t "$MARKS" $((SEED + NEXT)) "$OPERATIONS" "$NEXT" full >/tmp/next || status=$?
	NEXT=$(</tmp/next)
	echo "# generation $1: $(dmsetup status t | grep -oE '\b(free|empty)_segments=[0-9]+' | paste -sd ' ')"
	dmsetup remove t
	logging_end "$LOGGED" "$TRACED" || return 1
	((!status)) || return "$status"
	check "generation $1: what was promised survives a power failure at every write" play
	cut=$(sed -n 's/^scarcest \([0-9:]*\),.*/\1/p' /tmp/played)
	truncate -s "$(blockdev --getsize64 "$DISK")" "$BASE.next"
	crash-replay --seed "$SEED" --write "$BASE.next" --cut "$cut" "$BASE" "$LOGGED" "$TRACED" >/dev/null &&
		mv "$BASE.next" "$BASE"
}

fill() {
	disk_holds "$BASE"
	dmsetup create t --table "$(table_of "$DISK")"
	quietly dd if=/dev/zero of=/dev/mapper/t bs=64K count=$((LENGTH / 128)) oflag=direct
	dmsetup remove t
	dd if="$DISK" of="$BASE" bs=64K conv=sparse,notrunc iflag=direct status=none
}

goes_on() {
	local i

	NEXT=1
	for ((i = 0; i < GENERATIONS; i++)); do
		generation "$i" || return 1
	done
}

modprobe dm-dieaware
format_disk "$BASE" --stripe 32K --segment 256K --journal 512K --reserve 20
fill
if goes_on; then
	touch /out/went_on
fi
conclude
