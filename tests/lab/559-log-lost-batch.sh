#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode after a crash, with a rotten sector where the journal begins: the tables know operations
# that the journal does not reach. `dieaware check` sees that. The target must not start with such a
# device as if nothing was missing, for what it then promises does not enter the map; it says why.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 4
# timeout: 300
# sentences: 10
. "$(dirname "$0")/rc"

# low_is TARGET-AND-ARGUMENTS: what the device below is
low_is() {
	becomes low "0 $SECTORS $*"
}

is_written() {
	(($(status_field t0 user_pages) > $1))
}

# root_number NAME: of the newest root in the dump
root_number() {
	grep -oE "\b$1=[0-9]+" "$T_DIR/dump" | sed -n 1p | cut -d = -f 2
}

low_disk $((128 * 1024))
OPTIONS=in_place=100 new_log_target t0 /dev/mapper/low --segment 1M
lpns=$(status_field t0 lpns)
dd if=/dev/zero of="$TARGET" bs=64k count=$((lpns / 32)) oflag=direct status=none
dmsetup message t0 0 checkpoint

# A checkpoint takes its time, and others write meanwhile: its pages know what they did. Then the
# power fails.
low_is "delay /dev/ram0 0 0 /dev/ram0 0 20"
written=$(status_field t0 user_pages)
fio --name=w --filename="$TARGET" --rw=randwrite --bs=4k --size=$((lpns * 2))k --norandommap --direct=1 \
	--ioengine=libaio --iodepth=32 --time_based --runtime=60 --allow_file_create=0 >"$T_DIR/fio" 2>&1 &
load=$!
poll 60 is_written $((written + 100))
dmsetup message t0 0 checkpoint
low_is error
wait "$load" || true
dmsetup remove --retry t0
low_is "linear /dev/ram0 0"
check "after the power failure dieaware check finds nothing" dieaware check /dev/mapper/low

dieaware dump --part superblock,root,journal /dev/mapper/low >"$T_DIR/dump" 2>&1
at=$(($(root_number journal) * 8 + $(root_number journal_sector) % $(root_number journal_sectors)))
printf '\xff\xff' | dd of=/dev/mapper/low bs=1 seek=$((at * 512 + 100)) conv=notrunc,fsync status=none
# Nothing of the journal counts, and it goes on behind.
WHY="the journal (is damaged, and operations are lost|ends before an operation that a table knows)"
check_fails "of the journal with a rotten sector it says that it is damaged" dieaware check /dev/mapper/low

# what_lies_below: of all that the device holds
what_lies_below() {
	sha256sum </dev/mapper/low
}

# start DMSETUP-OPTION...: sets STATUS to what dmsetup ends with
start() {
	mark_log
	STATUS=0
	dmsetup create t0 "$@" --table "$LINE" || STATUS=$?
}

before=$(what_lies_below)
start
check_that "the target does not start" $STATUS -eq 1
check "... and says why" log_has "dieaware: [0-9:]+: The device cannot be started: $WHY\.\$"
check "... and what to do" log_has "dieaware: [0-9:]+: It needs 'dieaware check', and if damaged 'dieaware repair'\.\$"
check "... and who may have done it" log_has "dieaware: [0-9:]+: A power failure does that where a drive, or a cache, ignores flushes\.\$"
start --readonly
check_that "nor does it only to read" $STATUS -eq 1
check "... for the same reason" log_has "dieaware: [0-9:]+: The device cannot be started: $WHY\.\$"
check_that "nothing is written by that" "$(what_lies_below)" == "$before"
check_fails "dieaware check still says that it is damaged" dieaware check /dev/mapper/low
