#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Hint mode under io_uring with registered buffers and files, with a thread that submits, and with
# polled I/O: the data is right, polling reaches the SSD's own queue for it, and hints do as well.
# kernels: uml
# long: 6.12 newest
# smp: 2
# smp on uml: 1
# mem: 2G
# seconds: 40
# timeout: 240
# sentences: 18
. "$(dirname "$0")/rc"
. "$LAB_DIR/io-uring"

new_polled_ssd ssd0 capacity_mib=512
new_target t0 "$DEV" hints=on
check_that "the driver has a queue to be polled, and the target says so" "$(queue_limit "$TARGET" io_poll)" -eq 1
verifies_all "$TARGET" "on the target"
check_that "reads that interrupts end have some" "$(interrupts_of "$DEV" read_polled "$TARGET")" -ge 100
check_that "reads that are polled have next to none" "$(interrupts_of "$DEV" read_polled "$TARGET" --hipri)" -le 50

make_fs xfs "$TARGET"
new_mount "$TARGET" "$T_DIR/mnt"
verifies_all "$T_DIR/mnt/file" "in a file"
before=$(status_field t0 confirmed_append)
check "a file is written with registered buffers, polled" fio --name=append --filename="$T_DIR/mnt/append" \
	--ioengine=io_uring --direct=1 --size=4m --rw=write --bs=64k --iodepth=1 --fixedbufs --hipri --fallocate=none
check_that "its appends carry hints" "$(($(status_field t0 confirmed_append) - before))" -ge 60
check_that "of which none is lost" "$(status_field t0 lost_unseen) $(status_field t0 lost_moved)" == "0 0"
check_that "nor rejected" "$(status_field t0 rejected)" -eq 0
# The kernel thread that submitted may not have closed its file yet, though fio has ended.
poll 10 umount "$T_DIR/mnt"
check "fsck finds nothing" check_fs xfs "$TARGET"
