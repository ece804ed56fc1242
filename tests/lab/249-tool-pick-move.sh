#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dieaware pick migrate, on filesystems that write in place and on those that do not: what is read becomes
# as fast as in a file that was moved as a whole, for less than half of the writes; nothing else of the
# file moves, and it stays what it is, also when it is interrupted or killed. What is shared with a snapshot
# is moved only when that is asked for.
# kernels: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 90
# timeout: 900
# sentences: 104
. "$(dirname "$0")/rc"

KIB=6144
STRIDE=288

# in_pieces [PIECE-KIB OTHER-KIB]: a new file
in_pieces() {
	rm -f "$file" "$file.other"
	python3 "$LAB_DIR/stride.py" fragment "$file" $KIB "${1:-4}" "${2:-4}"
}

# time_of FILE STEP-KIB: microseconds, the second time
time_of() {
	python3 "$LAB_DIR/stride.py" read "$1" "$2" >/dev/null
	python3 "$LAB_DIR/stride.py" read "$1" "$2"
}

# written COMMAND...: sets WRITTEN to the KiB that came to the SSD
written() {
	local before

	sync
	before=$(ssd_stat ssd0 host_pages_written)
	check "$*" "$@"
	sync
	WRITTEN=$((($(ssd_stat ssd0 host_pages_written) - before) * 4))
}

analyze() {
	dieaware pick analyze --out "$T_DIR/hot" --path "$mnt" "$@"
}

# places FILE FIRST-KIB KIB: where a part of a file lies
places() {
	dieaware runs extents --json "$1" | python3 -c '
import json, sys
first, count = (int(word) // 4 for word in sys.argv[1:])
print([page - run["file_page"] + run["device_page"] for run in json.load(sys.stdin)[0]["runs"]
       for page in range(run["file_page"], run["file_page"] + run["pages"]) if first <= page < first + count])' "$2" "$3"
}

# pays_off FS PERCENT [PIECE-KIB OTHER-KIB]: the paper's synthetic file, read in strides, takes so much
# of the time of before.
pays_off() {
	local fs=$1 percent=$2 sum slow fast whole by_pick cold
	shift 2

	in_pieces "$@"
	sum=$(sha256sum <"$file") slow=$(time_of "$file" $STRIDE)
	check "$fs: reads are watched" analyze -- python3 "$LAB_DIR/stride.py" read "$file" $STRIDE
	# A page of each stride that nobody reads, in the part that is in pieces
	cold=$(places "$file" 256 32)
	exits 0 "0 KiB written" dieaware pick migrate --dry-run "$T_DIR/hot"
	written dieaware pick migrate "$T_DIR/hot"
	by_pick=$WRITTEN
	fast=$(time_of "$file" $STRIDE)
	check_that "$fs: the file is the same" "$(sha256sum <"$file")" == "$sum"
	check_that "$fs: what nobody reads lies where it lay" "$(places "$file" 256 32)" == "$cold"
	exits 0 "0 KiB written" dieaware pick migrate "$T_DIR/hot"

	# The same file, moved as a whole
	in_pieces "$@"
	written dieaware defrag --threshold 0 --method move "$file"
	whole=$(time_of "$file" $STRIDE)
	note "$fs $*: $slow us before, $fast us after $by_pick KiB were written, $whole us after $WRITTEN KiB"
	check_that "$fs: reads take $percent % of the time at most" $((fast * 100)) -le $((slow * percent))
	check_that "$fs: ... and come near a file that was moved as a whole" $((fast * 100)) -le $((whole * 108))
	check_that "$fs: less than half of it is written" $((by_pick * 2)) -lt "$WRITTEN"
}

# new_pieces: a new file in pieces, of which all is wanted
new_pieces() {
	in_pieces
	rm "$file.other"
	analyze --bypass --read-ahead 64K >"$T_DIR/said"
	sha256sum <"$file"
}

# survives FS: interrupted and killed, the file is the same
survives() {
	local fs=$1 ended="" after status sum

	sum=$(new_pieces)
	for after in 0.01 0.03 0.06 0.1 0.2; do
		status=0
		timeout --preserve-status -s INT $after dieaware pick migrate "$T_DIR/hot" >/dev/null 2>&1 || status=$?
		ended+=" $status"
	done
	check_that "$fs: Ctrl-C ends it with 130" "$ended" =~ 130
	check_that "$fs: interrupted, it is the same" "$(sha256sum <"$file")" == "$sum"
	sum=$(new_pieces)
	for after in 0.05 0.1 0.15; do
		timeout -s KILL $after dieaware pick migrate "$T_DIR/hot" >/dev/null 2>&1 || true
	done
	echo 3 >/proc/sys/vm/drop_caches
	check_that "$fs: killed, it is the same" "$(sha256sum <"$file")" == "$sum"
}

mnt=$T_DIR/mnt
file=$mnt/file
new_ssd ssd0 capacity_mib=512 time_scale=4
for fs in ext4 f2fs xfs btrfs; do
	make_fs $fs "$DEV"
	new_mount "$DEV" "$mnt"
	pays_off $fs 95
	survives $fs
	umount "$mnt"
	check "$fs: fsck finds nothing" check_fs $fs "$DEV"
done

# btrfs: overwriting in place (chattr +C) does not keep a file from being moved.
mount "$DEV" "$mnt"
rm "$file"
touch "$file"
chattr +C "$file"
python3 "$LAB_DIR/stride.py" fragment "$file" 1024 4 4
check "all of a file is wanted" analyze --bypass --read-ahead 64K
exits 0 move dieaware pick migrate "$T_DIR/hot"
exits 0 "0 KiB written" dieaware pick migrate "$T_DIR/hot"

# A snapshot keeps what it has. Its file is in pieces in the part that is shared only.
rm -f "$file"* "$mnt/"*.other
python3 "$LAB_DIR/stride.py" fragment "$file" 1024 4 4
rm "$file.other"
sum=$(sha256sum <"$file")
btrfs -q subvolume snapshot -r "$mnt" "$mnt/snapshot"
old=$(places "$mnt/snapshot/file" 0 1024)
check "the first stride is wanted" analyze -- dd if="$file" of=/dev/null bs=128k count=1 iflag=direct status=none
exits 3 "--unshare of defrag or pick migrate allows that" dieaware pick migrate "$T_DIR/hot"
check_that "nothing was moved" "$(places "$file" 0 1024)" == "$old"
exits 0 move dieaware pick migrate --unshare "$T_DIR/hot"
check_that "the file was moved" "$(places "$file" 0 128)" != "$(places "$mnt/snapshot/file" 0 128)"
check_that "the rest of it is still shared" "$(places "$file" 128 896)" == "$(places "$mnt/snapshot/file" 128 896)"
check_that "the snapshot was not" "$(places "$mnt/snapshot/file" 0 1024)" == "$old"
check_that "both are the same" "$(sha256sum <"$file") $(sha256sum <"$mnt/snapshot/file")" == "$sum $sum"
exits 0 "0 KiB written" dieaware pick migrate "$T_DIR/hot"
umount "$mnt"
check "btrfs: fsck finds nothing" check_fs btrfs "$DEV"

# most_on_a_die: pages of the file on the die that has most of them
most_on_a_die() {
	dieaware frag --json "$file" | python3 -c '
import json, sys
print(max(json.load(sys.stdin)[0]["physical"]["die_pages"]))'
}

# In one piece, but on one die: the SSD spreads it.
make_fs ext4 "$DEV"
mount "$DEV" "$mnt"
dd if=/dev/urandom of="$file" bs=1M count=2 oflag=direct status=none
for ((unit = 0; unit < 64; unit++)); do
	dd if=/dev/urandom of="$file" bs=32k count=1 seek=$unit oflag=direct conv=notrunc status=none
	dd if=/dev/urandom of="$file.other" bs=224k count=1 seek=$unit oflag=direct conv=notrunc status=none
done
sum=$(sha256sum <"$file")
check "a part of it is wanted" analyze -- dd if="$file" of=/dev/null bs=512k count=1 skip=1 iflag=direct status=none
exits 0 "ssd            1/1  0.875" dieaware pick migrate --dry-run "$T_DIR/hot"
most=$(most_on_a_die)
exits 0 "0 KiB written" dieaware pick migrate "$T_DIR/hot"
exits 0 "left           0/1" dieaware pick migrate "$T_DIR/hot"
check_that "what lies beside stays where it is" "$(most_on_a_die)" -ge $((most - 128))
check_that "the file is the same" "$(sha256sum <"$file")" == "$sum"

# What cannot be used
dieaware pick migrate --json "$T_DIR/hot" | check "there is JSON" python3 -m json.tool
cp "$file" "$mnt/new" && mv "$mnt/new" "$file"
exits 3 "another file now" dieaware pick migrate "$T_DIR/hot"
rm "$file"
exits 3 "No such file" dieaware pick migrate "$T_DIR/hot"
echo '{"kind": "dieaware-pick", "version": 9}' >"$T_DIR/new"
exits 3 "it has version 9" dieaware pick migrate "$T_DIR/new"
exits 3 "it is no analysis" dieaware pick migrate "$LAB_DIR/rc"
exits 3 "No such file" dieaware pick migrate /none
exits 2 "invalid value" dieaware pick migrate --method magic "$T_DIR/hot"
umount "$mnt"
