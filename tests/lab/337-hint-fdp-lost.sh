#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Placement handles that go away while they are written to: the kernel has fewer write streams than
# when it was asked, or none; the SSD's FDP is disabled by somebody else. Hints are off, which is said
# once, and nothing is lost.
# kernels: uml
# long: newest
# smp: 1
# mem: 2G
# seconds: 30
# timeout: 240
# sentences: 38
. "$(dirname "$0")/rc"

state() {
	echo "$(status_field t0 transport) $(status_field t0 hints)"
}

inject() {
	echo "$*" >/sys/kernel/debug/nvmev/ssd0/inject
}

# limit NR: of write streams in the kernel's eyes
limit() {
	modprobe nvmev-streams device="$DEV" streams="$1"
}

unlimit() {
	[[ ! -e /sys/module/nvmev_streams ]] || rmmod nvmev-streams
}

is_streaming() {
	(($(status_field t0 streamed) > $1))
}

begin_writing() {
	rm -f "$T_DIR/stop"
	dmsetup message t0 0 reset_counters
	python3 "$LAB_DIR/writers.py" 4 "$T_DIR/mnt" "$T_DIR/stop" >"$T_DIR/written" 2>&1 &
	WRITERS=$!
	poll 60 is_streaming 100
}

# unaccounted: hints of which neither is counted that they arrived nor that they were lost. Each of "retried" had
# one, but those that had a stream and no hint: no more than all writes without.
unaccounted() {
	local name retried sum=0

	sync
	for name in append overwrite; do
		sum=$((sum + $(status_field t0 $name)))
	done
	for name in confirmed_append confirmed_overwrite lost_unseen lost_merged lost_moved; do
		sum=$((sum - $(status_field t0 $name)))
	done
	retried=$(status_field t0 retried)
	note "$sum hints, $retried sent again, $(status_field t0 none) writes without" >&2
	if ((sum >= 0 && sum <= retried && sum >= retried - $(status_field t0 none))); then
		sum=0
	fi
	echo "$sum"
}

is_off() {
	[[ $(status_field t0 hints) == "$1" ]]
}

# none_lost WHEN STATE SENTENCE: after something went away under writes
none_lost() {
	local when=$1 state=$2 sentence=$3

	check "$when: hints are off" poll 60 is_off "$state"
	check "$when: with a sentence" poll 20 log_has "$sentence"
	sleep 1
	touch "$T_DIR/stop"
	check "$when: every write succeeds, and all data is there" wait "$WRITERS"
	check_that "$when: which is said once" "$(new_log | grep -c "$sentence")" -eq 1
	check_that "$when: each hint arrived, or is counted as lost" "$(unaccounted)" -eq 0
	check_that "$when: nothing else is said" "$(new_log | grep -i dieaware | grep -vc "$sentence")" -eq 0
}

TOO_FEW='The kernel has too few write streams for writes with hints: they are sent without from now on.'
REJECTED='The device rejects writes with hints: they are sent without from now on.'

new_ssd ssd0 capacity_mib=512 hints=0 fdp=1
at_end unlimit
new_target t0 "$DEV" hints=fdp
check_that "there are hints by FDP" "$(state)" == "fdp on"
make_fs ext4 "$TARGET"
new_mount "$TARGET" "$T_DIR/mnt"

for nr in 3 0; do
	begin_writing
	mark_log
	limit $nr
	none_lost "$nr streams of 8" off:streams_gone "$TOO_FEW"
	before=$(ssd_stat ssd0 hints_die)
	dd if=/dev/zero of="$T_DIR/mnt/more" bs=1M count=2 oflag=direct status=none
	check_that "$nr streams of 8: what is written then has none" "$(ssd_stat ssd0 hints_die)" -eq "$before"
	mark_log
	dmsetup suspend t0
	dmsetup resume t0
	check "$nr streams of 8: asked again, they are not enough" poll 20 is_off off:no_streams
	check "$nr streams of 8: which is said" poll 20 log_has 'There are no hints\.'
	unlimit
	dmsetup message t0 0 hints fdp
	check_that "$nr streams of 8: with all of them, there are hints" "$(state)" == "fdp on"
done

begin_writing
mark_log
inject fdp 0
none_lost "FDP is disabled" off:rejected "$REJECTED"
check_that "FDP is disabled: writes were sent again" "$(status_field t0 retried)" -gt 0
check "FDP is disabled: a reset is survived" nvme reset "${DEV%n1}"
mark_log
dmsetup suspend t0
dmsetup resume t0
check "FDP is disabled: the device that is asked again has none" poll 20 is_off off:no_streams
check "FDP is disabled: which is said" poll 20 log_has 'The device does not tell its placement identifiers'
begin=$(ssd_stat ssd0 hints_die)
check "FDP is disabled: it is written all the same" dd if=/dev/zero of="$T_DIR/mnt/more" bs=1M count=2 oflag=direct
check_that "FDP is disabled: without placement" "$(ssd_stat ssd0 hints_die)" -eq "$begin"
inject fdp 1
dmsetup message t0 0 hints fdp
check_that "FDP is enabled: there are hints" "$(state)" == "fdp on"

# An error that no hint can cause
sync
dmsetup message t0 0 reset_counters
page=$(dieaware runs extents --json "$T_DIR/mnt/more" | jq '.[0].runs[0].device_page')
inject write_fault $((page * 8)) 8
check_fails "a write that the SSD cannot do fails" \
	dd if=/dev/zero of="$T_DIR/mnt/more" bs=32k count=1 oflag=direct conv=notrunc
inject clear
check_that "it is not sent again" "$(status_field t0 retried)" -eq 0
check_that "and its hint is counted as one that a command carried" "$(unaccounted)" -eq 0
umount "$T_DIR/mnt"
check "the filesystem is clean" e2fsck -fn "$TARGET"
