#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What dieaware doctor promises of a drive that obeys hints and spreads pages, against what comes: files that
# the drive has spread (defrag), parts that pick has moved, and a file that is written again in the same way
# below hint mode. The upper end of a promise is no more than a quarter above that.
# kernels: uml
# smp: 1
# mem: 2G
# clock: virtual
# sentences: 60
# seconds: 30
# timeout: 600
. "$(dirname "$0")/rc"
. "$LAB_DIR/doctor"

# comes WORD REMEDY SLOW FAST: what was promised, and no more than that
comes() {
	local word=$1 remedy=$2 gain=$(($3 * 1000 / $4)) low high

	low=$(promised "$remedy" low) high=$(promised "$remedy" high)
	note "$word: $3 ns before, $4 ns after: $gain permille, promised $low to $high"
	check_that "$word: what was promised comes" "$low" -le "$gain"
	check_that "$word: and it was not promised that much more comes" "$high" -le $((gain * 5 / 4))
	check_that "$word: something comes" "$gain" -ge 1080
}

# bad FILE...: each written a die unit at a time, all on one die, into holes: what is between two pieces is the
# rest of a stripe.
bad() {
	local words=() nr=0

	for file; do
		words+=("$file" "$unit" 0 "$T_DIR/data" "$mnt/between" $((stripe - unit)) $((turns * nr)) /dev/zero)
		nr=$((nr + 1))
	done
	fallocate -l "$(((stripe - unit) * turns * nr))KiB" "$mnt/between"
	all_but_holes "$mnt" $((unit << 10)) $((turns * nr + 16))
	for ((nr = 0; nr < $#; nr++)); do
		python3 "$LAB_DIR/turns.py" "$turns" "${words[@]:nr*8:8}"
	done
}

# try PROFILE
try() {
	local unit stripe turns slow

	doctor_drive "$1"
	mkdir "$mnt/pick"
	bad "$mnt/spread" "$mnt/pick/picked"
	examine "$1"
	check_that "$1: it is affected" "$(said verdict)" == affected
	note "$1: hint mode $(promised "hint mode" low)-$(promised "hint mode" high)," \
		"pick $(promised pick low)-$(promised pick high) permille"

	# Of so large reads it speaks.
	WINDOW=$(said read_bytes)
	slow=$(time_of "$mnt/spread")
	check "$1: the drive spreads a file" dieaware defrag --method ssd --threshold 0 "$mnt/spread"
	sync
	sleep 1
	comes "$1, defrag" defrag "$slow" "$(time_of "$mnt/spread")"

	slow=$(time_of "$mnt/pick/picked")
	check "$1: what is read is known" \
		dieaware pick analyze --bypass --read-ahead $((WINDOW >> 10))K --out "$T_DIR/hot" --path "$mnt/pick"
	check "$1: and moved" dieaware pick migrate "$T_DIR/hot"
	sync
	sleep 1
	comes "$1, pick" pick "$slow" "$(time_of "$mnt/pick/picked")"

	rm -r "$mnt/spread" "$mnt/pick" "$mnt/between"
	umount "$mnt"
	dieaware create t0 "$DEV" --mode hint
	mount -o noatime,commit=300 /dev/mapper/t0 "$mnt"
	bad "$mnt/hinted"
	sync
	sleep 1
	comes "$1, hint mode" "hint mode" "$slow" "$(time_of "$mnt/hinted")"
	umount "$mnt"
	dieaware remove t0
	nvmev-ssd remove ssd0
}

mkdir "$mnt"
at_end drop_ssd ssd0
at_end drop_target t0
at_end drop_mount "$mnt"
dd if=/dev/urandom of="$T_DIR/data" bs=1k count=$FILE_KIB status=none
for profile in fast24 nvme-a tlc modern; do
	try $profile
done
