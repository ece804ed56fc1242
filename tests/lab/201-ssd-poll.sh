#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A driver that tells the kernel of nothing (rawhost-poll.py, a program in user space) is served by
# the slow look, and with poll_us as soon as that says; looking wakes nobody, and can be
# changed at any time. A completion that finds its queue full for a moment does not wait for long.
# kernels: uml
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 5
# timeout: 120
# sentences: 23
. "$(dirname "$0")/rc"

POLL=$CONFIGFS/ssd0/poll_us

refuses() {
	check_fails "$1 is no interval" write_file "$POLL" "$2"
	check "... and it is said why: $1" grep -q "out of the range" "$CONFIGFS/ssd0/error"
}

write_file() {
	echo "$2" >"$1"
}

# wakes COMMAND...: how often the dispatcher was woken meanwhile
wakes() {
	local before

	before=$(ssd_stat ssd0 wakeups)
	"$@"
	echo $(($(ssd_stat ssd0 wakeups) - before))
}

verify() {
	fio --name=v --filename="$DEV" --direct=1 --ioengine=libaio --iodepth=8 --size=2m --rw=randwrite \
		--bs=4k --verify=crc32c --verify_fatal=1
}

new_ssd ssd0 capacity_mib=1024
check_that "nothing looks unless it is asked to" "$(<"$POLL")" -eq 0
refuses "a microsecond" 1
refuses "more than ten milliseconds" 10001
refuses "less than nothing" -1
refuses "a word" often
take_raw ssd0
run_sentences python3 "$LAB_DIR/rawhost-poll.py" "$POLL"
give_back ssd0
echo 20 >"$POLL"
check_that "it can be read back" "$(<"$POLL")" -eq 20
sleep 2
check_that "nobody is woken by looks that find nothing" "$(wakes sleep 2)" -le 2
check "the stock driver's data verifies meanwhile" verify
echo 1 >"$CONFIGFS/ssd0/power_cut"
check "its power can be cut" poll 20 grep -qx 0 "$CONFIGFS/ssd0/power"
DEV=$(nvmev-ssd power-on ssd0)
check_that "then it is as before" "$(<"$POLL")" -eq 20
check "and data verifies" verify
nvmev-ssd power-off ssd0
echo 0 >"$POLL"
DEV=$(nvmev-ssd power-on ssd0)
check "it may be another one when the power comes back" verify
