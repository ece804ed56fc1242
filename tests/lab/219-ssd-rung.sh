#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Whoever gives a request to the driver serves it when the driver has rung: one at a time, and batches, with and without
# a scheduler. The queue has its own table of functions again when the disk has gone, whether the driver lets go, the
# namespace is detached, or the power fails, and also while somebody has the disk open yet.
# kernels: uml debug
# smp: 2
# mem: 2G
# seconds: 20
# timeout: 240
# sentences: 23 debug:19
. "$(dirname "$0")/rc"

# Is a request not expected any more?
is_followed() {
	local before

	before=$(ssd_stat "$NAME" announced)
	dd if="$DEV" of=/dev/null bs=4k count=1 iflag=direct status=none
	(($(ssd_stat "$NAME" announced) == before))
}

# rung COMMAND...: how many requests were expected meanwhile, and 1 if any was served as it was rung for. On a busy
# machine another may look, or the dispatcher be awake, just when one has rung: so it is not said how many were.
rung() {
	local announced served

	announced=$(ssd_stat "$NAME" announced)
	served=$(ssd_stat "$NAME" served_as_rung)
	"$@" >/dev/null
	echo "$(($(ssd_stat "$NAME" announced) - announced)) $(($(ssd_stat "$NAME" served_as_rung) > served))"
}

# some KIND NUMBER OPTION...: commands at random, one at a time
some() {
	fio --name=some --filename="$DEV" --direct=1 --ioengine=psync --rw="$1" --bs=4k --number_ios="$2" --size=16m \
		--randrepeat=0 --randseed=17 "${@:3}"
}

# begin KIND OPTION...: in the background, until end(). The process that this kills has to be fio: it has the disk open.
begin() {
	(
		fio() {
			exec /usr/bin/env fio "$@"
		}
		some "$1" 1000000 --time_based --runtime=60 --ioengine=libaio "${@:2}"
	) >/dev/null 2>&1 &
}

batches() {
	some randread 1000 --ioengine=libaio --iodepth=16 --iodepth_batch=8 --iodepth_low=8
}

verify() {
	some randwrite 1000 --ioengine=libaio --iodepth=16 --verify=crc32c --verify_fatal=1 "$@"
}

fill() {
	dd if=/dev/zero of="$DEV" bs=1M count=16 oflag=direct status=none
}

NAME=ssd0
new_ssd ssd0 capacity_mib=128
fill
poll 20 is_followed
check_that "only the first requests are expected" "$(rung some randread 1000)" == "0 1"
poll 20 is_followed
check_that "nor is a write" "$(rung some randwrite 1000)" == "0 1"
queue=/sys/block/${DEV##*/}/queue/scheduler
for scheduler in none mq-deadline; do
	grep -q $scheduler "$queue" || continue
	check "the scheduler $scheduler can be chosen" tee "$queue" <<<"$scheduler"
	poll 20 is_followed
	check_that "$scheduler: of batches as well" "$(rung batches)" == "0 1"
	check "$scheduler: and data verifies" verify
	check "$scheduler: also from two at once" verify --numjobs=2 --offset_increment=32m
done

# end PROCESS: of a disk that has gone a load reads nothing, and goes on until its time is over.
end() {
	kill "$1" || true
	wait "$1" || true
}

# The driver lets go and comes back, a few times, with commands in flight
rebind() {
	local address times

	address=$(<"$CONFIGFS/ssd0/pci_address")
	for times in 1 2 3; do
		begin randread --iodepth=8
		sleep 0.3
		kill -0 $!
		echo "$address" >/sys/bus/pci/drivers/nvme/unbind
		echo "$address" >/sys/bus/pci/drivers/nvme/bind
		end $!
		poll 20 nvmev-ssd dev ssd0
		DEV=$(ssd_device ssd0)
		poll 20 test -b "$DEV"
	done
}
rebind
poll 20 is_followed
check_that "a disk that has come back is served so, too" "$(rung some randread 500)" == "0 1"
check "and its data verifies" verify

# Somebody has the disk open while it goes.
exec {open}<"$DEV"
nvmev-ssd power-off ssd0 --force
DEV=$(nvmev-ssd power-on ssd0)
check_that "of a disk that has gone nothing is read" "$(dd bs=4k count=1 iflag=direct status=none <&$open | wc -c)" -eq 0
poll 20 is_followed
check_that "the new one is served as it is rung for" "$(rung some randread 500)" == "0 1"
exec {open}<&-
check "and verifies" verify

# The power fails while commands come from all sides.
for times in 1 2 3; do
	begin randrw --iodepth=16 --numjobs=2
	sleep 0.3
	kill -0 $!
	nvmev-ssd power-cut ssd0
	end $!
	DEV=$(nvmev-ssd power-on ssd0)
	poll 20 is_followed
	check_that "after power failure $times it is as before" "$(rung some randread 500)" == "0 1"
done
check "and its data verifies" verify

# Two namespaces are two queues.
NAME=two
new_ssd two capacity_mib=128 namespace_mib=64,64
fill
poll 20 is_followed
check_that "the first of two namespaces is served so" "$(rung some randread 500)" == "0 1"
DEV=${DEV%n*}n2
fill
poll 20 is_followed
check_that "and the second" "$(rung some randread 500)" == "0 1"
drop_ssd two
drop_ssd ssd0
check "the module can go" rmmod nvmevirt-backend
check "and come back" modprobe nvmevirt-backend
