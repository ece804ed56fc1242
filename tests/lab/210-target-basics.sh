#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What the target is as a block device: size, limits, status, messages, and its
# life under I/O: suspend, resume, reload, remove.
# kernels: uml
# long: 6.12
# smp: 2
# smp on uml: 1
# mem: 2G
# seconds: 40
# timeout: 320
# sentences: 65
. "$(dirname "$0")/rc"

new_ssd ssd0 capacity_mib=1024
new_target t0 "$DEV"

check_that "the target has the size of its device" "$(blockdev --getsz "$TARGET")" -eq "$(blockdev --getsz "$DEV")"
for limit in logical_block_size physical_block_size max_hw_sectors_kb discard_max_hw_bytes write_cache fua; do
	check_that "the target passes on $limit" "$(queue_limit "$TARGET" "$limit")" == "$(queue_limit "$DEV" "$limit")"
done
check_that "the target takes discards" "$(queue_limit "$TARGET" discard_max_bytes)" -gt 0
check_that "the virtual SSD takes hints (hints=auto)" "$(dmsetup status t0)" =~ hints=on

# A write and a read, and the counters of it.
for key in writes page iomap adjacency metadata unknown none append overwrite \
	confirmed_append confirmed_overwrite rejected retried cut learned; do
	check_that "the status line has $key" "$(status_field t0 "$key")" =~ '^[0-9]+$'
done
writes=$(status_field t0 writes)
dd if=/dev/urandom of="$T_DIR/data" bs=1M count=8 status=none
dd if="$T_DIR/data" of="$TARGET" bs=64k oflag=direct status=none
check_that "128 writes are counted" $(($(status_field t0 writes) - writes)) -eq 128
check_that "and go on one from another by LBA" "$(status_field t0 adjacency)" -ge 126
check_that "as appends that the device saw" "$(status_field t0 confirmed_append)" -ge 126
check "they read back" cmp -n 8388608 "$T_DIR/data" "$TARGET"
check "and stand at the same place below" sh -c "dd if=$DEV bs=1M count=8 iflag=direct status=none | cmp - $T_DIR/data"

# Messages.
check "message reset_counters" dmsetup message t0 0 reset_counters
check_that "counters are 0 after it" "$(status_field t0 writes) $(status_field t0 append)" == "0 0"
check "message hints off" dmsetup message t0 0 hints off
dd if="$T_DIR/data" of="$TARGET" bs=64k count=16 oflag=direct status=none
check_that "hints off sends none" "$(status_field t0 confirmed_append) $(status_field t0 confirmed_overwrite)" == "0 0"
check "message hints on" dmsetup message t0 0 hints on
dd if="$T_DIR/data" of="$TARGET" bs=64k count=16 oflag=direct status=none
check_that "hints on sends them again" "$(status_field t0 confirmed_append)" -gt 0
check "message hints auto" dmsetup message t0 0 hints auto
check "message runs clear" dmsetup message t0 0 runs clear
check "message runs stats" dmsetup message t0 0 runs stats
check "message runs add" dmsetup message t0 0 runs add 253:0 12 34 0 1000 8
for words in "" "what" "hints" "hints sideways" "hints on now" "reset_counters please" "runs" \
	"runs add" "runs add 253:0 12 34" "runs add 253:0 12 34 0 1000" "runs add x 12 34 0 1000 8" \
	"runs add 253:0 12 34 0 1000 0" "runs add 253:0 12 34 0 99999999999 8" \
	"runs add 253:0 12 34 0 1000 -8" "runs clear all"; do
	# shellcheck disable=SC2086
	check_fails "refused message: '${words:-nothing}'" dmsetup message t0 0 $words
done

# Life under I/O.
new_load "$TARGET" --rw=randrw --verify=crc32c --verify_backlog=64 --verify_fatal=1
for turn in 1 2 3 4 5; do
	dmsetup suspend t0
	if ((turn % 2)); then
		dmsetup load t0 --table "$(target_line "$DEV" 0 "runs_mb=$turn")"
	fi
	sleep 0.3
	dmsetup resume t0
	sleep 0.5
done
check "fio lives through five times suspend, reload and resume" is_running "$LOAD"
check_that "the reloaded table is in force" "$(dmsetup table t0)" =~ runs_mb=5
check "suspend without flush under I/O" dmsetup suspend --noflush t0
check "resume" dmsetup resume t0
check "a bad reload is refused" sh -c '! dmsetup load t0 --table "0 8 dieaware /dev/nothing 0 hint"'
dmsetup clear t0
check_fails "a target in use is not removed" dmsetup remove t0
check "fio found no wrong data" load_ends_well
check "the device can be removed afterwards" dmsetup remove --retry t0

# remove --force under I/O: the table becomes error, fio fails, nobody hangs.
new_target t1 "$DEV"
new_load "$TARGET" --rw=randwrite
dmsetup remove --force t1 2>/dev/null || true
check "remove --force ends fio with errors" load_fails
check "and the target goes" poll 20 sh -c 'dmsetup remove t1; ! dmsetup info t1'
check "the SSD has no holder left" sh -c "[ -z \"\$(ls /sys/block/${DEV##*/}/holders)\" ]"
