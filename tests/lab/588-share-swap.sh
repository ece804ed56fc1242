#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The memory that is lent for Share is swapped out to a device above the same target, if it can be; then the
# target is suspended while a write is held. A suspension waits for that, and swap for its end.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 5
# timeout: 120
# sentences: 8
. "$(dirname "$0")/rc"

mnt=$T_DIR/mnt
mkdir "$mnt"
at_end drop_mount "$mnt"

# identity FILE: what a message names it by
identity() {
	dieaware runs extents --json "$1" | jq -r '.[0] | "\(.device) \(.inode) \(.generation)"'
}

new_ssd ssd0 capacity_mib=256 share_pages=16384
new_target t0 "$DEV"
sectors=$(blockdev --getsz "$TARGET")
half=$((sectors / 2))
for name in files swap; do
	at_end drop_target $name
done
dmsetup create files --table "0 $half linear $TARGET 0"
dmsetup create swap --table "0 $half linear $TARGET $half"
make_fs ext4 /dev/mapper/files
mount /dev/mapper/files "$mnt"
mkswap -q /dev/mapper/swap
at_end swapoff /dev/mapper/swap
swapon /dev/mapper/swap
write_mib "$mnt/a" 1
touch "$mnt/b" "$mnt/c"
sync

# announcement FILE PAGES: what a message says of it
announcement() {
	echo "share add $(identity "$1") 0 $page $2"
}

page=$(dieaware runs extents --json "$mnt/a" | jq '.[0].runs[0].device_page')
mkfifo "$T_DIR/line"
# shellcheck disable=SC2046
python3 "$LAB_DIR/lend.py" t0 $(announcement "$mnt/b" 256) <"$T_DIR/line" >"$T_DIR/said" &
exec 9>"$T_DIR/line"
poll 20 grep -q sent "$T_DIR/said"
# shellcheck disable=SC2046
dmsetup message t0 0 $(announcement "$mnt/c" 16)
head -c 65536 "$mnt/a" >"$mnt/c"
sync
check_that "a write is shared by way of memory that was lent" "$(status_field t0 shared_pages)" -eq 16
echo >&9
check "which can be found" poll 20 grep -q "^1 " "$T_DIR/said"
check_that "and stays where it is" "$(tail -n 1 "$T_DIR/said")" == "1 0"

# What has to come back from swap comes when the target is suspended.
dmsetup suspend swap
(cat "$mnt/a" >"$mnt/b" && sync "$mnt/b") &
writer=$!
at_end dmsetup resume t0
at_end dmsetup resume swap
sleep 1
dmsetup suspend --nolockfs t0 &
suspender=$!
sleep 1
dmsetup resume swap
check "the target can be suspended" poll 20 has_ended $suspender
kill $suspender 2>/dev/null || true
dmsetup resume t0
check "and the write ends" poll 20 has_ended $writer
check_that "which was shared" "$(status_field t0 shared_pages)" -eq $((16 + 256))
echo 3 >/proc/sys/vm/drop_caches
check "it has its bytes" cmp "$mnt/a" "$mnt/b"
exec 9>&-
wait
umount "$mnt"
check "fsck finds nothing" check_fs ext4 /dev/mapper/files
