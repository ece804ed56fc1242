#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Hint mode above an SSD that takes two minutes for each command: that costs time, nobody gets an
# error, and hints are not taken for the cause of it. Then above one that loses commands, so that the
# driver resets it: the same.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 4
# timeout: 600
# sentences: 12
. "$(dirname "$0")/rc"

STALL_MS=120000

inject() {
	echo "$*" >/sys/kernel/debug/nvmev/ssd0/inject
}

patience=$(</proc/sys/kernel/hung_task_timeout_secs)
at_end sh -c "echo $patience >/proc/sys/kernel/hung_task_timeout_secs"
echo 0 >/proc/sys/kernel/hung_task_timeout_secs

ends() {
	poll 300 has_ended "$1" && wait "$1"
}

# write_both: a file that is there is overwritten, and a new one appended, at the same time
write_both() {
	dd if="$T_DIR/data" of="$T_DIR/mnt/old" bs=32k count=8 oflag=direct conv=notrunc status=none &
	over=$!
	dd if="$T_DIR/data" of="$T_DIR/mnt/$1" bs=32k count=16 oflag=direct status=none &
	append=$!
}

new_ssd ssd0 capacity_mib=512
end=$(blockdev --getsz "$DEV")
queue=/sys/block/${DEV#/dev/}/queue
new_target t0 "$DEV"
make_fs ext4 "$TARGET"
new_mount "$TARGET" "$T_DIR/mnt"
write_mib "$T_DIR/data" 1
dd if="$T_DIR/data" of="$T_DIR/mnt/old" bs=1M oflag=direct status=none
sync

# The driver is told to wait for longer than that.
echo $((2 * STALL_MS)) >"$queue/io_timeout"
mark_log
inject delay 0 "$end" $STALL_MS
began=$SECONDS
write_both new
sleep 1
check "an overwrite waits" is_running "$over"
check "so does an append" is_running "$append"
sleep $((STALL_MS / 1000))
inject clear
check "the overwrite ends well" ends "$over"
check "so does the append" ends "$append"
check_that "that took two minutes (s)" $((SECONDS - began)) -ge 120
check_fails "the driver had no reason to reset the SSD" log_has 'nvme.*(timeout|reset)'
check_that "hints are on" "$(status_field t0 hints)" == on

# The driver gives up what is late, and sends it again.
echo 5000 >"$queue/io_timeout"
mark_log
inject drop 0 "$end" 3
write_both newer
check "the overwrite ends well, though the SSD loses commands" ends "$over"
check "so does the append" ends "$append"
check "the driver has aborted commands, or reset the SSD" log_has 'nvme.*(timeout|abort)'
inject clear
check_that "nothing counts as a rejected hint" "$(status_field t0 rejected) $(status_field t0 hints)" == "0 on"
umount "$T_DIR/mnt"
mount "$TARGET" "$T_DIR/mnt"
same() {
	cmp "$T_DIR/mnt/old" "$T_DIR/data" && cmp -n 524288 "$T_DIR/mnt/new" "$T_DIR/data" &&
		cmp -n 524288 "$T_DIR/mnt/newer" "$T_DIR/data"
}
check "all data is what was written" same
