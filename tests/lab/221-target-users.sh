#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Device-mapper lets several of its devices be on one below: of a target in log mode and one in hint mode
# only one is at work on the same sectors, whichever came first, over suspends and reloads.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 3
# timeout: 120
# sentences: 16
. "$(dirname "$0")/rc"

LOG_START=65536

new_ssd ssd0 capacity_mib=96
new_log_target t0 "$DEV" --segment 1M --start $LOG_START
at_end drop_target t1
dd if=/dev/urandom of="$T_DIR/data" bs=1M count=4 status=none
dd if="$T_DIR/data" of="$TARGET" bs=1M oflag=direct status=none

# hint START SECTORS: a table line
hint() {
	echo "0 $2 dieaware $DEV $1 hint"
}

# numbers NAME: of a dm device, as the log has it
numbers() {
	dmsetup info -c --noheadings --separator : -o major,minor "$1"
}

whole=$(hint 0 "$(blockdev --getsz "$DEV")")
mark_log
check_fails "hint mode over all of a device with a log at work is refused" dmsetup create t1 --table "$whole"
check "and it is said why" log_has 'It cannot be resumed: a target in log mode has the device for itself \(the target of '"$(numbers t0)"'\)\.'
drop_target t1
check_fails "and so is hint mode over its first sectors" dmsetup create t1 --table "$(hint $((LOG_START - 8)) 16)"
drop_target t1
check "hint mode beside it is not" dmsetup create t1 --table "$(hint 0 $LOG_START)"
dmsetup remove t1
again t0
check "the log has its data" cmp -n 4194304 "$T_DIR/data" "$TARGET"

# Who is suspended is not at work.
dmsetup suspend t0
check "over a log that is suspended there may be hint mode" dmsetup create t1 --table "$whole"
mark_log
check_fails "then the log cannot be resumed" dmsetup resume t0
check "and it is said why" log_has 'It cannot be resumed: a target in hint mode is using the device \(the target of '"$(numbers t1)"'; UUID [-0-9a-f]+\)\.'
dmsetup suspend t1
check "when hint mode is suspended as well, it can" dmsetup resume t0
check_fails "and hint mode cannot" dmsetup resume t1
dmsetup remove t1
check "the log has its data still" cmp -n 4194304 "$T_DIR/data" "$TARGET"

# Who came first
dmsetup remove t0
dmsetup create t1 --table "$whole"
check_fails "a log below hint mode at work is refused" dmsetup create t0 --table "$LINE"
drop_target t0
check "when that is gone, it is not" sh -c "dmsetup remove t1 && dmsetup create t0 --table '$LINE'"

# In one device the next table takes the place of the one before, and both may lie on the same sectors.
dmsetup load t0 --table "$(hint $LOG_START $(($(blockdev --getsz "$DEV") - LOG_START)))"
dmsetup suspend t0
check "in the device itself, hint mode can take the log's place" dmsetup resume t0
dmsetup load t0 --table "$LINE"
dmsetup suspend t0
check "and the log can take it back" dmsetup resume t0
check "with its data" cmp -n 4194304 "$T_DIR/data" "$TARGET"
