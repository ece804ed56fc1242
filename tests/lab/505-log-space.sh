#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode without cleaning runs out of space: writes wait, then fail with ENOSPC; discarding brings
# space back, also for those that wait already.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 6
# timeout: 180
# sentences: 11
. "$(dirname "$0")/rc"

fill() {
	dd if=/dev/zero of="$TARGET" bs=64k count=$((lpns / 16)) oflag=direct status=none
}

# Each segment keeps something that is valid: so none becomes free.
overwrite() {
	fio --name=over --filename="$TARGET" --rw=randwrite --bs=64k --size=100% --direct=1 \
		--ioengine=libaio --iodepth=8 --clocksource=clock_gettime
}

some_wait() {
	[[ $(status_field t0 starved) -gt 0 ]]
}

low_disk $((96 * 1024))
OPTIONS="cleaning=off no_space_timeout=1" new_log_target t0 /dev/mapper/low --segment 1M
lpns=$(status_field t0 lpns)
check "all pages of the device can be written" fill
check_error "overwritten at random, it runs full" "No space left" overwrite
check_that "it can still be written" "$(status_field t0 state)" == write
check "discarding" blkdiscard "$TARGET"
check "brings it back" dd if=/dev/zero of="$TARGET" bs=1M count=16 oflag=direct status=none

# Nobody but the write that waits and the discard has anything to do with the device.
fill
check_error "it runs full again" "No space left" overwrite
LINE=${LINE/timeout=1/timeout=40}
again t0
dd if=/dev/zero of="$TARGET" bs=4k count=300 seek=$((lpns - 300)) oflag=direct status=none &
waiter=$!
check "a write waits for space" poll 20 some_wait
since=${EPOCHREALTIME/./}
check "meanwhile somebody discards" blkdiscard -l $((4 << 20)) "$TARGET"
check "the write ends well" wait "$waiter"
# Each second those who wait look for themselves, and what was discarded is committed without that.
check_that "as soon as that was discarded (ms)" $(((${EPOCHREALTIME/./} - since) / 1000)) -lt 500
dmsetup remove --retry t0
check "dieaware check finds nothing" dieaware check /dev/mapper/low
