#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Table lines: good ones come back as they were given, bad ones are refused with
# -EINVAL and a sentence, and nothing stays behind.
# kernels: uml
# long: 6.1 6.12 newest
# smp: 1
# mem: 2G
# sentences: 51
# seconds: 25
# timeout: 240
. "$(dirname "$0")/rc"

new_ssd ssd0 capacity_mib=1024
SECTORS=$(blockdev --getsz "$DEV")

ERRNO="Invalid argument"

# refused SENTENCE PATTERN LINE: -EINVAL (or ERRNO) and a complete sentence that matches.
refused() {
	local sentence=$1 pattern=$2 line=$3 reply

	mark_log
	if reply=$(dmsetup create bad --table "$line" 2>&1); then
		dmsetup remove bad
		t_fail "refused: $sentence"
		note "the line '$line' was taken"
		return
	fi
	if [[ $reply != *"$ERRNO"* ]]; then
		t_fail "refused with -EINVAL: $sentence"
		note "$reply"
	elif ! log_has "dieaware: .*$pattern.*\.( \(-?[A-Z0-9]+\))?$"; then
		t_fail "refused with the reason: $sentence"
		new_log | sed 's/^/# /'
	else
		t_ok "refused: $sentence"
	fi
}

refused "no arguments" "table line must be" "0 $SECTORS dieaware"
refused "only a device" "table line must be" "0 $SECTORS dieaware $DEV"
refused "no mode" "table line must be" "0 $SECTORS dieaware $DEV 0"
refused "an unknown mode" "mode must be hint or log" "0 $SECTORS dieaware $DEV 0 fast"
refused "log mode on a device that is not formatted" "not formatted" "0 $SECTORS dieaware $DEV 0 log"
ERRNO="No such" refused "a device that does not exist" "device" "0 $SECTORS dieaware /dev/nothing 0 hint"
refused "a start that is a word" "start must be a number" "0 $SECTORS dieaware $DEV one hint"
refused "a negative start" "start must be a number" "0 $SECTORS dieaware $DEV -8 hint"
refused "a start with a tail" "start must be a number" "0 $SECTORS dieaware $DEV 8x hint"
refused "a start beyond 64 bits" "start must be a number" "0 8 dieaware $DEV 99999999999999999999 hint"
refused "a start that wraps with the length" "" "0 $SECTORS dieaware $DEV 18446744073709551608 hint"
refused "a start at the device's end" "" "0 8 dieaware $DEV $SECTORS hint"
refused "a device too small" "" "0 $((SECTORS + 8)) dieaware $DEV 0 hint"
refused "too small behind a start" "" "0 $SECTORS dieaware $DEV 8 hint"
refused "an option without a count" "number of options" "0 $SECTORS dieaware $DEV 0 hint hints=on"
refused "a count too high" "number of options" "0 $SECTORS dieaware $DEV 0 hint 2 hints=on"
refused "a count too low" "number of options" "0 $SECTORS dieaware $DEV 0 hint 1 hints=on runs_mb=1"
refused "a count that is no number" "number of options" "0 $SECTORS dieaware $DEV 0 hint many hints=on"
refused "a negative count" "number of options" "0 $SECTORS dieaware $DEV 0 hint -1 hints=on"
refused "an unknown option" "does not know" "0 $SECTORS dieaware $DEV 0 hint 1 speed=high"
refused "an option without a value" "does not know" "0 $SECTORS dieaware $DEV 0 hint 1 hints"
refused "an empty value" "hints must be" "0 $SECTORS dieaware $DEV 0 hint 1 hints="
refused "a wrong hints mode" "hints must be auto, on, off or fdp" "0 $SECTORS dieaware $DEV 0 hint 1 hints=maybe"
refused "runs_mb=0" "runs_mb must be" "0 $SECTORS dieaware $DEV 0 hint 1 runs_mb=0"
refused "runs_mb too large" "runs_mb must be" "0 $SECTORS dieaware $DEV 0 hint 1 runs_mb=4097"
refused "runs_mb beyond 32 bits" "runs_mb must be" "0 $SECTORS dieaware $DEV 0 hint 1 runs_mb=4294967297"
refused "runs_mb with a tail" "runs_mb must be" "0 $SECTORS dieaware $DEV 0 hint 1 runs_mb=64M"
refused "a wrong learn_reads" "learn_reads must be" "0 $SECTORS dieaware $DEV 0 hint 1 learn_reads=yes"
refused "a wrong fdp_unit_kb" "fdp_unit_kb must be" "0 $SECTORS dieaware $DEV 0 hint 1 fdp_unit_kb=20000"
refused "a wrong early_reads" "early_reads must be" "0 $SECTORS dieaware $DEV 0 hint 1 early_reads=2"
refused "a wrong lba_adjacency" "lba_adjacency must be" "0 $SECTORS dieaware $DEV 0 hint 1 lba_adjacency=2"
refused "an option twice" "twice" "0 $SECTORS dieaware $DEV 0 hint 2 hints=on hints=on"
check_that "a refused line does not hold the device" \
	"$(blockdev --getsz "$DEV"; python3 -c "import os; os.close(os.open('$DEV', os.O_RDWR | os.O_EXCL))" 2>&1)" == "$SECTORS"

# A device in use: with a mount, O_EXCL is taken by the filesystem.
make_fs ext4 "$DEV"
new_mount "$DEV" "$T_DIR/mnt"
mark_log
check_fails "refused: a mounted device" dmsetup create bad --table "0 $SECTORS dieaware $DEV 0 hint"
check "with a sentence in the log" log_has 'dieaware: .*\.'
umount "$T_DIR/mnt"

# Devices whose commands mean something else.
modprobe null_blk nr_devices=0
zoned=/sys/kernel/config/nullb/nullb0
mkdir "$zoned"
at_end rmdir "$zoned"
at_end sh -c "echo 0 >$zoned/power"
echo 256 >"$zoned/size"
echo 1 >"$zoned/memory_backed"
echo 1 >"$zoned/zoned"
echo 64 >"$zoned/zone_size"
echo 1 >"$zoned/power"
refused "a zoned device" "[Zz]one" "0 $((256 * 2048)) dieaware /dev/nullb0 0 hint"

modprobe sd_mod
modprobe scsi_debug dev_size_mb=64 dif=1 dix=1 delay=0
poll 20 compgen -G '/dev/sd?'
protected=$(compgen -G '/dev/sd?' | head -n 1)
poll 20 test -s "/sys/block/${protected##*/}/integrity/format"
refused "a device with protection information" "metadata|protection|integrity" \
	"0 $(blockdev --getsz "$protected") dieaware $protected 0 hint"
rmmod scsi_debug

# Good lines, and how they are printed back.
# good OPTIONS PRINTED
good() {
	local line

	line=$(target_line "$DEV" 0 "$@")
	if ! dmsetup create good --table "$line" 2>"$T_DIR/output"; then
		t_fail "taken: $line"
		note "$(<"$T_DIR/output")"
		return
	fi
	PRINTED=$(dmsetup table good)
	dmsetup remove good
	dmsetup create good --table "$PRINTED"
	check_that "taken and printed back: ${*:-no options}" "$(dmsetup table good)" == "$PRINTED"
	dmsetup remove good
}
good
check_that "defaults are not printed" "$PRINTED" =~ " 0 hint$"
good hints=on
check_that "what differs from the default is printed" "$PRINTED" =~ " 0 hint 1 hints=on$"
good hints=off runs_mb=1 learn_reads=off lba_adjacency=off early_reads=off fdp_unit_kb=64
check_that "all options are printed" "$PRINTED" =~ " hint 6 hints=off runs_mb=1 learn_reads=off lba_adjacency=off early_reads=off fdp_unit_kb=64$"
good runs_mb=4096
good hints=auto runs_mb=64
check_that "an option with its default value is not printed" "$PRINTED" =~ " 0 hint$"
check "a start and a part of the device" \
	dmsetup create good --table "0 2048 dieaware $DEV 4096 hint"
check_that "the start is printed" "$(dmsetup table good)" =~ " 4096 hint$"
# Twice on one device, as linear can: the parts do not overlap.
check "a second target on another part of it" \
	dmsetup create good2 --table "0 2048 dieaware $DEV 8192 hint"
dmsetup remove good2
dmsetup remove good

# many COUNT: lines, good and bad
many() {
	for ((i = 0; i < $1; i++)); do
		dmsetup create bad --table "0 $SECTORS dieaware $DEV 0 hint 1 runs_mb=0" 2>/dev/null || true
		dmsetup create bad --table "0 $((SECTORS * 2)) dieaware $DEV 0 hint" 2>/dev/null || true
		dmsetup create good --table "0 $SECTORS dieaware $DEV 0 hint"
		dmsetup remove good
	done
}
many 10
# What leaks is lost in each of three turns; what the kernel itself takes meanwhile is not.
least=$((1 << 30))
for _ in 1 2 3; do
	settle_memory
	before=$(kernel_memory_kib)
	many 20
	settle_memory
	lost=$(($(kernel_memory_kib) - before))
	least=$((lost < least ? lost : least))
done
# A target's run table alone is more than 12 KiB.
check_that "60 lines, good and bad, leave no memory behind (KiB)" "$least" -lt 300
check_that "the module's use count is back to 0" "$(</sys/module/dm_dieaware/refcnt)" -eq 0
