#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A scheduler below, which sorts what comes together by sectors: the SSD gets what a write follows
# before the write all the same.
# kernels: uml
# long: 6.12 newest
# smp: 1
# mem: 2G
# seconds: 4
# timeout: 120
# sentences: 9
. "$(dirname "$0")/rc"

# A piece is a die unit.
PIECE_KIB=32 OTHER_KIB=256

# extents FILE: a line "FIRST_LBA LAST_LBA" of each
extents() {
	filefrag -v -b4096 "$1" | awk -F'[:. ]+' '/^ *[0-9]+:/ { print $5, $6 }'
}

# lies_on_both_sides: the first two pieces of FILE lie in front of OTHER, and the third behind it
lies_on_both_sides() {
	local last

	read -r _ last < <(extents "$FILE")
	[[ $(extents "$FILE" | wc -l) == 2 ]] && ((last < $(extents "$OTHER" | cut -d' ' -f1)))
}

# two_extents NAME: sets FILE and OTHER so that it does. ext4 may have begun another group of blocks meanwhile.
two_extents() {
	local try

	for try in {1..8}; do
		FILE=$T_DIR/mnt/$1.$try OTHER=$T_DIR/mnt/$1.$try.other
		fallocate -l $((2 * PIECE_KIB))k "$FILE"
		fallocate -l ${OTHER_KIB}k "$OTHER"
		fallocate -o $((2 * PIECE_KIB))k -l ${PIECE_KIB}k "$FILE"
		sync
		! lies_on_both_sides || break
	done
}

# The first piece, OTHER, behind which the scheduler then goes on, and what is on both sides of it
write_both_sides() {
	write_kib "$FILE" $PIECE_KIB 0
	write_kib "$OTHER" $OTHER_KIB 0
	write_kib "$FILE" $((2 * PIECE_KIB)) $PIECE_KIB
}

# die_of FILE PIECE
die_of() {
	local page=$(($2 * PIECE_KIB / 4)) first last

	while read -r first last; do
		if ((page <= last - first)); then
			nvmev-ssd map ssd0 $(((first + page) * LBAS_PER_PAGE)) "$LBAS_PER_PAGE" | awk '{ print $2; exit }'
			return
		fi
		((page -= last - first + 1))
	done < <(extents "$1")
}

new_ssd ssd0 capacity_mib=256
LBAS_PER_PAGE=$((4096 / $(blockdev --getss "$DEV")))
NR_DIES=$(($(<"$CONFIGFS/ssd0/channels") * $(<"$CONFIGFS/ssd0/dies_per_channel")))
queue=/sys/block/${DEV##*/}/queue/scheduler
new_target t0 "$DEV"
make_fs ext4 "$TARGET"
new_mount "$TARGET" "$T_DIR/mnt"

for scheduler in none mq-deadline; do
	check "the scheduler $scheduler can be chosen" tee "$queue" <<<"$scheduler"
	two_extents $scheduler
	check "$scheduler: the file lies on both sides of another" lies_on_both_sides
	before=$(ssd_stat ssd0 hints_ignored)
	write_both_sides
	sync
	check_that "$scheduler: the SSD has what each write follows" "$(ssd_stat ssd0 hints_ignored)" -eq "$before"
	dies="$(die_of "$FILE" 0) $(die_of "$FILE" 1) $(die_of "$FILE" 2)"
	first=${dies%% *}
	check_that "$scheduler: the pieces are on dies in turn" "$dies" == \
		"$first $(((first + 1) % NR_DIES)) $(((first + 2) % NR_DIES))"
done
umount "$T_DIR/mnt"
check "the filesystem is sound" check_fs ext4 "$TARGET"
