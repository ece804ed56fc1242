#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Hints by Flexible Data Placement on a device that is not the project's: QEMU's own. What it says itself
# of its reclaim units is the judge: each piece of a file goes to the handle that the target has chosen,
# and nothing else does. Namespaces without handles, with those of others, with one, of several groups,
# and a kernel that has none left: hints are off, with one sentence, and nothing is lost.
# kernels: newest
# smp: 1
# mem: 2G
# nvme: fdp
# seconds: 40
# timeout: 400
# sentences: 65
. "$(dirname "$0")/rc"

UNIT_KIB=32
PIECE=$((UNIT_KIB << 10))
WRITEBACK=/proc/sys/vm/dirty_writeback_centisecs

# qemu_device SERIAL NSID: the block device; see scripts/lib/qemu-fdp.sh
qemu_device() {
	local block

	for block in /sys/block/nvme*n*; do
		[[ ${block##*/} != *c*n* && $(tr -d ' ' <"$block/device/serial") == "$1" && $(<"$block/nsid") == "$2" ]] || continue
		echo "/dev/${block##*/}"
		return
	done
	return 1
}

# streams DEVICE: those that Linux has
streams() {
	queue_limit "$1" max_write_streams
}

state() {
	echo "$(status_field "${1:-t0}" transport) $(status_field "${1:-t0}" hints)"
}

device_says() {
	python3 "$LAB_DIR/handles.py" "$FDP" "$@"
}

# taken BEFORE AFTER: bytes that went to each handle, of lines of "left"
taken() {
	paste -d ' ' <(tr ' ' '\n' <<<"$1") <(tr ' ' '\n' <<<"$2") |
		awk -v unit="$RECLAIM_UNIT" '{ print (($1 - $2) * 512 + unit) % unit }' | paste -sd ' '
}

# in_turn HANDLE...: each is the one after the one before it
in_turn() {
	local before=$1 handle
	shift

	for handle; do
		[[ $handle == $(((before + 1) % 8)) ]] || return 1
		before=$handle
	done
}

sum() {
	tr ' ' '\n' | awk '{ sum += $1 } END { print sum }'
}

reversed() {
	tr ' ' '\n' <<<"$1" | tac | paste -sd ' '
}

# Nothing writes but what the test does: what the kernel writes back by itself would be counted, too.
quiet() {
	sync
	echo 0 >"$WRITEBACK"
}

is_streaming() {
	(($(status_field t0 streamed) > 100))
}

is_off() {
	[[ $(status_field t0 hints) == "$1" ]]
}

# refuses WHAT DEVICE STATE SENTENCE: no hints there, said once, and what is written is there
refuses() {
	local what=$1 device=$2 state=$3 sentence=$4

	mark_log
	new_target t1 "$device" hints=fdp fdp_unit_kb=$UNIT_KIB
	check_that "$what: hints are off" "$(state t1)" == "$state"
	check_that "$what: which is said once, and nothing else" "$(new_log | grep -i dieaware)" =~ ^[^$'\n']*"There are no hints. $sentence"$
	dd if="$T_DIR/data" of="$TARGET" bs=256k oflag=direct status=none
	drop_target t1
	check "$what: it is written all the same" cmp -n 1048576 "$T_DIR/data" "$device"
}

poll 20 qemu_device plain 1
FDP=$(qemu_device fdp 1)
SHARED=$(qemu_device fdp 2)
write_mib "$T_DIR/data" 1
RECLAIM_UNIT=$(device_says unit)
note "$(nvme id-ctrl "$FDP" | grep -E '^(mn|fr) ' | tr -s ' \n' ' ')"

check_that "a device of QEMU's" "$(nvme id-ctrl "$FDP" -o json | jq -r .mn)" =~ QEMU
check_that "nine handles, eight of them the host's, one the device's" "$(device_says usage)" == "1 1 1 1 1 1 1 1 2"
check_that "Linux has a write stream for each that the namespace has" "$(streams "$FDP")" -eq 8
check_that "and for each that another one shares with it" "$(streams "$SHARED")" -eq 4
check_that "QEMU disables it for nobody while there are namespaces" \
	"$(nvme admin-passthru "$FDP" --opcode=9 --namespace-id=0 --cdw10=0x1d --cdw11=1 --cdw12=0 2>&1 || true)" =~ Sequence
check_that "nothing was written to any" "$(device_says left | tr ' ' '\n' | sort -u)" -eq $((RECLAIM_UNIT / 512))

at_end drop_target t0
new_target t0 "$FDP"
check_that "handles of one group are not taken for dies" "$(status_field t0 hints)" == "off:not_announced"
drop_target t0
mark_log
new_target t0 "$FDP" hints=fdp
check_that "asked for, there are no hints, as QEMU names no unit of a die" "$(state)" == "none off:no_streams"
check_that "which is said once" "$(new_log | grep -c 'The device names no optimal write size')" -eq 1
drop_target t0
mark_log
new_target t0 "$FDP" hints=fdp fdp_unit_kb=$UNIT_KIB
check_that "if that is said as well, there are hints by FDP" "$(state)" == "fdp on"
check_that "with all of the handles" "$(status_field t0 streams)" -eq 8
check_that "units as said" "$(status_field t0 die_unit_bytes)" -eq $PIECE
check_that "and a stripe over all of them" "$(queue_limit "$TARGET" optimal_io_size)" -eq $((8 * PIECE))
check_that "without a word" "$(new_log | grep -ci dieaware)" -eq 0

# No journal, and tables that are there from the beginning: metadata has no stream, and QEMU counts for
# handle 0 what has none.
BEFORE=$(<"$WRITEBACK")
at_end sh -c "echo $BEFORE >$WRITEBACK"
make_fs ext4 "$TARGET" -O ^has_journal -E lazy_itable_init=0
new_mount "$TARGET" "$T_DIR/mnt"
quiet
device_says watch

dmsetup message t0 0 reset_counters
left=$(device_says left)
bytes=$(device_says bytes)
numbers=$(seq 0 31)
# shellcheck disable=SC2086 # one word each
handles=$(device_says write "$T_DIR/mnt/a" $UNIT_KIB $numbers "$T_DIR/mnt/b" 96 0)
note "file a: $handles"
# shellcheck disable=SC2086
check "each unit of a file that is appended to goes to the handle after the last one's, whatever is written between" in_turn $handles
check_that "the target has sent all of it by streams" "$(status_field t0 streamed)" -eq $((32 + 32 * 3))
check_that "and each hint was confirmed" "$(status_field t0 confirmed_append)" -eq $((32 + 32 * 3))
check_that "none was refused" "$(status_field t0 retried)" -eq 0
check_that "QEMU has on each handle an eighth of that" "$(taken "$left" "$(device_says left)")" == \
	"$(printf "$((16 * PIECE)) %.0s" 1 2 3 4 5 6 7)$((16 * PIECE))"
check_that "and all of it in its statistics" "$(device_says bytes)" == \
	"$((${bytes% *} + 128 * PIECE)) $((${bytes#* } + 128 * PIECE))"

first=$(device_says begin $UNIT_KIB "$T_DIR/mnt/"{c,d,e,f,g,h,i,j})
note "first units of files: $first"
# shellcheck disable=SC2086
check "each file begins on the handle after the last one's" in_turn $first

# shellcheck disable=SC2046 # one word each
check_that "overwritten from its end, each unit goes to the handle that has it" \
	"$(device_says write "$T_DIR/mnt/a" $UNIT_KIB $(seq 31 -1 0) "$T_DIR/mnt/c" 96 0)" == "$(reversed "$handles")"
small=$(device_says write "$T_DIR/mnt/k" 4 $(seq 0 31))
note "small appends: $small"
check_that "small appends fill a unit before the next handle's turn" \
	"$(tr ' ' '\n' <<<"$small" | uniq -c | awk '{ print $1 }' | paste -sd ' ')" == "8 8 8 8"
# shellcheck disable=SC2046
check "which is the one after" in_turn $(tr ' ' '\n' <<<"$small" | uniq)

# A unit at a time from the page cache
left=$(device_says left)
dd if="$T_DIR/data" of="$T_DIR/mnt/l" bs=1M conv=notrunc status=none
sync -d "$T_DIR/mnt/l"
check_that "what comes from the page cache goes round the handles as well" \
	"$(taken "$left" "$(device_says left)" | cut -d ' ' -f 2-)" == "$(printf "$((4 * PIECE)) %.0s" 1 2 3 4 5 6)$((4 * PIECE))"

check_empty "no reclaim unit was given up by anybody" "$(device_says events)"
device_says give-up 5
check_that "which QEMU would tell" "$(device_says events)" == "0:5:5"

# Four threads at once
echo "$BEFORE" >"$WRITEBACK"
dmsetup message t0 0 reset_counters
bytes=$(device_says bytes)
sectors=$(awk '{ print $7 }' "/sys/block/${FDP#/dev/}/stat")
python3 "$LAB_DIR/writers.py" 4 "$T_DIR/mnt" "$T_DIR/stop" >"$T_DIR/written" 2>&1 &
WRITERS=$!
check "writes of four threads have streams" poll 60 is_streaming
touch "$T_DIR/stop"
check "and succeed, and all data is there" wait "$WRITERS"
umount "$T_DIR/mnt"
check_that "QEMU has counted what Linux has sent" $((($(device_says bytes | cut -d ' ' -f 1) - ${bytes% *}) / 512)) -eq \
	$(($(awk '{ print $7 }' "/sys/block/${FDP#/dev/}/stat") - sectors))
check_that "with none refused" "$(status_field t0 retried)" -eq 0

# Handles that another namespace has as well
new_target t1 "$SHARED" hints=fdp fdp_unit_kb=$UNIT_KIB
check_that "a namespace whose handles are another's, too, has hints" "$(state t1)" == "fdp on"
check_that "with as many as it has" "$(status_field t1 streams)" -eq 4
make_fs ext4 /dev/mapper/t1 -O ^has_journal -E lazy_itable_init=0
new_mount /dev/mapper/t1 "$T_DIR/shared"
mount /dev/mapper/t0 "$T_DIR/mnt"
quiet
left=$(device_says left)
python3 "$LAB_DIR/turns.py" 32 "$T_DIR/shared/x" $UNIT_KIB 0 "$T_DIR/data" "$T_DIR/mnt/m" $UNIT_KIB 0 "$T_DIR/data"
check_that "each handle has the pages of both" "$(taken "$left" "$(device_says left)")" == \
	"$(printf "$((12 * PIECE)) %.0s" 1 2 3 4)$(printf "$((4 * PIECE)) %.0s" 1 2 3)$((4 * PIECE))"
echo 3 >/proc/sys/vm/drop_caches
check "the data of the one is right" cmp "$T_DIR/data" "$T_DIR/shared/x"
check "and that of the other" cmp "$T_DIR/data" "$T_DIR/mnt/m"
echo "$BEFORE" >"$WRITEBACK"
umount "$T_DIR/shared"
drop_target t1
check "its filesystem is clean without the target" e2fsck -fn "$SHARED"

# A kernel that has no streams any more
at_end rmmod nvmev-streams
rm -f "$T_DIR/stop"
dmsetup message t0 0 reset_counters
python3 "$LAB_DIR/writers.py" 4 "$T_DIR/mnt" "$T_DIR/stop" >"$T_DIR/written" 2>&1 &
WRITERS=$!
poll 60 is_streaming
mark_log
modprobe nvmev-streams device="$FDP" streams=0
check "a limit of no streams, under writes: hints are off" poll 60 is_off off:streams_gone
check "with a sentence" poll 20 log_has 'The kernel has too few write streams for writes with hints'
touch "$T_DIR/stop"
check "every write succeeds, and all data is there" wait "$WRITERS"
check_that "nothing else is said" "$(new_log | grep -ci dieaware)" -eq 1
left=$(device_says left)
dd if="$T_DIR/data" of="$T_DIR/mnt/n" bs=32k oflag=direct status=none
check_that "what is written then goes to handle 0, as all without a stream" \
	"$(taken "$left" "$(device_says left)" | cut -d ' ' -f 2-)" == "0 0 0 0 0 0 0"
rmmod nvmev-streams
dmsetup message t0 0 hints fdp
check_that "asked again, the device has them" "$(state)" == "fdp on"
umount "$T_DIR/mnt"
drop_target t0
check "the filesystem is clean without the target" e2fsck -fn "$FDP"
new_mount "$FDP" "$T_DIR/mnt" ro
check "the data is right without it: of the page cache" cmp "$T_DIR/data" "$T_DIR/mnt/l"
check "of what was overwritten" device_says read "$T_DIR/mnt/a" $UNIT_KIB 32
check "of what was written between" device_says read "$T_DIR/mnt/b" 96 32
check "of small appends" device_says read "$T_DIR/mnt/k" 4 32
umount "$T_DIR/mnt"

# Log mode: QEMU's handles are of a type that keeps data apart, so nobody has to ask for it.
new_log_target t1 "$FDP" --segment 1M --reserve 20
check_that "log mode has a stream for each kind of data" "$(state t1) $(status_field t1 streams)" == "fdp on 4"
left=$(device_says left)
dd if="$T_DIR/data" of="$TARGET" bs=256k oflag=direct status=none
dmsetup message t1 0 checkpoint
check_that "what users write goes to the second handle, metadata to the first, and nothing to another" \
	"$(taken "$left" "$(device_says left)" | sed 's/^[1-9][0-9]* /some /')" == "some 1048576 0 0 0 0 0 0"
check "the data is there" cmp -n 1048576 "$T_DIR/data" "$TARGET"
drop_target t1
new_log_target t1 "$SHARED" --segment 1M --reserve 20
check_that "with four handles, all that users write has the same" "$(state t1) $(status_field t1 streams)" == "fdp on 2"
drop_target t1
new_log_target t1 "$(qemu_device fdp 3)" --segment 1M --reserve 20
check_that "with one, there are none" "$(status_field t1 hints)" == "off:not_announced"
mark_log
dmsetup message t1 0 hints fdp
check "which is said if they are asked for" log_has 'There are no hints. The namespace has one placement handle only.'
drop_target t1

refuses "FDP is off" "$(qemu_device plain 1)" "none off:no_streams" 'The kernel has no write streams for the device.'
refuses "one handle, the device's own" "$(qemu_device fdp 3)" "none off:no_streams" \
	'The namespace has placement identifiers of one reclaim group only.'
check "Linux takes no device with several groups for one with streams" eval "dmesg | grep 'FDP NRG > 1 not supported'"
refuses "several groups" "$(qemu_device groups 1)" "none off:no_streams" 'The kernel has no write streams for the device.'
new_target t1 "$(qemu_device groups 1)"
check_that "several groups: with hints=auto as without FDP" "$(status_field t1 hints)" == "off:not_announced"
