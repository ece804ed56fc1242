#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dieaware defragd --once on ext4, xfs, f2fs and btrfs: a file that is read much is brought together without being
# written, and spread; one that shares blocks with another is only spread; a second pass moves nothing, until the file is
# in pieces again.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 40
# timeout: 300
# sentences: 80
. "$(dirname "$0")/rc"
. "$LAB_DIR/share"

UNITS=64
PAGES=$((UNITS * 8))
dd if=/dev/urandom of="$T_DIR/data" bs=32k count=$UNITS status=none

# pass [OPTION...]
pass() {
	local status=0

	counts_of "$mnt" hot=9 clone=7 >"$T_DIR/counts"
	dieaware defragd --once --state "$T_DIR/counts" "$@" "$mnt" >"$T_DIR/said" 2>"$T_DIR/errors" || status=$?
	note "$fs: $(tail -n +2 "$T_DIR/said") $(cat "$T_DIR/errors")"
	return $status
}

for fs in ext4 xfs f2fs btrfs; do
	clones=0 most=$((PAGES / 8))
	# Its trees, each twice
	[[ $fs != btrfs ]] || most=$((PAGES / 2))
	[[ $fs != xfs && $fs != btrfs ]] || clones=1
	new_ssd ssd0 capacity_mib=512 share_pages=16384
	new_target t0 "$DEV"
	make_fs $fs "$TARGET"
	mount "$TARGET" "$mnt"
	dmsetup message t0 0 hints off
	fragment_on_a_die $fs "$mnt/hot" $UNITS
	fragment_on_a_die $fs "$mnt/clone" $UNITS
	((!clones)) || cp --reflink=always "$mnt/clone" "$mnt/origin"
	dmsetup message t0 0 hints auto
	sync
	SUM=$(sum "$mnt/hot")
	check_that "$fs: it is in pieces" "$(figure "$mnt/hot" pieces)" -ge $((UNITS / 2))
	check_that "$fs: and on few dies" "$(figure "$mnt/hot" physical.dof_permille)" -ge 700

	written=$(ssd_stat ssd0 host_pages_written)
	check "$fs: a pass over one file" pass --files 1
	sync
	written=$(($(ssd_stat ssd0 host_pages_written) - written))
	check_that "$fs: shares it, and spreads it" "$(rows share hot) $(rows ssd hot)" == "1 1"
	check_that "$fs: all of it, and nothing else" "$(done_so_far)" == "$PAGES $PAGES"
	note "$fs: $written pages written"
	check_that "$fs: the computer does not write it" "$written" -le $most
	check_that "$fs: it is in one piece or two" "$(figure "$mnt/hot" pieces)" -le 2
	check_that "$fs: and on all dies" "$(figure "$mnt/hot" physical.dof_permille)" -le 130
	check_that "$fs: and has the same bytes" "$(sum "$mnt/hot")" == "$SUM"

	check "$fs: a pass over two" pass
	check_that "$fs: spreads the other one" "$(rows ssd clone)" -eq 1
	check_that "$fs: and shares it, unless it has blocks in common with a third" "$(rows share clone)" -eq $((!clones))
	check_that "$fs: which is said" "$(grep -c "clone was left alone: it shares blocks" "$T_DIR/errors")" -eq $clones
	check_that "$fs: the first one stays" "$(rows '.*' hot)" -eq 0
	before=$(done_so_far)
	check "$fs: a pass after that" pass
	check_that "$fs: says only its heading" "$(wc -l <"$T_DIR/said")" -eq 1
	check_that "$fs: and moves nothing" "$(done_so_far)" == "$before"

	# In pieces again, this time in ones that lie well
	rm "$mnt/hot" "$mnt/hot."*
	fragment $fs "$mnt/hot" $UNITS
	sync
	check "$fs: a pass when it is in pieces again" pass
	check_that "$fs: shares it, and need not spread it" "$(rows share hot) $(rows ssd hot)" == "1 0"
	umount "$mnt"
	check "$fs: fsck finds nothing" check_fs $fs "$TARGET"
	drop_target t0
	drop_ssd ssd0
done
