#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A driver that breaks every rule (tests/rawhost): bad PRPs and queues, full completion
# queues, abort, queues deleted and resets with commands in flight, wrong doorbells and
# registers. What is malformed gets the status that the specification names; the SSD works
# for the next driver.
# kernels: 6.12
# long: newest
# smp: 2
# mem: 2G
# seconds: 25
# timeout: 240
# sentences: 125
. "$(dirname "$0")/rc"

drop_rawhost() {
	echo "$address" >/sys/bus/pci/drivers/nvmev-rawhost/unbind
	rmmod nvmev-rawhost
}

# A read takes 11 ms: long enough to be aborted. Once all can be read, the dies are idle.
new_ssd ssd0 capacity_mib=1024 time_scale=300
address=$(cat "$CONFIGFS/ssd0/pci_address")
dd if=/dev/urandom of="$DEV" bs=1M count=16 oflag=direct status=none
dd if="$DEV" of=/dev/null bs=1M count=16 iflag=direct status=none
modprobe nvmev-rawhost
at_end drop_rawhost
echo "$address" >/sys/bus/pci/drivers/nvme/unbind
echo nvmev-rawhost >"/sys/bus/pci/devices/$address/driver_override"
echo "$address" >/sys/bus/pci/drivers_probe
run_sentences python3 "$LAB_DIR/rawhost-commands.py" /sys/kernel/debug/nvmev/ssd0/inject
echo >"/sys/bus/pci/devices/$address/driver_override"
echo "$address" >/sys/bus/pci/drivers/nvmev-rawhost/unbind
echo "$address" >/sys/bus/pci/drivers_probe
check "the stock driver takes it back" poll 20 nvmev-ssd dev ssd0
DEV=$(ssd_device ssd0)
poll 10 test -b "$DEV"
check "and data verifies" fio --name=v --filename="$DEV" --direct=1 --ioengine=libaio --iodepth=8 --size=2m \
	--rw=randwrite --bs=4k --verify=crc32c --verify_fatal=1
