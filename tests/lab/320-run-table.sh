#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# How much memory the run table may take: discards, shards that come late.
# kernels: 6.12
# smp: 2
# mem: 2G
# seconds: 20
# timeout: 240
. "$(dirname "$0")/rc"

CHUNK=8192

# teach FILE-NUMBER: runs from the input, a "FILE-PAGE DEVICE-PAGE" a line, a page each
teach() {
	sed 's/$/ 1/' | xargs -n 900 dmsetup message t0 0 runs add 253:0 "$1" 1
}

# every STEP FIRST NUMBER: pages, as file pages and device pages
every() {
	seq "$2" "$1" $(($2 + $1 * ($3 - 1))) | awk '{ print $1, $1 }'
}

new_ssd ssd0 capacity_mib=16384
new_target t0 "$DEV" hints=on runs_mb=1 learn_reads=off

# ---- memory of what was discarded
dmsetup message t0 0 runs clear
for ((chunk = 0; chunk < 32; chunk++)); do
	every 2 $((chunk * CHUNK)) 150
done | teach 1
taught=$(status_field t0 runs_bytes)
check_that "4800 runs are two entries each" "$(status_field t0 runs_extents)" -eq 9600
check "their pages are discarded" blkdiscard -l $((32 * CHUNK * 4096)) "$TARGET"
check_that "half of the entries is gone" "$(status_field t0 runs_extents)" -eq 4800
check_that "and memory of others can use theirs" "$(status_field t0 runs_bytes)" -lt $((taught * 3 / 4))

# ---- the bound, when some shards have taken everything before others come
dmsetup message t0 0 runs clear
every 2 0 12288 | teach 1
limit=$(status_field t0 runs_limit_bytes)
check_that "few shards take all memory" "$(status_field t0 runs_evicted)" -gt 0
for ((chunk = 3; chunk < 512; chunk++)); do
	every 2 $((chunk * CHUNK)) 12
done | teach 1
check_that "what comes late does not exceed the bound (bytes)" "$(status_field t0 runs_bytes)" -le "$limit"
check_that "which is that of the table line" "$limit" -le $((1 << 20))
