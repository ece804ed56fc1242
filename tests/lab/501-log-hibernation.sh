#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The machine cannot hibernate while a device is in log mode, suspended or not: the image would have a
# map of it, and the device would change behind that. With one in hint mode it can, and to sleep with
# memory in use it can always.
# kernels: 6.12
# smp: 1
# mem: 1G
# seconds: 40
# timeout: 300
# sentences: 11
. "$(dirname "$0")/rc"

# Only so far: tasks are frozen, and go on.
echo freezer >/sys/power/pm_test
at_end sh -c "echo none >/sys/power/pm_test"
echo 1 >/sys/module/suspend/parameters/pm_test_delay

hibernate() {
	echo disk >/sys/power/state
}

# is_busy COMMAND...: it ends with EBUSY
is_busy() {
	! "$@" 2>"$T_DIR/why" && grep -q "Device or resource busy" "$T_DIR/why"
}

new_ssd ssd0 capacity_mib=64
check "the machine can hibernate" hibernate
new_target t1 "$DEV"
check "so it can with a device in hint mode" hibernate
dmsetup remove t1

new_log_target t0 "$DEV" --segment 1M
mark_log
check "not with one in log mode" is_busy hibernate
check "the kernel names the device, and says why" log_has "$(dmsetup info -c --noheadings --separator : -o major,minor t0): No hibernation in log mode"
check "it works on" dd if=/dev/zero of="$TARGET" bs=4k count=1 oflag=direct
dmsetup suspend t0
check "nor while it is suspended" is_busy hibernate
dmsetup resume t0
check "it can sleep with memory in use" sh -c "echo freeze >/sys/power/state"
dmsetup remove t0
dmsetup create t0 --readonly --table "$LINE"
check "nor with one that is only read" is_busy hibernate
dmsetup remove t0
dmsetup create t0 --notable
dmsetup load t0 --table "$LINE"
check "a table that never went to work is not in the way" hibernate
check "and goes to work afterwards" dmsetup resume t0
dmsetup remove t0
check "dieaware check finds nothing" dieaware check "$DEV"
