#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The power fails while dieaware move is at work below a mounted filesystem: while it copies, and at each of
# its steps at the switch. After a reboot there is one filesystem, with all that was promised, and the
# same command goes on.
# kernels: uml
# long: 6.12
# smp: 2
# smp on uml: 1
# mem: 2G
# seconds: 90
# timeout: 900
# sentences: 6
# shellcheck disable=SC2034,SC2154
. "$(dirname "$0")/rc"
. "$(dirname "$0")/move-volume"

# Both devices are on one SSD, so that the power of both fails at once.
new_to() {
	dmsetup create to --table "0 $((480 * MIB)) linear $DEV $((520 * MIB))"
}
new_ssd ssd0 capacity_mib=1024 plp=0 lba_bytes=4096
TO=/dev/mapper/to
at_end drop_target to
at_end drop_target volume-log
at_end drop_target volume-old
at_end dieaware_forgets
new_to

is_off() {
	[[ $(<"$CONFIGFS/ssd0/power") == 0 ]]
}

# begin FS: a filesystem on the volume, in which somebody writes
begin() {
	forget_all
	make_fs "$1" /dev/mapper/volume
	mount /dev/mapper/volume "$mnt"
	: >"$T_DIR/promises"
	write_more
}

write_more() {
	python3 "$LAB_DIR/promised.py" write "$mnt" "$T_DIR/promises" >"$T_DIR/writer" 2>&1 &
	WRITER=$!
	poll 20 test -s "$T_DIR/promises"
}

nobody_moves() {
	! pgrep -x 'dieaware|dmsetup' >/dev/null
}

# reboot PROCESS...: the machine has stopped: nobody of those that were at work is there any more, nor the dmsetup that
# dieaware had begun, which would give the volume another table than the one that comes next
reboot() {
	kill -9 "$WRITER" "$@" 2>/dev/null || true
	pkill -KILL -x dieaware || true
	pkill -KILL -x dmsetup || true
	poll 20 nobody_moves || return 1
	becomes volume "0 $(((FIRST + SECOND) * MIB)) error"
	wait 2>/dev/null || true
	umount "$mnt" || return 1
	for name in volume volume-old volume-log to; do
		drop_target $name
	done
	DEV=$(nvmev-ssd power-on ssd0)
	new_to
	after_reboot
}

# is_whole FS: what is there after a reboot is sound, and has all that was promised
is_whole() {
	mount "$WHERE" "$mnt" || return 1
	python3 "$LAB_DIR/promised.py" check "$mnt" "$T_DIR/promises" || return 1
	umount "$mnt"
	check_fs "$1" "$WHERE"
}

# stays: where the log counts, and nothing leads to it, the move is not undone: the log is all that there is
stays() {
	local status=0

	[[ $WHERE == /dev/mapper/volume || -s /etc/dietab ]] && return
	dieaware move --undo volume || status=$?
	[[ $status == 2 ]] && dieaware check "$TO" && nr_kept=$((nr_kept + 1))
}

# finds: where the log counts, and nothing leads to it, the same command makes it and writes the line
finds() {
	[[ $WHERE == /dev/mapper/volume || -s /etc/dietab ]] && return
	dieaware move volume "$TO" && grep -q '^volume-log UUID' /etc/dietab
}

# goes_on FS: the same command moves what is still where it was. It may have seen its target fail before it was
# stopped, and said that a copy stays there; then it has to be told to write over that.
goes_on() {
	local force=()

	! grep -q "keeps an incomplete copy" "$T_DIR/moving" || force=(--force)
	if [[ $WHERE == /dev/mapper/volume ]]; then
		mount "$WHERE" "$mnt"
		dieaware move "${force[@]}" volume "$TO" && is_moved && umount "$mnt" || return 1
	fi
	after_reboot || return 1
	[[ $WHERE == /dev/mapper/volume-log ]] && is_whole "$1" && dmsetup remove volume-log && dieaware check "$TO"
}

# after_cut FS WHAT PROCESS...: sentences into WRONG
after_cut() {
	local fs=$1 what=$2
	shift 2
	reboot "$@" >"$T_DIR/said" 2>&1 || WRONG+=" $what: $(tail -n 3 "$T_DIR/said");"
	LEFT+=" ${WHERE##*/}"
	stays >"$T_DIR/said" 2>&1 || WRONG+=" $what, undone: $(tail -n 3 "$T_DIR/said");"
	finds >"$T_DIR/said" 2>&1 || WRONG+=" $what, not found: $(tail -n 3 "$T_DIR/said");"
	is_whole "$fs" >"$T_DIR/said" 2>&1 || WRONG+=" $what: $(tail -n 3 "$T_DIR/said");"
	goes_on "$fs" >"$T_DIR/said" 2>&1 || WRONG+=" $what, again: $(tail -n 3 "$T_DIR/said");"
	drop_mount "$mnt"
}

# cut_while_copying FS OPERATION...
cut_while_copying() {
	local fs=$1 operation
	shift
	WRONG="" LEFT=""
	for operation; do
		begin "$fs"
		nvmev-ssd power-cut ssd0 "$operation"
		dieaware move volume "$TO" >"$T_DIR/moving" 2>&1 &
		MOVING=$!
		poll 60 is_off || WRONG+=" $operation: no cut;"
		after_cut "$fs" "operation $operation" $MOVING
	done
	note "$fs: left in$LEFT"
	check_empty "$fs: the power fails while it copies: everything is on one device, and moved by the same command" "$WRONG"
}

# cut_at FS CALL NUMBER: see 236
cut_at() {
	local fs=$1 paths=(-P /dev/mapper/control -P /dev/mapper/volume-old)

	[[ $2 != log-fsync ]] || paths=(-P /dev/mapper/volume-log)
	begin "$fs"
	# What the last one has left would be taken for this one's.
	rm -f "$T_DIR/strace"
	strace -o "$T_DIR/strace" "${paths[@]}" -e trace="${2#log-}" -e inject="${2#log-}:signal=STOP:when=$3" \
		dieaware move volume "$TO" >"$T_DIR/moving" 2>&1 &
	MOVING=$!
	poll 60 grep -q "stopped by SIGSTOP" "$T_DIR/strace" || WRONG+=" $2 $3: it does not stop;"
	nvmev-ssd power-cut ssd0
	after_cut "$fs" "$2 $3" "$(pgrep -P $MOVING)" $MOVING
}

# cut_at_switch FS CALL...
cut_at_switch() {
	local fs=$1 call
	shift
	WRONG="" LEFT=""
	for call; do
		# shellcheck disable=SC2086
		cut_at "$fs" $call
	done
	note "$fs: left in$LEFT"
	check_empty "$fs: it fails at the switch: likewise" "$WRONG"
}

FIRST=20 SECOND=12
new_volume
cut_while_copying ext4 100 1000
nr_kept=0
cut_at_switch ext4 "ioctl 1" "ioctl 2" "log-fsync 2" "ioctl 3" "pwrite64 1" "fsync 1" "ioctl 4"
check_that "the old one counts until it is hidden, and the new one from then on" "$LEFT" =~ '^( volume)+( volume-log)+$'
check_that "which is not undone then" "$nr_kept" -ge 2
drop_target volume
FIRST=100 SECOND=200
new_volume
cut_while_copying xfs 2000
cut_at_switch xfs "fsync 1"
