#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# CPUs come and go while the SSD is at work: interrupts, timers and the dispatcher move,
# nothing hangs, data verifies.
# kernels: 6.12
# long: newest
# smp: 4
# mem: 2G
# sentences: 25
# seconds: 15
# timeout: 240
. "$(dirname "$0")/rc"

all_online() {
	local cpu

	for cpu in 1 2 3; do
		echo 1 >"/sys/devices/system/cpu/cpu$cpu/online"
	done
}

at_end all_online
new_ssd ssd0 capacity_mib=512
new_load "$DEV" --rw=randrw --bs=4k --iodepth=16 --numjobs=1 --size=64m --verify=crc32c --verify_backlog=64 --verify_fatal=1
for turn in 1 2 3; do
	for cpu in 1 2 3; do
		check "turn $turn: CPU $cpu leaves" sh -c "echo 0 >/sys/devices/system/cpu/cpu$cpu/online"
		sleep 0.3
	done
	check "a read on the one CPU left" timeout 20 dd if="$DEV" of=/dev/null bs=4k count=16 iflag=direct
	for cpu in 3 1 2; do
		check "turn $turn: CPU $cpu returns" sh -c "echo 1 >/sys/devices/system/cpu/cpu$cpu/online"
		sleep 0.1
	done
done
check "the load goes on" is_running "$LOAD"
check "and ends without an error" load_ends_well
check "reset, with all queues again" nvme reset "${DEV%n1}"
check "a read afterwards" timeout 20 dd if="$DEV" of=/dev/null bs=4k count=16 iflag=direct
