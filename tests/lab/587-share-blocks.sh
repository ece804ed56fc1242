#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The SSD gets blocks of another size between the loading of a table and its first resume, or while the
# target is at work: nothing is shared to, or from, places that are others by now.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 8
# timeout: 120
# sentences: 12
. "$(dirname "$0")/rc"

mnt=$T_DIR/mnt
mkdir "$mnt"
at_end drop_mount "$mnt"

# format_as LBAF BYTES: the driver looks at it some time after the command, which says that the device is in use
format_as() {
	nvme format "$DEV" --namespace-id=1 --lbaf="$1" --force >"$T_DIR/said" 2>&1 || true
	poll 20 sh -c "[ \"\$(blockdev --getss $DEV)\" = $2 ]"
}

# appends: pieces that follow one another on the target, as the SSD with blocks of so many bytes sees them
appends() {
	python3 "$LAB_DIR/wire.py" "$1" dd if=/dev/zero of=/dev/mapper/t0 bs=32k count=16 oflag=direct status=none >"$T_DIR/wire"
	awk '$3 == "append" && $4 == $1 - 1' "$T_DIR/wire" | wc -l
}

# place FILE: where its first page lies
place() {
	dieaware runs extents --json "$1" | jq '.[0].runs[0].device_page'
}

# announce FILE DPN PAGES
announce() {
	local id

	id=$(dieaware runs extents --json "$1" | jq -r '.[0] | "\(.device) \(.inode) \(.generation)"')
	# shellcheck disable=SC2086
	dmsetup message t0 0 share add $id 0 "$2" "$3"
}

# full_device: one on which every page has data, but for a gap near its beginning; sets SUMS
full_device() {
	make_fs ext4 /dev/mapper/t0 -m 0 -O ^has_journal
	mount /dev/mapper/t0 "$mnt"
	write_mib "$mnt/a" 1
	write_mib "$mnt/gap" 1
	write_mib "$mnt/rest" 256 2>/dev/null || true
	sync
	rm "$mnt/gap"
	touch "$mnt/b"
	sync
	SUMS=$(sums_of)
}

# sums_of: what the device has
sums_of() {
	echo 3 >/proc/sys/vm/drop_caches
	sha256sum "$mnt/a" "$mnt/rest"
}

# copies: a copy that was announced, and all else, are what they should be
copies() {
	announce "$mnt/b" "$(place "$mnt/a")" 256 || true
	cat "$mnt/a" >"$mnt/b"
	sync
	check_that "$1: the copy is one" "$(sums_of | sed -n 1p | cut -d ' ' -f 1)" == "$(sha256sum <"$mnt/b" | cut -d ' ' -f 1)"
	check_that "$1: nothing else has changed" "$(sums_of)" == "$SUMS"
	umount "$mnt"
	check "$1: fsck finds nothing" check_fs ext4 /dev/mapper/t0
}

new_ssd ssd0 capacity_mib=128 share_pages=16384
at_end drop_target t0
dmsetup create t0 --notable
dmsetup load t0 --table "$(target_line "$DEV" 0)"
format_as 1 4096
dmsetup resume t0
check "there are hints" poll 20 sh -c 'dmsetup status t0 | grep -q hints=on'
check_that "from the first resume on, predecessors are in blocks of 4096 bytes" "$(appends 4096)" -eq 15
full_device
copies "formatted before the first resume"
check_that "and it was shared" "$(status_field t0 shared_pages)" -eq 256

format_as 0 512
full_device
check_that "while it has other blocks than the target knows, nothing is shared" "$(status_field t0 share)" == off
copies "formatted while at work"
dmsetup suspend t0
dmsetup resume t0
check "after a resume it is" poll 20 sh -c 'dmsetup status t0 | grep -q share=on'
check_that "with predecessors in blocks of 512" "$(appends 512)" -eq 15
