#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode: a write in place with FUA goes to the device below with FUA, and nothing else does, if it is
# durable that its pages are there; if it is not, a commit makes it so. Either is there after a power failure.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 4
# timeout: 300
# sentences: 22
. "$(dirname "$0")/rc"
. "$LAB_DIR/log-pages"

EVENT=$TRACEFS/events/block/block_bio_queue

new_in_place {1..4}

# put_fua VERSION LPN PAGES: the same with FUA; the flush that dd is given has nothing to do behind that
put_fua() {
	put "$@" oflag=dsync
}

# trace_below COMMAND...: what of it arrives below, one word for each write or flush, sets BELOW:
# WFS is a write with FUA, FWFSM one of the journal with a flush in front
trace_below() {
	local device status=0

	device=$((0x$(stat -Lc %t "$DEV") << 20 | 0x$(stat -Lc %T "$DEV")))
	echo 0 >"$TRACEFS/options/record-cmd"
	echo "dev == $device" >"$EVENT/filter"
	echo >"$TRACEFS/trace"
	echo 1 >"$EVENT/enable"
	"$@" || status=$?
	echo 0 >"$EVENT/enable"
	BELOW=$(sed -n 's/.*: block_bio_queue: [0-9,]* \([A-Z]*W[A-Z]*\) .*/\1/p' "$TRACEFS/trace" | tr '\n' ' ')
	return "$status"
}
at_end eval "echo 0 >$EVENT/enable"

# flush: what was written, and what a start has closed
flush() {
	dd if=/dev/null of="$TARGET" conv=fsync,notrunc status=none
}

power_fails() {
	nvmev-ssd power-cut ssd0
	dmsetup remove --retry t0
	DEV=$(nvmev-ssd power-on ssd0)
	LINE=${LINE/ \/dev\/nvme[0-9]*n1 / $DEV }
	dmsetup create t0 --table "$LINE"
	flush
}

# counts: what is in place, and what was committed and asked for
counts() {
	echo "$(status_field t0 in_place_pages) $(status_field t0 commits) $(status_field t0 flushes)"
}

check "pages are written and flushed" put 1 0 16 conv=fsync
read -r placed commits flushes <<<"$(counts)"
trace_below put_fua 2 5 1
check_that "a page with FUA is a write with FUA below, and nothing else" "$BELOW" =~ '^WFS[A-Z]* $'
check_that "... in place, and nothing is committed" "$(counts)" == "$((placed + 1)) $commits $flushes"
trace_below put_fua 2 8 7
check_that "so are seven" "$BELOW" =~ '^WFS[A-Z]* $'
check_that "... in place, and nothing is committed" "$(counts)" == "$((placed + 8)) $commits $flushes"
power_fails
check "they are there after a power failure" holds 2 5 1
check "... all of them" holds 2 8 7
check "... and what is beside them" holds 1 0 5
check "also if they were written before without a flush" put 3 8 7
trace_below put_fua 4 8 7
check_that "... they are a write with FUA" "$BELOW" =~ '^WFS[A-Z]* (FWSM* )?$'
power_fails
check "... of which the last one is there" holds 4 8 7

# It is not durable yet where these pages are.
put 1 20 4
read -r placed commits flushes <<<"$(counts)"
trace_below put_fua 2 20 4
check_that "what was written to new places is committed by a write with FUA" "$BELOW" =~ '^WS[A-Z]* FWFS[A-Z]* $'
check_that "... which is in place" "$(counts)" == "$((placed + 4)) $((commits + 1)) $((flushes + 1))"
power_fails
check "... and there after a power failure" holds 2 20 4
read -r placed commits flushes <<<"$(counts)"
trace_below put_fua 3 20 4
check_that "after a start all places are durable" "$BELOW" =~ '^WFS[A-Z]* $'
check_that "... and nothing is committed" "$(counts)" == "$((placed + 4)) $commits $flushes"

# Who flushes has what was written in place without FUA.
put_fua 4 20 4
put 4 5 1
check "a flush" flush
power_fails
check "... has what was overwritten without" holds 4 5 1
check "... and with" holds 4 20 4
check "everything is moved" dmsetup message t0 0 clean
put_fua 1 20 4
power_fails
check "what is written with FUA to where it was moved is there" holds 1 20 4
dmsetup remove --retry t0
check "dieaware check finds nothing" dieaware check "$DEV"
