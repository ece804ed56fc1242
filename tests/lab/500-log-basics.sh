#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode as a block device: size, limits, status, messages; full, overwritten, trimmed; read-only;
# what it refuses.
# Two CPUs: on 6.1 and the newest no other test has log mode on several.
# kernels: 6.1 6.12 uml
# long: newest
# smp: 2
# smp on uml: 1
# mem: 2G
# seconds: 30
# timeout: 240
# sentences: 56
. "$(dirname "$0")/rc"

new_ssd ssd0 capacity_mib=96
new_log_target t0 "$DEV" --segment 1M
lpns=$(status_field t0 lpns)
check_that "the target has as many pages as the format says" "$(blockdev --getsz "$TARGET")" -eq $((lpns * 8))
check_that "its blocks have 4096 bytes" "$(queue_limit "$TARGET" logical_block_size)" -eq 4096
check_that "it takes discards" "$(queue_limit "$TARGET" discard_max_bytes)" -gt 0
check_that "it has a volatile cache" "$(queue_limit "$TARGET" write_cache)" == "write back"
check_that "it can be written" "$(status_field t0 state)" == write
check_that "nothing is mapped" "$(status_field t0 mapped_pages)" -eq 0
check_that "the table line is printed back" "$(dmsetup table t0 | cut -d ' ' -f 6-)" == "log"

# Pages that were never written, and data
check "pages that were never written are zeroes" cmp -n 1048576 /dev/zero "$TARGET"
dd if=/dev/urandom of="$T_DIR/data" bs=1M count=4 status=none
dd if="$T_DIR/data" of="$TARGET" bs=1M oflag=direct status=none
check_that "1024 pages are mapped" "$(status_field t0 mapped_pages)" -eq 1024
check "they read back" cmp -n 4194304 "$T_DIR/data" "$TARGET"
check "blkdiscard" blkdiscard -o 1048576 -l 1048576 "$TARGET"
check_that "256 pages less are mapped" "$(status_field t0 mapped_pages)" -eq 768
check "what was discarded reads as zeroes" sh -c "dd if=$TARGET bs=1M skip=1 count=1 iflag=direct status=none | cmp -n 1048576 - /dev/zero"
check "write zeroes" blkdiscard -z -o 0 -l 1048576 "$TARGET"
check_that "as many again" "$(status_field t0 mapped_pages)" -eq 512
commits=$(status_field t0 commits)
dd if="$T_DIR/data" of="$TARGET" bs=1M count=1 conv=fsync status=none
check_that "fsync commits" "$(status_field t0 commits)" -gt "$commits"

# Messages
for words in "cleaning off" "cleaning on" "policy greedy" "policy cost-benefit" "policy file-aware" checkpoint clean "hints off" \
	"hints auto" "runs clear" reset_counters; do
	# shellcheck disable=SC2086
	check "message $words" dmsetup message t0 0 $words
done
for words in "" "cleaning" "policy" "policy worst" "clean all" "hints sideways"; do
	# shellcheck disable=SC2086
	check_fails "refused message: '${words:-nothing}'" dmsetup message t0 0 $words
done

# All of it, and over again: without cleaning there would be no place.
check "the whole device is filled, overwritten at random and verified" fio --name=full --filename="$TARGET" \
	--rw=randwrite --bssplit=4k/30:32k/70 --direct=1 --ioengine=libaio --iodepth=16 --loops=2 \
	--verify=crc32c --verify_fatal=1 --verify_state_save=0 --size=100%
check_that "all pages are mapped" "$(status_field t0 mapped_pages)" -ge $((lpns - 8))
check_that "segments were cleaned" "$(status_field t0 cleaned_segments)" -gt 0
sum=$(sha256sum <"$TARGET")
again t0
check_that "it is the same after a restart" "$(sha256sum <"$TARGET")" == "$sum"

# Read-only
dmsetup remove t0
dmsetup create t0 --readonly --table "$LINE"
check_that "it is the same read-only" "$(sha256sum <"$TARGET")" == "$sum"
check_that "and says so" "$(status_field t0 state)" == read_only
dmsetup remove t0
check "dieaware check finds nothing" dieaware check "$DEV"

# What it refuses
refused() {
	local sentence=$1 words=$2 line=$3
	mark_log
	check_fails "refused: $sentence" dmsetup create t0 --table "$line"
	check "with a sentence" log_has "$words"
}
sectors=${LINE#0 }
sectors=${sectors%% *}
refused "more than was formatted" "more than the formatted device" "0 $((sectors + 8)) dieaware $DEV 0 log"
refused "half a page" "multiples of 8" "0 $((sectors - 4)) dieaware $DEV 0 log"
refused "a start in the middle of a page" "multiple of 8 sectors" "0 $sectors dieaware $DEV 4 log"
refused "a start where no superblock is" "not formatted" "0 $sectors dieaware $DEV 8 log"
# feature_byte DIGITS: a byte of both superblocks, after so many digits, has a bit that nobody knows.
feature_byte() {
	sed -E "s/^(superblock .*body=.{$1})../\180/" "$T_DIR/exact" >"$T_DIR/changed"
	dieaware restore --force "$T_DIR/changed" "$DEV"
}
dieaware dump --exact "$DEV" >"$T_DIR/exact"
feature_byte 32
refused "a feature that must be known" "features that this version does not know" "$LINE"
feature_byte 16
refused "a feature that must be known to write" "can only read" "$LINE"
check "but not to read" dmsetup create t0 --readonly --table "$LINE"
dmsetup remove t0
dieaware restore --force "$T_DIR/exact" "$DEV"
dd if=/dev/zero of="$DEV" bs=4k count=1 oflag=direct status=none
check "the other superblock is enough" dmsetup create t0 --table "$LINE"
dmsetup remove t0
# The target has written the first one again.
for page in 0 16; do
	dd if=/dev/zero of="$DEV" bs=4k count=1 seek=$page oflag=direct status=none
done
refused "a device without superblocks" "not formatted" "$LINE"
