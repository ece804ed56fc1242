#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A target in log mode grows with the device below: mounted, under load, twice.
# kernels: uml
# long: 6.12
# smp: 2
# smp on uml: 1
# mem: 2G
# seconds: 30
# timeout: 240
# sentences: 20
. "$(dirname "$0")/rc"

# low_is SECTORS: the device below is so large
low_is() {
	becomes low "0 $1 linear $DEV 0"
}

# line_of LPNS: the table line for a target that shows so many pages
line_of() {
	echo "0 $(($1 * 8)) ${LINE#0 * }"
}

# grow LPNS
grow() {
	dmsetup load t0 --table "$(line_of "$1")" && dmsetup suspend t0 && dmsetup resume t0
}

new_ssd ssd0 capacity_mib=384
sectors=$(blockdev --getsz "$DEV")
at_end drop_target low
dmsetup create low --table "0 $((sectors / 4)) linear $DEV 0"
new_log_target t0 /dev/mapper/low --segment 1M
before=$(status_field t0 lpns)
check_that "a device that has not grown has no more to offer" "$(status_field t0 grown_lpns)" -eq "$before"
make_fs ext4 "$TARGET"
new_mount "$TARGET" "$T_DIR/mnt"
new_load "$T_DIR/mnt/load" --allow_file_create=1 --size=16m --rw=randrw --verify=crc32c --verify_backlog=64 --verify_fatal=1
write_mib "$T_DIR/mnt/data" 16
sum=$(sha256sum <"$T_DIR/mnt/data")

check_fails "a table for more than there is is refused" dmsetup load t0 --table "$(line_of $((before + 1)))"
for quarters in 2 4; do
	low_is $((sectors * quarters / 4))
	after=$(status_field t0 grown_lpns)
	check_that "a larger device has more to offer" "$after" -gt $((before * 3 / 2))
	check_fails "but not more than that" dmsetup load t0 --table "$(line_of $((after + 1)))"
	check "it grows, mounted and under load" grow "$after"
	check_that "and shows that" "$(status_field t0 lpns) $(blockdev --getsz "$TARGET")" == "$after $((after * 8))"
	check "resize2fs" resize2fs "$TARGET"
	before=$after
done
LINE=$(line_of "$after")
check_that "the file is the same" "$(sha256sum <"$T_DIR/mnt/data")" == "$sum"
check "the load has seen no wrong data" load_ends_well
rm "$T_DIR/mnt/load"
check "what is new takes data" write_mib "$T_DIR/mnt/more" 150 conv=fsync
more=$(sha256sum <"$T_DIR/mnt/more")
umount "$T_DIR/mnt"
check "fsck finds nothing" check_fs ext4 "$TARGET"
again t0
check "fsck finds nothing after a restart" check_fs ext4 "$TARGET"
mount "$TARGET" "$T_DIR/mnt"
check_that "all files are the same" "$(sha256sum <"$T_DIR/mnt/data") $(sha256sum <"$T_DIR/mnt/more")" == "$sum $more"
umount "$T_DIR/mnt"
dmsetup remove t0
check "dieaware check finds nothing" dieaware check /dev/mapper/low
check_fails "a smaller device is refused" sh -c "dmsetup load low --table '0 $((sectors / 2)) linear $DEV 0' && dmsetup suspend low && dmsetup resume low && dmsetup create t0 --table '$LINE'"
