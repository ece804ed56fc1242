#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Usage: guest-failing.sh GENERATIONS OPERATIONS SEED
#
# Work on a device in log mode while the disk below fails, with all that reaches the disk logged;
# then power failures. The device is cleaned, suspended and resumed meanwhile, also with other tables.
# What the disk has failed may be on it all the same, or a part of it, at once or at any time later.
# Each page must be what was promised, or what was submitted later. The next generation begins with
# what a power failure has left.

# shellcheck source=tests/crash/rc
. "${BASH_SOURCE[0]%/*}/rc"

GENERATIONS=$1 OPERATIONS=$2 SEED=$3
BASE=/tmp/base LOGGED=/tmp/log TRACED=/tmp/trace DISTURB=/tmp/disturb
OPTIONS=()
FAILED_ALL=0
declare -A STATES=()
RANDOM=$SEED

# new_base [OPTION]...
new_base() {
	rm -f "$BASE"
	format_disk "$BASE" --stripe 32K --segment 256K --journal 512K --reserve 30 "$@"
}

# begin_generation NUMBER: six of a device, each fourth of which has checksums; of the others every other
# one overwrites in place, on a disk whose pages do not tear.
begin_generation() {
	LOG_OPTION="" OPTIONS=() IS_WHOLE=""
	if (($1 % 24 == 18)); then
		new_base --checksums
	elif (($1 % 6 == 0)); then
		new_base
	fi
	if (($1 % 24 < 18 && $1 % 2)); then
		LOG_OPTION="in_place=0" OPTIONS=(--whole) IS_WHOLE=1
	fi
	quietly dieaware check --clear-needs-check "$BASE"
}

# In turn: once, from then on, now and then; each fifth time maybe while the target starts, which reads
# more than a MiB
begin_to_fail() {
	local after=$((1200000 + RANDOM * 32768 % (OPERATIONS * 20000)))

	if (($1 % 5 == 4)); then
		after=$((RANDOM * 32768 % 1500000))
	fi
	case $(($1 % 3)) in
	0) fail_after "$after" 1 ;;
	1) fail_after "$after" -1 ;;
	2) fail_after "$after" $((RANDOM % 8 + 1)) 4 ;;
	esac
}

# reload [OPTION]: another table, which starts the target anew; where that fails, once more on a disk that
# does not fail. Not after a target that has failed: a flush of the next one would promise what it has lost.
reload() {
	dmsetup suspend "$@" t
	if [[ $(dmsetup status t) == *state=write* ]]; then
		dmsetup load t --table "$(table_of /dev/mapper/log)"
	fi
	dmsetup resume t && return
	calm
	dmsetup load t --table "$(table_of /dev/mapper/log)"
	dmsetup resume t
}

# What happens to a device in use, until the disk does not fail any more
disturb() {
	set +e
	while [[ -e $DISTURB ]]; do
		case $((RANDOM % 12)) in
		0) reload ;;
		1) reload --noflush ;;
		2) dmsetup suspend t && dmsetup resume t ;;
		3) dmsetup suspend --noflush t && dmsetup resume t ;;
		4 | 5) dmsetup message t 0 clean ;;
		6 | 7) dmsetup message t 0 checkpoint ;;
		8) dmsetup message t 0 in_place $((RANDOM % 101)) ;;
		9) dmsetup message t 0 cleaning "$([[ $((RANDOM % 2)) == 0 ]] && echo on || echo off)" ;;
		10) dmsetup message t 0 idle $((RANDOM % 30)) $((RANDOM % 100)) ;;
		11) dmsetup message t 0 map_cache_mb $((RANDOM % 3 + 1)) ;;
		esac
		sleep 0.0$((RANDOM % 6))
	done
} >/dev/null 2>&1

# What is left of a target that goes on has nobody who holds a segment of it: all of them can be cleaned,
# and are free when they are empty.
comes_to_rest() {
	local i

	dmsetup message t 0 cleaning on && dmsetup message t 0 clean && sync /dev/mapper/t || return 1
	for ((i = 0; i < 50; i++)); do
		[[ $(dmsetup status t) != *" empty_segments=0 "* ]] || return 0
		sleep 0.1
	done
	dmsetup status t
	return 1
}

# work NUMBER: sets NEXT, the version of the next operation, and STATE.
work() {
	STATE=not_started
	begin_to_fail "$1"
	if dmsetup create t --table "$(table_of /dev/mapper/log)" 2>/tmp/said; then
		: >"$DISTURB"
		disturb &
		NEXT=$(crash-load /dev/mapper/t "$MARKS" $((SEED + $1)) "$OPERATIONS" "$NEXT" failing) || true
		STATE=$(dmsetup status t | grep -o 'state=[a-z_]*' | cut -d = -f 2)
	fi
	calm
	rm -f "$DISTURB"
	wait
	if [[ $STATE == write && $(dmsetup status t) == *state=write* ]]; then
		check "generation $1: nobody holds what is left" comes_to_rest
	fi
	dmsetup remove --retry t 2>/dev/null || true
	FAILED_OPS=$(grep -c ' dmda: x ' $TRACE/trace || true)
}

# play FILE...
play() {
	local status=0

	crash-replay "${OPTIONS[@]}" --seed "$SEED" "$@" "$BASE" "$LOGGED" "$TRACED" >/tmp/played || status=$?
	((!status)) || {
		sed 's/^/# /' /tmp/played
		cp -u "$BASE" "$LOGGED" "$TRACED" /out
	}
	return "$status"
}

play_real() {
	quietly blkdiscard -f "$IMAGE"
	CHECK_OPTION=--clear-needs-check play --sample 2 --write "$IMAGE" --up "guest-target up" \
		--device /dev/mapper/after --down "guest-target down"
}

# Else nothing has happened.
has_writes() {
	grep -q 'block_bio_queue: [0-9,]* F*[WD]' "$TRACED"
}

generation() {
	local cut

	begin_generation "$1"
	disk_holds "$BASE"
	logging_begin $(($1 % 4 == 1 ? 2 : 0))
	work "$1"
	logging_end "$LOGGED" "$TRACED"
	STATES[$STATE]=$((${STATES[$STATE]:-0} + 1))
	echo "# generation $1: $STATE, $FAILED_OPS operations failed"
	FAILED_ALL=$((FAILED_ALL + FAILED_OPS))
	has_writes || return 0
	check "generation $1, $STATE: what was promised survives errors and a power failure" play
	check "generation $1, $STATE: the kernel survives them" play_real
	cut=$(sed -n 's/.* last cut \([0-9:]*\).*/\1/p' /tmp/played)
	truncate -s "$(blockdev --getsize64 "$DISK")" "$BASE.next"
	play --write "$BASE.next" --cut "$cut"
	mv "$BASE.next" "$BASE"
}

modprobe dm-dieaware
NEXT=1
for ((i = 0; i < GENERATIONS; i++)); do
	generation "$i"
done
echo "$GENERATIONS generations: $(for state in "${!STATES[@]}"; do echo "$state ${STATES[$state]}"; done | sort | paste -sd , -), $FAILED_ALL operations failed"
check "errors made it fail, and some did not" [ "${STATES[failed]:-0}" -gt 0 -a "${STATES[write]:-0}" -gt 0 ]
check "users saw some" [ $FAILED_ALL -gt 0 ]
conclude
