#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Of many reads that one task submits at once, the device hears as soon as 128 KiB
# wait, not when the block layer holds 32 of them back; but reads of one piece still become one request. (The event that shows it does
# not come from the NVMe driver of 6.1.)
# kernels: uml
# long: 6.12 newest
# smp: 1
# mem: 2G
# seconds: 8
# timeout: 120
# sentences: 7
. "$(dirname "$0")/rc"

EVENT=$TRACEFS/events/block/block_unplug

# most_sent_at_once DEVICE BLOCK_BYTES: the largest batch of requests that the driver got
most_sent_at_once() {
	echo >"$TRACEFS/trace"
	fio --name=batch --filename="$1" --rw=randread --bs="$2" --size=64m --ioengine=libaio --direct=1 \
		--iodepth=32 --iodepth_batch_submit=32 --iodepth_batch_complete_min=32 --number_ios=256 \
		--output="$T_DIR/fio"
	awk '/block_unplug:/ && $NF > most { most = $NF } END { print most + 0 }' "$TRACEFS/trace"
}

new_ssd ssd0 capacity_mib=256
new_target t0 "$DEV"
at_end tee "$EVENT/enable" <<<0
echo 1 >"$EVENT/enable"

# requests_of DEVICE: how many the SSD gets for 8 MiB of one piece, in 64 reads submitted together
requests_of() {
	local disk=${DEV##*/} before

	before=$(awk '{ print $1 }' "/sys/block/$disk/stat")
	fio --name=piece --filename="$1" --rw=read --bs=128k --size=8m --ioengine=libaio --direct=1 --iodepth=64 \
		--iodepth_batch_submit=64 --iodepth_batch_complete_min=64 --output="$T_DIR/fio"
	echo $(($(awk '{ print $1 }' "/sys/block/$disk/stat") - before))
}

check_that "on the raw device 32 reads wait for one another" "$(most_sent_at_once "$DEV" 32k)" -ge 16
check_that "through the target, at most four of 32 KiB do" "$(most_sent_at_once "$TARGET" 32k)" -le 4
check_that "small reads still go out together" "$(most_sent_at_once "$TARGET" 4k)" -ge 16
raw=$(requests_of "$DEV")
check_that "64 reads of one piece are fewer requests" "$raw" -le 48
check_that "through the target they are no more" "$(requests_of "$TARGET")" -le $((raw + 4))
dmsetup message t0 0 hints off
check_that "without hints reads wait as on the raw device" "$(most_sent_at_once "$TARGET" 32k)" -ge 16
dmsetup remove t0
new_target t0 "$DEV" early_reads=off
check_that "and so they do with early_reads=off" "$(most_sent_at_once "$TARGET" 32k)" -ge 16
