#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Short commands are served by whoever has rung, or by the timer that finds them, and no thread is woken; all others by
# the dispatcher, with the same data, faults and times. Whoever looks into the FTL meanwhile keeps both away from it. The
# timer of the completions calls the host's handler, on the CPU that the interrupt belongs to.
# kernels: uml debug
# smp: 4
# smp on uml: 2
# smp on debug: 2
# mem: 2G
# seconds: 25
# timeout: 240
# sentences: 21 uml:19
. "$(dirname "$0")/rc"

DEBUGFS=/sys/kernel/debug/nvmev/ssd0

# wakes COMMAND...: how often the dispatcher was woken meanwhile; on a slow machine it also is when the drive seems
# to be idle, between two commands
wakes() {
	local before

	before=$(ssd_stat ssd0 wakeups)
	"$@" >/dev/null
	echo $(($(ssd_stat ssd0 wakeups) - before))
}

# some KIND SIZE NUMBER OPTION...: commands at random, one at a time
some() {
	fio --name=some --filename="$DEV" --direct=1 --ioengine=psync --rw="$1" --bs="$2" --number_ios="$3" \
		--size=32m --randrepeat=0 --randseed=31 "${@:4}"
}

verify() {
	some "$1" "${2:-4k}" 2000 --ioengine=libaio --iodepth=16 --verify=crc32c --verify_fatal=1 "${@:3}"
}

new_ssd ssd0 capacity_mib=256
dd if=/dev/zero of="$DEV" bs=1M count=32 oflag=direct status=none
check_that "reads wake nobody" "$(wakes some randread 4k 1000)" -le "$(grep -q "User Mode" /proc/cpuinfo && echo 50 || echo 500)"
check_that "nor do writes to what is there" "$(wakes some randwrite 4k 1000)" -le 500
check_that "nor of parts of pages" "$(wakes some randwrite 512 1000)" -le 500
# One that comes while it is awake wakes nobody.
check_that "what is long wakes the dispatcher" "$(wakes some randread 512k 50)" -ge 40
check_that "pages for which there is no memory yet wake nobody" "$(wakes some write 4k 1000 --offset=128m)" -le 500
check "data verifies" verify randwrite
check "also of many sizes" verify randwrite 512-64k --bsrange=512-64k --bs_unaligned=0 --blockalign=512
late=$(ssd_stat ssd0 completions)
some randread 4k 100 >/dev/null
check_that "each has its place among the completions" $(($(ssd_stat ssd0 completions) - late)) -ge 100

echo "read_error 0 65536" >"$DEBUGFS/inject"
check_fails "a fault that was asked for is met" dd if="$DEV" of=/dev/null bs=4k skip=3 count=1 iflag=direct
echo clear >"$DEBUGFS/inject"
check "and not any more" dd if="$DEV" of=/dev/null bs=4k skip=3 count=1 iflag=direct
echo 1 >"$DEBUGFS/check_moves"
check "data verifies while it is looked at twice" verify randwrite
check_that "and all that was moved is the same" "$(ssd_stat ssd0 reads_differing) $(ssd_stat ssd0 writes_differing)" == "0 0"
echo 0 >"$DEBUGFS/check_moves"

# Others use the FTL all the time, and faults far away come and go.
visit() {
	while :; do
		cat "$DEBUGFS"/{dies,ftl,map} >/dev/null
		echo "delay 500000 1 1" >"$DEBUGFS/inject"
		echo clear >"$DEBUGFS/inject"
	done
}
visit &
visitor=$!
at_end kill $visitor
check "data verifies while others look into the FTL" verify randwrite 4k --numjobs=3 --offset_increment=32m
kill $visitor
wait $visitor || true
check_that "then nobody is woken again" "$(wakes some randread 4k 1000)" -le 500

# astray: interrupts of queues that another CPU has had than the one that they belong to
astray() {
	local irq words own sum=0 i

	while read -r irq words; do
		own=/proc/irq/${irq%:}/effective_affinity_list
		# A kernel for one CPU says nothing of that.
		[[ $words == *nvme*q[1-9]* && -e $own ]] || continue
		own=$(<"$own")
		read -ra words <<<"$words"
		for ((i = 0; i < $(nproc); i++)); do
			((i == own)) || sum=$((sum + words[i]))
		done
	done </proc/interrupts
	echo $sum
}

last_cpu=/sys/devices/system/cpu/cpu$(($(nproc) - 1))/online

# A CPU goes and comes while there are commands, so that interrupts move. One that is alone stays.
cpus_move() {
	local times=4

	[[ -e $last_cpu ]] || return 0
	while ((times--)); do
		sleep 0.5
		echo $((times % 2 ? 0 : 1)) >"$last_cpu"
		grep -v 1 "$last_cpu" >>"$T_DIR/gone" || true
	done
}

# handlers_called: how often, by a drive that is so slow that the timer is never late for a completion
handlers_called() {
	new_ssd slow capacity_mib=256 time_scale=16
	dd if=/dev/zero of="$DEV" bs=1M count=32 oflag=direct status=none
	some randread 4k 1000 >/dev/null
	handlers=$(ssd_stat slow handlers_called)
	DEV=$(ssd_device ssd0)
}

handlers_called
note "The timer of the completions has called the host's handler $handlers times for 1000 reads."
# Linux as a program need not know which CPU an interrupt belongs to.
if ! grep -q "User Mode" /proc/cpuinfo; then
	check_that "the timer of the completions calls the host's handler" "$handlers" -ge 100
fi
check_that "each handler runs on the CPU of its interrupt" "$(astray)" -eq 0
cpus_move &
mover=$!
check "data verifies while a CPU goes and comes" verify randwrite 4k --numjobs=3 --offset_increment=32m
wait $mover
# Linux as a program has all of its CPUs for good.
[[ ! -e $last_cpu ]] || check_that "which it did" "$(wc -l <"$T_DIR/gone")" -ge 2

nvmev-ssd power-off ssd0
DEV=$(nvmev-ssd power-on ssd0)
check "after the power was off it is as before" verify randread
check_that "and nobody is woken" "$(wakes some randread 4k 1000)" -le 500
sleep 1
check_that "at rest nobody is" "$(wakes sleep 2)" -le 4
