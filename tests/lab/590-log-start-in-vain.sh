#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A target that is started with the device of one that is suspended, and cannot, as it cannot read it, also one
# that is to grow: it has changed nothing, and the other one goes on.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 4
# timeout: 120
# sentences: 9
. "$(dirname "$0")/rc"

low_disk $((128 * 1024))
WHOLE="0 $SECTORS linear /dev/ram0 0"
becomes low "0 $((SECTORS / 2)) linear /dev/ram0 0"
new_log_target t0 /dev/mapper/low --segment 1M
write_mib "$TARGET" 4 oflag=direct
sum=$(head -c 4M "$TARGET" | sha256sum)
dmsetup suspend t0
at_end drop_target t1
dmsetup create t1 --notable
dmsetup load t1 --table "$LINE"
becomes low "0 $SECTORS error"
check_fails "a start that cannot read the device fails" dmsetup resume t1
becomes low "$WHOLE"
check "the target whose device it was goes on" timeout 60 dmsetup resume t0
dmsetup remove t1
dmsetup suspend t0
dmsetup create t1 --notable
dmsetup load t1 --table "0 $(($(status_field t0 grown_lpns) * 8)) ${LINE#* * }"
# It has its superblock, and no root.
becomes low "0 256 linear /dev/ram0 0" "256 $((SECTORS - 256)) error"
check_fails "nor can one that is to grow be started" dmsetup resume t1
becomes low "$WHOLE"
check "which has taken nothing either" timeout 60 dmsetup resume t0
check_that "it writes" "$(status_field t0 state)" == write
check "as before" dd if=/dev/urandom of="$TARGET" bs=1M seek=4 count=1 oflag=direct conv=fsync status=none
check_that "with what was there" "$(head -c 4M "$TARGET" | sha256sum)" == "$sum"
again t0
check_that "also when it is started again" "$(head -c 4M "$TARGET" | sha256sum)" == "$sum"
dmsetup remove --retry t0
dmsetup remove t1
check "dieaware check finds nothing" dieaware check /dev/mapper/low
