#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Where free space is in small pieces, nothing is moved twice: dieaware defrag --method move of a file, and dieaware pick
# migrate of all that is hot in it, on ext4, xfs, f2fs and btrfs, whether the dies are known or not. The second run writes
# nothing, by what it says and by what comes to the device; what has become worse since is moved again.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 3G
# seconds: 70
# timeout: 600
# sentences: 70
. "$(dirname "$0")/rc"
. "$LAB_DIR/holes"

FS_KIB=$((320 * 1024))
HOLE_KIB=64
mnt=$T_DIR/mnt file=$T_DIR/mnt/file
dd if=/dev/urandom of="$T_DIR/data" bs=1M count=4 status=none

# kib_written: that came to the device so far
kib_written() {
	if [[ $dies == known ]]; then
		echo $(($(ssd_stat ssd0 host_pages_written) * 4))
	else
		awk '{ print int($7 / 2) }' "/sys/dev/block/$(dmsetup info -c --noheadings -o major,minor --separator : low)/stat"
	fi
}

# moved: bytes, by what was said
moved() {
	jq '[.[] | .parts[]?, select(.parts == null) | select(.after != null and .method != null)
		| .moved_bytes // .bytes] | add // 0' "$T_DIR/rows"
}

# runs COMMAND...: sets MOVED, and WRITTEN to KiB
runs() {
	local before

	sync
	before=$(kib_written)
	"$@" >"$T_DIR/rows"
	sync -f "$mnt"
	WRITTEN=$(($(kib_written) - before))
	MOVED=$(moved)
}

# pieces: of the file
pieces() {
	frag_value "$file" pieces
}

# twice SENTENCE COMMAND...
twice() {
	local before
	before=$(pieces)
	runs "${@:2}"
	note "$1: $before pieces before, $(pieces) after, $((MOVED >> 10)) KiB moved, $WRITTEN KiB written"
	# Of btrfs nobody knows before where it writes.
	[[ $fs == btrfs ]] || check_that "$1: no piece more than before" "$(pieces)" -le "$before"
	runs "${@:2}"
	note "$1, second run: $(pieces) pieces, $((MOVED >> 10)) KiB moved, $WRITTEN KiB written"
	check_that "$1: the second run moves nothing" "$MOVED" -eq 0
	check_that "$1: and writes no data" "$WRITTEN" -lt $((FILE_KIB / 4))
	check_that "$1: the file is the same" "$(sha256sum <"$file")" == "$SUM"
}

# worse_again: pages of the file that are overwritten lie elsewhere on btrfs.
worse_again() {
	python3 "$LAB_DIR/steps.py" write "$file" 0 8 4 1 $((FILE_KIB / 8)) "$T_DIR/data"
	sync
	runs dieaware pick migrate --json --method move "$T_DIR/hot"
	check_that "$fs, dies $dies: what has come to be in more pieces since is moved again" "$MOVED" -gt 0
}

# device KNOWN-OR-NOT: sets BELOW
device() {
	if [[ $1 == known ]]; then
		new_ssd ssd0 capacity_mib=$((FS_KIB / 1024))
		BELOW=$DEV
	else
		low_disk $FS_KIB
		BELOW=/dev/mapper/low
	fi
}

# make FS: ext4 with all its tables, which it would write in the background otherwise
make() {
	local options=()
	[[ $1 != ext4 ]] || options=(-E "lazy_itable_init=0,lazy_journal_init=0")
	make_fs "$1" "$BELOW" "${options[@]}"
}

end_device() {
	if [[ $1 == known ]]; then
		drop_ssd ssd0
	else
		drop_target low
		rmmod brd
	fi
}

FILE_KIB=4096
SUM=$(sha256sum <"$T_DIR/data")
for dies in unknown known; do
	device $dies
	for fs in ext4 xfs f2fs btrfs; do
		make $fs
		new_mount "$BELOW" "$mnt"
		in_small_pieces $fs "$mnt" $HOLE_KIB
		dd if="$T_DIR/data" of="$file" bs=1M conv=fsync status=none
		dieaware pick analyze --bypass --read-ahead 128K --path "$file" --out "$T_DIR/hot" >/dev/null
		twice "$fs, dies $dies, pick migrate" dieaware pick migrate --json --method move "$T_DIR/hot"
		[[ $fs != btrfs ]] || worse_again
		rm "$file"
		sync
		dd if="$T_DIR/data" of="$file" bs=1M conv=fsync status=none
		twice "$fs, dies $dies, defrag" dieaware defrag --json --method move "$file"
		umount "$mnt"
		check "$fs, dies $dies: fsck finds nothing" check_fs $fs "$BELOW"
	done
	end_device $dies
done
