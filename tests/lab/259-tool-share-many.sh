#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dieaware defrag --method share of many files, on a drive with a volatile cache: they are synced together, so the
# SSD programs its log of what it shares for fewer times than there are files; and when the command has come to its
# end, a power failure takes nothing of that back.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# traces: yes
# seconds: 15
# timeout: 200
# sentences: 16
. "$(dirname "$0")/rc"
. "$LAB_DIR/share"

FILES=12 PIECES=4
dd if=/dev/urandom of="$T_DIR/data" bs=32k count=$PIECES status=none
files=()
for ((i = 0; i < FILES; i++)); do
	files+=("$mnt/file$i")
done

# all_pieces: of all files together
all_pieces() {
	dieaware frag --json "${files[@]}" | awk '$1 == "\"pieces\":" { sum += $2 } END { print sum }'
}

for fs in ext4 xfs f2fs btrfs; do
	new_ssd ssd0 capacity_mib=512 plp=0 share_pages=16384
	new_target t0 "$DEV"
	make_fs $fs "$TARGET" >"$T_DIR/said" 2>&1
	mount "$TARGET" "$mnt"
	for one in "${files[@]}"; do
		fragment $fs "$one" $PIECES
	done
	sync
	SUM=$(sum_all)
	before=$(all_pieces)
	programs=$(ssd_stat ssd0 defrag_programs)
	dieaware defrag --threshold 0 --method share "${files[@]}" >"$T_DIR/said"
	programs=$(($(ssd_stat ssd0 defrag_programs) - programs))
	nvmev-ssd power-cut ssd0
	now=$(all_pieces)
	note "$fs: $before pieces, then $now; the log was programmed $programs times for $FILES files"
	check_that "$fs: files that were in pieces are in fewer" "$now" -le $((before / 2))
	check_that "$fs: the log is programmed fewer times than there are files" "$programs" -lt $((FILES / 2))
	check "$fs: all files are what they were, and fsck finds nothing" recovers $fs
	mount "$TARGET" "$mnt"
	check_that "$fs: they are in no more pieces than when the command ended" "$(all_pieces)" -le "$now"
	umount "$mnt"
	end_failure
	drop_ssd ssd0
done
