#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What a hint must not cost: a write that fails for another reason is not sent again, and a device
# that does not announce all of it hears only of what it can know.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 20
# timeout: 180
# sentences: 8
. "$(dirname "$0")/rc"

inject() {
	echo "$*" >/sys/kernel/debug/nvmev/ssd0/inject
}

# at_most NR STATUS-FIELD
at_most() {
	echo "$2 is $(status_field t0 "$2")."
	(($(status_field t0 "$2") <= $1))
}

new_ssd ssd0 capacity_mib=256 hints=0
new_target t0 "$DEV" hints=on
make_fs ext4 "$TARGET"
new_mount "$TARGET" "$T_DIR/mnt"
write_mib "$T_DIR/data" 1

# new_file NAME: writes with their hints are in trace
new_file() {
	echo >"$TRACEFS/trace"
	echo 1 >"$TRACEFS/events/nvmev/nvmev_cmd/enable"
	dd if="$T_DIR/data" of="$T_DIR/mnt/$1" bs=64k count=4 oflag=direct status=none
	sync
	echo 0 >"$TRACEFS/events/nvmev/nvmev_cmd/enable"
	cp "$TRACEFS/trace" "$T_DIR/trace"
}

# nr_writes CDW12: how many were like that, which is a pattern
nr_writes() {
	grep -cE "opcode=0x01 .*cdw12=0x$1" "$T_DIR/trace" || true
}

# CDW12 bit 24 is an append, 16 says that a file begins. The paper's SSDs take what an append follows
# for the number of a page, whatever it is.
new_file new
check_that "a new file is appended to with hints" "$(nr_writes 01)" -ge 3
begins_no_file() {
	! grep -E 'opcode=0x01 .*cdw2=4294967295 cdw3=4294967295 cdw12=0x01' "$T_DIR/trace"
}
check "an SSD that announces nothing gets no append after page ~0" begins_no_file
check_that "nor is it told that a file begins" "$(nr_writes ...1)" -eq 0
umount "$T_DIR/mnt"

# A worn place is no reason to doubt the hint: a second attempt could land after somebody else's write.
inject write_fault $((48 * 8)) 8
dmsetup message t0 0 reset_counters
check_fails "a write to a place that cannot be written is an error" dd if="$T_DIR/data" of="$TARGET" bs=4k \
	count=64 oflag=direct
inject clear
check_that "those before it had hints, and they are still on" "$(($(status_field t0 append) >= 40)) $(status_field t0 hints)" == "1 on"
check "it was not sent again without its hint" at_most 0 retried
inject clear
dmsetup remove t0
drop_ssd ssd0

new_ssd ssd1 capacity_mib=256
new_target t0 "$DEV" hints=on
make_fs ext4 "$TARGET"
new_mount "$TARGET" "$T_DIR/mnt"
new_file new
check_that "one that announces it is told when a file begins" "$(nr_writes 0001)" -ge 1
check_that "and what comes then are appends" "$(nr_writes 0100)" -ge 3
