#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode: who suspends the device is interrupted while that waits for a write: all goes on as before, and what
# was handed back to dm comes again, and ends well.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 6
# timeout: 300
# sentences: 17
. "$(dirname "$0")/rc"

write_64k() {
	dd if=/dev/zero of="$TARGET" bs=64k count=1 oflag=direct status=none
}

some_wait() {
	[[ $(status_field t0 starved) -gt $1 ]]
}

# begin_starved: a write that waits for space; sets WAITER
begin_starved() {
	local starved

	starved=$(status_field t0 starved)
	write_64k &
	WAITER=$!
	poll 20 some_wait "$starved"
}

# interrupt_suspend OPTION...: sets STATUS to what dmsetup ends with
interrupt_suspend() {
	dmsetup suspend --nolockfs "$@" t0 &
	SUSPENDER=$!
	sleep 1
	if has_ended "$SUSPENDER"; then
		echo "It was suspended at once."
		return 1
	fi
	kill "$SUSPENDER"
	STATUS=0
	wait "$SUSPENDER" || STATUS=$?
	dmsetup info t0 | grep -q '^State: *ACTIVE'
}

overwrite_in_place() {
	dd if=/dev/zero of="$TARGET" bs=4k count=1 seek=1000 oflag=direct status=none
}

# run_full: what is overwritten at random, as long as there is space
run_full() {
	dmsetup message t0 0 no_space_timeout 1
	fio --name=over --filename="$TARGET" --rw=randwrite --bs=64k --size=100% --direct=1 --ioengine=libaio \
		--iodepth=8 >"$T_DIR/fio" 2>&1 || true
	dmsetup message t0 0 no_space_timeout 3600
}

low_disk $((96 * 1024))
OPTIONS="cleaning=off no_space_timeout=1" new_log_target t0 /dev/mapper/low --segment 1M
lpns=$(status_field t0 lpns)
dd if=/dev/zero of="$TARGET" bs=64k count=$((lpns / 16)) oflag=direct status=none
run_full

begin_starved
check "a suspension that waits for a write is interrupted" interrupt_suspend
check_that "... by the signal" "$STATUS" -eq $((128 + 15))
check_fails "the write goes on waiting" has_ended "$WAITER"
check "others write in place" overwrite_in_place
check "all is cleaned, as there is no suspension any more" dmsetup message t0 0 clean
check "then the write ends" poll 20 has_ended "$WAITER"
check "... well" wait "$WAITER"

# With --noflush it goes back to dm, and the suspension waits for what the device below does not answer.
run_full
begin_starved
becomes_stuck() {
	dmsetup suspend --noflush --nolockfs low
}
check "the device below does not answer" becomes_stuck
dd if="$TARGET" of=/dev/null bs=4k count=1 iflag=direct status=none &
reader=$!
sleep 0.1
check "a suspension without flush that waits for it is interrupted" interrupt_suspend --noflush
check_that "... by the signal" "$STATUS" -eq $((128 + 15))
check "the device below answers again" dmsetup resume low
check "what it was asked for ends well" wait "$reader"
check_fails "the write waits again, and has no error" has_ended "$WAITER"
check "all is cleaned again" dmsetup message t0 0 clean
check "then the write ends" poll 20 has_ended "$WAITER"
check "... well" wait "$WAITER"
dmsetup remove --retry t0
check "dieaware check finds nothing" dieaware check /dev/mapper/low
