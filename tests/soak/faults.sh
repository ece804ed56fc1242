#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Faults of filesystems that the soak does not hold against what lies below them, each shown with
# nothing of ours: a RAM disk, dm-linear, and a table of errors for a power failure. Says for each
# whether this kernel has it. In a guest, as root:
#
#     scripts/uml --plain --no-modules --copy tests/soak -- bash soak/faults.sh
set -euo pipefail

NAME=faults DISK=/dev/ram0 MOUNT=/mnt
TARGET=/dev/mapper/$NAME

power_on() {
	dmsetup create "$NAME" --table "0 $(blockdev --getsz "$DISK") linear $DISK 0"
}

power_off() {
	dmsetup wipe_table --nolockfs "$NAME"
}

start_again() {
	cd /
	umount "$MOUNT"
	dmsetup remove --retry "$NAME"
	power_on
	mount "$TARGET" "$MOUNT"
}

clean_up() {
	cd /
	umount "$MOUNT" || true
	dmsetup remove --retry "$NAME" || true
} 2>/dev/null

# make FILESYSTEM: a new one, mounted, with two folders and a file, all durable.
make() {
	clean_up
	power_on
	"mkfs.$1" -q -f "$TARGET" >/dev/null 2>&1
	mount "$TARGET" "$MOUNT"
	mkdir "$MOUNT"/{folder,other}
	echo here >"$MOUNT/folder/file"
	sync
	umount "$MOUNT"
	mount "$TARGET" "$MOUNT"
}

# What is still in memory of a folder is written by creating more than that elsewhere.
write_delayed_names() {
	python3 -c "for i in range(2000): open(f'$MOUNT/other/{i}', 'w').close()"
	sleep 1
}

# A name that was made and renamed since the last commit is there again, when the first fsync of the
# folder after that found the name in the tree and its removal not there yet.
btrfs_name_comes_back() {
	make btrfs
	cd "$MOUNT/folder"
	echo new >first
	sync first
	write_delayed_names
	mv first second
	sync .
	rm second
	sync .
	power_off
	start_again
	echo "btrfs: 'first', renamed, removed and promised to be gone, is" \
		"$([[ -e $MOUNT/folder/first ]] && echo there || echo gone)"
}

# sync() and syncfs() of f2fs that has stopped do nothing and say nothing.
f2fs_sync_succeeds() {
	local syncfs fsync

	make f2fs
	rm "$MOUNT/folder/file"
	power_off
	sync
	sync -f "$MOUNT" 2>/dev/null && true
	sync -f "$MOUNT" 2>/dev/null && syncfs=succeeds || syncfs=fails
	sync "$MOUNT/folder" 2>/dev/null && fsync=succeeds || fsync=fails
	start_again
	echo "f2fs: the power is off, sync succeeds, a second syncfs $syncfs, fsync $fsync;" \
		"a file that was removed before is" \
		"$([[ -e $MOUNT/folder/file ]] && echo there || echo gone)"
}

trap clean_up EXIT
modprobe brd rd_nr=1 rd_size=$((256 << 10))
uname -r
btrfs_name_comes_back
f2fs_sync_succeeds
