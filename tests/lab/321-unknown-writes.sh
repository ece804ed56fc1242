#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Writes of whole pages to the target itself, of which nobody says a file: the run table forgets what was there,
# the next one continues them, and the pieces of a long one follow one another. They have a way of their own,
# the last step of which is another one where a tracepoint looks at them.
# kernels: uml
# long: 6.1 6.12 newest
# smp: 1
# mem: 2G
# seconds: 5
# timeout: 120
# sentences: 14
. "$(dirname "$0")/rc"

# page_write PAGE [NUMBER]: with one call
page_write() {
	dd if=/dev/zero of="$TARGET" bs=$((4 * ${2:-1}))k seek="$(($1 * 4))k" count=1 oflag=direct,seek_bytes status=none
}

# counted NAME...: their values
counted() {
	local name values=()

	for name; do
		values+=("$(status_field t0 "$name")")
	done
	echo "${values[*]}"
}

# run_add PAGE FILE-PAGE: of some file
run_add() {
	dmsetup message t0 0 runs add 253:0 12 34 "$2" "$1" 1
}

# As they are counted, with the tracepoint and without
counts_are_right() {
	dmsetup message t0 0 reset_counters
	page_write "$1"
	page_write $(($1 + 4)) 2
	page_write $(($1 + 8))
	check_that "$2: three writes are unknown and have no hint" "$(counted writes unknown none)" == "3 3 3"
	page_write $(($1 + 6))
	check_that "$2: where one has ended, the next one goes on" "$(counted writes adjacency append)" == "4 1 1"
}

# commands [PATTERN]: number of writes that the SSD got
commands() {
	grep -c "nvmev_cmd: .*opcode=0x01 .*${1:-}" "$TRACEFS/trace" || true
}

new_ssd ssd0 capacity_mib=256
new_target t0 "$DEV" hints=on

counts_are_right 100 "alone"
at_end trace_off
trace_on dmda_hint
counts_are_right 200 "with a tracepoint"
check_that "which shows them" "$(grep -c 'dmda_hint: .* hint=none .*source=unknown' "$TRACEFS/trace")" -eq 3
trace_off

# ---- what the run table must not believe any more
dmsetup message t0 0 runs clear
for fpage in 0 7 90; do
	run_add 1000 "$fpage"
	extents=$(status_field t0 runs_extents)
	page_write 1001
	check_that "beside page $fpage of a file, nothing is forgotten" "$(status_field t0 runs_extents)" -eq "$extents"
	page_write 1000
	check_that "but there it is" "$(status_field t0 runs_extents)" -eq $((extents - 1))
done

# ---- a long one
echo 128 >"/sys/block/${DEV##*/}/queue/max_sectors_kb"
at_end tee "$TRACEFS/events/nvmev/nvmev_cmd/enable" <<<0
echo >"$TRACEFS/trace"
echo 1 >"$TRACEFS/events/nvmev/nvmev_cmd/enable"
page_write 4096 256
echo 0 >"$TRACEFS/events/nvmev/nvmev_cmd/enable"
check_that "1 MiB is eight commands" "$(commands)" -eq 8
check_that "the first has no hint" "$(commands cdw12=0x0000)" -eq 1
check_that "each of the others follows the one before it" "$(sed -n \
	's/.*nvmev_cmd: .* slba=\([0-9]*\) .* cdw2=\([0-9]*\) .* cdw12=0x01.*/\1 \2/p' "$TRACEFS/trace" |
	awk '$1 == $2 + 1' | wc -l)" -eq 7
