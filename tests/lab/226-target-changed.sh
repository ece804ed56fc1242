#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# While the target is suspended, the device below becomes another one: it gets other blocks, or is
# too small.
# kernels: uml
# long: 6.1 6.12 newest
# smp: 1
# mem: 2G
# seconds: 15
# timeout: 180
# sentences: 14
. "$(dirname "$0")/rc"

hints_are() {
	[[ $(status_field t0 hints) == "$1" ]]
}

# format_4096: the driver looks at it some time after the command, which ends with an error, as it cannot set the block
# size of a device in use.
format_4096() {
	nvme format "$DEV" --namespace-id=1 --lbaf=1 --force || :
	poll 20 sh -c "[ \"\$(blockdev --getss $DEV)\" = 4096 ]"
}

again() {
	dmsetup suspend t0
	"$@"
	dmsetup resume t0
	poll 20 hints_are on
}

# appends: pieces that follow one another on the target, as the SSD with blocks of so many bytes sees them
appends() {
	python3 "$LAB_DIR/wire.py" "$1" dd if=/dev/zero of="$TARGET" bs=32k count=16 oflag=direct status=none >"$T_DIR/wire"
	awk '$3 == "append" && $4 == $1 - 1' "$T_DIR/wire" | wc -l
}

new_ssd ssd0 capacity_mib=256
new_target t0 "$DEV"
check_that "there are hints" "$(status_field t0 hints)" == on
check_that "predecessors are in blocks of 512 bytes" "$(appends 512)" -eq 15

dmsetup message t0 0 runs add 253:0 12 34 0 1000 8
again true
check_that "a resume forgets nothing" "$(status_field t0 runs_extents)" -ge 1
check "while it is suspended the SSD gets blocks of 4096" again format_4096
check_that "which it has" "$(blockdev --getss "$DEV")" -eq 4096
check_that "there are hints again" "$(status_field t0 hints)" == on
check_that "with predecessors in those blocks" "$(appends 4096)" -eq 15
check_that "what was known is forgotten" "$(status_field t0 runs_extents)" -eq 0
dmsetup remove t0

# ---- too small, for a while
sectors=$(blockdev --getsz "$DEV")
# low_is SECTORS
low_is() {
	dmsetup load low --table "0 $1 linear $DEV 0"
	dmsetup resume low
}
at_end drop_target low
dmsetup create low --table "0 $sectors linear $DEV 0"
new_target t0 /dev/mapper/low hints=on
dmsetup message t0 0 runs add 253:0 12 34 0 1000 8
dmsetup suspend t0
low_is $((sectors / 2))
mark_log
dmsetup resume t0
check_that "a device that is too small gets no hints" "$(status_field t0 hints)" == off:unfit
check "and the log says why" log_has 'dieaware.*too small'
check_that "nothing is known" "$(status_field t0 runs_extents)" -eq 0
dmsetup message t0 0 hints on
check_that "nor does the message change that" "$(status_field t0 hints)" == off:unfit
check "what is there can be read" dd if="$TARGET" of=/dev/null bs=64k count=16 iflag=direct
dmsetup suspend t0
low_is "$sectors"
dmsetup resume t0
check "once it is large enough there are hints" poll 20 hints_are on
