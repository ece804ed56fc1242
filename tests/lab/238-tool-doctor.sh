#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dieaware doctor against the truth, on profiles of the virtual SSD: files in one piece, files in
# pieces that lie on one die each, files in pieces that lie in order. Its verdict is what the files'
# speeds say before and after they have been defragmented; what defrag promises comes, and the upper end
# of that is no more than a quarter above it. Of all profiles large and huge are left out: what lies between the
# pieces of a file on one of their 256 and 1024 dies is more than the drive has, or the machine's memory.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# sentences: 254
# seconds: 70
# timeout: 900
. "$(dirname "$0")/rc"
. "$LAB_DIR/doctor"

# is_true WORD FILE...: defragments the files, and compares what that gave with what was said
is_true() {
	local word=$1 slow fast gain high low
	shift

	high=$(promised defrag high) low=$(promised defrag low)
	slow=$(time_of "$@")
	check "$word: the files can be defragmented" dieaware defrag --method move --threshold 0 "$@"
	sync
	sleep 1
	fast=$(time_of "$@")
	gain=$((slow * 1000 / fast))
	note "$word: $slow ns before, $fast ns after: $gain permille"
	case $(said verdict) in
	affected) check_that "$word: it is affected" "$gain" -ge 1080 ;;
	not-affected) check_that "$word: it is not affected" "$gain" -le 1120 ;;
	*) check_that "$word: it can be told" never == true ;;
	esac
	# Up to 1.10 times is "nothing".
	if ((high < 1100)); then
		check_that "$word: nothing was promised, and nothing came" "$gain" -le 1120
	else
		check_that "$word: what was promised came" "$low" -le "$gain"
		check_that "$word: and it was not promised that much more comes" "$high" -le $((gain * 5 / 4))
	fi
}

# try PROFILE CAUSE: what costs most there when pieces lie on one die each; "None": nothing
try() {
	local unit stripe turns verdict=affected region=()

	[[ $1 != slc-cache ]] || region=(slc_mib=32)
	doctor_drive "$1" hints=0 "${region[@]}"

	# In one piece: with a file of its own it knows that this is as fast as it gets.
	examine "$1, whole" --write 8
	check_that "$1, whole: nothing is slow" "$(said verdict)" == not-affected

	# On one die each: what is between two pieces is the rest of a stripe.
	fallocate -l "$(((stripe - unit) * turns))KiB" "$mnt/between"
	all_but_holes "$mnt" $((unit << 10)) $((turns + 16))
	python3 "$LAB_DIR/turns.py" "$turns" "$mnt/dies" "$unit" 0 "$T_DIR/data" \
		"$mnt/between" $((stripe - unit)) 0 /dev/zero
	examine "$1, one die"
	[[ $2 != None ]] || verdict=not-affected
	check_that "$1, one die: it is $verdict" "$(said verdict)" == $verdict
	check_that "$1, one die: for $2" "$(said cause)" == "$2"
	is_true "$1, one die" "$mnt/dies"

	# In pieces, but in order
	rm "$mnt/dies" "$mnt/between"
	all_but_holes "$mnt" $((unit << 10)) $((turns + 16))
	dd if="$T_DIR/data" of="$mnt/order" bs="${unit}k" count="$turns" oflag=direct status=none
	examine "$1, order" --write 8
	# With open stripes, what is written goes to the die that is furthest behind, not to each in its turn.
	if (($(<"$CONFIGFS/ssd0/stripe_lead") == 0)); then
		check_that "$1, order: not for where pages lie" "$(said cause)" != places
	fi
	is_true "$1, order" "$mnt/order"
	umount "$mnt"
	nvmev-ssd remove ssd0
}

mkdir "$mnt"
at_end drop_ssd ssd0
at_end drop_mount "$mnt"
dd if=/dev/urandom of="$T_DIR/data" bs=1k count=$FILE_KIB status=none
for profile in fast24 nvme-a nvme-b nvme-c nvme-d sata-a sata-b dramless tlc qlc modern slc-cache ufs; do
	try $profile places
done
# One die is nearly as fast as its link: requests cost more, or nothing does.
try emmc splitting
try microsd None
try sata None
# Where a piece is decides its number there, and not what was written before it.
try xpoint None
