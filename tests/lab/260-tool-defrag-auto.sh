#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dieaware defrag of a file on one die, on an SSD that says so and cannot be asked to spread it: it is moved, and where it
# cannot be, since free space is in small pieces or xfs has no reflinks, it is written again.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 20
# timeout: 240
# sentences: 21
. "$(dirname "$0")/rc"
. "$LAB_DIR/holes"

UNITS=64
mnt=$T_DIR/mnt file=$T_DIR/mnt/file
dd if=/dev/urandom of="$T_DIR/data" bs=32k count=$UNITS status=none

# on_a_die FS [MKFS-OPTION...]: a new filesystem, with a file in one piece, of which one die has all
on_a_die() {
	make_fs "$1" "$DEV" "${@:2}"
	new_mount "$DEV" "$mnt"
	fallocate -l $((UNITS * 32))K "$file"
	python3 "$LAB_DIR/turns.py" $UNITS "$file" 32 0 "$T_DIR/data" "$file.rest" 224 0 /dev/zero
	rm "$file.rest"
	sync
}

# figure KEY...: from frag's JSON
figure() {
	frag_value "$file" "$@"
}

# cannot_spread: runs dieaware defrag with the last command that asks the SSD before anything is done failing: the one
# that asks whether it can spread. Sets METHOD to what was done.
cannot_spread() {
	local last

	strace -e trace=ioctl -o "$T_DIR/strace" dieaware defrag --dry-run "$file" >"$T_DIR/said"
	check "$1: the SSD could spread it" grep -q '^ssd' "$T_DIR/said"
	last=$(grep -n 'NVME_IOCTL_ADMIN' "$T_DIR/strace" | tail -n 1 | cut -d : -f 1)
	strace -o "$T_DIR/strace" -e trace=ioctl -e "inject=ioctl:error=EIO:when=$last" \
		dieaware defrag --json "$file" >"$T_DIR/rows"
	METHOD=$(jq -r '.[0].method' "$T_DIR/rows")
}

# gets METHOD SENTENCE
gets() {
	check_that "$2: it lies on one die" "$(figure physical dof_permille)" -ge 700
	cannot_spread "$2"
	check_that "$2: it is done by $1" "$METHOD" == "$1"
	check_that "$2: the pages come to all dies" "$(figure physical dof_permille)" -le 130
	check_that "$2: in one piece" "$(figure pieces)" -eq 1
	echo 3 >/proc/sys/vm/drop_caches
	check "$2: it is the same" cmp "$T_DIR/data" "$file"
	umount "$mnt"
	check "$2: fsck finds nothing" check_fs "$3" "$DEV"
}

new_ssd ssd0 capacity_mib=320
on_a_die ext4
gets move "ext4 with room" ext4
on_a_die ext4
in_small_pieces ext4 "$mnt" 64
gets rewrite "ext4 without a better place" ext4
on_a_die xfs -m reflink=0
gets rewrite "xfs without reflinks" xfs
