#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode with a superblock of before the device grew, as the newer one was lost: what lies behind its old end says
# whether it was used since. If so it is only read; if not, it is used, and grows, also without its newest root.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 5
# timeout: 240
# sentences: 16
. "$(dirname "$0")/rc"

HAS_GROWN="it has grown before, by a superblock that is lost"

start() {
	dmsetup create t0 --table "$LINE"
}

low_is() {
	becomes low "0 $1 linear /dev/ram0 0"
}

# field NAME: of the superblock, or of the newest root
field() {
	dieaware dump --part superblock,root /dev/mapper/low | grep -oE "\b$1=[0-9]+" | tail -n 1 | cut -d = -f 2
}

# copy_pages FROM TO PAGE NR: they stay where they are
copy_pages() {
	dd if="$1" of="$2" bs=4096 skip="$3" seek="$3" count="$4" conv=fsync,notrunc status=none
}

# newest_root: its page
newest_root() {
	local places=(root_even root_odd)

	field "${places[$(($(field epoch) % 2))]}"
}

wipe() {
	dd if=/dev/zero of=/dev/mapper/low bs=4096 seek="$1" count=1 conv=fsync,notrunc status=none
}

has_data() {
	dd if="$TARGET" bs=1M count=2 iflag=direct status=none | cmp - "$T_DIR/data"
}

low_disk $((96 * 1024))
SMALL=$((SECTORS / 2))
low_is $SMALL
OPTIONS="cleaning=off idle_ms=0" new_log_target t0 /dev/mapper/low --segment 256K
old_line=$LINE
dd if=/dev/urandom of="$T_DIR/data" bs=1M count=2 status=none
dd if="$T_DIR/data" of="$TARGET" bs=1M oflag=direct conv=fsync status=none
dmsetup remove --retry t0
dd if=/dev/mapper/low of="$T_DIR/small" bs=1M status=none
root=$(newest_root)

# It grows, the power fails, and its superblocks are those of before
low_is "$SECTORS"
start
after=$(status_field t0 grown_lpns)
dmsetup remove --retry t0
copy_pages "$T_DIR/small" /dev/mapper/low 0 $((SMALL / 8))
LINE="0 $((after * 8)) ${old_line#0 * }"
new_line=$LINE
check "it grows" start
becomes low "0 $SECTORS error"
dmsetup remove --retry t0
low_is "$SECTORS"
place=$(field root_even)
dd if=/dev/mapper/low of="$T_DIR/unused" bs=1M status=none

# The roots of the larger device begin where the segments of the small one end, which need not be its own end.
again_small() {
	copy_pages "$T_DIR/small" /dev/mapper/low 0 "$place"
	LINE=$old_line
}
again_small
mark_log
check_fails "with the superblocks of before it is not written" start
check "since it has grown" log_has "$HAS_GROWN"
check_fails "which is no damage of the journal" log_has "repair"
check "it can be read" dmsetup create t0 --readonly --table "$LINE"
check "with what it had" has_data
check_that "and offers no size to which it would not grow" "$(status_field t0 grown_lpns)" -eq "$(status_field t0 lpns)"
dmsetup remove --retry t0

# It is used
copy_pages "$T_DIR/unused" /dev/mapper/low 0 $((SECTORS / 8))
LINE=$new_line
start
dd if="$T_DIR/data" of="$TARGET" bs=1M seek=4 oflag=direct conv=fsync status=none
dmsetup remove --retry t0
copy_pages "$T_DIR/small" /dev/mapper/low 0 1
copy_pages "$T_DIR/small" /dev/mapper/low 16 1
LINE=$old_line
mark_log
check_fails "nor is one that was used since it grew" start
check "which has the same reason" log_has "$HAS_GROWN"
check_fails "and is not to be repaired" log_has "repair"

# The power fails when the root for the new size is written, and before the superblock is
copy_pages "$T_DIR/unused" /dev/mapper/low 0 $((SECTORS / 8))
wipe "$(newest_root)"
again_small
mark_log
check "when growing was cut off, it starts as it was" start
check "with what it had" has_data
dmsetup remove --retry t0

# The root with which it began to grow is lost after that
again_small
wipe "$root"
LINE=$new_line
check "without its newest root it grows all the same" start
check "and has what it had" has_data
check_that "and its new size" "$(status_field t0 lpns)" -eq "$after"
dmsetup remove --retry t0
check "dieaware check finds nothing" dieaware check /dev/mapper/low
