#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Who only reads a device in log mode, while the target that writes it is suspended, leaves that as it
# is; two may read together, but not beside one that writes. A copy counts as the same device.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 1G
# clock: virtual
# seconds: 3
# timeout: 120
# sentences: 14
. "$(dirname "$0")/rc"

new_ssd ssd0 capacity_mib=96
new_log_target t0 "$DEV" --segment 1M
dd if=/dev/urandom of="$T_DIR/data" bs=1M count=2 status=none
dd if="$T_DIR/data" of="$TARGET" bs=1M oflag=direct status=none
at_end drop_target t1
at_end drop_target t2

# reads NAME
reads() {
	cmp -n 2097152 "$T_DIR/data" "/dev/mapper/$1"
}

mark_log
check_fails "while somebody writes, nobody else reads" dmsetup create t1 --readonly --table "$LINE"
check "the kernel says why, and whose it is" \
	log_has "using the device, or a copy of it \(the target of [0-9]+:[0-9]+; UUID [0-9a-f]{8}-[0-9a-f-]{27}\)"
drop_target t1
dmsetup suspend t0
check "while that is suspended, another one may read" dmsetup create t1 --readonly --table "$LINE"
check "what is there" reads t1
check "and a second one beside it" dmsetup create t2 --readonly --table "$LINE"
check "the same" reads t2
check_fails "who writes cannot go on meanwhile" dmsetup resume t0
dmsetup remove t2
dmsetup remove t1
check "afterwards it does" dmsetup resume t0
check "with what was there" reads t0
check "it writes" dd if="$T_DIR/data" of="$TARGET" bs=1M seek=4 oflag=direct status=none

# A copy, while the device is suspended
modprobe brd rd_nr=1 rd_size=$((96 * 1024))
at_end rmmod brd
dmsetup suspend t0
dd if="$DEV" of=/dev/ram0 bs=1M iflag=direct oflag=direct status=none
check "a copy can be read" dmsetup create t1 --readonly --table "${LINE/$DEV/\/dev\/ram0}"
dmsetup remove t1
check "the device goes on" dmsetup resume t0
check "what was written last is there" cmp -n 2097152 "$T_DIR/data" <(dd if="$TARGET" bs=1M skip=4 count=2 status=none)
dmsetup remove t0
check "dieaware check finds nothing" dieaware check "$DEV"
