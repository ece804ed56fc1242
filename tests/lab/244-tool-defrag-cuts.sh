#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The power fails while files are moved or written again, without sharing, on a drive with a volatile cache: dieaware
# defrag --method move and rewrite, and dieaware pick migrate, on ext4, xfs, f2fs and btrfs, at operations of the NAND from
# their first to their last. Each filesystem recovers by itself, all files are what they were right after, and fsck finds
# nothing. On stock kernels (--long) it fails at four times as many operations; CUTS=NUMBER has another number.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# traces: yes
# seconds: 60
# timeout: 900
# sentences: 36
. "$(dirname "$0")/rc"
. "$LAB_DIR/share"

PIECES=8
if [[ -z ${CUTS:-} ]]; then
	CUTS=4
	grep -q "User Mode Linux" /proc/cpuinfo || CUTS=16
fi
dd if=/dev/urandom of="$T_DIR/data" bs=32k count=$PIECES status=none

analyze() {
	dieaware pick analyze --bypass --read-ahead 64K --path "$file" --out "$T_DIR/hot"
}

moves() {
	dieaware defrag --threshold 0 --method move "$file"
}

# On ext4 and xfs nothing is written again where the SSD has hints.
rewrites() {
	dmsetup message t0 0 hints off
	dieaware defrag --threshold 0 --method rewrite "$file"
}

picks() {
	dieaware pick migrate --method move "$T_DIR/hot"
}

# fail_at FS WHAT OPERATION
fail_at() {
	defragment_until "$3" "$2"
	[[ -n $OPERATIONS ]] || failed=$((failed + 1))
	recovers "$1" >"$T_DIR/recovery" 2>&1 || wrong+=" $3"
	[[ $wrong != *" $3" ]] || note "$1, $2, power failed at $3: $(tail -n 5 "$T_DIR/recovery")"
	end_failure
}

for fs in ext4 xfs f2fs btrfs; do
	new_state $fs $PIECES analyze
	for what in moves rewrites picks; do
		# How much it is when nothing fails
		defragment_until 100000 $what
		all=$OPERATIONS
		word=move
		[[ $what != rewrites ]] || word=rewrite
		check_that "$fs, $what: says that it has done it" "$(<"$T_DIR/said")" =~ $word
		note "$fs, $what: $all operations"
		unmount_target
		end_failure
		wrong="" failed=0
		for ((cut = 0; cut < CUTS; cut++)); do
			fail_at $fs $what $((1 + (all - 1) * cut / (CUTS - 1)))
		done
		check_that "$fs, $what: the power failed in the midst of it" $failed -ge $((CUTS - 2))
		check_empty "$fs, $what: all files are what they were, and fsck finds nothing, whenever it failed" "$wrong"
	done
	drop_ssd ssd0
done
