#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What the run table must not believe any more, and how much memory it may take: parts of
# pages, hints off and on again, discards, shards that come late.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 20
# timeout: 240
# sentences: 15
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

write_at() {
	dd if=/dev/zero of="$TARGET" bs=64k seek="$1" count=1 oflag=direct status=none
}

# file_write SIZE: of the file's first bytes
file_write() {
	dd if=/dev/zero of="$T_DIR/mnt/file" bs="$1" count=1 oflag=direct conv=notrunc status=none
}

# traced NAME: of the last write of the file in the trace
traced() {
	sed -n "s/.* dmda_hint: .* ino=$(stat -c %i "$T_DIR/mnt/file") /&/p" "$TRACEFS/trace" |
		grep -o " $1=[^ ]*" | tail -n 1 | cut -d = -f 2
}

new_ssd ssd0 capacity_mib=16384
new_target t0 "$DEV" hints=on runs_mb=1 learn_reads=off

# ---- hints off and on: what unknown writes there were meanwhile nobody saw
write_at 1
dmsetup message t0 0 hints off
dmsetup message t0 0 hints on
dmsetup message t0 0 reset_counters
write_at 2
check_that "after hints off and on, a write continues none from before" "$(status_field t0 append)" -eq 0
write_at 3
check_that "but one from after" "$(status_field t0 append)" -eq 1
dmsetup message t0 0 hints off
dmsetup message t0 0 runs add 253:0 12 34 0 "$CHUNK" 1
write_at $((CHUNK / 16))
dmsetup message t0 0 hints on
check_that "nor is believed what was told meanwhile" "$(status_field t0 runs_extents)" -eq 0

# ---- parts of pages
make_fs ext4 "$TARGET"
new_mount "$TARGET" "$T_DIR/mnt"
at_end trace_off
trace_on dmda_hint
dd if=/dev/zero of="$T_DIR/mnt/file" bs=4k count=1 oflag=direct status=none
sync "$T_DIR/mnt/file"
page=$(traced dpn)
check_that "a page of a file is written" "$page" -gt 0
file_write 512
check_that "a part of it is known to be the file's, without a hint" "$(traced hint) $(traced source)" == "none iomap"
file_write 4096
check_that "then all of it is an overwrite" "$(traced hint)" == overwrite
dmsetup message t0 0 runs add 253:0 12 34 0 "$page" 1
extents=$(status_field t0 runs_extents)
file_write 512
check_that "a part of it makes forget that the page was another file's" "$(status_field t0 runs_extents)" -eq $((extents - 1))
file_write 4096
check_that "so all of it is no overwrite" "$(traced hint)" == append
trace_off
umount "$T_DIR/mnt"

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
every 2 0 40960 | teach 1
limit=$(status_field t0 runs_limit_bytes)
check_that "few shards take all memory" "$(status_field t0 runs_evicted)" -gt 0
for ((chunk = 3; chunk < 512; chunk++)); do
	every 2 $((chunk * CHUNK)) 12
done | teach 1
check_that "what comes late does not exceed the bound (bytes)" "$(status_field t0 runs_bytes)" -le "$limit"
check_that "which is that of the table line" "$limit" -le $((1 << 20))
