#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The power fails at every NAND operation, and at some moments of which the seed is printed, while dieaware
# defrag --method share is at work, on a drive with a volatile cache: each filesystem recovers by itself,
# fsck finds nothing, and all files are what they were. SEED=NUMBER has it repeated.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# traces: yes
# seconds: 80
# timeout: 800
# sentences: 16
. "$(dirname "$0")/rc"
. "$LAB_DIR/share"

PIECES=8
MOMENTS=2
dd if=/dev/urandom of="$T_DIR/data" bs=32k count=$PIECES status=none
SEED=${SEED:-$RANDOM}
RANDOM=$SEED
note "seed $SEED"

# fail_when FS WHEN
fail_when() {
	defragment_until "$2" dieaware defrag --threshold 0 --method share "$file"
	shared=$((shared + SHARED))
	recovers "$1" >"$T_DIR/recovery" 2>&1 || wrong+=" $2"
	[[ $wrong != *" $2" ]] || note "$1, power failed at $2: $(tail -n 5 "$T_DIR/recovery")"
	end_failure
}

for fs in ext4 xfs f2fs btrfs; do
	new_state $fs $PIECES
	check_that "$fs: the file is in pieces" "$BEFORE" -ge 2
	wrong="" shared=0 moments=""
	for ((operation = 1; operation <= 100; operation++)); do
		fail_when $fs $operation
		[[ -z $OPERATIONS ]] || break
	done
	note "$fs: the file was in $BEFORE pieces; it took $OPERATIONS operations"
	check_that "$fs: the power failed at each operation" "$OPERATIONS" -lt "$operation"
	for ((i = 0; i < MOMENTS; i++)); do
		moment=$(printf '@0.%03d' $((RANDOM % 250)))
		moments+=" $moment"
		fail_when $fs "$moment"
	done
	note "$fs: $shared pages were shared before the power failed; moments:$moments"
	check_empty "$fs: all files are what they were, and fsck finds nothing, whenever it failed" "$wrong"
	check_that "$fs: pages were shared" "$shared" -gt 0
	drop_ssd ssd0
done
