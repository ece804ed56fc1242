#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The SSD under load is reset, switched off and pulled out: nobody hangs, and
# what comes back works.
# kernels: uml
# long: 6.12
# smp: 2
# mem: 2G
# seconds: 25
# timeout: 240
# sentences: 52
. "$(dirname "$0")/rc"

new_ssd ssd0 capacity_mib=512
ctrl=${DEV%n1}
dd if=/dev/urandom of="$T_DIR/data" bs=1M count=8 status=none
dd if="$T_DIR/data" of="$DEV" bs=1M seek=256 oflag=direct status=none
new_load "$DEV" --rw=randrw --bs=8k --iodepth=32
for turn in 1 2 3 4 5 6; do
	check "reset $turn under load" nvme reset "$ctrl"
	sleep 0.4
done
check "the load goes on" is_running "$LOAD"
check "and ends without an error" load_ends_well
check "other data is untouched" sh -c "dd if=$DEV bs=1M skip=256 count=8 iflag=direct status=none | cmp - $T_DIR/data"

for turn in 1 2 3; do
	new_load "$DEV" --rw=randrw --bs=8k --iodepth=32
	check "power off $turn under load" sh -c "echo 0 >$CONFIGFS/ssd0/power"
	check "the load ends with an error" load_fails
	check "the block device is gone" poll 10 test ! -b "$DEV"
	check "power on" sh -c "echo 1 >$CONFIGFS/ssd0/power"
	check "it comes back" poll 20 nvmev-ssd dev ssd0
	DEV=$(ssd_device ssd0)
done

new_load "$DEV" --rw=randrw --bs=8k --iodepth=32
check "its PCI function is removed under load" \
	sh -c "echo 1 >$(readlink -f "/sys/class/nvme/${DEV:5:-2}/device")/remove"
check "the load ends with an error" load_fails
dd if=/dev/urandom of="$T_DIR/data" bs=1M count=8 status=none
address=$(<"$CONFIGFS/ssd0/pci_address")
check_empty "the SSD has no PCI function now" "$address"
# Twice, the second time with the driver at work: the kernel may not move the registers.
for turn in 1 2; do
	check "the bus is scanned again" sh -c "echo 1 >/sys/bus/pci/rescan"
	check "the function comes back" poll 20 nvmev-ssd dev ssd0
	DEV=$(ssd_device ssd0)
	poll 10 test -b "$DEV"
	check "data can be written, scan $turn" dd if="$T_DIR/data" of="$DEV" bs=1M oflag=direct
	check "a reset works, scan $turn" nvme reset "${DEV%n1}"
	check "data can be read, scan $turn" \
		sh -c "dd if=$DEV bs=1M count=8 iflag=direct status=none | cmp - $T_DIR/data"
done
check "power off" sh -c "echo 0 >$CONFIGFS/ssd0/power"
check "power on" sh -c "echo 1 >$CONFIGFS/ssd0/power"
check "it comes back" poll 20 nvmev-ssd dev ssd0
DEV=$(ssd_device ssd0)
check "and works" fio --name=v --filename="$DEV" --size=8m --rw=randwrite --bs=4k --ioengine=libaio --iodepth=8 \
	--direct=1 --verify=crc32c --verify_fatal=1

# The driver leaves and returns in the middle of everything, but for a moment in which the kernel
# looks for partitions on what has just come back.
for turn in 1 2 3; do
	check "the driver unloads, round $turn" poll 10 rmmod nvme
	check "the driver loads, round $turn" modprobe nvme
	check "the SSD is back, round $turn" poll 20 nvmev-ssd dev ssd0
done
DEV=$(ssd_device ssd0)
poll 10 test -b "$DEV"
check "it works" dd if="$DEV" of=/dev/null bs=1M count=8 iflag=direct
check_fails "the module of an SSD in use does not unload" rmmod nvmevirt_backend
