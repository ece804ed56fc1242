#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The machine that boots from what the power failure in the middle of a move has left. Writes
# "ok - SENTENCE" or "not ok - SENTENCE" to /out/said.
# shellcheck disable=SC2317 # look() calls the functions
set -uo pipefail

# shellcheck source=tests/vm/move/common.sh
. "$(dirname -- "$0")/common.sh"

files=/root/lab/files

has_all() {
	until_true findmnt "/srv/$1"
	is "$(findmnt -nvo SOURCE "/srv/$1")" "$2" && python3 $promised check "/srv/$1" "$files/$1.promises"
}

nothing_failed() {
	until_true systemctl is-active dieaware.target
	no_unit_failed
}

writes_go_on() {
	head -c 5000000 /dev/urandom >/srv/half/more && sync /srv/half/more
}

same_command() {
	begin_move half "$(nvmev-ssd dev three)" && is_right_while_copied half && ends_well half
}

is_mounted_anew() {
	systemctl stop srv-half.mount && lvchange -an vg/half && systemctl start srv-half.mount &&
		has_all half /dev/mapper/vg-half-log && ls -l /srv/half/more
}

look "no unit failed" nothing_failed
look "what was moved is mounted from the new device, with all that was promised" has_all whole /dev/mapper/vg-whole-log
look "what was copied when the power failed is mounted from the old one, likewise" has_all half /dev/mapper/vg-half
look "and can be written" writes_go_on
look "the same command moves it" same_command
look "names lead to the new device, and it stays mounted" is_right_afterwards half
look "mounted anew it lies there, with everything" is_mounted_anew
