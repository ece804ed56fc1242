#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# All files of a folder are moved but for those that must not be: a program that runs, where the
# filesystem cannot move it, a file that must not be changed, what is mounted below and cannot be looked at.
# Nor below a snapshot of LVM's, or on it, in which it would take up room. None of these is a failure, and a program that was moved while it runs is what it was.
# kernels: uml
# smp: 1
# mem: 2G
# seconds: 20
# timeout: 240
# sentences: 58
# shellcheck disable=SC2154
. "$(dirname "$0")/rc"

modprobe brd rd_nr=2 rd_size=$((320 * 1024))
at_end rmmod brd
mnt=$T_DIR/mnt

cp "$(command -v sleep)" "$T_DIR/source"
truncate -s 1M "$T_DIR/source"

# in_pieces FILE: a program of 1 MiB, in pieces of 32 KiB
in_pieces() {
	python3 "$LAB_DIR/turns.py" 32 "$1" 32 0 "$T_DIR/source" "$1.other" 224 0 /dev/zero
	rm "$1.other"
	# btrfs has laid it in a row; what is written again goes elsewhere.
	[[ $fs == btrfs ]] || return 0
	for ((piece = 0; piece < 32; piece += 2)); do
		dd if="$T_DIR/source" of="$1" bs=32k count=1 skip=$piece seek=$piece oflag=direct conv=notrunc,fsync status=none
	done
}

pieces_of() {
	frag_value "$1" pieces
}

# fewer FILE PIECES
fewer() {
	(($(pieces_of "$1") < $2))
}

for fs in ext4 xfs btrfs f2fs; do
	make_fs $fs /dev/ram0
	new_mount /dev/ram0 "$mnt"
	mkdir "$mnt/d"
	for name in plain still program; do
		in_pieces "$mnt/d/$name"
	done
	chmod +x "$mnt/d/program"
	chattr +i "$mnt/d/still"
	at_end chattr -i "$mnt/d/still"
	"$mnt/d/program" 1000 &
	runs=$!
	at_end kill $runs
	before=$(sums "$mnt/d")
	pieces=$(pieces_of "$mnt/d/plain")
	exits 0 "$mnt/d/still was left alone: it must not be changed (chattr +i, +a)" \
		dieaware defrag --method move --threshold 0 "$mnt/d"
	check "$fs: the file that may be moved is in fewer pieces" fewer "$mnt/d/plain" "$pieces"
	if [[ $fs == ext4 ]]; then
		check "$fs: a program is left alone" grep "program was left alone: it may be a program" "$T_DIR/said"
		exits 3 "it is a program that runs" dieaware defrag --method move --threshold 0 "$mnt/d/program"
	else
		check "$fs: so is a program that runs" fewer "$mnt/d/program" "$pieces"
	fi
	exits 3 "it is a program that runs" dieaware defrag --method rewrite --threshold 0 "$mnt/d/program"
	sync
	echo 3 >/proc/sys/vm/drop_caches
	check_that "$fs: every file is what it was" "$(sums "$mnt/d")" == "$before"
	kill $runs
	wait $runs 2>/dev/null || true
	check "$fs: and the program can be started" "$mnt/d/program" 0
	chattr -i "$mnt/d/still"
	drop_mount "$mnt"
done

make_fs ext4 /dev/ram0
make_fs xfs /dev/ram1
new_mount /dev/ram0 "$mnt"
write_mib "$mnt/file" 1 conv=fsync
mkdir "$mnt/below"
mount /dev/ram1 "$mnt/below"
# Whether it is a mount point cannot be asked any more.
at_end umount "$mnt/below"
xfs_io -x -c shutdown "$mnt/below"
check_fails "what is mounted below cannot be looked at" stat "$mnt/below"
exits 0 " $mnt/file" dieaware frag "$mnt"
check_fails "and nobody is told of another filesystem" grep below "$T_DIR/said"
umount "$mnt/below"
umount "$mnt"

# ---- layers that LVM has below a filesystem
all="0 $(blockdev --getsz /dev/ram0)"
dmsetup create volume --table "$all linear /dev/ram0 0"
at_end drop_target volume
make_fs ext4 /dev/mapper/volume
fs=ext4
new_mount /dev/mapper/volume "$mnt"
mkdir "$mnt/d"
in_pieces "$mnt/d/plain"
pieces=$(pieces_of "$mnt/d/plain")
becomes volume "$all snapshot-origin /dev/ram0"
left_alone="$mnt/d/plain was left alone: a snapshot of LVM's would take up"
exits 0 "$left_alone" dieaware defrag --dry-run --threshold 0 "$mnt/d"
exits 0 move dieaware defrag --dry-run --unshare --threshold 0 "$mnt/d"
exits 0 "$left_alone" dieaware defrag --threshold 0 "$mnt/d"
check_that "what is below a snapshot stays in its pieces" "$(pieces_of "$mnt/d/plain")" -eq "$pieces"
sync
becomes volume "$all snapshot /dev/ram0 /dev/ram1 N 8"
exits 0 "$left_alone" dieaware defrag --threshold 0 "$mnt/d"
check_that "so does what is on one" "$(pieces_of "$mnt/d/plain")" -eq "$pieces"
# Any target that does not tell where it has things does for dm-crypt, such as one that is striped once.
dmsetup create origin --table "$all snapshot-origin /dev/ram0"
at_end drop_target origin
becomes volume "$all striped 1 8 /dev/mapper/origin 0"
exits 0 "$left_alone" dieaware defrag --threshold 0 "$mnt/d"
check_that "or below one, with another target between" "$(pieces_of "$mnt/d/plain")" -eq "$pieces"
becomes volume "$all snapshot-origin /dev/ram0"
drop_target origin
exits 3 "--unshare of defrag or pick migrate allows that" dieaware defrag --method rewrite --threshold 0 "$mnt/d/plain"
exits 0 move dieaware defrag --unshare --threshold 0 "$mnt/d"
check "unless that is wished for" fewer "$mnt/d/plain" "$pieces"
becomes volume "$all mirror core 1 1024 2 /dev/ram0 0 /dev/ram1 0"
why() {
	dieaware frag --json "$1" | jq -r '.[0].unknown'
}
check_that "a mirror is there for now, as while LVM moves a volume" "$(why "$mnt/d/plain")" =~ "type mirror, .*, for now\$"
for i in 0 1; do
	dmsetup create "vg-lv_mimage_$i" --table "$all linear /dev/ram$i 0"
	at_end drop_target "vg-lv_mimage_$i"
done
becomes volume "$all mirror core 1 1024 2 /dev/mapper/vg-lv_mimage_0 0 /dev/mapper/vg-lv_mimage_1 0"
check_that "but one of LVM's own is not" "$(why "$mnt/d/plain")" == "it lies on a mirror of LVM's, which keeps where things are to itself"
umount "$mnt"
drop_target volume
