#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Usage: guest-raw.sh GENERATIONS OPERATIONS SAMPLES SEED
#
# Work on a device in log mode, with all that reaches the disk logged; then some cuts,
# which the kernel itself has to survive. The next generation begins with what the last of
# them left, so that the power fails again and again. BASE, LOG and TRACE of each generation
# go to /out, where the host plays all cuts.

# shellcheck source=tests/crash/rc
. "${BASH_SOURCE[0]%/*}/rc"

GENERATIONS=$1 OPERATIONS=$2 SAMPLES=$3 SEED=$4
OPTIONS=()

# The log is played for a sample of cuts, and the real target started from what they leave.
play_sample() {
	quietly blkdiscard -f "$IMAGE"
	crash-replay "${OPTIONS[@]}" --seed "$SEED" --sample "$SAMPLES" --write "$IMAGE" \
		--up "guest-target up" \
		--device /dev/mapper/after --down "guest-target down" "$@" | tee /tmp/played
}

# begin_generation NUMBER: each fourth is of a new device with checksums, and the next one of a new one
# without; of the others each third overwrites in place, on a disk whose pages do not tear.
begin_generation() {
	LOG_OPTION="" OPTIONS=() IS_WHOLE=""
	if [[ ${TARGET:-log} != log ]]; then
		OPTIONS=(--raw)
	elif (($1 % 4 == 3)); then
		new_base "$1" --checksums
	elif (($1 % 4 == 0)); then
		new_base "$1"
	fi
	if [[ ${TARGET:-log} == log ]] && (($1 % 4 != 3 && $1 % 3 == 2)); then
		LOG_OPTION="in_place=0" OPTIONS=(--whole) IS_WHOLE=1
	fi
}

are_overwritten_in_place() {
	(($(dmsetup status t | grep -oE '\bin_place_pages=[0-9]+' | cut -d = -f 2) > OPERATIONS / 20))
}

# new_base NUMBER [OPTION]...: what that generation begins with is a device without data.
new_base() {
	local number=$1
	shift

	rm -f "/out/base$number"
	format_disk "/out/base$number" --stripe 32K --segment 256K --journal 512K --reserve 30 "$@"
}

generation() {
	local number=$1
	local files=("/out/base$number" "/out/log$number" "/out/trace$number")

	begin_generation "$number"
	disk_holds "${files[0]}"
	logging_begin $((number % 3 == 1 ? 5 : 0))
	dmsetup create t --table "$(table_of /dev/mapper/log)"
	next=$(crash-load /dev/mapper/t "$MARKS" $((SEED + number)) "$OPERATIONS" "$next")
	if [[ $LOG_OPTION ]]; then
		check "generation $number: pages are overwritten in place" are_overwritten_in_place
	fi
	dmsetup remove t
	logging_end "${files[1]}" "${files[2]}"
	check "generation $number: the kernel survives power failures" play_sample "${files[@]}"
	truncate -s "$(blockdev --getsize64 "$DISK")" "/out/base$((number + 1))"
	crash-replay "${OPTIONS[@]}" --seed "$SEED" --write "/out/base$((number + 1))" "${files[@]}" \
		--cut "$(sed -n 's/.* last cut \([0-9:]*\).*/\1/p' /tmp/played)" >/dev/null
}

if [[ ${TARGET:-log} != log ]]; then
	truncate -s "$(blockdev --getsize64 "$DISK")" /out/base0
else
	modprobe dm-dieaware
fi
next=1
for ((i = 0; i < GENERATIONS; i++)); do
	generation "$i"
done
conclude
