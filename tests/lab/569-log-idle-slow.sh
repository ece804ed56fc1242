#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode above a device that takes longer for a write than log mode waits before it cleans: while
# writes are under way there, nobody is idle; when they have ended, cleaning begins.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 4
# timeout: 240
# sentences: 5
. "$(dirname "$0")/rc"

low_disk 65536

writes_take() {
	becomes low "0 $SECTORS delay /dev/ram0 0 0 /dev/ram0 0 $1"
}

idle_cleaned() {
	(($(status_field t0 idle_cleaned) >= 1))
}

OPTIONS="idle_ms=0" new_log_target t0 /dev/mapper/low --segment 256K --reserve 40
lpns=$(($(status_field t0 lpns) / 64 * 64))
dd if=/dev/zero of="$TARGET" bs=256k count=$((lpns / 64)) oflag=direct conv=fsync status=none
# Half of each segment
python3 "$LAB_DIR/steps.py" write "$TARGET" 0 512 128 1 $(((lpns / 64 + 1) / 2))
check_that "there is something to clean" "$(status_field t0 free_segments)" -lt \
	$(($(status_field t0 segments) * 9 / 10))

writes_take 3000
check "message idle" dmsetup message t0 0 idle 500 90
# One after the other: nothing comes or ends for six times as long, and then the next one stops it.
dd if=/dev/zero of="$TARGET" bs=4k count=4 oflag=direct status=none
check_that "while they are under way, nothing is moved (pages)" "$(status_field t0 moved_pages)" -eq 0
writes_take 0
check "when they have ended, cleaning begins" poll 20 idle_cleaned
dmsetup remove --retry t0
check "dieaware check finds nothing" dieaware check /dev/mapper/low
