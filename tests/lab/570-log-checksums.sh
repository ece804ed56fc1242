#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode with checksums: data that is damaged below is an error, an event and a count, and never
# handed out; cleaning neither spreads nor loses it; a program that changes its own memory during
# reads and writes has no errors of it.
# kernels: uml
# long: 6.1 6.12
# smp: 1
# mem: 1G
# seconds: 20
# timeout: 240
# sentences: 51
. "$(dirname "$0")/rc"

new_ssd ssd0 capacity_mib=128
OPTIONS="idle_ms=0" new_log_target t0 "$DEV" --segment 1M --checksums
check_that "the device has checksums" "$(status_field t0 checksums)" == on

# place LPN: where it lies below, in pages
place() {
	dmsetup message t0 0 where "$1" 1 | awk 'NR == 1 {print $2}'
}

# page LPN: what a read of it gives
page() {
	dd if="$TARGET" bs=4k count=1 skip="$1" iflag=direct status=none
}

# reads LPN: whether it can be read
reads() {
	page "$1" >/dev/null
}

# damage_at PLACE: one bit of what lies there
damage_at() {
	local at=$(($1 * 4096 + 1234)) byte

	byte=$(dd if="$DEV" bs=1 count=1 skip=$at status=none | od -An -tu1)
	printf '%b' "\\x$(printf %02x $((byte ^ 4)))" |
		dd of="$DEV" bs=1 seek=$at conv=notrunc,fsync status=none
	echo 1 >/proc/sys/vm/drop_caches
}

# damage LPN: one bit of it
damage() {
	damage_at "$(place "$1")"
}

damaged() {
	status_field t0 damaged_pages
}

# same FIRST NR: pages of the target are as they were written
same() {
	cmp <(dd if="$TARGET" bs=4k skip="$1" count="$2" iflag=direct status=none) \
		<(dd if="$T_DIR/data" bs=4k skip="$1" count="$2" status=none)
}

NR=4096
EILSEQ="Invalid or incomplete multibyte"
dd if=/dev/urandom of="$T_DIR/data" bs=1M count=16 status=none
check "data is written" dd if="$T_DIR/data" of="$TARGET" bs=1M oflag=direct conv=fsync status=none
check "and read" same 0 $NR
check "also when it is started again" again t0
check "it is read" same 0 $NR
check_that "nothing is damaged" "$(damaged)" == 0

# One bit
damage 1000
dmsetup wait t0 "$(dmsetup info -c --noheadings -o events t0)" &
waiter=$!
sleep 0.3
check_error "a page with a bit that has changed is not read" "$EILSEQ" reads 1000
check "users of its events hear of it" poll 10 has_ended "$waiter"
check_that "it is counted" "$(damaged)" -ge 1
check_that "dieaware wait says so" "$(dieaware wait --timeout 5 t0)" =~ "damaged: t0: data has another checksum"
check_that "and told" "$(dmesg)" =~ "Page 1000 is damaged: what lies at page $(place 1000) below has another checksum."
check_error "a large read of it fails, too" "$EILSEQ" dd if="$TARGET" bs=1M skip=3 count=1 iflag=direct of=/dev/null status=none
check "all before it is right" same 0 1000
check "and all behind it" same 1001 $((NR - 1001))
check_error "nor is it read by pages of a cache" "Input/output error" dd if="$TARGET" bs=4k skip=1000 count=1 of=/dev/null status=none

# Its segment cannot become empty, but nothing else is lost, and what is wrong stays so.
dd if="$T_DIR/data" of="$TARGET" bs=4k count=200 seek=1001 skip=1001 oflag=direct status=none
before=$(place 1000)
beside=$(place 999)
check_error "everything else is cleaned, and that is said" "Input/output error" dmsetup message t0 0 clean
check_that "the page before it is somewhere else" "$(place 999)" != "$beside"
check_that "it is where it was" "$(place 1000)" == "$before"
check_that "and counted once more" "$(damaged)" -ge 3
check_error "it is not read after cleaning" "$EILSEQ" reads 1000
check "all else is right" same 1001 $((NR - 1001))
check "started again" again t0
check_error "it is not read" "$EILSEQ" reads 1000

# Whole segments' worth of moves
dd if="$T_DIR/data" of="$TARGET" bs=8k count=$((NR / 4)) oflag=direct status=none
check_that "what is overwritten is right, the page, too" "$(same 0 2048 && echo yes)" == yes
moved=$(status_field t0 moved_pages)
python3 "$LAB_DIR/steps.py" write "$TARGET" 28 28 4 1 300 "$T_DIR/data"
check "it is cleaned once more" dmsetup message t0 0 clean
check_that "with pages to move" "$(status_field t0 moved_pages)" -gt "$moved"
check "all is right" same 0 $NR
damage 3000
check_error "a page that was moved is compared as well" "$EILSEQ" reads 3000
check "it may be discarded" blkdiscard -o $((3000 * 4096)) -l 4096 "$TARGET"
check "then it is zero" cmp -n 4096 <(page 3000) /dev/zero
damage 3500
check "or overwritten" dd if="$T_DIR/data" of="$TARGET" bs=4k count=1 seek=3500 skip=3500 oflag=direct status=none
check "then it is right" same 3001 $((NR - 3001))

# Somebody writes from memory that changes.
count=$(damaged)
for turn in 1 2 3; do
	check "memory that changes is written, turn $turn" python3 "$LAB_DIR/restless.py" write "$TARGET" 500
	check "it can be read, turn $turn" dd if="$TARGET" bs=64k count=16 iflag=direct of=/dev/null status=none
done
check_that "what was written are copies, none of which has changed" "$(status_field t0 changed_writes)" -eq 0
check "memory that changes is read to" python3 "$LAB_DIR/restless.py" read "$TARGET" 300
check_that "some of that was seen" "$(status_field t0 mended_reads)" -gt 0
check_that "and taken for no damage" "$(damaged)" -eq "$count"

# Full, so that small writes would stay in place
check "it is filled" dd if=/dev/zero of="$TARGET" bs=1M oflag=direct status=none count=$(($(status_field t0 lpns) / 256))
dd if="$T_DIR/data" of="$TARGET" bs=4k count=200 oflag=direct status=none
check_that "nothing is overwritten in place" "$(status_field t0 in_place_pages)" == 0
check "that is right" same 0 200
where=$(place 77)
dmsetup remove --retry t0
check "dieaware check finds nothing" dieaware check --data "$DEV"
check_that "it has compared all data" "$(dieaware check --data "$DEV")" =~ " [1-9][0-9]* pages of data compared with their checksums, 0 damaged"
damage_at "$where"
check "without --data it sees none of it" dieaware check "$DEV"
check_that "with --data it finds the page with a bit that has changed" "$(dieaware check --data "$DEV" 2>&1)" =~ "What lies at place $where for lpn 77".*" is damaged"
check_that "and no other one" "$(dieaware check --data --json "$DEV" 2>/dev/null | jq -c '[.nr_damages, .data.nr_damaged]')" == '[1,1]'

# What the page cache has of it is from before, as long as somebody has the device open.
exec {held}<"$DEV"
new_log_target t0 "$DEV" --segment 1M --checksums
dieaware dump "$DEV" >/dev/null 2>&1 || true
dd if="$T_DIR/data" of="$TARGET" bs=1M oflag=direct conv=fsync status=none
dmsetup remove --retry t0
check_that "the device below is read as it is" "$(dieaware check "$DEV")" =~ " $NR of "
exec {held}<&-
