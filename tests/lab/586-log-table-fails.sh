#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A table of two targets, of which the second cannot be resumed: the first has begun by then, and is
# not in the way of the table that takes its place; nor may two targets of one table share a device.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 3
# timeout: 120
# sentences: 8
. "$(dirname "$0")/rc"

# table SECOND-LINE: a device with the log, and behind it another target
table() {
	printf '%s\n' "$LINE" "$(cut -d ' ' -f 2 <<<"$LINE") $(cut -d ' ' -f 2- <<<"$1")"
}

new_ssd ssd1 capacity_mib=96
OTHER=$DEV
new_ssd ssd0 capacity_mib=96
new_log_target t0 "$DEV" --segment 1M
dd if=/dev/urandom of="$T_DIR/data" bs=1M count=4 status=none
dd if="$T_DIR/data" of="$TARGET" bs=1M oflag=direct status=none
dieaware format "$OTHER" --force --segment 1M >"$T_DIR/said"
dd if="$OTHER" of="$T_DIR/another" bs=4k count=17 status=none
other=$(dieaware format "$OTHER" --force --segment 1M | tail -n 1)

# What the second is to be on becomes another one before it begins.
table "$other" | dmsetup load t0
dd if="$T_DIR/another" of="$OTHER" bs=4k oflag=direct status=none
mark_log
check_fails "a table of which one target cannot be resumed does not go to work" dmsetup resume t0
check "which is the second" log_has "changed since the table was loaded"
dmsetup load t0 --table "$LINE"
check "the first is not in the way of the table that is loaded instead" dmsetup resume t0
check_that "which works" "$(status_field t0 state)" == write
check "on what was there" cmp -n 4194304 "$T_DIR/data" "$TARGET"
dd if="$T_DIR/data" of="$TARGET" bs=1M seek=8 oflag=direct status=none

table "$LINE" | dmsetup load t0
check_fails "two targets of one table cannot have one device" dmsetup resume t0
dmsetup remove t0
dmsetup create t0 --table "$LINE"
check "what was written is there" cmp -n 4194304 "$T_DIR/data" <(dd if="$TARGET" bs=1M skip=8 count=4 status=none)
dmsetup remove t0
check "dieaware check finds nothing" dieaware check "$DEV"
