#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# pick: of a file that is read in part, only that part is moved, against moving all of it: what is
# written, how long that takes, and how fast the file is read and updated then.
#
# Usage: pick.sh FILESYSTEM [interference]
#
# The file is the synthetic one of the FragPicker paper (SOSP'21, section 5.2): 128 KiB in pieces of 4
# KiB, then 128 KiB in one, and so on. It is read 128 KiB at a time, at every 288 KiB (strides) or all
# of it in order. Everything begins with the same drive, loaded from the same state. With "interference",
# a job that reads another file is measured instead, alone and beside both ways of moving.

set -euo pipefail

# shellcheck source=bench/guest/lib.sh
. "$(dirname -- "$0")/lib.sh"
# shellcheck source=bench/guest/saved.sh
. "$(dirname -- "$0")/saved.sh"

FILESYSTEM=$1
PICK_MB=${PICK_MB:-400}
REQUEST_BYTES=$((128 << 10))
STEP_BYTES=$((288 << 10))
NR_READS=4
NR_UPDATES=2
ANALYSIS=/tmp/hot.json
# The job reads this one.
JOB_FILE=$MOUNT/job
JOB_MB=64

# A filesystem that writes in place keeps blocks for a file that grows.
allocate_how() {
	case $FILESYSTEM in
	ext4 | xfs) echo each ;;
	*) echo none ;;
	esac
}

prepare_drive() {
	report "doing=$FILESYSTEM:_a_file_in_pieces"
	ssd_create
	DEVICE=$SSD
	usual_filesystem "$FILESYSTEM"
	if [[ -n $WITH_JOB ]]; then
		dd if=/dev/urandom of="$JOB_FILE" bs=1M count=$JOB_MB oflag=direct status=none ||
			die "The job's file could not be written."
	fi
	make_in_pieces --allocate "$(allocate_how)" --file-bytes "${PICK_MB}M" \
		--piece-bytes 4K --whole-bytes $REQUEST_BYTES
	report "row=pick.file fs=$FILESYSTEM pages=$((PICK_MB * 256)) pieces=$PIECES"
	filesystem_remove
	save_drive
	power_off
}

begin_with_saved() {
	load_drive
	DEVICE=$SSD
	mount "$DEVICE" "$MOUNT" || die "The filesystem could not be mounted."
}

end_with_saved() {
	filesystem_remove
	power_off
}

# What 'pick analyze' writes when all these requests have been seen once. This kernel has no probes that
# could see them.
analyze_strides() {
	jq -n --arg path "$FILE" --argjson inode "$(stat -c %i "$FILE")" \
		--argjson size "$(stat -c %s "$FILE")" --argjson step $STEP_BYTES \
		--argjson bytes $REQUEST_BYTES '
		{kind: "dieaware-pick", version: 1, files: [{path: $path, inode: $inode, ranges:
			[range(0; $size - $bytes + 1; $step) | {begin: ., bytes: $bytes, count: 1}]}]}' \
		>"$ANALYSIS"
}

analyze_order() {
	"$DIEAWARE" pick analyze --bypass --read-ahead 128K --out "$ANALYSIS" --path "$FILE" \
		>/tmp/analyzed || die "The file could not be analyzed."
}

# choose_moving MOVED READER: sets MOVING to the command that moves that.
choose_moving() {
	case $1 in
	none) MOVING=(true) ;;
	whole) MOVING=("$DIEAWARE" defrag --threshold 0 --method move "$FILE") ;;
	picked)
		"analyze_$2"
		MOVING=("$DIEAWARE" pick migrate --method move "$ANALYSIS")
		;;
	esac
}

# access_file READER WORDS: read the file in one way. In strides it is updated as well, which puts its
# pages elsewhere on the drive; twice, as each time takes new places where nothing is overwritten.
access_file() {
	local reader=$1 words=$2 step=$REQUEST_BYTES how

	if [[ $reader == strides ]]; then
		step=$STEP_BYTES
	fi
	how=(--file "$FILE" --request-bytes "$REQUEST_BYTES" --step-bytes "$step")
	measure "row=pick.read $words" strides "${how[@]}" --rounds $NR_READS
	if [[ $reader == strides ]]; then
		measure "row=pick.update $words" strides "${how[@]}" --rounds $NR_UPDATES --write \
			--seed $FILE_SEED
	fi
	readback --file "$FILE" --direct --reads 1 --verify $FILE_SEED >/tmp/verified ||
		die "The file has other data now."
}

# run_moved MOVED READER: moved is none of the file, whole, or picked, which is what the reader wants.
run_moved() {
	local moved=$1 reader=$2
	local words="fs=$FILESYSTEM moved=$moved reader=$reader"

	report "doing=$FILESYSTEM:_moved_is_$moved,_read_in_$reader"
	begin_with_saved
	choose_moving "$moved" "$reader"
	count_work "${MOVING[@]}"
	report "row=pick.moved $words $WORK pieces=$(pieces_of)"
	access_file "$reader" "$words"
	end_with_saved
}

# run_beside MOVED: a job while that is moved; with none, for two seconds
run_beside() {
	local moved=$1 job line

	report "doing=$FILESYSTEM:_a_job,_moved_is_$moved"
	begin_with_saved
	choose_moving "$moved" strides
	if [[ $moved == none ]]; then
		MOVING=(sleep 2)
	fi
	settle_drive
	strides --file "$JOB_FILE" --request-bytes $REQUEST_BYTES --until-term >/tmp/job &
	job=$!
	sleep 1
	kill -USR1 $job
	"${MOVING[@]}" >/tmp/said || die "'${MOVING[*]}' failed."
	sync -f "$MOUNT"
	kill -TERM $job
	wait $job || die "The job failed."
	line=$(</tmp/job)
	report "row=pick.job fs=$FILESYSTEM moved=$moved ${line#bench: }"
	end_with_saved
}

WITH_JOB=${2:-}
prepare_guest
prepare_drive
if [[ -n $WITH_JOB ]]; then
	for moved in none picked whole none; do
		run_beside $moved
	done
else
	for moved in none whole picked; do
		run_moved $moved strides
		run_moved $moved order
	done
fi
