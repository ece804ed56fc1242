#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# defrag: what the drive programs when a file is put in order without a copy, against the
# filesystem's own defragmenter, and how fast the file is read then.
#
# Usage: defrag.sh FILESYSTEM
#
# Both begin with the same drive, loaded from the same state: a file of DEFRAG_MB in pieces of 32 KiB,
# through the target in hint mode.

set -euo pipefail

# shellcheck source=bench/guest/lib.sh
. "$(dirname -- "$0")/lib.sh"
# shellcheck source=bench/guest/saved.sh
. "$(dirname -- "$0")/saved.sh"

FILESYSTEM=$1
DEFRAG_MB=${DEFRAG_MB:-256}
PIECE_BYTES=$((32 << 10))
NR_READS=4

# Where the filesystem places what is written only, there is no file that is allocated first.
allocate_how() {
	if [[ $FILESYSTEM == f2fs ]]; then
		echo none
	else
		echo first
	fi
}

prepare_drive() {
	report "doing=$FILESYSTEM:_a_file_in_pieces"
	ssd_create
	target_create auto
	usual_filesystem "$FILESYSTEM"
	make_in_pieces --allocate "$(allocate_how)" --file-bytes "${DEFRAG_MB}M" \
		--piece-bytes $PIECE_BYTES
	report "row=defrag.file fs=$FILESYSTEM pages=$((DEFRAG_MB * 256)) pieces=$PIECES"
	filesystem_remove
	target_remove
	save_drive
	power_off
}

# run_method METHOD: share, move, or none, which is what a filesystem programs that has nothing to do
run_method() {
	local method=$1
	local command=("$DIEAWARE" defrag --json --threshold 0 --method "$method" "$FILE")

	report "doing=$FILESYSTEM:_$method"
	load_drive
	target_create auto
	mount "$DEVICE" "$MOUNT" || die "The filesystem could not be mounted."
	if [[ $method == none ]]; then
		command=(touch "$FILE")
	fi
	count_work "${command[@]}"
	report "row=defrag.copied fs=$FILESYSTEM method=$method $WORK" \
		"shared=$(counter shared_pages) pieces=$(pieces_of)"
	measure "row=defrag.speed fs=$FILESYSTEM method=$method" readback --file "$FILE" --direct \
		--reads $NR_READS --verify $FILE_SEED
	show_counters "defrag.$FILESYSTEM.$method"
	filesystem_remove
	target_remove
	power_off
}

prepare_guest
# All of the file's pages share places, and what outdates them takes entries, too.
SSD_PROPERTIES="share_pages=$((DEFRAG_MB * 512))"
prepare_drive
for method in none move share; do
	run_method "$method"
done
