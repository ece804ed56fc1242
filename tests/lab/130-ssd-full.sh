#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A completely full SSD is overwritten at random, with and without hints: garbage
# collection keeps up, no die loses space, every byte is right.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 60
# timeout: 480
# sentences: 16
. "$(dirname "$0")/rc"

# Data that names its place: fio verifies it without having written it now.
full() {
	fio --name=full --filename="$1" --direct=1 --ioengine=libaio --iodepth=16 --verify=crc32c --verify_fatal=1 \
		--verify_state_save=0 --group_reporting "${@:2}"
}

new_ssd ssd0 capacity_mib=64 units_per_eblk=16
size=$(blockdev --getsize64 "$DEV")
check "all of it is written" full "$DEV" --rw=write --bs=256k --do_verify=0
check_that "every page is mapped" "$(ssd_stat ssd0 pages_mapped)" -eq $((size / 4096))
check "and verifies" full "$DEV" --rw=write --bs=256k --verify_only
gc=$(ssd_stat ssd0 gc_runs)
check "random 4 KiB overwrites of the whole capacity verify" full "$DEV" --rw=randwrite --bs=4k
check_that "garbage was collected" "$(ssd_stat ssd0 gc_runs)" -gt "$gc"
check_that "every page is still mapped once" "$(ssd_stat ssd0 pages_mapped)" -eq $((size / 4096))
check_that "the dies hold as many pages" "$(ssd_valid ssd0)" -eq "$(ssd_stat ssd0 pages_mapped)"

new_target t0 "$DEV" hints=on
check "random 16 KiB overwrites with hints verify" full "$TARGET" --rw=randwrite --bs=16k
check "a second lap, 64 KiB" full "$TARGET" --rw=randwrite --bs=64k
check_that "they carried hints" $(($(status_field t0 confirmed_append) + $(status_field t0 confirmed_overwrite))) -gt 100
check_that "every page is still mapped once" "$(ssd_stat ssd0 pages_mapped)" -eq $((size / 4096))
check_that "the dies hold as many pages" "$(ssd_valid ssd0)" -eq "$(ssd_stat ssd0 pages_mapped)"
check "everything is discarded" blkdiscard "$TARGET"
check_that "nothing is mapped" "$(ssd_stat ssd0 pages_mapped)" -eq 0
check "it can be filled again" full "$TARGET" --rw=write --bs=1m
check_that "the dies hold as many pages" "$(ssd_valid ssd0)" -eq "$(ssd_stat ssd0 pages_mapped)"
