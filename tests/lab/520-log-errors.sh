#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode when the device below fails: data alone fails its bio; where metadata cannot be written
# or read, writes end, reads go on, and the device has to be checked before it is written again.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 25
# timeout: 240
# sentences: 32
. "$(dirname "$0")/rc"

# below TABLE-LINE...: what the device below the target is from now on
below_is() {
	becomes low "$@"
}

# fails_from FIRST NR TARGET: these sectors only are of another kind
fails_from() {
	local first=$1 nr=$2 kind=$3

	below_is "0 $first linear $DEV 0" \
		"$first $nr $kind" \
		"$((first + nr)) $((SECTORS - first - nr)) linear $DEV $((first + nr))"
}

well() {
	below_is "0 $SECTORS linear $DEV 0"
}

start() {
	dmsetup create t0 --table "$LINE"
}

# flags_at PAGE: of the superblock there
flags_at() {
	od -An -t u4 -j $(($1 * 4096 + 124)) -N 4 /dev/mapper/low | tr -d ' '
}

# epoch_at PAGE: the number of that superblock
epoch_at() {
	od -An -t u8 -j $(($1 * 4096 + 40)) -N 8 /dev/mapper/low | tr -d ' '
}

# supers_fail A B: how sectors 0 to 7 and 128 to 135 are from now on, and the journal fails
supers_fail() {
	below_is "0 8 $1" "8 120 linear $DEV 8" "128 8 $2" \
		"136 $((journal - 136)) linear $DEV 136" \
		"$journal 2048 error" \
		"$((journal + 2048)) $((SECTORS - journal - 2048)) linear $DEV $((journal + 2048))"
}

new_ssd ssd0 capacity_mib=128
SECTORS=$(blockdev --getsz "$DEV")
at_end drop_target low
dmsetup create low --table "0 $SECTORS linear $DEV 0"
new_log_target t0 /dev/mapper/low --segment 1M
dd if=/dev/urandom of="$T_DIR/data" bs=1M count=4 status=none
put() {
	dd if="$T_DIR/data" of="$TARGET" bs=1M oflag=direct conv=fsync,notrunc status=none
}
read_all() {
	dd if="$TARGET" of=/dev/null bs=1M count=4 iflag=direct status=none
}
same() {
	dd if="$TARGET" bs=1M count=4 iflag=direct status=none | cmp -n 4194304 - "$T_DIR/data"
}
put
dmsetup remove t0
journal=$(($(superblock_field journal /dev/mapper/low) * 8))
segments=$(($(superblock_field segments /dev/mapper/low) * 8))
tables=$(($(superblock_field tables /dev/mapper/low) * 8))
[[ $journal -gt 0 && $segments -gt $tables ]]

# Data
start
fails_from "$segments" $((SECTORS - segments - 8)) error
check_error "a write of data that fails is an error" "Input/output error" dd if="$T_DIR/data" of="$TARGET" bs=4k count=1 oflag=direct status=none
check_error "so is a read" "Input/output error" read_all
check_that "but the target works on" "$(status_field t0 state)" == write
well
check "what was there is there" same
check "and can be written" put

# The journal
fails_from "$journal" 2048 error
check_error "a write whose journal cannot be written is an error" "Input/output error" put
check_that "the target has failed" "$(status_field t0 state)" == failed
check "reads go on" same
check_error "writes do not" "Input/output error" dd if="$T_DIR/data" of="$TARGET" bs=4k count=1 oflag=direct status=none
check_error "nor does a discard" "Input/output error" blkdiscard -l 4096 "$TARGET"
check "status and suspend work" dmsetup suspend t0
dmsetup resume t0
well
check_that "both superblocks say that it needs a check" "$(flags_at 0) $(flags_at 16)" == "1 1"
again t0
check_that "the next start only reads" "$(status_field t0 state)" == read_only
check "what was promised is there" same
dmsetup remove t0
check "dieaware check finds no damage and says so" dieaware check --clear-needs-check /dev/mapper/low
start
check_that "then it is written again" "$(status_field t0 state)" == write
check "with success" put

# And superblocks
if (($(epoch_at 0) < $(epoch_at 16))); then
	supers_fail error "linear $DEV 128"
else
	supers_fail "linear $DEV 0" error
fi
mark_log
check_fails "the place of the older superblock cannot be written either" put
dmsetup suspend t0
dmsetup resume t0
well
again t0
check_that "the next start only reads all the same" "$(status_field t0 state)" == read_only
dmsetup remove t0
check "dieaware check finds no damage" dieaware check --clear-needs-check /dev/mapper/low
start
supers_fail error error
mark_log
check_fails "nor can any superblock" put
dmsetup suspend t0
dmsetup resume t0
check "which the kernel says" log_has "That it needs a check could not be written"
well
again t0
check_that "the next start writes, for nothing tells it" "$(status_field t0 state)" == write
put

# Tables, which a checkpoint writes
fails_from "$tables" $((segments - tables)) error
check_fails "a checkpoint that cannot write is an error" dmsetup message t0 0 checkpoint
check_that "the target has failed" "$(status_field t0 state)" == failed
well
dmsetup remove t0
check "dieaware check finds no damage" dieaware check --clear-needs-check /dev/mapper/low
start
check "what was promised is there after a failed checkpoint" same

# Pages of the map that cannot be read
again t0
fails_from "$tables" $((segments - tables)) error
check_error "a read whose page of the map cannot be read is an error" "Input/output error" read_all
check_that "the target has failed" "$(status_field t0 state)" == failed
well
dmsetup remove t0
fails_from "$tables" $((segments - tables)) error
check_fails "nor does it start when tables cannot be read" start
well
drop_target t0
check "dieaware check finds no damage" dieaware check --clear-needs-check /dev/mapper/low
start
check "all is there" same
