#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Usage: guest-files.sh FS OPERATIONS SEED SAMPLES
#
# Work on files of a filesystem on a device in log mode, with all that reaches the disk
# logged; then so many power failures where something becomes durable or is promised. After
# each the device has to be sound, to start and to mount, all that was promised of files has
# to be there, and the filesystem has to be sound. BASE, LOG and TRACE go to /out if not.

# shellcheck source=tests/crash/rc
. "${BASH_SOURCE[0]%/*}/rc"

export FS=$1 FILES_TRACE=/tmp/trace
OPERATIONS=$2 SEED=$3 SAMPLES=$4
OPTIONS=(--durable --seed "$SEED")
[[ ${TARGET:-log} == log ]] || OPTIONS+=(--raw)
# f2fs writes the node of a file before its data is durable. If the one is there after a power failure
# and the other is not, promised data is lost, on a plain disk as well: so all that was not flushed goes.
[[ $FS != f2fs ]] || OPTIONS+=(--losses 1)

make_fs() {
	case $FS in
	ext4) mkfs.ext4 -q -F -b 4096 -J size=4 "$1" ;;
	xfs) mkfs.xfs -q -f --unsupported -d agcount=2 -l size=6m "$1" ;;
	btrfs) mkfs.btrfs -q -f "$1" ;;
	f2fs) mkfs.f2fs -q -f "$1" ;;
	esac
}

# The disk holds an empty filesystem on the target, and so does /tmp/base.
make_base() {
	if [[ ${TARGET:-log} == log ]]; then
		modprobe dm-dieaware
		format_disk /tmp/base --stripe 32K --segment 512K --journal 1M --reserve 30
		dd if=/tmp/base of="$DISK" bs=64K conv=sparse oflag=direct status=none
	fi
	dmsetup create t --table "$(table_of "$DISK")"
	quietly make_fs /dev/mapper/t
	dmsetup remove t
	dd if="$DISK" of=/tmp/base bs=64K conv=sparse iflag=direct status=none
}

# Cleaning and checkpoints run all the time, where they can.
messages() {
	if [[ ${TARGET:-log} == log ]]; then
		echo dmsetup message t 0
	else
		echo true
	fi
}

work() {
	local words

	read -ra words <<<"$(messages)"
	logging_begin 0
	dmsetup create t --table "$(table_of /dev/mapper/log)"
	mount "/dev/mapper/t" /mnt
	files.py work /mnt "$MARKS" "$SEED" 3 "$OPERATIONS" "${words[@]}"
	umount /mnt
	dmsetup remove t
	logging_end /tmp/log "$FILES_TRACE"
}

# survives OPTION...
survives() {
	quietly blkdiscard -f "$IMAGE"
	crash-replay "${OPTIONS[@]}" "$@" --write "$IMAGE" \
		--up "guest-target up && guest-fs" --down "guest-target down" /tmp/base /tmp/log "$FILES_TRACE"
}

# Else the test does not test.
catches_a_liar() {
	local status=0

	survives --ignore flush --losses 1 --every 200 >/tmp/played || status=$?
	((status == 1))
}

make_base
work
check "$FS: what was promised of files survives power failures" survives --sample "$SAMPLES"
check "$FS: a target that does not flush its data would be noticed" catches_a_liar
if ((FAILED)); then
	mv /tmp/base /tmp/log "$FILES_TRACE" /out/
fi
conclude
