#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# months: half a year of a phone's use, its files put in order each week, in one way or another: how
# fast they are read, and what the drive programs for it (janusd, ATC'17, section 5.2).
#
# Usage: months.sh
#
# All begin with the same drive, loaded from the same state: ext4, 83 percent full, through the target
# in hint mode, with hints off but while files are put in order. Files are read at the end of each
# week, before and after they are put in order. What is free is trimmed each week, as distributions
# do.

set -euo pipefail

# shellcheck source=bench/guest/lib.sh
. "$(dirname -- "$0")/lib.sh"
# shellcheck source=bench/guest/saved.sh
. "$(dirname -- "$0")/saved.sh"

WEEKS=26
FOLDER=$MOUNT/phone
SSD_PROFILE=ufs
SSD_CAPACITY_MB=1024

# read_files WORDS
read_files() {
	measure "row=defrag.months_read $*" usage --folder "$FOLDER" --read
}

prepare_drive() {
	report "doing=ext4:_the_files_of_a_phone"
	ssd_create
	target_create off
	usual_filesystem ext4
	mkdir "$FOLDER"
	usage --folder "$FOLDER" --make >/tmp/made || die "The files could not be made."
	read_files policy=clean week=0 when=after
	filesystem_remove
	target_remove
	save_drive
	power_off
}

# is_due POLICY WEEK
is_due() {
	case $1 in
	none) false ;;
	move4) (($2 % 4 == 0)) ;;
	*) true ;;
	esac
}

set_hints() {
	dmsetup message "$TARGET" 0 hints "$1" || die "Hints could not be made $1."
}

# choose_how POLICY: sets HOW to how files are put in order: by sharing (janusdL), besides spread over the
# dies where they lie on few (janusd), or moved.
choose_how() {
	case $1 in
	share) HOW=(--method share --keep-dies) ;;
	spread) HOW=(--method share) ;;
	move*) HOW=(--method move) ;;
	esac
}

# put_in_order POLICY WEEK
put_in_order() {
	local shared

	choose_how "$1"
	shared=$(counter shared_pages)
	set_hints auto
	count_work "$DIEAWARE" defrag --json "${HOW[@]}" "$FOLDER"
	set_hints off
	report "row=defrag.months_work policy=$1 week=$2 $WORK" \
		"shared=$(($(counter shared_pages) - shared))" \
		"$(jq -r '"files=\(map(select(.method)) | length) spread=\(map(select(.spread)) | length)"' /tmp/said)"
}

run_policy() {
	local policy=$1 week

	report "doing=ext4:_half_a_year,_$policy"
	load_drive
	target_create off
	mount "$DEVICE" "$MOUNT" || die "The filesystem could not be mounted."
	for ((week = 1; week <= WEEKS; week++)); do
		usage --folder "$FOLDER" --first-day $((7 * (week - 1))) --days 7 ||
			die "A week could not be lived."
		read_files policy="$policy" week=$week when=before
		if is_due "$policy" $week; then
			put_in_order "$policy" $week
		fi
		read_files policy="$policy" week=$week when=after
		fstrim "$MOUNT" || die "The filesystem could not be trimmed."
	done
	show_counters "defrag.months.$policy"
	filesystem_remove
	target_remove
	power_off
}

prepare_guest
SSD_PROPERTIES="share_pages=$((SSD_CAPACITY_MB * 256))"
prepare_drive
for policy in none share spread move move4; do
	run_policy $policy
done
