#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the virtual SSD costs the CPU: busy instructions for a command on it, on null_blk
# and on QEMU's own NVMe device; of a machine at rest with none, one and two of them, and
# with one that looks at its doorbells each 20 us; and of two at work at once.
#
# Usage: ssd.sh ROW...

set -euo pipefail

# shellcheck source=bench/guest/lib.sh
. "$(dirname -- "$0")/lib.sh"

SPAN=256M
ROUNDS=4
REST_SECONDS=10
WANTED=" $* "
DEVICE_NAMES=(nvmev null_blk qemu_nvme)
declare -A DEVICES=()

wanted() {
	[[ $WANTED == *" $1 "* ]]
}

any_wanted() {
	[[ $WANTED == *" $1."* ]]
}

# new_ssd NAME SCALE: sets SSD; its latencies are those of fast24.
new_ssd() {
	SSD=$(nvmev-ssd create "$1" "profile=$SSD_PROFILE" capacity_mib=1024 "time_scale=$2") ||
		die "The virtual SSD '$1' could not be made."
}

fill() {
	dd if=/dev/zero of="$1" bs=1M count="${SPAN%M}" oflag=direct status=none ||
		die "$1 could not be filled."
}

# cost ROW OPTION...: one line for bench/report.py.
cost() {
	local row=$1
	shift

	measure "row=$row" command_cost --rounds "$ROUNDS" --span-bytes "$SPAN" "$@"
}

# commands DEVICE: all kinds of commands on it.
commands() {
	local name=$1 path=${DEVICES[$1]} depth

	report "doing=commands_on_$name"
	fill "$path"
	for depth in 1 32; do
		cost "ssd.read_4k_qd$depth.$name" --path "$path" --random --depth $depth --blocks 8000
		cost "ssd.write_4k_qd$depth.$name" --path "$path" --write --random --depth $depth \
			--blocks 8000
	done
	cost "ssd.read_128k_qd32.$name" --path "$path" --block-bytes 128K --depth 32 --blocks 2000
	cost "ssd.write_128k_qd32.$name" --path "$path" --write --block-bytes 128K --depth 32 \
		--blocks 2000
}

compare_devices() {
	local name

	modprobe null_blk nr_devices=1 gb=1 bs=4096 memory_backed=1
	DEVICES[null_blk]=/dev/nullb0
	DEVICES[qemu_nvme]=$(qemu_device)
	new_ssd bench 1
	DEVICES[nvmev]=$SSD
	for name in "${DEVICE_NAMES[@]}"; do
		commands "$name"
	done
	nvmev-ssd remove bench
	rmmod null_blk
}

wakeups() {
	{ grep -hs '^wakeups ' /sys/kernel/debug/nvmev/*/controller || true; } |
		awk '{ sum += $2 } END { print sum + 0 }'
}

# at_rest NAME: what the machine does when nobody asks it for anything.
at_rest() {
	local name=$1 before

	report "doing=at_rest_with_$name"
	settle
	sleep $REST_SECONDS
	before=$(wakeups)
	measure "row=ssd.rest_$name" command_cost --wait $REST_SECONDS --rounds 3
	report "row=ssd.rest_$name wakeups=$((($(wakeups) - before) / (3 * REST_SECONDS)))"
}

rest() {
	local nr

	rmmod nvmevirt_backend 2>/dev/null || true
	at_rest 0
	for nr in 1 2; do
		new_ssd "rest$nr" 1
		fill "$SSD"
		at_rest $nr
	done
	nvmev-ssd remove rest2
	echo 20 >/sys/kernel/config/nvmev/rest1/poll_us
	at_rest poll_20
	nvmev-ssd remove rest1
}

# pair SCALE NAME: one SSD alone, then two at once, each with as many commands.
pair() {
	local scale=$1 name=$2 first second

	report "doing=two_at_scale_$scale"
	new_ssd pair1 "$scale"
	first=$SSD
	new_ssd pair2 "$scale"
	second=$SSD
	fill "$first"
	fill "$second"
	cost "ssd.$name" --path "$first" --random --depth 32 --blocks 4000
	cost "ssd.$name" --path "$first" --path "$second" --random --depth 32 --blocks 8000
	nvmev-ssd remove pair1
	nvmev-ssd remove pair2
}

report "kernel=$(uname -r) profile=$SSD_PROFILE"
modprobe nvme
for kind in read_4k_qd1 write_4k_qd1 read_4k_qd32 write_4k_qd32 read_128k_qd32 write_128k_qd32; do
	if any_wanted "ssd.$kind"; then
		compare_devices
		break
	fi
done
if wanted ssd.rest_0 || wanted ssd.rest_1 || wanted ssd.rest_2 ||
	wanted ssd.rest_poll_20; then
	rest
fi
# The CPU is the limit, and the dies are.
! wanted ssd.two_cost || pair 1 two_cost
! wanted ssd.two_speed || pair 256 two_speed
