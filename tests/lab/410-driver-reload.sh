#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The nvme driver goes and comes back while the target's module stays loaded:
# the transport finds the new driver's tracepoint.
# kernels: uml
# long: 6.12 newest
# smp: 2
# mem: 2G
# seconds: 25
# timeout: 240
# sentences: 27
. "$(dirname "$0")/rc"

new_ssd ssd0 capacity_mib=256

# hinted TURN: make a target, write, count what the device saw.
hinted() {
	DEV=$(ssd_device ssd0)
	poll 20 test -b "$DEV"
	dmsetup create t0 --table "$(target_line "$DEV" 0 hints=on)"
	dd if=/dev/zero of=/dev/mapper/t0 bs=64k count=16 oflag=direct status=none
	status_field t0 confirmed_append
	dmsetup remove t0
}

check_that "hints are on the wire at first" "$(hinted)" -ge 14
for turn in 1 2 3 4; do
	check "round $turn: the nvme driver unloads" rmmod nvme
	((turn % 2)) || check "round $turn: nvme-core unloads" rmmod nvme_core
	sleep 0.2
	check "round $turn: it loads again" modprobe nvme
	check "round $turn: the SSD comes back" poll 20 nvmev-ssd dev ssd0
	check_that "round $turn: hints are on the wire" "$(hinted)" -ge 14
done

# The target's own module, around a driver that stays.
rmmod dm_dieaware
modprobe dm-dieaware
check_that "hints are on the wire after reloading the target" "$(hinted)" -ge 14
rmmod dm_dieaware
rmmod nvme
rmmod nvme_core
modprobe dm-dieaware
check "the target loads without the driver" test -d /sys/module/dm_dieaware
modprobe nvme
poll 20 nvmev-ssd dev ssd0
check_that "hints are on the wire when the driver came later" "$(hinted)" -ge 14

# Taken away below a target: the module stays because the device is in use.
DEV=$(ssd_device ssd0)
new_target t1 "$DEV"
basename "$(readlink -f "/sys/class/nvme/${DEV:5:-2}/device")" >"$T_DIR/address"
check "the driver is unbound below the target" sh -c "cat $T_DIR/address >/sys/bus/pci/drivers/nvme/unbind"
check_fails "writes then fail" dd if=/dev/zero of="$TARGET" bs=64k count=1 oflag=direct status=none
check "the target can be removed" dmsetup remove t1
check "the driver binds again" sh -c "cat $T_DIR/address >/sys/bus/pci/drivers/nvme/bind"
check "and the SSD is back" poll 20 nvmev-ssd dev ssd0
