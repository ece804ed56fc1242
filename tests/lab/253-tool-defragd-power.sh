#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dieaware defragd --once is interrupted in the middle, by both signals, and the power fails while it is at work, a
# quarter, a half and three quarters of its way: the filesystem recovers by itself, each file has its bytes, and so has the
# file of counts; a pass after that does what is left.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# traces: yes
# seconds: 35
# timeout: 400
# sentences: 52
. "$(dirname "$0")/rc"
. "$LAB_DIR/share"

UNITS=8
PAGES=$((UNITS * 8))
FILES=(file one two three)
dd if=/dev/urandom of="$T_DIR/data" bs=32k count=$UNITS status=none

# more_files FS: besides $file, with counts of all in $mnt/counts, where the power fails as well
more_files() {
	local name reads=()

	for name in "${FILES[@]}"; do
		[[ -e $mnt/$name ]] || fragment "$1" "$mnt/$name" $UNITS
		reads+=("$name=7")
	done
	counts_of "$mnt" "${reads[@]}" >"$mnt/counts"
}

pass() {
	dieaware defragd --once --state "$mnt/counts" "$mnt"
}

# nr_in_pieces: files that are to be mended yet
nr_in_pieces() {
	dieaware frag --json "${FILES[@]/#/$mnt/}" | awk '$1 == "\"pieces\":" && $2 + 0 > 2 { nr++ } END { print nr + 0 }'
}

# interrupt SIGNAL: a pass, when it has said that something is done. Sets STATUS to what it ends with.
interrupt() {
	local line

	dieaware defragd --once --state "$mnt/counts" "$mnt" >"$T_DIR/pipe" 2>&1 &
	{
		# The heading, and the first file
		read -r line && read -r line && kill "-$1" $!
		cat
	} <"$T_DIR/pipe" >"$T_DIR/said"
	STATUS=0
	wait $! || STATUS=$?
	note "$line; $(<"$T_DIR/said")"
}

# goes_on FS: a pass behind a power failure, all bytes after it, and fsck
goes_on() {
	local status=0

	mount "$TARGET" "$mnt" || return
	pass && [[ $(nr_in_pieces) == 0 && $(sum_all) == "$SUM" ]] || status=1
	umount "$mnt"
	check_fs "$1" "$TARGET" && return "$status"
}

# Signals
mkfifo "$T_DIR/pipe"
new_state ext4 $UNITS more_files ext4
nvmev-ssd load ssd0 "$T_DIR/state"
mount_target
left=$(nr_in_pieces)
check_that "all files are in pieces" "$left" -eq ${#FILES[@]}
for signal in TERM INT; do
	before=$left
	interrupt $signal
	left=$(nr_in_pieces)
	check_that "SIG$signal: a pass that is interrupted ends with 130" $STATUS -eq 130
	check "SIG$signal: and says so" grep -qx "dieaware: Interrupted." "$T_DIR/said"
	check_that "SIG$signal: it has mended something" "$left" -lt "$before"
	check_that "SIG$signal: but not all" "$left" -gt 0
	check_that "SIG$signal: all files are the same, and the counts" "$(sum_all)" == "$SUM"
done
check "a pass to the end" pass
check_that "mends what is left" "$(nr_in_pieces)" -eq 0
check_that "nothing was done twice" "$(status_field t0 shared_pages)" -eq $((${#FILES[@]} * PAGES))
check_that "all files are the same" "$(sum_all)" == "$SUM"
unmount_target
check "fsck finds nothing" check_fs ext4 "$DEV"
nvmev-ssd power-off ssd0
drop_ssd ssd0

# Power
for fs in ext4 xfs f2fs btrfs; do
	new_state $fs $UNITS more_files $fs
	defragment_until 100000 pass
	all=$OPERATIONS
	unmount_target
	end_failure
	note "$fs: a pass takes $all operations"
	for quarter in 1 2 3; do
		defragment_until $((1 + (all - 1) * quarter / 4)) pass
		check_that "$fs, $quarter of 4: the power failed in the middle" "${OPERATIONS:-failed}" == failed
		note "$fs, $quarter of 4: $SHARED pages were shared"
		check "$fs, $quarter of 4: all files are the same, and the counts" recovers $fs
		check "$fs, $quarter of 4: a pass does what is left" goes_on $fs
		end_failure
	done
	drop_ssd ssd0
done
