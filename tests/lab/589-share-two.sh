#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Two "dieaware defrag --method share" above one target, each of files of its own: neither takes back what the other
# one has announced, and all of both is shared.
# kernels: uml
# long: 6.12
# smp: 2
# smp on uml: 1
# mem: 2G
# seconds: 30
# timeout: 120
# sentences: 8
. "$(dirname "$0")/rc"
. "$LAB_DIR/share"

SMALL=12
dd if=/dev/urandom of="$T_DIR/data" bs=1M count=16 status=none

# On xfs it is a donor that is announced.
for fs in ext4 xfs; do
	new_ssd ssd0 capacity_mib=512 share_pages=16384
	new_target t0 "$DEV"
	make_fs $fs "$TARGET" >"$T_DIR/said" 2>&1
	mount "$TARGET" "$mnt"
	# Of several batches; and files of one, of which many come to their end meanwhile
	fragment $fs "$file" 512
	small=()
	for ((i = 0; i < SMALL; i++)); do
		small+=("$mnt/small$i")
		fragment $fs "$mnt/small$i" 8
	done
	sync
	SUM=$(sum_all)
	dieaware defrag --threshold 0 --method share "$file" >"$T_DIR/large" 2>&1 &
	large=$!
	# Once at least: it may be through before they have begun.
	while dieaware defrag --threshold 0 --method share "${small[@]}" >"$T_DIR/said" 2>&1 || true; do
		is_running $large || break
	done
	status=0
	wait $large || status=$?
	note "$(<"$T_DIR/large")"
	check_that "$fs: the large file is moved" $status -eq 0
	shared=$(status_field t0 shared_pages)
	note "$fs: $shared pages shared"
	check_that "$fs: nothing of either was written" "$shared" -ge $((4096 + SMALL * 64))
	check_that "$fs: all files are what they were" "$(sum_all)" == "$SUM"
	umount "$mnt"
	check "$fs: fsck finds nothing" check_fs $fs "$TARGET"
	drop_target t0
	drop_ssd ssd0
done
