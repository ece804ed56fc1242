#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode above a device that reads slowly: a read in flight gets its own data, though its place is
# written again; a flush does not wait for cleaning; a read-only start after a crash writes nothing.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 4
# timeout: 240
# sentences: 12
. "$(dirname "$0")/rc"

SIZE_KIB=16384
modprobe brd rd_nr=2 rd_size=$SIZE_KIB
at_end rmmod brd
at_end drop_target low
dmsetup create low --table "0 $((SIZE_KIB * 2)) linear /dev/ram0 0"

# reads_take MILLISECONDS
reads_take() {
	becomes low "0 $((SIZE_KIB * 2)) delay /dev/ram0 0 $1 /dev/ram0 0 0"
}

for digit in 1 2 3 4 5; do
	head -c $((SIZE_KIB * 1024)) /dev/zero | tr '\0' "$digit" >"$T_DIR/$digit"
done

# put DIGIT FIRST NR: so many units of 256 KiB, of that digit only
put() {
	dd if="$T_DIR/$1" of="$TARGET" bs=256k seek="$2" count="$3" oflag=direct conv=fsync,notrunc status=none
}

OPTIONS="idle_ms=0" new_log_target t0 /dev/mapper/low --segment 256K
units=$(($(status_field t0 lpns) * 3 / 256))
dmsetup message t0 0 cleaning off

# Only the place of the first unit may not be written again, as long as it is read.
put 1 0 1
put 3 1 $((units - 1))
reads_take 6000
dd if="$TARGET" of="$T_DIR/read" bs=256k count=1 iflag=direct status=none &
reader=$!
sleep 0.5
put 2 0 1
put 3 1 $((units - 1))
put 3 1 $((units - 1))
check "all places but one were written again while somebody read" is_running "$reader"
wait "$reader"
check_that "who read got nothing but what was there" "$(tr -d 12 <"$T_DIR/read" | wc -c) $(stat -c %s "$T_DIR/read")" == "0 262144"

# Cleaning takes long: it has much to read.
reads_take 0
python3 "$LAB_DIR/steps.py" write "$TARGET" 256 512 128 1 $((units / 2))
dmsetup message t0 0 cleaning on
reads_take 10000
dmsetup message t0 0 clean &
cleaner=$!
sleep 0.5
commits=$(status_field t0 commits)
cleaned=$(status_field t0 cleaned_segments)
# What ends such a wait: the late commit, a second after the write, and cleaning's own, after each portion
since=${EPOCHREALTIME/./}
put 4 0 1
check_that "a flush does not wait for what cleaning reads (ms)" $(((${EPOCHREALTIME/./} - since) / 1000)) -lt 500
# A draft of the first of two writes is in vain: their flush is not the commit itself.
since=${EPOCHREALTIME/./}
put 4 0 2
check_that "nor does one that a worker commits for (ms)" $(((${EPOCHREALTIME/./} - since) / 1000)) -lt 500
check_that "they commit" "$(status_field t0 commits)" -gt "$commits"
check_that "and no segment was cleaned meanwhile" "$(status_field t0 cleaned_segments)" -eq "$cleaned"
check "cleaning has not ended" is_running "$cleaner"
reads_take 0
wait "$cleaner"
check_that "which went on" "$(status_field t0 cleaned_segments)" -gt 0

# What a crash leaves: no root has what was flushed last.
put 5 0 "$units"
dd if=/dev/ram0 of=/dev/ram1 bs=1M oflag=direct status=none
sum=$(sha256sum </dev/ram1)
dmsetup remove --retry t0
at_end drop_target t1
dmsetup create t1 --readonly --table "${LINE//mapper\/low/ram1}"
check_that "a read-only start has all that was flushed" \
	"$(dd if=/dev/mapper/t1 bs=256k count="$units" iflag=direct status=none | tr -d 5 | wc -c)" -eq 0
check_that "and says that it only reads" "$(status_field t1 state)" == read_only
dmsetup remove t1
check_that "and has written nothing" "$(sha256sum </dev/ram1)" == "$sum"
check "dieaware check finds nothing" dieaware check /dev/mapper/low
