#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Who tells the run table of terabytes keeps it busy for seconds, and a suspension waits meanwhile: when he
# is killed, it is over.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 20
# timeout: 240
# sentences: 5
. "$(dirname "$0")/rc"
. "$LAB_DIR/16-tib"
. "$LAB_DIR/loop-namespace"

NR_RUNS=300

# tell: a message, each run of which is as long as the device
tell() {
	# shellcheck disable=SC2046 # words
	exec dmsetup message t0 0 runs add 253:0 12 34 $(for ((i = 0; i < NR_RUNS; i++)); do echo 0 0 4294967295; done)
}

now_ms() {
	date +%s%3N
}

new_huge_file
new_namespace "$FILE"
new_target t0 "$DEV" hints=on
tell 2>"$T_DIR/err" &
teller=$!
sleep 1
check "a message of $NR_RUNS runs of 16 TiB takes more than a second" kill -0 "$teller"
began=$(now_ms)
kill -KILL "$teller"
status=0
wait "$teller" || status=$?
check_that "who sends it can be killed" "$status" -eq 137
check_that "which takes no time (ms)" $(($(now_ms) - began)) -lt 3000
check_that "what was told is known" "$(status_field t0 runs_extents)" -gt 0
check "and the target can be suspended" sh -c "dmsetup suspend t0 && dmsetup resume t0"
