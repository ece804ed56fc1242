#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A driver that tells the kernel of nothing (rawhost-poll.py, a program in user space) is served by
# the slow look, and with poll_us as soon as that says; looking wakes nobody, and can be
# changed at any time. A completion that finds its queue full for a moment does not wait for long.
# An admin command of another drive is waited for no longer because this one serves commands.
# kernels: uml
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 5
# timeout: 120
# sentences: 25
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

# Which drive an admin command is for is not known, so all look, for two milliseconds. Reads come all that time.
looks() {
	local before

	before=$(ssd_stat ssd0 looks)
	"$@" >/dev/null
	echo $(($(ssd_stat ssd0 looks) - before))
}

some_reads() {
	fio --name=r --filename="$DEV" --direct=1 --ioengine=psync --size=2m --rw=randread --bs=4k --io_size="$1"
}

has_completed() {
	(($(ssd_stat ssd0 completions) > $1))
}

reads_beside_admin() {
	local begun

	begun=$(($(ssd_stat ssd0 completions) + 1000))
	some_reads 40m &
	poll 20 has_completed "$begun"
	nvme id-ctrl "$OTHER"
	wait $!
}

OTHER=$(nvmev-ssd create ssd1 capacity_mib=64)
at_end drop_ssd ssd1
some_reads 2m >/dev/null
sleep 1
check_that "reads that are served as they are rung for need no timer" "$(looks some_reads 40m)" -le 200
check_that "nor do they keep it for an admin command of another drive" "$(looks reads_beside_admin)" -le 2000
