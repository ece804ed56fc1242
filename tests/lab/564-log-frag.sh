#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dieaware sees through log mode: frag gives the figures that follow from the log's map and the SSD's
# own table, before and after cleaning, with holes, and from above a linear target; defrag and pick
# watch have the SSD spread what lies badly; probe finds the stripe in what lies in a row.
# kernels: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 35
# timeout: 900
# sentences: 24
. "$(dirname "$0")/rc"

# figure FILE KEY: from frag's JSON
figure() {
	dieaware frag --json "$1" | jq -r ".[0].physical.$2 | if type == \"array\" then \"[\" + join(\", \") + \"]\" else . end"
}

# by_hand FILE: pages on each die, by what the log has on its device and by the SSD's table; the target
# goes and comes back
by_hand() {
	python3 "$LAB_DIR/log-dies.py" pages "$1" >"$T_DIR/pages"
	umount "$mnt"
	dmsetup remove --retry t0
	dieaware dump --part map "${DEV}p1" >"$T_DIR/map"
	python3 "$LAB_DIR/log-dies.py" dies "$T_DIR/pages" "$T_DIR/map" /sys/kernel/debug/nvmev/ssd0 256
	dmsetup create t0 --table "$LINE"
	mount "$TARGET" "$mnt"
}

# agrees SENTENCE: what frag says of the file and what follows by hand
agrees() {
	local said

	# What is in the SSD's write buffer is on no die yet.
	sync
	sleep 1
	said=$(figure "$file" die_pages)
	check_that "$1" "$said" == "$(by_hand "$file")"
}

is_spread() {
	(($(figure "$1" dof_permille) <= 130))
}

new_ssd ssd0 capacity_mib=512 time_scale=16
printf 'label: gpt\nstart=2048\n' | sfdisk -q "$DEV"
poll 20 test -b "${DEV}p1" || partx -a "$DEV"
OPTIONS="hints=off idle_ms=0 in_place=100" new_log_target t0 "${DEV}p1" --segment 8M

# probe
exits 2 "no more than 0 KiB of the range in a row" dieaware probe --size 8M "$TARGET"
dmsetup message t0 0 hints auto
exits 0 "stripe           256 KiB" dieaware probe --write --size 24M "$TARGET"
check "... and the unit" grep -q "^unit  *32 KiB" "$T_DIR/said"
dieaware probe --size 24M --json "$TARGET" >"$T_DIR/json"
bytes=$(jq .bytes "$T_DIR/json")
check_that "what it measures is no more than a segment" $((bytes >= 4 << 20 && bytes < 8 << 20)) -eq 1
dmsetup message t0 0 hints off

# frag: pieces of 32 KiB, each followed by the rest of a stripe of another file
dd if=/dev/urandom of="$T_DIR/data" bs=1M count=4 status=none
make_fs ext4 "$TARGET"
mnt=$T_DIR/mnt
new_mount "$TARGET" "$mnt"
file=$mnt/file
write_fragmented "$file"
check_that "a file that was written in turns lies badly" "$(figure "$file" dof_permille)" -ge 500
agrees "its dies are those of the log's map and the SSD's table"
check_that "all pages are known" "$(figure "$file" nr_pages)" -eq 512
fio --name=over --filename="$file" --rw=randwrite --bs=4k --size=2m --io_size=1m --direct=1 --ioengine=libaio \
	--iodepth=8 --overwrite=1 >/dev/null
agrees "overwritten, they are so again"
before=$(figure "$file" die_pages)
dmsetup message t0 0 clean
check_that "cleaning moves pages" "$(status_field t0 moved_pages)" -gt 0
agrees "cleaned, they are so again"
check_that "which is elsewhere" "$(figure "$file" die_pages)" != "$before"

# A hole of the file, and one of the log where the file has blocks
fallocate --punch-hole --offset 65536 --length 65536 "$file"
lpn=$(dieaware runs extents --json "$file" | python3 -c '
import json, sys
print(json.load(sys.stdin)[0]["runs"][0]["device_page"])')
blkdiscard -f -o $((lpn * 4096)) -l 32768 "$TARGET"
check_that "pages that neither has do not count" "$(figure "$file" nr_pages)" -eq $((512 - 16 - 8))
agrees "... nor by hand"

# From above
said=$(figure "$file" die_pages)
umount "$mnt"
at_end drop_target t1
dmsetup create t1 --table "0 $(blockdev --getsz "$TARGET") linear $TARGET 0"
mount /dev/mapper/t1 "$mnt"
check_that "from above a linear target it is the same" "$(figure "$file" die_pages)" == "$said"
umount "$mnt"
dmsetup remove --retry t1
mount "$TARGET" "$mnt"

# defrag and pick watch
write_fragmented "$mnt/slow"
write_fragmented "$mnt/hot"
sum=$(sums "$mnt")
check_that "files lie badly" $(($(figure "$mnt/slow" dof_permille) >= 500 && $(figure "$mnt/hot" dof_permille) >= 500)) -eq 1
exits 0 "ssd" dieaware defrag --method ssd "$mnt/slow"
check "the SSD has spread it" is_spread "$mnt/slow"
(while :; do cat "$mnt/hot" >/dev/null; sleep 0.1; done) &
reader=$!
at_end kill $reader
dieaware pick watch --every 2 "$mnt" >"$T_DIR/said" 2>&1 &
watcher=$!
at_end kill $watcher
check "what is read much is spread" poll 60 is_spread "$mnt/hot"
kill -TERM $watcher
check "the watcher ends" wait $watcher
kill $reader
check_that "all files are the same" "$(sums "$mnt")" == "$sum"
poll 20 umount "$mnt"
dmsetup remove --retry t0
check "dieaware check finds nothing" dieaware check "${DEV}p1"
