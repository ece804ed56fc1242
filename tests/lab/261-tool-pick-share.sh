#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dieaware pick migrate above a target that shares: ranges in pieces are brought together on ext4, xfs, f2fs and btrfs
# without being written, also where nobody has said how; the rest of the file stays, and a second run does nothing.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 25
# timeout: 300
# sentences: 52
. "$(dirname "$0")/rc"
. "$LAB_DIR/share"

UNITS=64
HOT_PAGES=256
dd if=/dev/urandom of="$T_DIR/data" bs=32k count=$UNITS status=none

# The first MiB is hot.
hot_half() {
	printf '{"kind":"dieaware-pick","version":1,"files":[{"path":"%s","inode":%s,"ranges":[%s]}]}\n' "$file" \
		"$(stat -c %i "$file")" '{"begin":0,"bytes":524288,"count":2},{"begin":524288,"bytes":524288,"count":1}' >"$T_DIR/hot"
}

# pieces_of FIRST PAGES: of the file, in which that many pages are
pieces_of() {
	dieaware runs extents --json "$file" | jq --argjson first "$1" --argjson count "$2" '
		[.[0].runs[] | select(.file_page < $first + $count and .file_page + .pages > $first)] | length'
}

for fs in ext4 xfs f2fs btrfs; do
	new_ssd ssd0 capacity_mib=512 share_pages=16384
	new_target t0 "$DEV"
	make_fs $fs "$TARGET"
	mount "$TARGET" "$mnt"
	fragment $fs "$file" $UNITS
	sync
	SUM=$(sum "$file")
	hot_half
	cold=$(pieces_of $HOT_PAGES $HOT_PAGES)
	check_that "$fs: what is hot is in pieces" "$(pieces_of 0 $HOT_PAGES)" -ge 16
	written=$(ssd_stat ssd0 host_pages_written)
	exits 0 "0 KiB written" dieaware pick migrate "$T_DIR/hot"
	check "$fs: it was shared" grep -q '^share ' "$T_DIR/said"
	sync
	written=$(($(ssd_stat ssd0 host_pages_written) - written))
	note "$fs: $written pages written, $(status_field t0 shared_pages) shared"
	check_that "$fs: the SSD has all of it twice" "$(status_field t0 shared_pages)" -eq $HOT_PAGES
	# Trees of btrfs, each twice
	check_that "$fs: and was written to for little else" "$written" -le $((HOT_PAGES / 2))
	check_that "$fs: what is hot is in one piece or two" "$(pieces_of 0 $HOT_PAGES)" -le 2
	check_that "$fs: the rest is in as many as before" "$(pieces_of $HOT_PAGES $HOT_PAGES)" -eq "$cold"
	check_that "$fs: it is the same" "$(sum "$file")" == "$SUM"
	exits 0 "0 KiB written" dieaware pick migrate --method share "$T_DIR/hot"
	check_that "$fs: a second run shares nothing" "$(status_field t0 shared_pages)" -eq $HOT_PAGES
	umount "$mnt"
	check "$fs: fsck finds nothing" check_fs $fs "$TARGET"
	drop_target t0
	drop_ssd ssd0
done
