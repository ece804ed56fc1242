#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# An SSD that takes eight seconds for each admin command, as one that formats or sanitizes may: it is given the time
# that the driver gives it, and its controller is not reset for what hint mode asks. With hints=off it is not asked.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 5
# timeout: 240
# sentences: 13
. "$(dirname "$0")/rc"

LATE_MS=8000

inject() {
	echo "$*" >/sys/kernel/debug/nvmev/ssd0/inject
}

hints_are() {
	[[ $(status_field t0 hints) == "$1" ]]
}

# took COMMAND...: sets TOOK to the seconds
took() {
	local began=$SECONDS

	"$@"
	TOOK=$((SECONDS - began))
}

new_ssd ssd0 capacity_mib=512
mark_log
inject delay_admin "$LATE_MS"
took new_target t0 "$DEV"
check_that "a table is loaded when the SSD has answered (s)" "$TOOK" -ge 16
check_that "and hints are on" "$(status_field t0 hints)" == on
dmsetup suspend t0
took dmsetup resume t0
check_that "a resume does not wait for it (s)" "$TOOK" -lt 8
check "hints come on later" poll 60 hints_are on
took dmsetup message t0 0 hints auto
check_that "a message waits (s)" "$TOOK" -ge 16
check_that "and hints are on" "$(status_field t0 hints)" == on
make_fs ext4 "$TARGET"
new_mount "$TARGET" "$T_DIR/mnt"
dd if=/dev/zero of="$T_DIR/mnt/file" bs=1M count=1 oflag=direct status=none
check "the tool's questions are answered as well" dieaware frag "$T_DIR/mnt/file"
umount "$T_DIR/mnt"
check_fails "nothing was late for the driver, which has reset nothing" log_has 'nvme.*(timeout|reset|abort)'
dmsetup remove --retry t0

took new_target t0 "$DEV" hints=off
check_that "with hints=off nothing is asked (s)" "$TOOK" -lt 8
inject clear
dmsetup message t0 0 hints auto
check_that "a message that wants hints asks" "$(status_field t0 hints)" == on

# Nor is anything told to filesystems then, though this SSD has a geometry.
dmsetup remove --retry t0
new_target t0 "$DEV" hints=off
dmsetup create plain --table "0 $(blockdev --getsz "$DEV") linear $DEV 0"
at_end drop_target plain
for limit in minimum_io_size optimal_io_size read_ahead_kb; do
	check_that "$limit is dm-linear's" "$(queue_limit "$TARGET" "$limit")" == \
		"$(queue_limit /dev/mapper/plain "$limit")"
done
