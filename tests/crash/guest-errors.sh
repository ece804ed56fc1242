#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Usage: guest-errors.sh FIRST STEP SEED
#
# The disk below a target in log mode fails after FIRST bytes, in the next turn after STEP more,
# until all of the turn's I/O comes before that: once, or from then on, in turn. So each I/O of
# start, work, checkpoints, cleaning and end fails some time. Then the device must be sound, and
# each page as promised.

# shellcheck source=tests/crash/rc
. "${BASH_SOURCE[0]%/*}/rc"

FIRST=$1 STEP=$2 SEED=$3
OPERATIONS=60
declare -A STATES=()

# ask COMMAND...: of errors.py, which takes longer to start than to answer; sets ANSWER.
ask() {
	echo "$*" >&"${WORKER[1]}"
	read -r ANSWER <&"${WORKER[0]}" || ANSWER="wrong: it has ended"
	[[ $ANSWER != wrong* ]] || {
		echo "$ANSWER"
		return 1
	}
}

# work TURN: sets STATE
work() {
	STATE=not_started
	dmsetup create t --table "$(table_of /dev/mapper/whole)" 2>/dev/null || {
		dmsetup remove t 2>/dev/null || true
		return 0
	}
	ask work "$1" || return 1
	STATE=$(dmsetup status t | grep -o 'state=[a-z_]*' | cut -d = -f 2)
	dmsetup remove --retry t
	# Once writes have ended, somebody has noticed.
	[[ $STATE != failed || $ANSWER -gt 0 || $TIMES -eq 1 ]]
}

sound() {
	dieaware check "$@" /dev/mapper/whole >/tmp/said 2>&1 || {
		cat /tmp/said
		return 1
	}
}

all_is_there() {
	dmsetup create t --table "$(table_of /dev/mapper/whole)" &&
		[[ $(dmsetup status t) == *state=write* ]] &&
		ask check &&
		dmsetup remove t
}

modprobe dm-dieaware
whole_device whole "0 $(sectors_of "$DISK") linear $DISK 0"
format_disk /tmp/base --stripe 32K --segment 256K --journal 512K --reserve 30
dd if=/tmp/base of="$DISK" bs=64K conv=sparse oflag=direct status=none
coproc WORKER { exec errors.py /dev/mapper/t "$SEED" $OPERATIONS dmsetup message t 0; }
bytes=$FIRST
for ((turn = 0; ; turn++)); do
	TIMES=$((turn % 2 ? -1 : 1))
	# Two turns like this, two turns like that
	LOG_OPTION=""
	if ((turn / 2 % 2)); then
		LOG_OPTION="in_place=0"
	fi
	fail_after "$bytes" $TIMES
	check "after $bytes bytes: errors are no wrong data" work "$turn"
	left=$(<$FAULT/times)
	calm
	check "after $bytes bytes, $STATE: the device is sound" sound --clear-needs-check
	check "after $bytes bytes, $STATE: what was promised is there" all_is_there
	check "after $bytes bytes, $STATE: the device is sound in the end" sound
	STATES[$STATE]=$((${STATES[$STATE]:-0} + 1))
	((left != 1)) || break
	bytes=$((bytes + STEP))
done
echo "$turn turns: $(for state in "${!STATES[@]}"; do echo "$state ${STATES[$state]}"; done | sort | paste -sd , -)"
check "errors made it fail, and made it not start, and did neither" [ ${#STATES[@]} -ge 3 ]
conclude
