#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A start that fails says in the superblock that the device needs a check, before anybody else may
# have the device; above a disk that takes its time for that.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 4
# timeout: 120
# sentences: 6
. "$(dirname "$0")/rc"

FIRST=256

low_disk $((128 * 1024))
new_log_target t0 /dev/mapper/low --segment 1M
dmsetup remove t0
nr=$(($(superblock_field journal /dev/mapper/low) * 8 - FIRST))
ROOTS="linear /dev/ram0 $FIRST"
at_end sh -c "dmsetup remove --retry low; dmsetup remove --retry roots"
dmsetup create roots --table "0 $nr $ROOTS"
becomes low "0 $FIRST delay /dev/ram0 0 0 /dev/ram0 0 5000" "$FIRST $nr linear /dev/mapper/roots 0" \
	"$((FIRST + nr)) $((SECTORS - FIRST - nr)) linear /dev/ram0 $((FIRST + nr))"

# No root can be written.
becomes roots "0 $nr flakey /dev/ram0 $FIRST 0 3600 1 error_writes"
at_end drop_target t0
dmsetup create t0 --notable
dmsetup load t0 --table "$LINE"
check_fails "a start that cannot write a root fails" dmsetup resume t0
check_fails "it does not begin anew" dmsetup resume t0
becomes roots "0 $nr $ROOTS"
at_end drop_target t1
check "another one does not" dmsetup create t1 --table "$LINE"
check_that "but it knows that there is to be a check" "$(status_field t1 state)" == read_only
sleep 10
dmsetup remove --retry t1
check "as does the next" dmsetup create t1 --table "$LINE"
check_that "which only reads as well" "$(status_field t1 state)" == read_only
