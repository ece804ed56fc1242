#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode on a drive that writes 512 bytes whole or not at all, and no more: it announces blocks of
# 4096 bytes, so the power must not fail in the middle of one.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 10
# timeout: 120
# sentences: 6
. "$(dirname "$0")/rc"

# low_is TABLE-LINE...: what the device below is
low_is() {
	becomes low "$@"
}

# whole_page LETTER: 4096 of it
page_of() {
	head -c 4096 /dev/zero | tr '\0' "$1"
}

write_page() {
	page_of "$1" | dd of="$TARGET" bs=4k count=1 seek=100 iflag=fullblock oflag=direct conv=fsync status=none
}

# letters: what the page holds, and how much of each
letters() {
	dd if="$TARGET" bs=4k count=1 skip=100 iflag=direct status=none | fold -w 1 | uniq -c | xargs
}

modprobe null_blk nr_devices=1 memory_backed=1 bs=512 gb=1
at_end rmmod null_blk
BELOW=/dev/nullb0
SECTORS=$(blockdev --getsz "$BELOW")
ALL="0 $SECTORS linear $BELOW 0"
check_that "the drive's blocks have 512 bytes" "$(queue_limit "$BELOW" physical_block_size)" -eq 512
at_end drop_target low
dmsetup create low --table "$ALL"
OPTIONS="in_place=0 cleaning=off" new_log_target t0 /dev/mapper/low --segment 1M
check_that "those of the target have 4096" "$(blockdev --getss "$TARGET")" -eq 4096

trace_on dmda_log_write
write_page A
trace_off
place=$(sed -n 's/.*dmda_log_write: .*\bdpn=\([0-9]*\).*/\1/p' "$TRACEFS/trace" | tail -n 1)
check_that "a page is where the trace says" "$(dd if="$BELOW" bs=4k count=1 skip="$place" iflag=direct status=none |
	tr -d '\0' | head -c 4)" == AAAA

# The power fails when the first half of what replaces it is written.
torn=$((place * 8 + 4))
low_is "0 $torn linear $BELOW 0" "$torn 4 error" "$((torn + 4)) $((SECTORS - torn - 4)) linear $BELOW $((torn + 4))"
write_page B 2>"$T_DIR/dd" || true
low_is "0 $SECTORS error"
dmsetup remove --retry t0
low_is "$ALL"
check "it starts after the power failure" dmsetup create t0 --table "$LINE"
check_that "and writes" "$(status_field t0 state)" == write
note "The page holds $(letters)."
is_whole() {
	[[ $(letters) == "4096 A" || $(letters) == "4096 B" ]]
}
check "the page is the old one or the new one" is_whole
