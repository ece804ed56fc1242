#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# place: how fast fragmented and overwritten files read, in percent of contiguous ones.
#
# Usage: place.sh FILESYSTEM direct|buffered WORKLOAD:LAYOUT[,LAYOUT]...
#
# All layouts go through the same target in the same boot, and are read with hints=HINTS (auto, if it
# is not set). They differ in how they are written:
#
#   contiguous  hints=off    written from front to back, nothing in between
#   plain       hints=off    the workload
#   hinted      hints=HINTS  the workload
#   ideal       hints=off    the workload, whose pieces are then written again to
#                            where they are, in order

set -euo pipefail

# shellcheck source=bench/guest/lib.sh
. "$(dirname -- "$0")/lib.sh"
# shellcheck source=bench/guest/fileserver.sh
. "$(dirname -- "$0")/fileserver.sh"
# shellcheck source=bench/guest/compare.sh
. "$(dirname -- "$0")/compare.sh"

# The paper's drive exactly
SSD_FIRMWARE=
FILESYSTEM=$1
MODE=$2
shift 2
RESULTS=/tmp/results
BLOCKS=/tmp/blocks
# What is in a file, and what an overwrite puts there
FILE_SEED=1
OVERWRITE_SEED=2
HINTS=${HINTS:-auto}
SQLITE_ROWS=${SQLITE_ROWS:-10000}
SQLITE_PAPER_ROWS=10000
# Where the SSD has several kinds of pages on a word line, the kind on which the first
# piece lies is luck and moves a figure by a percent: so everything is measured once for
# each kind, or for so many.
MOST_PAGE_KINDS=${MOST_PAGE_KINDS:-4}

direct_option() {
	if [[ $MODE == direct ]]; then
		echo --direct
	fi
}

hints_of() {
	if [[ $1 == hinted ]]; then
		echo "$HINTS"
	else
		echo off
	fi
}

# What goes between the pieces of a hypothetical workload.
between_of() {
	local workload=$1 layout=$2

	if [[ $layout == contiguous ]]; then
		echo none
	else
		echo "${workload##*_}"
	fi
}

write_hypothetical() {
	local between=$1 seed=$2
	shift 2

	# shellcheck disable=SC2046
	hypothetical --file "$MOUNT/file" --other "$MOUNT/other" --between "$between" \
		--seed "$seed" --unit-bytes "$UNIT_BYTES" --stripe-bytes "$STRIPE_BYTES" \
		$(direct_option) "$@" >/tmp/written || die "Writing the file failed."
}

# What the target does for reads it does while hints are on: so all layouts are read with them.
read_alike() {
	sync
	dmsetup message "$TARGET" 0 hints "$HINTS" || die "The hints could not be switched on."
	[[ $(counter hints) == on ]] || die "There are no hints: $(counter hints)."
}

run_hypothetical() {
	local workload=$1 layout=$2 row=$3 kind=$4 between seed=$FILE_SEED

	between=$(between_of "$workload" "$layout")
	pin_phase "$kind"
	if [[ $layout == contiguous ]]; then
		write_hypothetical none "$seed" --piece-bytes 1M
	elif [[ $workload == append_* ]]; then
		write_hypothetical "$between" "$seed" --piece-bytes "$UNIT_BYTES"
	else
		write_hypothetical none "$seed" --piece-bytes 1M
		pin_phase
		seed=$OVERWRITE_SEED
		write_hypothetical "$between" "$seed" --piece-bytes "$UNIT_BYTES" --overwrite
	fi
	sync
	# What is traced for the simulator would be gone.
	if [[ -z ${COMPARE_SIM:-} ]]; then
		know_blocks "$MOUNT/file"
	fi
	if [[ $layout == ideal ]]; then
		rewrite_blocks "$kind"
	fi
	compare_with_simulator "$row"
	read_alike
	# shellcheck disable=SC2046
	measure "row=$row kind=$kind" readback --file "$MOUNT/file" --reads 10 --verify "$seed" \
		$(direct_option)
	show_dies "$row" "$MOUNT/file"
}

# know_blocks FILE: to BLOCKS. It reads the file; so it is done for all layouts, lest of one of them more
# is in memory. Somebody else may have read from the drive meanwhile: then once more.
know_blocks() {
	local file=$1 bytes tries

	for ((tries = 0; tries < 3; tries++)); do
		blocks_of "$file" >"$BLOCKS"
		bytes=$(awk '{ sum += $2 } END { printf "%.0f", sum }' "$BLOCKS")
		if ((bytes == $(stat -c %s "$file"))); then
			return
		fi
	done
	die "$bytes bytes below the filesystem were read for $file, which is not its size."
}

# rewrite_blocks KIND: what was found once more to where it is, in the file's order, below the filesystem:
# the same extents, and now in perfect die order, also where files are never written in place.
rewrite_blocks() {
	local start bytes

	pin_phase "$1"
	while read -r start bytes; do
		dd if="$DEVICE" of="$DEVICE" bs="$bytes" count=1 skip="$start" seek="$start" \
			iflag=direct,skip_bytes oflag=direct,seek_bytes conv=notrunc status=none ||
			die "The file's blocks could not be written again."
	done <"$BLOCKS"
}

# rewrite_in_order FILE...: what is in them once more to where it is, from front to back, one file
# after the other: the same extents, and now in perfect die order.
rewrite_in_order() {
	local file

	sync
	pin_phase
	for file; do
		dd if="$file" of="$file" bs=1M conv=notrunc,fsync iflag=direct oflag=direct status=none ||
			die "$file could not be written again."
	done
}

# The contiguous database is one that was built undisturbed and then copied from
# front to back: SQLite's own journal breaks the die order of the first. For the same reason the
# ideal one is written again in order.
run_sqlite() {
	local layout=$1 row=$2 rows=$SQLITE_ROWS between=() words="row=$2"

	case $layout in
	plain | hinted | ideal) between=(--other "$MOUNT/other") ;;
	esac
	if ((rows != SQLITE_PAPER_ROWS)); then
		words+=" note=${rows}_rows_instead_of_$SQLITE_PAPER_ROWS"
	fi
	pin_phase
	sqlite_rows insert --db "$MOUNT/db" --rows "$rows" "${between[@]}" >/tmp/written ||
		die "Filling the database failed."
	if [[ $layout == contiguous ]]; then
		sync
		pin_phase
		dd if="$MOUNT/db" of="$MOUNT/copy" bs=1M conv=fsync status=none ||
			die "Copying the database failed."
		mv "$MOUNT/copy" "$MOUNT/db"
	elif [[ $layout == ideal ]]; then
		rewrite_in_order "$MOUNT/db"
	fi
	sync
	read_alike
	measure "$words" sqlite_rows select --db "$MOUNT/db" --rows "$rows"
	show_dies "$row" "$MOUNT/db"
}

run_fileserver() {
	local workload=$1 layout=$2 row=$3 chunk=32

	if [[ $workload == fileserver_small ]]; then
		chunk=16
	fi
	pin_phase
	fileserver_write_files "$layout" "$chunk" "$MODE"
	if [[ $layout == ideal ]]; then
		rewrite_in_order "$MOUNT"/set.*
	fi
	read_alike
	fileserver_read_files "$row" "$chunk" "$MODE"
	show_dies "$row" "$MOUNT/set.3.1"
}

# Layouts which several workloads share by their nature are measured once.
shared_name() {
	local workload=$1 layout=$2

	case $workload-$layout in
	append_*-contiguous | overwrite_*-contiguous) echo contiguous ;;
	*) echo "$workload-$layout" ;;
	esac
}

run_row() {
	local workload=$1 layout=$2 kind=0

	report "doing=$workload:_$layout"
	case $workload in
	sqlite | fileserver*) run_once "$@" any ;;
	*)
		NR_PAGE_KINDS=1
		while ((kind < NR_PAGE_KINDS && kind < MOST_PAGE_KINDS)); do
			run_once "$@" "$kind"
			kind=$((kind + 1))
		done
		;;
	esac
}

run_once() {
	local workload=$1 layout=$2 row=$3 kind=$4

	record_commands
	ssd_create
	target_create "$(hints_of "$layout")"
	filesystem_make "$FILESYSTEM"
	case $workload in
	sqlite) run_sqlite "$layout" "$row" ;;
	fileserver*) run_fileserver "$workload" "$layout" "$row" ;;
	*) run_hypothetical "$workload" "$layout" "$row" "$kind" ;;
	esac
	show_counters "$row"
	filesystem_remove
	target_remove
	ssd_remove
}

run_workload() {
	local workload=$1 layout row shared
	local layouts=()

	IFS=, read -ra layouts <<<"$2"
	for layout in "${layouts[@]}"; do
		row=place.$workload.$FILESYSTEM.$MODE.$SSD_PROFILE.$layout
		shared=$RESULTS/$(shared_name "$workload" "$layout")
		if [[ ! -e $shared ]]; then
			run_row "$workload" "$layout" "$row" | tee "$shared.new"
			mv "$shared.new" "$shared"
		else
			sed -n "s/^bench: row=[^ ]*\(.*runs_ns=.*\)/bench: row=$row\1/p" "$shared"
		fi
	done
}

mkdir -p "$RESULTS"
prepare_guest
for selection; do
	run_workload "${selection%%:*}" "${selection#*:}"
done
