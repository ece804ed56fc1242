#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The power fails while a target in log mode grows, at each of its writes, and all or any part of
# what was not flushed is lost: the old size or the new one, and all data.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 40
# timeout: 600
# sentences: 22
. "$(dirname "$0")/rc"

# line_of LPNS: the table line for a target that shows so many pages
line_of() {
	echo "0 $(($1 * 8)) ${LINE#0 * }"
}

modprobe brd rd_nr=2 rd_size=$((64 * 1024))
at_end rmmod brd
disk=/dev/ram0 log=/dev/ram1
at_end drop_target low
dmsetup create low --table "0 49152 linear $disk 0"
new_log_target t0 /dev/mapper/low --segment 256K
before=$(status_field t0 lpns)
dd if=/dev/urandom of="$TARGET" bs=1M count=2 oflag=direct status=none
sum=$(dd if="$TARGET" bs=1M count=2 iflag=direct status=none | sha256sum)
dmsetup remove t0
dmsetup remove low
dd if="$disk" of="$T_DIR/copy" bs=1M count=48 conv=sparse status=none
dmsetup create low --table "0 98304 linear $disk 0"
LINE="0 $((before * 8)) dieaware /dev/mapper/low 0 log"
dmsetup create t0 --table "$LINE"
after=$(status_field t0 grown_lpns)
dmsetup remove t0
dmsetup remove low
dd if="$T_DIR/copy" of="$disk" bs=1M conv=fsync status=none
modprobe dm-log-writes
dmsetup create low --table "0 98304 log-writes $disk $log"
dmsetup create t0 --table "$(line_of "$after")"
dmsetup remove t0
dmsetup remove low

# survives PLACE LOSS: sets SIZE, old or new
survives() {
	dd if="$T_DIR/copy" of="$disk" bs=1M conv=fsync status=none
	python3 "$LAB_DIR/log-replay.py" "$log" "$disk" "$1" "$2" || return 1
	dieaware check "$disk" || return 1
	dmsetup create t0 --table "0 $((before * 8)) dieaware $disk 0 log" || return 1
	SIZE=$(status_field t0 lpns)
	[[ $(dd if="$TARGET" bs=1M count=2 iflag=direct status=none | sha256sum) == "$sum" ]] || return 1
	dmsetup remove t0
	[[ $SIZE -eq $before || $SIZE -eq $after ]] || return 1
	dmsetup create t0 --table "0 $((after * 8)) dieaware $disk 0 log" || return 1
	[[ $(dd if="$TARGET" bs=1M count=2 iflag=direct status=none | sha256sum) == "$sum" ]] || return 1
	dmsetup remove t0
	dieaware check "$disk"
}

mapfile -t failures < <(python3 "$LAB_DIR/log-replay.py" "$log")
check_that "growing was logged" "${#failures[@]}" -ge 12
sizes=""
for failure in "${failures[@]}"; do
	read -r place loss <<<"$failure"
	check "the power fails at place $place, loss $loss: all is there, and it grows then" survives "$place" "$loss"
	if ((!loss)); then
		sizes+=" $((SIZE == after))"
	fi
done
note "sizes: $sizes"
check_that "it is the old size, and from some place on the new one" "$sizes" =~ '^( 0)+( 1)+$'
