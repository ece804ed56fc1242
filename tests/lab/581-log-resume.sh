#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode reads its metadata at a resume, and whoever writes above it waits for that: so none of the
# memory that it takes may have to wait for writes.
# kernels: uml
# smp: 1
# mem: 2G
# seconds: 5
# timeout: 120
# sentences: 3
. "$(dirname "$0")/rc"

KMEM=$TRACEFS/events/kmem

# allocated: the flags of each allocation of pages below the target's part of a resume
allocated() {
	awk '/mm_page_alloc: / { flags = $NF; next }
		/ => .*dieaware_preresume/ && flags { print flags; flags = "" }' "$TRACEFS/trace"
}

low_disk $((128 * 1024))
new_log_target t0 /dev/mapper/low --segment 1M
dmsetup load t0 --table "$LINE"
dmsetup suspend t0

at_end sh -c "echo 0 >$TRACEFS/options/stacktrace; echo 0 >$KMEM/mm_page_alloc/enable"
echo 0 >"$TRACEFS/options/record-cmd"
echo >"$TRACEFS/trace"
echo 1 >"$TRACEFS/options/stacktrace"
echo 1 >"$KMEM/mm_page_alloc/enable"
check "a table that was loaded is resumed" dmsetup resume t0
echo 0 >"$KMEM/mm_page_alloc/enable"
allocated >"$T_DIR/flags"
check_that "that takes memory" "$(wc -l <"$T_DIR/flags")" -gt 2
# Names of sets that have __GFP_IO, and that flag itself
check_fails "none that waits for writes" \
	grep -E 'GFP_(KERNEL|USER|HIGHUSER|NOFS|TRANSHUGE)|__GFP_(IO|FS)\b' "$T_DIR/flags"
