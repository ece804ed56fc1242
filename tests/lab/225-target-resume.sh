#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The device is asked for hints again while it is suspended: whatever memory that takes must
# not wait for writes, which may be this device's own.
# kernels: 6.12
# long: 6.1 newest
# smp: 1
# mem: 2G
# seconds: 8
# timeout: 120
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

new_ssd ssd0 capacity_mib=256
new_target t0 "$DEV"
# See trace_on.
echo 0 >"$TRACEFS/options/record-cmd"
at_end probes_off
echo 'p:lab/ask dm_dieaware:dmda_discover' >"$PROBES"
echo 'r:lab/asked dm_dieaware:dmda_discover' >>"$PROBES"
echo 1 >"$TRACEFS/events/lab/enable"
echo 1 >"$KMEM/enable"

# asked_by COMMAND...: what memory does it take?
asked_by() {
	echo >"$TRACEFS/trace"
	"$@"
	allocated >"$T_DIR/flags"
	check_that "$1 $2 asks the device, which takes memory" "$(wc -l <"$T_DIR/flags")" -ge 2
	# Names of sets that have __GFP_IO, and that flag itself
	if grep -E 'GFP_(KERNEL|USER|HIGHUSER|NOFS|TRANSHUGE)|__GFP_(IO|FS)\b' "$T_DIR/flags" >"$T_DIR/bad"; then
		t_fail "none that waits for writes"
		note "$(sort "$T_DIR/bad" | uniq -c)"
	else
		t_ok "none that waits for writes"
	fi
	check_that "and it takes hints" "$(dmsetup status t0)" =~ hints=on
}

dmsetup suspend t0
asked_by dmsetup resume t0
asked_by dmsetup message t0 0 hints auto
