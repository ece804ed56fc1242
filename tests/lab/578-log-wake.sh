#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode on a full device: large writes of many threads wait for segments that are being freed and
# summaries that are being written. They are woken when there are places, and not to try in vain
# again and again: in virtual time, in which work takes none, that would never end.
# kernels: uml
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 45
# timeout: 240
# sentences: 4
. "$(dirname "$0")/rc"

new_ssd ssd0 capacity_mib=512 time_scale=16 units_per_eblk=4 erase_ns=23437
new_log_target t0 "$DEV"
mib=$(($(blockdev --getsize64 "$TARGET") >> 20))
check "the device is filled" dd if=/dev/zero of="$TARGET" bs=1M count="$mib" oflag=direct status=none
for round in 1 2; do
	check "large writes of eight threads end, round $round" fio --name=wake --thread --numjobs=8 --filename="$TARGET" \
		--direct=1 --ioengine=psync --rw=write --bs=1m --size=$((mib * 6 / 80))m \
		--offset_increment=$((mib / 8))m --group_reporting
done
check_that "and the log takes writes" "$(status_field t0 state)" == write
