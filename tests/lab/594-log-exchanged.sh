#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A table is loaded, and the device below is exchanged for one of the same UUID with more segments:
# the resume says so and fails, for its memory is that of the device that was there.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 4
# timeout: 120
# sentences: 6
. "$(dirname "$0")/rc"

uuid_of() { sed -n 's/^uuid //p' "$1"; }

low_disk $((128 * 1024))
LINE=$(dieaware format /dev/mapper/low --force --segment 1M | tail -n 1)
dieaware dump --exact /dev/mapper/low >"$T_DIR/first"
at_end drop_target t0
dmsetup create t0 --notable
dmsetup load t0 --table "$LINE"

truncate -s 128M "$T_DIR/other"
OTHER_LINE=$(dieaware format "$T_DIR/other" --force --segment 256K | tail -n 1)
dieaware dump --exact "$T_DIR/other" |
	sed "s/^uuid .*/uuid $(uuid_of "$T_DIR/first")/" >"$T_DIR/second"
check_that "there is a device of the same UUID" \
	"$(uuid_of "$T_DIR/second")" == "$(uuid_of "$T_DIR/first")"
dieaware restore --force "$T_DIR/second" "$T_DIR/other"
dd if="$T_DIR/other" of=/dev/ram0 bs=1M oflag=direct conv=notrunc status=none

check_fails "what was loaded before does not start with it" dmsetup resume t0
check_that "it says why" "$(dmesg | grep -c 'it has changed since the table was loaded')" -eq 1
check_that "its status is of the device that was there" "$(status_field t0 segment_pages)" -eq 256
dmsetup remove t0
LINE=${OTHER_LINE/"$T_DIR/other"//dev/mapper/low}
check "a table that is loaded now does" dmsetup create t0 --table "$LINE"
check_that "and can be written" "$(status_field t0 state)" == write
