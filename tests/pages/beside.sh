#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Run a command that watches the target "fast", work beside it, and compare what it saw with what
# the target has counted. Prints what the command printed, and what is not as it should be.
#
# Usage: beside.sh WORK COMMAND
#
# A WORK is up to four functions: WORK_before; WORK_ready, which says whether the command watches
# already; WORK_act, which also ends it if it does not end by itself; WORK_compare.
set -euo pipefail

SECONDS_AT_MOST=60
SECONDS_TO_END=15

kind=$1 command=$2
seen=$(mktemp) watcher=
trap 'stop_watcher; rm -f "$seen"' EXIT

die() {
	echo "beside.sh: $*"
	exit 1
}

# try_for AT_MOST COMMAND...: until it succeeds.
try_for() {
	local end=$((SECONDS + $1))
	shift

	until "$@"; do
		((SECONDS < end)) || return 1
		sleep 0.1
	done
}

poll() {
	try_for $SECONDS_AT_MOST "$@" || die "after $SECONDS_AT_MOST s still not: $*"
}

# step NAME: that function of the work, if it has one.
step() {
	if declare -F "${kind}_$1" >/dev/null; then
		"${kind}_$1"
	fi
}

stop_watcher() {
	[[ -z $watcher ]] || kill -KILL -- "-$watcher" 2>/dev/null || true
}

watcher_ended() {
	[[ -z $(jobs -rp) ]]
}

# Whoever cannot even begin ends at once: that is not a matter of time.
ready_or_ended() {
	watcher_ended || step ready
}

# In a process group of its own, as in a terminal, so that Ctrl-C reaches all of it.
start_watcher() {
	set -m
	bash -c "$command" </dev/null >"$seen" 2>&1 &
	watcher=$!
	set +m
	poll ready_or_ended
}

# bpftrace 0.17 does not notice one that comes while it is not waiting for events.
press_ctrl_c() {
	local presses=0

	until watcher_ended || ((presses++ == 3)); do
		kill -INT -- "-$watcher"
		try_for $SECONDS_TO_END watcher_ended || true
	done
}

end_watcher() {
	local status=0

	poll watcher_ended
	wait "$watcher" || status=$?
	watcher=
	cat "$seen"
	((status == 0)) || die "the command ended with $status"
}

# same WHAT SEEN COUNTED
same() {
	(($2 == $3)) || die "$1: $2 were seen, $3 there were"
}

# field NAME: of the target's status
field() {
	dieaware status --json fast | jq -e ".[0].$1"
}

# sum: of the numbers on stdin, 0 for none
sum() {
	awk '{ sum += $1 } END { print sum + 0 }'
}

# bpftrace attaches all of its probes before it waits for events.
bpftrace_waits() {
	grep -Eq 'epoll|ep_poll' "/proc/$watcher/wchan"
}

# Of a new file, in pieces of 64 KiB: 16 appends, 8 overwrites, and one behind a hole, which follows
# nothing.
write_file() {
	local at

	mount -o noinit_itable,commit=600 /dev/mapper/fast /mnt
	for at in {0..15} {0..7} 32; do
		dd if=/dev/zero of=/mnt/file bs=64k count=1 seek="$at" oflag=direct conv=notrunc status=none
	done
	inode=$(stat -c %i /mnt/file)
	umount /mnt
}

new_filesystem() {
	# Smaller blocks, the default on a small device, get no hints.
	mkfs.ext4 -q -F -b 4096 /dev/mapper/fast
	dmsetup message fast 0 reset_counters
}

# packaging/hints.bt

hints_before() {
	new_filesystem
}

hints_ready() {
	bpftrace_waits
}

hints_act() {
	write_file
	press_ctrl_c
}

# writes SOURCE HINT: as the example has counted them; both are regular expressions.
writes() {
	sed -nE "s/^@writes\[$1, $2\]: ([0-9]+)$/\1/p" "$seen" | sum
}

hints_compare() {
	local word

	same "appends to the file" "$(writes iomap append)" 16
	same "overwrites of it" "$(writes iomap overwrite)" 8
	same "writes of it without hint" "$(sed -nE "s/^@without_hint\[$inode\]: //p" "$seen" | sum)" 1
	same "appends of 16 pages" "$(grep -A 1 '^@pages\[append\]' "$seen" |
		sed -nE 's/^\[16, 32\) +([0-9]+) .*/\1/p' | sum)" 16
	for word in page iomap adjacency metadata unknown; do
		same "writes whose file is known by: $word" "$(writes "$word" '[a-z]+')" "$(field "$word")"
	done
	for word in none append overwrite; do
		same "hints: $word" "$(writes '[a-z]+' "$word")" "$(field "$word")"
	done
}

# 20 lines of trace_pipe

lines_before() {
	new_filesystem
	echo >/sys/kernel/tracing/trace
}

lines_act() {
	write_file
}

lines_compare() {
	same "lines" "$(wc -l <"$seen")" 20
	same "lines of that event" "$(grep -Ec ' dmda_hint: dev=[0-9]+:[0-9]+ dpn=[0-9]+ nr=[0-9]+ ' "$seen")" 20
	same "appends to the file" "$(grep -c " nr=16 ino=$inode .* hint=append " "$seen")" 16
}

# A histogram of the segments that are cleaned; the target is in log mode, with files on /mnt.

cleaned_before() {
	before=$(field cleaned_segments)
}

cleaned_ready() {
	bpftrace_waits
}

cleaned_act() {
	dd if=/dev/urandom of=/mnt/cleaned bs=1M count=64 conv=fsync status=none
	dmsetup message fast 0 clean
	press_ctrl_c
}

cleaned_compare() {
	local counted=$(($(field cleaned_segments) - before))

	((counted >= 2)) || die "there was nothing to clean"
	same "segments" "$(sed -nE 's/^[[(].*[])] +([0-9]+) \|.*/\1/p' "$seen" | sum)" "$counted"
}

# trace-cmd record ... sleep 10, likewise; and then trace-cmd report

COUNTED=/tmp/counted-while-recording

recorded_before() {
	sync
	commits=$(field commits) pages=$(field user_pages)
}

recorded_ready() {
	pgrep -f '^sleep 10$' >/dev/null
}

recorded_act() {
	local at

	for at in {0..15}; do
		dd if=/dev/urandom of=/mnt/recorded bs=64k count=1 seek="$at" conv=notrunc,fsync status=none
	done
	sync
	recorded_ready || die "the work took longer than what watches it"
}

recorded_compare() {
	echo "$(($(field commits) - commits)) $(($(field user_pages) - pages))" >"$COUNTED"
}

reported_compare() {
	local counted_commits counted_pages

	read -r counted_commits counted_pages <"$COUNTED"
	((counted_commits >= 16)) || die "there were only $counted_commits commits"
	same "commits" "$(grep -Ec ' dmda_log_commit: .* ret=0$' "$seen")" "$counted_commits"
	same "pages of writes" "$(sed -nE 's/.* dmda_log_write: .* nr=([0-9]+) .*/\1/p' "$seen" | sum)" "$counted_pages"
}

declare -F "${kind}_compare" >/dev/null || die "there is no work $kind"
step before
start_watcher
if ! watcher_ended; then
	step act
fi
end_watcher
step compare
