#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Allocations and commands fail under I/O: hints may get lost, data may not. Errors go
# up as they are; only a device that rejects hinted commands has hints switched off.
# kernels: debug
# smp: 2
# mem: 2G
# sentences: 49+
# seconds: 25
# timeout: 500
. "$(dirname "$0")/rc"
need_faults

VERIFY=(--direct=1 --ioengine=libaio --iodepth=16 --verify=crc32c --verify_fatal=1 --fallocate=none)
MANY=1000000

# felt ATTRIBUTE: how many faults there were since times=$MANY.
felt() {
	echo $((MANY - $(<"/sys/kernel/debug/$1/times")))
}

hints() {
	dmsetup status t0 | tr ' ' '\n' | sed -n 's/^hints=//p'
}

# error_of COMMAND...: the kernel's word for its error.
error_of() {
	{ "$@" 2>&1 >/dev/null || true; } | sed -n 's/.*: \([A-Z][a-z /]*\)$/\1/p' | tail -n 1
}

new_ssd ssd0 capacity_mib=256
NVME=$(basename "$DEV")/fault_inject
new_target t0 "$DEV" hints=on runs_mb=1
make_fs ext4 "$TARGET"
new_mount "$TARGET" "$T_DIR/mnt"

# ---- no memory for the run table
read -ra below_target < <(below dm_dieaware)
fault failslab "${below_target[@]}" probability=50 times=$MANY ignore-gfp-wait=N verbose=0
check "data is right while the target gets no memory" fio --name=v --directory="$T_DIR/mnt" \
	"${VERIFY[@]}" --size=12m --rw=randwrite --bs=8k
check_that "it was refused memory" "$(felt failslab)" -ge 20
check_that "hints are still on" "$(hints)" == on
calm

# ---- no memory for the SSD's data
umount "$T_DIR/mnt"
read -ra below_ssd < <(below nvmevirt_backend)
dd if=/dev/urandom of="$T_DIR/data" bs=1M count=4 status=none
dd if="$T_DIR/data" of="$TARGET" bs=1M oflag=direct status=none
blkdiscard -o $((64 << 20)) -l $((8 << 20)) "$TARGET"
fault fail_page_alloc "${below_ssd[@]}" probability=20 times=$MANY ignore-gfp-wait=N min-order=0 verbose=0
check_fails "a write for which the SSD gets no memory fails" \
	dd if=/dev/zero of="$TARGET" bs=64k count=64 seek=1024 oflag=direct
check_that "by an allocation" "$(felt fail_page_alloc)" -ge 1
calm
check "it works when there is memory again" \
	fio --name=v --filename="$TARGET" --offset=64m --size=4m --rw=write --bs=64k "${VERIFY[@]}"
check "other data is untouched" sh -c "dd if=$TARGET bs=1M count=4 iflag=direct status=none | cmp - $T_DIR/data"
check_that "hints are still on after a full device" "$(hints)" == on

# ---- errors of the medium (media error 81h, write fault 80h; no retry by the driver)
fault "$NVME" status=0x281 dont_retry=Y probability=100 times=-1 verbose=0
raw=$(error_of dd if="$DEV" of=/dev/null bs=4k count=1 iflag=direct)
check_that "the device's read error has a name" "$raw" =~ [a-z]
check_that "a read error goes up unchanged" "$(error_of dd if="$TARGET" of=/dev/null bs=4k count=1 iflag=direct)" == "$raw"
fault "$NVME" status=0x280
check_that "so does a write error" "$(error_of dd if=/dev/zero of="$TARGET" bs=64k count=4 seek=999 oflag=direct)" == "$raw"
check_that "which does not switch hints off" "$(hints)" == on
check_that "nothing was tried again" "$(status_field t0 retried)" -eq 0
calm

# ---- one command fails which is a part of a write, or several of them
# (internal error, which a hint may have caused)
# fails_once NTH KIND OPTION...: the NTH command fails, and the data is right nevertheless.
fails_once() {
	local nth=$1 kind=$2
	shift 2
	# Doubts about hints begin anew, or the fourth would switch them off.
	dmsetup message t0 0 hints on
	# What is before it gives the first write a hint: only writes with one are mended.
	dd if=/dev/zero of="$TARGET" bs=64k count=1 seek=2047 oflag=direct status=none
	fault "$NVME" status=0x6 probability=100 interval="$nth" times=1
	check "$kind writes: command $nth fails, and nobody sees it" fio --name=v --filename="$TARGET" \
		--offset=128m --size=4m --rw=write "${VERIFY[@]}" --do_verify=0 "$@"
	check_that "$kind writes: it has failed" "$(<"/sys/kernel/debug/$NVME/times")" -eq 0
	calm
	check "$kind writes: the data is right" fio --name=v --filename="$TARGET" --offset=128m --size=4m --rw=read \
		"${VERIFY[@]}" "$@"
}

dmsetup message t0 0 reset_counters
for nth in 2 5; do
	fails_once $nth merged --bs=4k --iodepth=64 --iodepth_batch=32 --iodepth_batch_complete_min=32
done
check_that "what was merged is sent again piece by piece" "$(status_field t0 retried)" -ge 4
echo 64 >"/sys/block/$(basename "$DEV")/queue/max_sectors_kb"
dmsetup message t0 0 reset_counters
for nth in 2 5; do
	fails_once $nth split --bs=512k --iodepth=4
done
check_that "what was split is sent again as a whole" "$(status_field t0 retried)" -ge 2
check_that "an error now and then leaves hints on" "$(hints)" == on

# ---- a rejected command
dd if=/dev/zero of="$TARGET" bs=64k count=2 seek=100 oflag=direct status=none
fault "$NVME" status=0x2 probability=100 interval=1 times=1
check "a rejected command is mended" dd if=/dev/zero of="$TARGET" bs=64k count=16 seek=102 oflag=direct
check_that "and switches hints off" "$(hints)" == off:rejected
calm

# ---- errors that may have other causes (internal error)
# doubts NUMBER: so many writes fail once.
doubts() {
	# What is before it gives the first write a hint.
	dd if=/dev/zero of="$TARGET" bs=64k count=1 seek=199 oflag=direct status=none
	fault "$NVME" status=0x6 probability=100 interval=5 times="$1"
	dd if=/dev/zero of="$TARGET" bs=64k count=$((8 * $1)) seek=200 oflag=direct status=none
	check_that "$1 writes have failed, and were mended" "$(<"/sys/kernel/debug/$NVME/times")" -eq 0
	calm
}
dmsetup message t0 0 hints on
doubts 3
check_that "three doubtful errors leave hints on" "$(hints)" == on
doubts 1
check_that "the fourth within a minute does not" "$(hints)" == off:rejected
dmsetup message t0 0 hints on
doubts 1
check_that "after the message hints on they count from the beginning" "$(hints)" == on
dmsetup remove t0

# ---- errors of a layer below
new_target t0 "$DEV" hints=on
size=$(blockdev --getsz "$TARGET")
dmsetup remove t0
for below in "dust $DEV 0 4096" "flakey $DEV 0 0 1 1 error_reads" "error"; do
	name=${below%% *}
	dmsetup create "lower-$name" --table "0 $size $below"
	at_end dmsetup remove "lower-$name"
	if [[ $name == dust ]]; then
		dmsetup message lower-dust 0 addbadblock 7
		dmsetup message lower-dust 0 enable
	fi
	dmsetup create t0 --table "$(target_line "/dev/mapper/lower-$name" 0 hints=on)"
	raw=$(error_of dd if="/dev/mapper/lower-$name" of=/dev/null bs=4k count=1 skip=7 iflag=direct)
	check_that "dm-$name fails a read" "$raw" == "Input/output error"
	check_that "and the target above it the same way" \
		"$(error_of dd if="$TARGET" of=/dev/null bs=4k count=1 skip=7 iflag=direct)" == "$raw"
	if [[ $name == error ]]; then
		check_fails "a write fails, too" dd if=/dev/zero of="$TARGET" bs=4k count=1 oflag=direct
	fi
	check_that "nothing is tried twice" "$(status_field t0 retried)" -eq 0
	check_that "hints are on" "$(hints)" == on
	dmsetup remove t0
	dmsetup remove "lower-$name"
done
