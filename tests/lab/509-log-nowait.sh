#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode under io_uring on a device with few requests: writes that may not wait for one keep their places.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 10
# timeout: 180
# sentences: 5
. "$(dirname "$0")/rc"

NR=4096

new_ssd ssd0 capacity_mib=128
OPTIONS="in_place=100" new_log_target t0 "$DEV" --segment 1M
queue=/sys/block/${DEV#/dev/}/queue
echo 4 >"$queue/nr_requests"
check_that "the device below has few requests" "$(<"$queue/nr_requests")" -eq 4
written() {
	fio --name=nowait --filename="$TARGET" --ioengine=io_uring --direct=1 --rw=randwrite --bs=4k --size=64m \
		--number_ios=$NR --iodepth=64 --norandommap --verify=crc32c --verify_state_save=0 "$@"
}
before=$(status_field t0 user_pages)
check "io_uring writes" written --do_verify=0 --minimal
check_that "each page gets one place" $(($(status_field t0 user_pages) - before)) -eq $NR
again t0
check_that "the target writes" "$(status_field t0 state)" == write
dmsetup remove --retry t0
check "dieaware check finds nothing" dieaware check "$DEV"
