#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A resume has the device asked for hints again, and does not wait for that. Whatever memory it takes
# must not wait for writes, which may be this device's own: a message can come while it is suspended.
# kernels: 6.12
# long: 6.1 newest
# smp: 1
# mem: 2G
# seconds: 25
# timeout: 180
# sentences: 12
. "$(dirname "$0")/rc"

PROBES=$TRACEFS/kprobe_events
KMEM=$TRACEFS/events/kmem/mm_page_alloc

probes_off() {
	echo 0 >"$KMEM/enable"
	echo 0 >"$TRACEFS/events/lab/enable"
	echo >"$PROBES"
}

# allocated: the flags of each allocation of pages between the begin and the end of asking
allocated() {
	awk '{ sub(/^ */, ""); split($0, field, " "); task = field[1] }
		/ ask: / { asks[task] = 1 }
		/ asked: / { delete asks[task] }
		/ mm_page_alloc: / && task in asks { print $NF }' "$TRACEFS/trace"
}

hints_are() {
	[[ $(status_field t0 hints) == "$1" ]]
}

# asks_itself PROCESS: did it ask, according to the trace?
asks_itself() {
	grep -qE -- "-$1 .* ask: " "$TRACEFS/trace"
}

new_ssd ssd0 capacity_mib=256
new_target t0 "$DEV"
# See trace_on.
echo 0 >"$TRACEFS/options/record-cmd"
at_end probes_off
echo 'p:lab/ask dm_dieaware:dmda_discover' >"$PROBES"
echo 'r:lab/asked dm_dieaware:dmda_discover' >>"$PROBES"
echo 1 >"$TRACEFS/events/lab/enable"
echo 1 >"$KMEM/enable"

# asked_by COMMAND...: what memory does it take? Sets ASKER to the command's process.
asked_by() {
	echo >"$TRACEFS/trace"
	"$@" &
	ASKER=$!
	wait "$ASKER"
	poll 20 grep -q ' asked: ' "$TRACEFS/trace"
	allocated >"$T_DIR/flags"
	check_that "$1 $2 has the device asked, which takes memory" "$(wc -l <"$T_DIR/flags")" -ge 2
	# Names of sets that have __GFP_IO, and that flag itself
	if grep -E 'GFP_(KERNEL|USER|HIGHUSER|NOFS|TRANSHUGE)|__GFP_(IO|FS)\b' "$T_DIR/flags" >"$T_DIR/bad"; then
		t_fail "none that waits for writes"
		note "$(sort "$T_DIR/bad" | uniq -c)"
	else
		t_ok "none that waits for writes"
	fi
	check "and it takes hints" poll 20 hints_are on
}

dmsetup suspend t0
asked_by dmsetup resume t0
check_fails "the resume does not ask itself" asks_itself "$ASKER"
asked_by dmsetup message t0 0 hints auto
check "a message does" asks_itself "$ASKER"

# ---- a device that does not answer for now
dmsetup suspend t0
echo fatal >/sys/kernel/debug/nvmev/ssd0/inject
check "it is resumed all the same" timeout 4 dmsetup resume t0
check_that "and its status says that the device is being asked" "$(status_field t0 hints)" == off:asking
check_that "not for ever" "$(poll 90 sh -c "! dmsetup status t0 | grep -q hints=off:asking" && echo ends)" == ends
check "the message hints asks again" poll 60 sh -c 'dmsetup message t0 0 hints auto && dmsetup status t0 | grep -q hints=on'
