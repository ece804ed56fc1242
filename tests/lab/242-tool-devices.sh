#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Filesystems that have data on several devices: dieaware takes no address on one of them for one on another. A file on
# the realtime device of xfs, on f2fs with two devices, or on the other device of a btrfs, is refused by a sentence that
# says so, and left out of lists; files on the device itself are found as ever.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 20
# timeout: 120
# sentences: 38
. "$(dirname "$0")/rc"

mnt=$T_DIR/mnt

# write_file NAME: 64 pages
write_file() {
	dd if=/dev/urandom of="$mnt/$1" bs=64k count=4 conv=notrunc status=none
	sync
}

# refused FILE SENTENCE: by whoever works with places of files; who looks at all of them goes on without it.
refused() {
	exits 3 "$2" dieaware runs load t0 "$1"
	exits 3 "$2" dieaware runs extents "$1"
	exits 3 "$2" dieaware frag "$1"
	exits 3 "$2" dieaware defrag --threshold 0 "$1"
	exits 0 "$2" dieaware doctor --time 1 "$mnt"
}

new_ssd ssd0 capacity_mib=1024
printf 'label: gpt\nstart=2048, size=1048576\nsize=524288\nsize=4096\n' | sfdisk -q "$DEV"
poll 20 test -b "${DEV}p3" || partx -a "$DEV"
new_target t0 "${DEV}p1"
at_end drop_mount "$mnt"
mkdir -p "$mnt"

make_fs xfs "$TARGET" -m rmapbt=0,reflink=0 -d rtinherit=1 -r "rtdev=${DEV}p2"
mount -o "rtdev=${DEV}p2" "$TARGET" "$mnt"
write_file there
refused "$mnt/there" "realtime device of its xfs"
exits 3 "realtime device of its xfs" dieaware doctor --time 5 --write 8 "$mnt"
exits 0 "1 files" dieaware runs save --list "$T_DIR/list" "$mnt"
exits 0 "0 of 1 files, 0 runs" dieaware runs load --list "$T_DIR/list" --saved "$mnt"
xfs_io -f -c "chattr -r" "$mnt/here"
write_file here
exits 0 "64 pages" dieaware runs load t0 "$mnt/here"
exits 0 "2 files" dieaware runs save --list "$T_DIR/list" "$mnt"
exits 0 "1 of 2 files, 1 runs" dieaware runs load --list "$T_DIR/list" --saved "$mnt"
umount "$mnt"

# The least that another device can be
for part in 2 3; do
	mkfs.f2fs -f -c "${DEV}p$part" "$TARGET"
	mount "$TARGET" "$mnt"
	write_file there
	if ((part == 2)); then
		refused "$mnt/there" "its f2fs lies on several devices"
	else
		exits 3 "its f2fs lies on several devices" dieaware runs load t0 "$mnt/there"
	fi
	umount "$mnt"
done
make_fs f2fs "$TARGET"
mount "$TARGET" "$mnt"
write_file here
exits 0 "64 pages" dieaware runs load t0 "$mnt/here"
umount "$mnt"

make_fs btrfs "$TARGET" -d single -m single "${DEV}p2"
btrfs -q device scan "$TARGET" "${DEV}p2" 2>/dev/null || true
mount "$TARGET" "$mnt"
for name in a b c d; do
	dd if=/dev/urandom of="$mnt/$name" bs=1M count=100 status=none
done
sync
here=0 there=0
for name in a b c d; do
	if dieaware runs load t0 "$mnt/$name" >"$T_DIR/said" 2>&1; then
		here=$((here + 1))
	else
		grep -qE "several devices|lies on the device" "$T_DIR/said"
		there=$((there + 1))
	fi
done
check_that "btrfs: each of 4 files is found, or refused" "$((here + there))" -eq 4
check_that "btrfs: the second device has some of them" "$there" -gt 0
umount "$mnt"
drop_target t0
