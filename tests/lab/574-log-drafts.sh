#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode: small writes that are flushed one by one take the time of one write below, as a draft of the
# journal's batch goes along with the data. A start looks whether the data of the last one is there:
# if it is something else, it was never promised; if it cannot be read, it may have been.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 4
# timeout: 300
# sentences: 26
. "$(dirname "$0")/rc"

PAGES=12
# Pages of 4 KiB that one page of the map knows
ENTRIES=806
DELAY_MS=20

write_mib "$T_DIR/old" 1
write_mib "$T_DIR/new" 1

# put FILE LPN [DD-OPTION...]: a page, which is durable then
put() {
	dd if="$T_DIR/$1" of="$TARGET" bs=4k count=1 skip="$2" seek="$2" "${@:3}" status=none
}

put_all() {
	local lpn

	for ((lpn = 0; lpn < PAGES; lpn++)); do
		put "$1" "$lpn" "${@:2}"
	done
}

# holds FILE LPN
holds() {
	dd if="$TARGET" bs=4k count=1 skip="$2" iflag=direct status=none |
		cmp - <(dd if="$T_DIR/$1" bs=4k count=1 skip="$2" status=none)
}

holds_all() {
	local lpn

	for ((lpn = 0; lpn < $2; lpn++)); do
		holds "$1" "$lpn" || return 1
	done
}

# power_fails: what was not written to the device below never is
power_fails() {
	becomes low "0 $SECTORS error"
	dmsetup remove --retry t0
	becomes low "0 $SECTORS linear /dev/ram0 0"
}

starts() {
	dmsetup create t0 --table "$LINE"
}

# last_draft: place of the data of the journal's last batch, which is a draft
last_draft() {
	dieaware dump --part journal /dev/mapper/low 2>/dev/null | grep -E "\bmap lpn=" | tail -n 1 |
		grep -w draft | grep -oE '\bdpn=[0-9]+' | cut -d = -f 2
}

# spoil BYTE: the data of the last draft begins with something else
spoil() {
	printf '%b' "$1" | dd of=/dev/mapper/low bs=1 seek=$((DPN * 4096)) conv=notrunc,fsync status=none
}

# put_far: the same, but each of the pages is on a page of the map that nothing was written to yet
put_far() {
	local nr

	for ((nr = 1; nr <= PAGES; nr++)); do
		dd if="$T_DIR/new" of="$TARGET" bs=4k count=1 seek=$((nr * ENTRIES)) oflag=direct \
			conv=notrunc,fsync status=none
	done
}

# takes_writes LEAST MOST COMMAND...: pages that are flushed one by one take the time of so many
# writes, in percent
takes_writes() {
	local begin=${EPOCHREALTIME/./} percent

	"${@:3}"
	percent=$(((${EPOCHREALTIME/./} - begin) / (PAGES * DELAY_MS * 10)))
	echo "a flushed write takes $percent percent of a write"
	((percent >= $1 && percent <= $2))
}

low_disk $((96 * 1024))
OPTIONS=in_place=100 new_log_target t0 /dev/mapper/low --segment 1M

for how in "oflag=direct conv=notrunc,fsync" "oflag=direct,dsync conv=notrunc"; do
	# shellcheck disable=SC2086
	put_all old $how
	# shellcheck disable=SC2086
	put_all new $how
	power_fails
	DPN=$(last_draft)
	check_that "$how: the journal ends with a draft" "$DPN" =~ '^[0-9]+$'
	check "... dieaware check finds nothing" dieaware check /dev/mapper/low
	dd if=/dev/ram0 of="$T_DIR/image" bs=1M status=none

	starts
	check "... all is there after a power failure" holds_all new $PAGES
	drop_target t0

	dd if="$T_DIR/image" of=/dev/mapper/low bs=1M conv=fsync status=none
	spoil '\x5a\xa5'
	starts
	check "... but what has not arrived" holds old $((PAGES - 1))
	check "... of which there was no promise, as of all others" holds_all new $((PAGES - 1))
	put new $((PAGES - 1)) oflag=direct conv=notrunc,fsync
	check "... and work goes on" holds_all new $PAGES
	drop_target t0
	check "... dieaware check finds nothing" dieaware check /dev/mapper/low

	dd if="$T_DIR/image" of=/dev/mapper/low bs=1M conv=fsync status=none
	becomes low "0 $((DPN * 8)) linear /dev/ram0 0
$((DPN * 8)) 8 error
$((DPN * 8 + 8)) $((SECTORS - DPN * 8 - 8)) linear /dev/ram0 $((DPN * 8 + 8))"
	starts
	check_error "... what cannot be read is an error, not what was there before" "Input/output error" \
		dd if="$TARGET" of=/dev/null bs=4k count=1 skip=$((PAGES - 1)) iflag=direct status=none
	check "... all others are there" holds_all new $((PAGES - 1))
	dmsetup remove --retry t0
	becomes low "0 $SECTORS linear /dev/ram0 0"
	starts
done

becomes low "0 $SECTORS delay /dev/ram0 0 0 /dev/ram0 0 $DELAY_MS /dev/ram0 0 0"
NEW=(put_all new oflag=direct "conv=notrunc,fsync")
check "a write that is flushed takes the time of one" takes_writes 90 140 "${NEW[@]}"
# What all this has emptied is free by now: a record of that would make a draft one in vain.
sleep 2
check "... also where nothing was ever written" takes_writes 90 140 put_far
# A draft empties a segment. That nothing comes behind it is seen a second later, and written.
put_zeroes() {
	dd if=/dev/zero of="$TARGET" bs=4k seek="$1" count="$2" oflag=direct conv=notrunc,fsync status=none
}
put_zeroes 300 900
put_zeroes 300 400
put_zeroes 701 499
"${NEW[@]}"
put_zeroes 700 1
commits=$(status_field t0 commits)
sleep 3
check_that "... which is committed, and that the segment is free" \
	$(($(status_field t0 commits) - commits)) -eq 2
PAGES=2
check "... and the first writes after that take the time of one" takes_writes 90 140 "${NEW[@]}"
# What cleaning has copied nobody flushes.
dd if=/dev/zero of="$TARGET" bs=1M seek=8 count=8 oflag=direct conv=notrunc,fsync status=none
for ((lpn = 2048; lpn < 4096; lpn += 256)); do
	blkdiscard -o $((lpn * 4096)) -l $((128 * 4096)) "$TARGET"
done
sleep 2
PAGES=12
"${NEW[@]}"
"${NEW[@]}"
PAGES=2
cleaned=$(status_field t0 idle_cleaned)
dmsetup message t0 0 idle 100 90
sleep 10
dmsetup message t0 0 idle 0 20
check_that "segments were cleaned in idle time" "$(status_field t0 idle_cleaned)" -gt "$cleaned"
# That segments are free goes with the first one, which takes the time of two; it says nothing of those behind it.
PAGES=4
check "... also after cleaning in idle time" takes_writes 90 140 "${NEW[@]}"
PAGES=12
drop_target t0
becomes low "0 $SECTORS linear /dev/ram0 0"
new_log_target t0 /dev/mapper/low --segment 1M --no-drafts
becomes low "0 $SECTORS delay /dev/ram0 0 0 /dev/ram0 0 $DELAY_MS /dev/ram0 0 0"
check "... and of two without drafts" takes_writes 190 300 "${NEW[@]}"
power_fails
check_that "... of which the device has none" \
	"$(dieaware dump --part journal /dev/mapper/low | grep -E "\bmap lpn=" | tail -n 1 | grep -cw -e draft -e map)/$(last_draft)" == 1/
