#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Of many reads that one task submits at once, the device hears as soon as 128 KiB
# wait, not when the block layer holds 32 of them back. (The event that shows it does
# not come from the NVMe driver of 6.1.)
# kernels: 6.12
# long: newest
# smp: 1
# mem: 2G
# seconds: 8
# timeout: 120
# sentences: 4
. "$(dirname "$0")/rc"

EVENT=$TRACEFS/events/block/block_unplug

# most_sent_at_once DEVICE BLOCK_BYTES: the largest batch of requests that the driver got
most_sent_at_once() {
	echo >"$TRACEFS/trace"
	fio --name=batch --filename="$1" --rw=randread --bs="$2" --size=64m --ioengine=libaio --direct=1 \
		--iodepth=32 --iodepth_batch_submit=32 --iodepth_batch_complete_min=32 --number_ios=256 \
		--randseed=7 --output="$T_DIR/fio"
	awk '/block_unplug:/ && $NF > most { most = $NF } END { print most + 0 }' "$TRACEFS/trace"
}

new_ssd ssd0 capacity_mib=256
new_target t0 "$DEV"
at_end tee "$EVENT/enable" <<<0
echo 1 >"$EVENT/enable"

check_that "on the raw device 32 reads wait for one another" "$(most_sent_at_once "$DEV" 32k)" -ge 16
check_that "through the target, at most four of 32 KiB do" "$(most_sent_at_once "$TARGET" 32k)" -le 4
check_that "small reads still go out together" "$(most_sent_at_once "$TARGET" 4k)" -ge 16
dmsetup message t0 0 hints off
check_that "it is so without hints too" "$(most_sent_at_once "$TARGET" 32k)" -le 4
