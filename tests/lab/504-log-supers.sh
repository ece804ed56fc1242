#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode has its superblock twice: one that is lost, or old since the power failed while the device
# grew, is written again by the next start that may write; and an old one does not make what has
# grown grow once more.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 20
# timeout: 240
# sentences: 25
. "$(dirname "$0")/rc"

start() {
	dmsetup create t0 --table "$LINE" "$@"
}

# line_of LPNS: the table line for a target that shows so many pages
line_of() {
	echo "0 $(($1 * 8)) ${LINE#0 * }"
}

# Pages 0 and 16 say the same, behind a header that says which of them it is.
supers_agree() {
	cmp -n 4032 -i 64:$((16 * 4096 + 64)) /dev/mapper/low /dev/mapper/low
}

# Where they cannot be compared cmp ends with 2.
supers_differ() {
	local status=0

	supers_agree || status=$?
	((status == 1))
}

# epoch_at PAGE: the number of that superblock
epoch_at() {
	od -An -t u8 -j $(($1 * 4096 + 40)) -N 8 /dev/mapper/low | tr -d ' '
}

# newer and older superblock: their pages
find_supers() {
	NEWER=0 OLDER=16
	if (($(epoch_at 0) < $(epoch_at 16))); then
		NEWER=16 OLDER=0
	fi
}

# save NAME PAGE [PAGES]; put_back NAME PAGE; wipe PAGE
save() {
	dd if=/dev/mapper/low of="$T_DIR/$1" bs=4096 skip="$2" count="${3:-1}" iflag=direct status=none
}

put_back() {
	dd if="$T_DIR/$1" of=/dev/mapper/low bs=4096 seek="$2" oflag=direct conv=fsync,notrunc status=none
}

wipe() {
	dd if=/dev/zero of=/dev/mapper/low bs=4096 seek="$1" count=1 oflag=direct conv=fsync,notrunc status=none
}

put() {
	dd if="$T_DIR/data" of="$TARGET" bs=1M seek="$1" oflag=direct conv=fsync,notrunc status=none
}

# has SECTORS OFFSET: the device is so long, and data is there
has() {
	[[ $(blockdev --getsz "$TARGET") -eq $1 ]] &&
		dd if="$TARGET" bs=1M skip="$2" count=2 iflag=direct status=none | cmp - "$T_DIR/data"
}

low_disk $((96 * 1024))
dmsetup remove low
dmsetup create low --table "0 $((SECTORS / 2)) linear /dev/ram0 0"
new_log_target t0 /dev/mapper/low --segment 256K
before=$(status_field t0 lpns)
dd if=/dev/urandom of="$T_DIR/data" bs=1M count=2 status=none
put 0
dmsetup remove t0

# One that is damaged
find_supers
wipe "$OLDER"
start --readonly
dmsetup remove t0
check "a start that only reads writes no superblock" supers_differ
start
dmsetup remove t0
check "a start that writes writes it again" supers_agree
wipe "$NEWER"
check "so one that is lost then" start
check "loses nothing" has $((before * 8)) 0
dmsetup remove t0
check "dieaware check finds nothing" dieaware check /dev/mapper/low
epoch=$(epoch_at 0)
again_nothing() {
	start && dmsetup remove t0 && [[ $(epoch_at 0) == "$epoch" ]]
}
check "where both are well, nothing is written" again_nothing

# The power fails between the two of a device that grows.
find_supers
save old "$NEWER"
place=$NEWER
dmsetup remove low
dmsetup create low --table "0 $SECTORS linear /dev/ram0 0"
start
after=$(status_field t0 grown_lpns)
dmsetup remove t0
LINE=$(line_of "$after")
start
check "it grows" has $((after * 8)) 0
dmsetup remove t0
put_back old "$place"
find_supers
check_that "it is as when the power fails between the two superblocks" "$OLDER" -eq "$place"
dieaware check /dev/mapper/low >"$T_DIR/said"
check "dieaware check says that they differ" grep -F "warning: Superblock" "$T_DIR/said"
check "it starts with its new size" start
put $((before / 256 + 1))
dmsetup remove t0
check "and writes the old superblock again" supers_agree
find_supers
wipe "$NEWER"
check "so if the other one is lost, it has its new size" start
check "and what was written there" has $((after * 8)) $((before / 256 + 1))
check "and before" has $((after * 8)) 0
dmsetup remove t0

# Both were lost but an old one
find_supers
save a 0
save b 16
wipe $((16 - place))
put_back old "$place"
mark_log
check_fails "an old superblock does not make it grow once more" start
check "and it says why" log_has "it has grown before, by a superblock that is lost"
dmsetup remove low
dmsetup create low --table "0 $((SECTORS * 5 / 8)) linear /dev/ram0 0"
mark_log
LINE=$(line_of $((before + 256)))
check_fails "nor to another size" start
check "which it knows by the roots that are there" log_has "it has grown before, by a superblock that is lost"
dmsetup remove low
dmsetup create low --table "0 $SECTORS linear /dev/ram0 0"
LINE=$(line_of "$after")
put_back a 0
put_back b 16
check "so with the right ones it starts" start
check "and has what it had" has $((after * 8)) $((before / 256 + 1))
dmsetup remove t0
check "dieaware check finds nothing then" dieaware check /dev/mapper/low

# A place that cannot be written
find_supers
wipe "$OLDER"
dmsetup remove low
if ((OLDER)); then
	dmsetup create low --table "0 128 linear /dev/ram0 0
128 8 error
136 $((SECTORS - 136)) linear /dev/ram0 136"
else
	dmsetup create low --table "0 8 error
8 $((SECTORS - 8)) linear /dev/ram0 8"
fi
mark_log
check "one that cannot be read or written does not keep it from starting" start
check "which the kernel says" log_has "Its other superblock cannot be written"
check_that "and it can be written" "$(status_field t0 state)" == write
check "with success" put 0
dmsetup remove t0
