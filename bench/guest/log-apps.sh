#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Log mode under what FFSB and PostMark do, its throughput while it is cleaned for the
# first time, and what a policy of cleaning leaves of files in pieces.
#
# Usage: log-apps.sh ffsb.FILESYSTEM|postmark.FILESYSTEM|timeline.FILESYSTEM|policy.POLICY...

set -euo pipefail

# shellcheck source=bench/guest/lib.sh
. "$(dirname -- "$0")/lib.sh"
# shellcheck source=bench/guest/log.sh
. "$(dirname -- "$0")/log.sh"

APPS_SSD_MB=2048

# compare PART.FILESYSTEM COMMAND: COMMAND PART.FILESYSTEM KIND on the raw drive, with the same
# space as log mode leaves alone, and in log mode.
compare() {
	local part=$1 command=$2 kind

	for kind in raw raw_same_space log; do
		report "doing=$part,_$kind"
		SSD_PROFILE=sata SSD_CAPACITY_MB=$APPS_SSD_MB device_begin $kind
		plain_filesystem "${part#*.}"
		$command "$part" $kind
		filesystem_remove
		device_end $kind "$part"
	done
}

# ---- FFSB -------------------------------------------------------------------

# 100 directories, 4 files of 4 GB, 8 threads, 4 KiB; a 64th of the size here
FFSB_DIRECTORIES=100
FFSB_FILES=4
FFSB_FILE_MB=64
FFSB_MB_PER_THREAD=16

# Reads and writes of 4 KiB at random, half of each, through the page cache
ffsb_run() {
	local names=() i

	for ((i = 0; i < FFSB_DIRECTORIES; i++)); do
		mkdir "$MOUNT/$i"
	done
	for ((i = 0; i < FFSB_FILES; i++)); do
		names+=("$MOUNT/$((i * FFSB_DIRECTORIES / FFSB_FILES))/file")
		dd if=/dev/zero of="${names[-1]}" bs=1M count=$FFSB_FILE_MB conv=fsync status=none
	done
	settle
	run_fio --filename="$(IFS=:; echo "${names[*]}")" --size=$((FFSB_FILES * FFSB_FILE_MB))m \
		--file_service_type=random:1 --rw=randrw --rwmixread=50 --bs=4k --norandommap \
		--io_size=${FFSB_MB_PER_THREAD}m --end_fsync=1
	report "row=log.$1 target=$2" "$(jq -r '.jobs[0] |
		"ops=\(.read.total_ios + .write.total_ios) runs_ns=\([.read.runtime, .write.runtime] | max * 1000000)"' $FIO_JSON)"
}

# ---- PostMark ---------------------------------------------------------------

# The paper's 900 MB a file, less a factor of 64
POSTMARK_FILE_BYTES=14745600
POSTMARK_FILES=20

postmark_run() {
	local begin end

	# Else it is a matter of chance whether a file is written before it is deleted.
	limit_dirty $((POSTMARK_FILES * POSTMARK_FILE_BYTES))
	begin=$(date +%s%N)
	postmark >/tmp/postmark.txt <<-END || die "PostMark failed: $(tail -n 3 /tmp/postmark.txt)"
		set location $MOUNT
		set size $POSTMARK_FILE_BYTES $POSTMARK_FILE_BYTES
		set number $POSTMARK_FILES
		set transactions 20
		set read 4096
		set write 4096
		set bias read 10
		set bias create 10
		set buffering false
		run
		quit
	END
	sync -f "$MOUNT"
	end=$(date +%s%N)
	grep -q "^Data:" /tmp/postmark.txt || die "PostMark said: $(tail -n 3 /tmp/postmark.txt)"
	report "row=log.$1 target=$2 runs_ns=$((end - begin))"
}

# ---- throughput over time ---------------------------------------------------

TIMELINE_SSD_MB=1024
TIMELINE_FULL_PERCENT=60
TIMELINE_WRITE_PERCENT=80
# At time scale 16 this is 31 ms of the drive's time
TIMELINE_PAUSE_S=0.5

# What was written and moved, until it is stopped
take_samples() {
	local sample=$1

	while sleep $TIMELINE_PAUSE_S; do
		report "sample=$sample at_ns=$(date +%s%N)" "$(dmsetup status "$TARGET" | awk '{
			for (i = 1; i <= NF; i++)
				if (split($i, word, "=") == 2) value[word[1]] = word[2]
			print "written=" value["user_pages"], "moved=" value["moved_pages"]
		}')"
	done
}

# timeline PART.FILESYSTEM: files are overwritten at random, first while segments are free,
# then while they are cleaned; nothing stays in place, for this is about cleaning.
timeline() {
	local file_mb=$((TIMELINE_SSD_MB * TIMELINE_FULL_PERCENT / 100 / JOBS)) sampler

	report "doing=$1"
	LOG_OPTION=in_place=100 SSD_PROFILE=sata SSD_CAPACITY_MB=$TIMELINE_SSD_MB device_begin log
	plain_filesystem "${1#*.}"
	run_fio --directory="$MOUNT" --size=${file_mb}m --bs=1m --rw=write --direct=1
	settle
	take_samples "log.cleaning_dip.${1#*.}" &
	sampler=$!
	run_fio --directory="$MOUNT" --size=${file_mb}m --bs=4k --rw=randwrite --direct=1 \
		--norandommap --io_size=$((TIMELINE_SSD_MB * TIMELINE_WRITE_PERCENT / 100 / JOBS))m
	kill $sampler
	wait $sampler || true
	filesystem_remove
	device_end log "$1"
}

# ---- policies ---------------------------------------------------------------

POLICY_SSD_MB=1024
# MiB of the files of the paper's table 2, and KiB of their records
POLICY_FILES=(1:4 1:4 20:64 20:64 20:4 20:4 50:4 100:128)
# Others that are deleted again: first between the files, then to have segments cleaned
POLICY_DUMP_MB=232
POLICY_CHURN=5

write_dump() {
	dd if=/dev/zero of="$MOUNT/dump" bs=64k count=$((POLICY_DUMP_MB * 16)) oflag=dsync status=none
}

# All at once, each write synchronous
write_policy_files() {
	local file i dump jobs=()

	for i in "${!POLICY_FILES[@]}"; do
		file=${POLICY_FILES[i]}
		jobs+=(--name="bench.$i" --filename="$MOUNT/bench.$i" --size="${file%:*}m" --bs="${file#*:}k")
	done
	write_dump &
	dump=$!
	fio --thread --ioengine=psync --rw=write --sync=1 --fallocate=none --output=/tmp/policy.txt \
		"${jobs[@]}" || die "fio failed: $(tail -n 3 /tmp/policy.txt)"
	wait $dump || die "The file beside them could not be written."
}

# policy_row CASE POLICY: the pieces that the files are in, with the target away
policy_row() {
	local cleaned moved nr

	sync
	extents_of_files >/tmp/extents
	cleaned=$(counter cleaned_segments) moved=$(counter moved_pages)
	filesystem_remove
	target_remove
	nr=$(nr_fragments /tmp/extents)
	report "row=log.pieces case=$1 policy=$2 nr=$nr cleaned=$cleaned moved_pages=$moved"
	log_create "policy=$2" idle_ms=0
	mount -o discard "$DEVICE" "$MOUNT"
}

# policy POLICY: what has to be cleaned, is, by it; nothing is cleaned for its own sake.
policy() {
	local i

	report "doing=policy,_$1"
	SSD_CAPACITY_MB=$POLICY_SSD_MB ssd_create
	log_format "$SSD"
	log_create "policy=$1" idle_ms=0
	mkfs.ext4 -q -F "$DEVICE" || die "The ext4 filesystem could not be made."
	mount -o discard "$DEVICE" "$MOUNT"
	write_policy_files
	rm "$MOUNT/dump"
	policy_row before "$1"
	for ((i = 0; i < POLICY_CHURN; i++)); do
		write_dump
		# Not all of it is trimmed, so that segments are left in pieces.
		fallocate -p -l $((POLICY_DUMP_MB / 2))m "$MOUNT/dump"
		mv "$MOUNT/dump" "$MOUNT/dump.$((i % 2))"
	done
	policy_row after "$1"
	filesystem_remove
	device_end log "policy $1"
}

report "kernel=$(uname -r) profile=$SSD_PROFILE"
modprobe dm-dieaware
for part; do
	case $part in
	ffsb.*) compare "$part" ffsb_run ;;
	postmark.*) compare "$part" postmark_run ;;
	timeline.*) timeline "$part" ;;
	policy.*) policy "${part#*.}" ;;
	*) die "There is no part '$part'." ;;
	esac
done
