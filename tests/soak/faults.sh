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
	local how=-f

	clean_up
	power_on
	[[ $1 != ext4 ]] || how="-F -b 4096"
	# shellcheck disable=SC2086 # words
	"mkfs.$1" -q $how "$TARGET" >/dev/null 2>&1
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

# A file that is cut within a page, which fsync promises, leaves on the device what the page had behind
# that; when the file becomes longer, a commit writes the new size, and not the zeroes.
btrfs_tail_comes_back() {
	local tail

	make btrfs
	mount -o remount,commit=1 "$MOUNT"
	head -c 20000 /dev/zero | tr '\0' x >"$MOUNT/folder/file"
	sync "$MOUNT/folder/file"
	truncate -s 3800 "$MOUNT/folder/file"
	sync "$MOUNT/folder/file"
	truncate -s 20000 "$MOUNT/folder/file"
	sleep 4
	power_off
	start_again
	tail=$(tail -c +3801 "$MOUNT/folder/file" | tr -d '\0' | wc -c)
	echo "btrfs: a file is cut within a page, that is promised, and it becomes longer; it has" \
		"$(stat -c %s "$MOUNT/folder/file") bytes, of those that were cut off $tail"
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

# journal_fails: what ext4 writes to its journal is an error from now on, and nothing else is.
journal_fails() {
	local blocks first end sectors

	read -ra blocks < <(debugfs -R "blocks <8>" "$DISK" 2>/dev/null)
	first=$((blocks[0] * 8)) end=$(((blocks[-1] + 1) * 8)) sectors=$(blockdev --getsz "$DISK")
	dmsetup suspend --noflush --nolockfs "$NAME"
	printf '%s\n' "0 $first linear $DISK 0" "$first $((end - first)) error" \
		"$end $((sectors - end)) linear $DISK $end" | dmsetup load "$NAME"
	dmsetup resume "$NAME"
}

# pieces: 64 pages with holes between them, so many that a block of its own says where they are
pieces() {
	python3 -c 'import sys; sys.stdout.buffer.write((b"x" * 4096 + bytes(4096)) * 64)'
}

# What a transaction has freed that cannot be committed, since the journal fails, is free for fstrim all
# the same: mounted again, files have blocks that were discarded.
ext4_trims_what_is_in_use() {
	local file=$MOUNT/folder/file how

	for how in "no fstrim" fstrim; do
		make ext4
		cp --sparse=always <(pieces) "$file"
		sync
		rm "$file"
		journal_fails
		sync "$MOUNT/folder" 2>/dev/null || true
		sleep 1
		if [[ $how == fstrim ]]; then
			fstrim "$MOUNT" || how="fstrim fails"
		fi
		start_again
		pieces >"$MOUNT/other/same"
		echo "ext4: a file is removed, the journal fails, $how; mounted again, the file is" \
			"$(cmp -s "$file" "$MOUNT/other/same" && echo "as it was" || echo damaged)"
	done
}

trap clean_up EXIT
modprobe brd rd_nr=1 rd_size=$((256 << 10))
uname -r
btrfs_name_comes_back
btrfs_tail_comes_back
f2fs_sync_succeeds
ext4_trims_what_is_in_use
