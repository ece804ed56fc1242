#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Pages that two files have: who reads one of them, from a snapshot or as a reflink's copy, takes nothing from the
# other, which goes on to be overwritten and appended to with hints; and so does a filesystem that comes back under
# another device number.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 20
# timeout: 120
# sentences: 13
. "$(dirname "$0")/rc"

PAGES=64

# put FILE FIRST NUMBER: pages of a file, through the page cache, so that devices above the target do not matter
put() {
	dd if=/dev/zero of="$1" bs=4k seek="$2" count="$3" conv=notrunc,fsync status=none
}

# put_traced FILE FIRST NUMBER: likewise; says how many pages of the file went with which hint
put_traced() {
	trace_on dmda_hint
	put "$@"
	trace_off
	sed -n "s/.* dmda_hint: .* ino=$(stat -c %i "$1") /&/p" "$TRACEFS/trace" |
		sed 's/.* nr=\([0-9]*\) .*hint=\([a-z]*\) .*/\1 \2/' |
		awk '{ pages[$2] += $1 } END { print pages["append"] + 0, pages["overwrite"] + 0, pages["none"] + 0 }'
}

# read_all FILE: through the page cache. More than that must not be dropped: the run table is as well, then.
read_all() {
	echo 1 >/proc/sys/vm/drop_caches
	cat "$1" >"$T_DIR/read"
}

new_ssd ssd0 capacity_mib=1024
new_target t0 "$DEV"
size=$(blockdev --getsz "$TARGET")
mkdir "$T_DIR/origin" "$T_DIR/copy"
at_end trace_off

# ---- a snapshot, which reads unchanged pages from where the origin has them
modprobe brd rd_nr=1 rd_size=65536
at_end rmmod brd
at_end drop_target origin
at_end drop_target copy
at_end drop_mount "$T_DIR/origin"
at_end drop_mount "$T_DIR/copy"
make_fs ext4 "$TARGET"
dmsetup create origin --table "0 $size snapshot-origin $TARGET"
mount /dev/mapper/origin "$T_DIR/origin"
put "$T_DIR/origin/file" 0 "$PAGES"
dmsetup suspend origin
dmsetup create copy --table "0 $size snapshot $TARGET /dev/ram0 N 8"
dmsetup resume origin
mount -o ro,noload /dev/mapper/copy "$T_DIR/copy"
learned=$(status_field t0 learned)
read_all "$T_DIR/copy/file"
check_that "a snapshot's file is read" "$(stat -c %s "$T_DIR/read")" -eq $((PAGES * 4096))
check_that "which tells where its file lies" "$(status_field t0 learned)" -gt "$learned"
learned=$(status_field t0 learned)
read_all "$T_DIR/copy/file"
check_that "once" "$(status_field t0 learned)" -eq "$learned"
umount "$T_DIR/copy"
check_that "behind it the origin's file is appended to" "$(put_traced "$T_DIR/origin/file" "$PAGES" 1)" == "1 0 0"
check_that "and overwritten" "$(put_traced "$T_DIR/origin/file" 0 "$PAGES")" == "0 $PAGES 0"
umount "$T_DIR/origin"
dmsetup remove --retry copy
dmsetup remove --retry origin

# ---- the same filesystem on a device that has another number
at_end drop_target moved
dmsetup create moved --table "0 $size linear $TARGET 0"
mount /dev/mapper/moved "$T_DIR/origin"
put "$T_DIR/origin/moved" 0 "$PAGES"
number=$(stat -c %d "$T_DIR/origin")
umount "$T_DIR/origin"
dmsetup remove --retry moved
at_end drop_target other
dmsetup create other --table "0 8 error"
dmsetup create moved --table "0 $size linear $TARGET 0"
mount /dev/mapper/moved "$T_DIR/origin"
check_that "a filesystem comes back on a device with another number" "$(stat -c %d "$T_DIR/origin")" -ne "$number"
read_all "$T_DIR/origin/moved"
check_that "a file of it that was read is appended to" \
	"$(put_traced "$T_DIR/origin/moved" "$PAGES" 1)" == "1 0 0"
check_that "and overwritten" "$(put_traced "$T_DIR/origin/moved" 0 "$PAGES")" == "0 $PAGES 0"
check_that "also when it has been before" "$(put_traced "$T_DIR/origin/moved" 0 "$PAGES")" == "0 $PAGES 0"
umount "$T_DIR/origin"
check "the filesystem is sound" check_fs ext4 "$TARGET"
dmsetup remove --retry moved

# ---- a reflink's copy
make_fs xfs "$TARGET"
mount "$TARGET" "$T_DIR/origin"
put "$T_DIR/origin/file" 0 "$PAGES"
cp --reflink=always "$T_DIR/origin/file" "$T_DIR/origin/copy"
read_all "$T_DIR/origin/copy"
check_that "a file whose copy was read is appended to" "$(put_traced "$T_DIR/origin/file" "$PAGES" 1)" == "1 0 0"
check_that "and so is the copy" "$(put_traced "$T_DIR/origin/copy" "$PAGES" 1)" == "1 0 0"
rm "$T_DIR/origin/copy"
read_all "$T_DIR/origin/file"
check_that "without the copy its pages are overwritten" "$(put_traced "$T_DIR/origin/file" 0 "$PAGES")" == "0 $PAGES 0"
umount "$T_DIR/origin"
