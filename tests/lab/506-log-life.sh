#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The life of a target in log mode: what was written is there after it; one target at a time uses a
# device; suspends and reloads under I/O lose nothing.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 15
# timeout: 120
# sentences: 7
. "$(dirname "$0")/rc"

new_ssd ssd0 capacity_mib=96
new_log_target t0 "$DEV" --segment 1M
dd if=/dev/urandom of="$T_DIR/data" bs=1M count=4 status=none

# Nobody has asked for it to be durable; the end of the target makes it so.
dd if="$T_DIR/data" of="$TARGET" bs=1M count=4 oflag=direct status=none
again t0
check "what was written last is there after a restart" cmp -n 4194304 "$T_DIR/data" "$TARGET"

# One at a time
check_fails "a second target on the same device is refused" dmsetup create t1 --table "$LINE"
at_end drop_target t1
drop_target t1
check "the first one works on" cmp -n 4194304 "$T_DIR/data" "$TARGET"
dmsetup suspend t0
check "while the first is suspended, a second may take over" dmsetup create t1 --table "$LINE"
dd if=/dev/urandom of=/dev/mapper/t1 bs=1M count=1 oflag=direct status=none
check_fails "then the first cannot be resumed" dmsetup resume t0
dmsetup remove t1
dmsetup remove t0
dmsetup create t0 --table "$LINE"

# Under I/O
new_load "$TARGET" --size=64m --rw=randrw --verify=crc32c --verify_backlog=64 --verify_fatal=1
for turn in 1 2 3 4 5; do
	dmsetup suspend t0
	((turn % 2)) || dmsetup load t0 --table "$LINE"
	dmsetup resume t0
	dmsetup message t0 0 checkpoint
	sleep 0.3
done
check "no error and no wrong data in five suspends, two of them reloads" load_ends_well
dmsetup remove --retry t0
check "dieaware check finds nothing after that" dieaware check "$DEV"
