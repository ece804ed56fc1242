#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dieaware probe finds unit and stripe of every profile of the virtual SSD from how long reads
# take, as its configuration has them, or that no two reads meet on a die; what it refuses, and Ctrl-C.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 3G
# clock: virtual
# sentences: 149
# seconds: 24
# timeout: 900
. "$(dirname "$0")/rc"

# property NAME: of the SSD
property() {
	cat "$CONFIGFS/ssd0/$1"
}

# found KEY: of what was printed
found() {
	python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["found"][sys.argv[2]])' "$T_DIR/said" "$1"
}

# hides_dies: it takes one command after the other, or so far apart that a die is done with one before the next
hides_dies() {
	(($(property queue_depth) == 1 || $(property cmd_gap_ns) > $(property read_ns)))
}

# try PROFILE: the virtual CPU is slow, so the drive's clock is, too.
try() {
	local planes unit dies stripe_kib mib region=()

	# A smaller one, for a smaller drive
	[[ $1 != slc-cache ]] || region=(slc_mib=64)
	nvmev-ssd create ssd0 profile="$1" capacity_mib=1024 time_scale=16 "${region[@]}" >/dev/null
	DEV=$(ssd_device ssd0)
	# What reads cannot tell from a die: a plane that senses on its own
	planes=$(($(property plane_read) ? $(property planes_per_die) : 1))
	unit=$(($(property unit_kib) / planes))
	dies=$(($(property channels) * $(property dies_per_channel) * planes))
	stripe_kib=$((unit * dies))
	mib=$((stripe_kib * 20 / 1024))
	mib=$((mib < 8 ? 8 : mib))
	if hides_dies; then
		exits 3 "no two seem to meet on a die" dieaware probe --write --size ${mib}M "$DEV"
		nvmev-ssd remove ssd0
		return
	fi
	exits 0 found dieaware probe --write --size ${mib}M --svg "$T_DIR/svg" --json "$DEV"
	check_that "$1: stripe" "$(found stripe_bytes)" -eq $((stripe_kib * 1024))
	check_that "$1: unit" "$(found unit_bytes)" -eq $((unit * 1024))
	check_that "$1: dies" "$(found nr_dies)" -eq "$dies"
	check_that "$1: most predictions come true" $(($(found checks_right) * 100 / $(found checks))) -ge 95
	check "$1: the picture is well-formed" python3 -c 'import sys, xml.dom.minidom as dom; dom.parse(sys.argv[1])' "$T_DIR/svg"
	nvmev-ssd remove ssd0
}

at_end drop_ssd ssd0
for profile in $(dieaware sim --profiles | awk '{ print $1 }'); do
	# A thousand dies want more memory than the others together.
	[[ $profile == huge ]] || try "$profile"
done

# What is refused
new_ssd ssd0 capacity_mib=256
printf 'label: gpt\nstart=2048, size=131072\nstart=133124, size=131072\n' | sfdisk -q "$DEV"
poll 20 test -b "${DEV}p2" || partx -a "$DEV"
exits 3 "shows a stripe (--write does that)" dieaware probe --size 8M "${DEV}p1"
exits 2 "holds a partition table (gpt)" dieaware probe --write "$DEV"
exits 2 "begins at sector 133124 of its disk" dieaware probe "${DEV}p2"
exits 2 "4092 KiB are too small a range: at least 4096 are needed" dieaware probe --size 4092K "${DEV}p1"
exits 2 "has 65536 KiB from sector 0 on, not 131072" dieaware probe --size 128M "${DEV}p1"
exits 2 "has 61440 KiB from sector 8192 on" dieaware probe --start 8192 --size 64M "${DEV}p1"
exits 2 "must be a multiple of 8" dieaware probe --start 7 "${DEV}p1"
exits 2 "is not a block device" dieaware probe /dev/null
exits 3 "cannot be opened" dieaware probe /dev/nothing
exits 3 "; root may do that" setpriv --reuid=65534 --clear-groups dieaware probe "${DEV}p1"
make_fs ext4 "${DEV}p1"
exits 2 "holds a filesystem (ext4)" dieaware probe --write "${DEV}p1"
new_mount "${DEV}p1" "$T_DIR/mnt"
exits 2 "is in use: it is mounted" dieaware probe "${DEV}p1"
exits 2 "is in use: it is mounted" dieaware probe --write --force "${DEV}p1"
exits 2 "is in use: it is mounted" dieaware probe --write --force "$DEV"
umount "$T_DIR/mnt"
check "the filesystem has not been touched" check_fs ext4 "${DEV}p1"
exits 130 "Interrupted" timeout --preserve-status -s INT 1 dieaware probe --write --force "${DEV}p1"
exits 0 "stripe           256 KiB" dieaware probe --size 8M "${DEV}p1"
