#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dieaware defrag on ext4, xfs, f2fs and btrfs: that somebody makes a file shorter while it is moved is no failure of
# the folder's; where the rest of it can be moved no more, it is left alone with a sentence. What is left of it is the
# same, and the filesystem whole.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 30
# timeout: 300
# sentences: 18
. "$(dirname "$0")/rc"

MIB=16
KEPT=$((64 << 10))
SHORTER="long was left alone: somebody has made it shorter meanwhile"

# is_moving PROCESS FILE: it has the file open, or the one without a name whose blocks this one is to get.
is_moving() {
	find "/proc/$1/fd" -lname "$2" | grep -q .
}

# move_shorter FOLDER FILE OPEN: defragments a folder, and makes one of its files shorter when OPEN is open. Sets
# STATUS, its exit status.
move_shorter() {
	dieaware defrag --threshold 0 --method move "$1" >"$T_DIR/said" 2>&1 &
	STATUS=0
	# Not by poll: what it waits in between is long.
	until is_moving $! "$3" || has_ended $!; do :; done
	kill -STOP $! || note "it has ended"
	truncate -s $KEPT "$2"
	kill -CONT $! || true
	wait $! || STATUS=$?
}

dd if=/dev/urandom of="$T_DIR/data" bs=1M count=$MIB status=none
sum=$(head -c $KEPT "$T_DIR/data" | sha256sum)
new_ssd ssd0 capacity_mib=512 time_scale=64
mnt=$T_DIR/mnt
file=$mnt/folder/long
for fs in ext4 xfs f2fs btrfs; do
	make_fs $fs "$DEV"
	new_mount "$DEV" "$mnt"
	mkdir "$mnt/folder"
	opened="*(deleted)"
	[[ $fs == ext4 || $fs == xfs ]] || opened=$file
	# On a busy machine all is moved before anybody has seen that it began.
	for _ in 1 2 3 4 5; do
		write_fragmented "$file" $((MIB * 32))
		rm "$file.other"
		sync "$file"
		echo 3 >/proc/sys/vm/drop_caches
		move_shorter "$mnt/folder" "$file" "$opened"
		if ((STATUS)) || [[ $opened == "$file" ]] || grep -qF "$SHORTER" "$T_DIR/said"; then
			break
		fi
	done
	check_that "$fs: it ends well" "$STATUS" -eq 0
	note "$(tail -n 1 "$T_DIR/said")"
	# The others may have moved what is left of it.
	[[ $opened == "$file" ]] || check "$fs: the file is left alone" \
		grep -qF "$SHORTER" "$T_DIR/said"
	check_that "$fs: it is as long as it was made" "$(stat -c %s "$file")" -eq $KEPT
	check_that "$fs: what is left is the same" "$(sha256sum <"$file")" == "$sum"
	umount "$mnt"
	check "$fs: the filesystem is whole" check_fs $fs "$DEV"
done
