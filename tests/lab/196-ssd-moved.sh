#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Which data went where: the tracepoint nvmev_move names page and checksum as the host sees
# them; check_moves compares once more; a misread, made on request, is noticed by both.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 15
# timeout: 120
# sentences: 12
. "$(dirname "$0")/rc"

DEBUGFS=/sys/kernel/debug/nvmev/ssd0
INSTANCE=/sys/kernel/tracing/instances/moved

counter() {
	awk -v name="$1" '$1 == name { print $2 }' "$DEBUGFS/controller"
}

# What the last command moved, as the drive tells.
last_move() {
	grep 'nvmev_move:' "$INSTANCE/trace" | tail -n 1
}

page_sum() {
	python3 "$LAB_DIR/moved.py" "$DEV" "$1"
}

trace_ends() {
	echo 0 >"$INSTANCE/events/nvmev/nvmev_move/enable"
	rmdir "$INSTANCE"
}

new_ssd ssd0 capacity_mib=64
# The instance inherits it; see trace_on().
echo 0 >"$TRACEFS/options/record-cmd"
mkdir "$INSTANCE"
at_end trace_ends
dd if=/dev/urandom of="$T_DIR/data" bs=64k count=1 status=none

echo 1 >"$DEBUGFS/check_moves"
echo 1 >"$INSTANCE/events/nvmev/nvmev_move/enable"
dd if="$T_DIR/data" of="$DEV" bs=64k oflag=direct status=none
check_that "a write is compared and found the same" "$(last_move | grep -c 'opcode=0x01 .* check=same')" == 1
seen=$(page_sum 5)
check_that "the drive names page and checksum of a read as the host sees them" \
	"$(last_move | grep -o 'prp1=[0-9a-fx]* crc32c=[0-9a-fx]*')" == "$seen"
check_that "it was of these LBAs, and the same on both sides" \
	"$(last_move | grep -c 'slba=40 nlb=8 .* check=same')" == 1
check_that "all were compared" "$(counter moves_checked)" -ge 2
check_that "and the same" "$(counter reads_differing) $(counter writes_differing) $(counter commands_changed)" == "0 0 0"

other=$(page_sum 4)
echo "misread 40 8 1" >"$DEBUGFS/inject"
check_that "a misread gives what lies before" "$(page_sum 5 | cut -d' ' -f2)" == "$(cut -d' ' -f2 <<<"$other")"
check_that "the second look notices" "$(last_move | grep -c 'slba=40 nlb=8 .* check=differs')" == 1
check_that "the checksum is that of what should have been read" \
	"$(last_move | grep -o 'crc32c=[0-9a-fx]*')" == "$(cut -d' ' -f2 <<<"$seen")"
check_that "it is counted" "$(counter reads_differing)" == 1
check_that "it happens once" "$(page_sum 5 | cut -d' ' -f2)" == "$(cut -d' ' -f2 <<<"$seen")"

echo 0 >"$DEBUGFS/check_moves"
before=$(counter moves_checked)
page_sum 5 >"$T_DIR/sum"
check_that "nothing is compared when nobody asks" "$(counter moves_checked)" == "$before"
check_that "the tracepoint says so" "$(last_move | grep -c 'check=none')" == 1
