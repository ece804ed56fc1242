#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode above a device that does not answer for two minutes, as while a controller is reset or a
# multipath device has no path: that costs time, and nobody gets an error.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 4
# timeout: 600
# sentences: 9
. "$(dirname "$0")/rc"

STALL_SECONDS=125

# Whoever waits for the device below waits for longer than the kernel takes for normal.
patience=$(</proc/sys/kernel/hung_task_timeout_secs)
at_end sh -c "echo $patience >/proc/sys/kernel/hung_task_timeout_secs"
echo 0 >/proc/sys/kernel/hung_task_timeout_secs

# ends PROCESS FILE: it has ended by itself, and well; FILE is what it said.
ends() {
	poll 60 has_ended "$1" || return 1
	wait "$1" && return
	cat "$2"
	return 1
}

new_ssd ssd0 capacity_mib=256
sectors=$(blockdev --getsz "$DEV")
at_end drop_target low
dmsetup create low --table "0 $sectors linear $DEV 0"
new_log_target t0 /dev/mapper/low --segment 1M
write_mib "$T_DIR/data" 48
dd if="$T_DIR/data" of="$TARGET" bs=1M seek=64 oflag=direct status=none

dmsetup suspend --noflush --nolockfs low
dd if="$T_DIR/data" of="$TARGET" bs=1M conv=fsync status=none 2>"$T_DIR/much" &
much=$!
dd if="$T_DIR/data" of="$TARGET" bs=4k count=1 seek=$((56 * 256)) oflag=direct status=none 2>"$T_DIR/little" &
little=$!
dd if="$TARGET" of="$T_DIR/read" bs=64k count=1 skip=$((64 * 16)) iflag=direct status=none 2>"$T_DIR/reading" &
reader=$!
began=$SECONDS
sleep $STALL_SECONDS
check_that "the device below does not answer for two minutes (s)" $((SECONDS - began)) -ge 120
check "a read waits for that long" is_running "$reader"
check "so does a small write" is_running "$little"
dmsetup resume low
check "the read ends well" ends "$reader" "$T_DIR/reading"
check "with the data that is there" cmp -n 65536 "$T_DIR/read" "$T_DIR/data"
check "the small write ends well" ends "$little" "$T_DIR/little"
check "a write of 48 MiB and its fsync end well" ends "$much" "$T_DIR/much"
check_that "the target goes on writing" "$(status_field t0 state)" == write
dd if="$T_DIR/data" of="$TARGET" bs=1M conv=fsync status=none
dmsetup remove --retry t0
check "dieaware check finds nothing" dieaware check /dev/mapper/low
