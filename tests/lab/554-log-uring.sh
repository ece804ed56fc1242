#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode under io_uring with registered buffers and files, with a thread that submits, and with
# polled I/O, with a small cache of the map and while it cleans: the data is right.
# kernels: uml
# long: 6.12 newest
# smp: 2
# mem: 2G
# seconds: 30
# timeout: 240
# sentences: 15
. "$(dirname "$0")/rc"
. "$LAB_DIR/io-uring"

new_polled_ssd ssd0 capacity_mib=96
OPTIONS="map_cache_mb=1 in_place=80" new_log_target t0 "$DEV" --segment 1M
check_that "the driver has a queue to be polled, and the target says so" "$(queue_limit "$TARGET" io_poll)" -eq 1
verifies_all "$TARGET" "on the target"
make_fs ext4 "$TARGET"
new_mount "$TARGET" "$T_DIR/mnt"
# So that it has to clean
write_mib "$T_DIR/mnt/full" 40 conv=fsync
sum=$(sha256sum <"$T_DIR/mnt/full")
verifies_all "$T_DIR/mnt/file" "in a file"
check_that "the file beside it is as it was" "$(sha256sum <"$T_DIR/mnt/full")" == "$sum"
# The kernel thread that submitted may not have closed its file yet, though fio has ended.
poll 10 umount "$T_DIR/mnt"
again t0
check "fsck finds nothing after a restart" check_fs ext4 "$TARGET"
check_that "the target writes" "$(status_field t0 state)" == write
dmsetup remove --retry t0
check "dieaware check finds nothing" dieaware check "$DEV"
