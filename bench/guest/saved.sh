# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034 # who sources this reads it
#
# A file in pieces on a drive that is saved, so that what is compared begins with the same drive: the
# same filesystem, the same places, the same dies. Expects lib.sh, and the tool dieaware beside it.

DIEAWARE=$BENCH_DIR/dieaware
STATE=/tmp/state
FILE=$MOUNT/file
FILE_SEED=1

# As its mkfs makes and mount mounts it; btrfs-single keeps one copy of its trees instead of two.
usual_filesystem() {
	local type=$1

	case $type in
	ext4) mkfs.ext4 -q -F -b 4096 "$DEVICE" ;;
	xfs) mkfs.xfs -q -f "$DEVICE" ;;
	btrfs) modprobe btrfs && mkfs.btrfs -q -f "$DEVICE" >/dev/null 2>&1 ;;
	btrfs-single) modprobe btrfs && mkfs.btrfs -q -f -m single "$DEVICE" >/dev/null 2>&1 ;;
	f2fs) mkfs.f2fs -q -f "$DEVICE" >/dev/null ;;
	*) die "There is no filesystem '$type' here." ;;
	esac || die "The $type filesystem could not be made."
	mount "$DEVICE" "$MOUNT" || die "The $type filesystem could not be mounted."
}

# make_in_pieces OPTION...: sets PIECES.
make_in_pieces() {
	in_pieces --file "$FILE" --other "$FILE.other" --seed $FILE_SEED "$@" >/tmp/made ||
		die "The file could not be made."
	sync
	PIECES=$(pieces_of)
}

pieces_of() {
	"$DIEAWARE" frag --json "$FILE" | jq '.[0].pieces'
}

# The drive goes off without what was made in it being lost.
save_drive() {
	rm -f "$STATE"
	nvmev-ssd save "$SSD_NAME" "$STATE" >/tmp/saved || die "The drive could not be saved."
}

power_off() {
	nvmev-ssd power-off "$SSD_NAME" || die "The drive did not go off."
}

# Sets SSD to the drive as it was saved.
load_drive() {
	nvmev-ssd load "$SSD_NAME" "$STATE" >/tmp/loaded || die "The drive could not be loaded."
	SSD=$(nvmev-ssd power-on "$SSD_NAME") || die "The drive did not come on."
	wait_for_block_device "$SSD"
}

# A value that the drive counts
drive_counter() {
	awk -v key="$1" '$1 == key { print $2 }' "$SSD_DEBUG/ftl"
}

# What waits in open units is programmed after this.
settle_drive() {
	sync
	sleep 4
}

# count_work COMMAND...: sets WORK to what the drive and the clock say of it, until everything that it
# wrote is on the drive; its output is in /tmp/said.
count_work() {
	local programmed written begin spent

	settle_drive
	programmed=$(drive_counter nand_pages_programmed) written=$(drive_counter host_pages_written)
	begin=$(date +%s%N)
	"$@" >/tmp/said 2>&1 || die "'$*' failed: $(tail -n 1 /tmp/said)"
	sync -f "$MOUNT"
	spent=$(($(date +%s%N) - begin))
	settle_drive
	WORK="programmed=$(($(drive_counter nand_pages_programmed) - programmed))"
	WORK+=" written=$(($(drive_counter host_pages_written) - written)) spent_ns=$spent"
}
