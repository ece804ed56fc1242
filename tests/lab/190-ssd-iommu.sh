#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# With an IOMMU and interrupt remapping on, the stock driver gets interrupts of the
# module's own: two SSDs, resets and CPU hotplug under load.
# kernels: 6.12 newest
# smp: 2
# mem: 2G
# iommu: on
# seconds: 35
# timeout: 240
# sentences: 16
. "$(dirname "$0")/rc"

online() {
	echo 1 >/sys/devices/system/cpu/cpu1/online
}

check "interrupt remapping is on" sh -c "dmesg | grep -i 'Enabled IRQ remapping'"
check "devices have IOMMU groups" test -n "$(ls -A /sys/kernel/iommu_groups)"
at_end online
new_ssd ssd0 capacity_mib=512
first=$DEV
new_ssd ssd1 capacity_mib=512
check "an SSD's interrupts are the module's own" sh -c "grep -E 'nvmev.*nvme[0-9]+q1' /proc/interrupts"
new_load "$first" --rw=randrw --bs=4k --iodepth=16 --size=64m --verify=crc32c --verify_backlog=64 --verify_fatal=1
check "data verifies on the other" fio --name=v --filename="$DEV" --direct=1 --ioengine=libaio --iodepth=8 --size=8m \
	--rw=randwrite --bs=4k --verify=crc32c --verify_fatal=1
for turn in 1 2; do
	check "reset $turn under load" nvme reset "${first%n1}"
	check "turn $turn: CPU 1 leaves" sh -c "echo 0 >/sys/devices/system/cpu/cpu1/online"
	check "turn $turn: a read" timeout 20 dd if="$DEV" of=/dev/null bs=4k count=64 iflag=direct
	check "turn $turn: CPU 1 returns" online
done
check "the load goes on" is_running "$LOAD"
check "and ends without an error" load_ends_well
drop_ssd ssd1
new_ssd ssd1 capacity_mib=512
check "an SSD that comes again works" dd if="$DEV" of=/dev/null bs=4k count=64 iflag=direct
check "in the middle of a read it can be pulled out" sh -c "echo 1 >$CONFIGFS/ssd0/surprise"
