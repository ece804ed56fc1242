#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What defrag, pick migrate and defragd --once may do, and in which way: --max-bytes, by its old name in defragd too, --max-time,
# --ionice, --min-gain, --target-size; a pass of defragd that only says, in JSON, what it would do.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 5
# timeout: 120
# sentences: 18
. "$(dirname "$0")/rc"
. "$LAB_DIR/share"

dd if=/dev/urandom of="$T_DIR/data" bs=32k count=64 status=none
new_ssd ssd0 capacity_mib=512 share_pages=16384
new_target t0 "$DEV"
make_fs ext4 "$TARGET"
mount "$TARGET" "$mnt"
dmsetup message t0 0 hints off
fragment_on_a_die ext4 "$mnt/hot" 64
dmsetup message t0 0 hints auto
sync
counts_of "$mnt" hot=9 >"$T_DIR/counts"
check_that "a dry pass says in JSON what it would do" \
	"$(dieaware defragd --once --dry-run --json --files 1 --state "$T_DIR/counts" "$mnt" | jq -r 'map(.method) | join(" ")')" == "share ssd"
check_that "and does nothing" "$(done_so_far)" == "0 0"
exits 0 "may be copied yet (--max-bytes)" dieaware defragd --once --most 0 --max-time 600 --state "$T_DIR/counts" "$mnt"
exits 0 "left" dieaware defrag --ionice idle --min-gain 10 "$mnt/hot.rest"
check_empty "with -q it says nothing of what was left" "$(dieaware defrag -q "$mnt/hot.rest" 2>&1)"
exits 2 "invalid value" dieaware defrag --ionice fast "$mnt/hot"
fragment ext4 "$mnt/file" 64
sync
dieaware pick analyze --bypass --read-ahead 128K --path "$mnt/file" --out "$T_DIR/hot"
exits 0 "may be moved yet (--max-bytes)" dieaware pick migrate --max-bytes 4K --ionice best-effort "$T_DIR/hot"
check_empty "nor does pick migrate" "$(dieaware pick migrate -q --max-bytes 4K "$T_DIR/hot" 2>&1)"
exits 0 "share " dieaware pick migrate --max-bytes 1G "$T_DIR/hot"

# 256 KiB in pieces of 32 and as much in one piece, which are one range
fragment ext4 "$mnt/mixed" 8
dd if="$T_DIR/data" of="$mnt/mixed" bs=32k skip=8 seek=8 count=8 oflag=direct conv=fsync,notrunc status=none
jq -n --arg path "$mnt/mixed" --argjson inode "$(stat -c %i "$mnt/mixed")" '{kind: "dieaware-pick", version: 1,
	files: [{$path, $inode, ranges: [{begin: 0, bytes: 524288, count: 1}]}]}' >"$T_DIR/hot"

# moves WORDS...: bytes for their pieces
moves() {
	dieaware pick migrate --method move --threshold 99 --json "$@" "$T_DIR/hot" |
		jq '[.[].parts[] | select(.reason == "pieces") | .moved_bytes] | add // 0'
}

check_that "what is in large pieces stays with --target-size" "$(moves --target-size 64K)" == $((8 * 32768))
check_that "and that is all there is to do" "$(moves --target-size 64K)" == 0
check_that "without it all of the range is moved" "$(moves)" == $((16 * 32768))
check "it is the same" cmp -n $((16 * 32768)) "$mnt/mixed" "$T_DIR/data"
umount "$mnt"
