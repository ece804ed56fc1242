#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Commands fail while the target is suspended, resumed, reloaded, made and removed, CPUs
# leave and come back, and modules go while their probes are called.
# kernels: debug
# smp: 4
# mem: 2G
# sentences: 7+
# seconds: 25
# timeout: 500
. "$(dirname "$0")/rc"
need_faults

# in_loop NAME FUNCTION: again and again until stopped; its rounds are counted.
declare -A LOOPS=()
in_loop() {
	local name=$1
	: >"$T_DIR/$name.rounds"
	(
		while [[ ! -e $T_DIR/$name.stop ]]; do
			if ! "$2" >"$T_DIR/$name.output" 2>&1; then
				touch "$T_DIR/$name.failed"
				break
			fi
			echo >>"$T_DIR/$name.rounds"
		done
	) &
	LOOPS[$name]=$!
	at_end kill "${LOOPS[$name]}"
}

# stop_loop NAME MINIMUM: it must have gone round that often without an error. It ends
# its round first, so that what it has made is gone.
stop_loop() {
	touch "$T_DIR/$1.stop"
	wait "${LOOPS[$1]}" || true
	if [[ -e $T_DIR/$1.failed ]]; then
		t_fail "$1: no round failed"
		sed 's/^/#   /' "$T_DIR/$1.output"
	fi
	check_that "$1: it went round" "$(wc -l <"$T_DIR/$1.rounds")" -ge "$2"
}

new_ssd ssd0 capacity_mib=256
NVME=$(basename "$DEV")/fault_inject
half=$(($(blockdev --getsz "$DEV") / 2))
new_target t0 "$DEV" hints=on

# One after the other: dm refuses a resume that another one has overtaken.
suspend_reload() {
	dmsetup suspend t0 && dmsetup resume t0 &&
		dmsetup reload t0 --table "$(dmsetup table t0)" && dmsetup resume t0
}

make_remove() {
	dmsetup create t1 --table "0 $half dieaware $DEV $half hint 1 hints=on" &&
		dd if=/dev/zero of=/dev/mapper/t1 bs=64k count=8 oflag=direct &&
		dmsetup remove --retry t1
}

hotplug() {
	local cpu

	for cpu in 1 2 3; do
		echo 0 >"/sys/devices/system/cpu/cpu$cpu/online" || return 1
		dmsetup status t0
		echo 2 >/proc/sys/vm/drop_caches
		echo 1 >"/sys/devices/system/cpu/cpu$cpu/online" || return 1
	done
}

verified() {
	check "$1" fio --name=v --filename="$TARGET" --size=24m --rw=randwrite --bsrange=4k-128k --direct=1 \
		--ioengine=libaio --iodepth=16 --verify=crc32c --verify_fatal=1 --numjobs=2 --offset_increment=32m \
		--group_reporting
}

# ---- hinted writes fail and are sent again while dm holds bios back
fault "$NVME" status=0x280 dont_retry=Y probability=100 interval=97 times=1000000 verbose=0
in_loop suspend suspend_reload
in_loop make make_remove
fio --name=w --filename="$TARGET" --size=48m --rw=randwrite --bsrange=4k-128k --direct=1 --ioengine=libaio \
	--iodepth=16 --continue_on_error=all --time_based --runtime=8 >"$T_DIR/fio.log" 2>&1 || true
check_that "commands failed" "$(<"/sys/kernel/debug/$NVME/times")" -lt 1000000
calm
verified "data is right among suspends, reloads and targets that come and go"
stop_loop suspend 5
stop_loop make 5
dmsetup resume t0

# ---- CPUs
before=$(status_field t0 writes)
in_loop hotplug hotplug
verified "data is right while CPUs leave and come back"
stop_loop hotplug 1
for cpu in 1 2 3; do
	echo 1 >"/sys/devices/system/cpu/cpu$cpu/online" 2>/dev/null || true
done
check_that "what they have counted is not lost" "$(status_field t0 writes)" -gt "$before"
after=$(status_field t0 writes)
echo 0 >/sys/devices/system/cpu/cpu1/online
check_that "not even while they are gone" "$(status_field t0 writes)" -ge "$after"
echo 1 >/sys/devices/system/cpu/cpu1/online

# ---- the probes of both modules come and go under I/O
dmsetup remove t0
target_comes_and_goes() {
	make_remove && rmmod dm_dieaware && modprobe dm-dieaware
}
in_loop target target_comes_and_goes
check "commands are built while the target's probe comes and goes" fio --name=p --filename="$DEV" --size=32m \
	--rw=randwrite --bs=4k --direct=1 --ioengine=libaio --iodepth=16 --time_based --runtime=6 --verify=crc32c
stop_loop target 2
drop_ssd ssd0
modprobe null_blk nr_devices=1 gb=1
ssd_module_comes_and_goes() {
	rmmod nvmevirt_backend && modprobe nvmevirt-backend
}
in_loop backend ssd_module_comes_and_goes
check "requests are issued while the SSD's probe comes and goes" fio --name=p --filename=/dev/nullb0 --size=64m \
	--rw=randwrite --bs=4k --direct=1 --ioengine=libaio --iodepth=16 --time_based --runtime=5
stop_loop backend 2
