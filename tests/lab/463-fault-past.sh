#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A drive without power-loss protection gets no memory for what pages were: such a write
# fails and changes nothing, then or after a power failure, and what was flushed stays.
# kernels: debug
# smp: 2
# mem: 2G
# sentences: 16+
# seconds: 20
# timeout: 300
. "$(dirname "$0")/rc"
need_faults

MANY=1000000
PAGES=512

# write_pages FILE: page by page; prints how many failed.
write_pages() {
	python3 - "$1" "$DEV" <<'END'
import errno, mmap, os, sys
page = mmap.mmap(-1, 4096)
device = os.open(sys.argv[2], os.O_WRONLY | os.O_DIRECT)
nr_failed = 0
with open(sys.argv[1], "rb") as file:
    at = 0
    while data := file.read(4096):
        page[:] = data
        try:
            os.pwrite(device, page, at)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            nr_failed += 1
        at += 4096
print(nr_failed)
END
}

# pages_of FILE: how many pages of the drive are those of the file
pages_of() {
	python3 - "$1" "$DEV" "$PAGES" <<'END'
import sys
with open(sys.argv[1], "rb") as file, open(sys.argv[2], "rb") as device:
    print(sum(file.read(4096) == device.read(4096) for _ in range(int(sys.argv[3]))))
END
}

new_ssd ssd0 capacity_mib=64 channels=2 units_per_eblk=16 wbuf_kib=4096 run_units=8 plp=0
for name in old new; do
	dd if=/dev/urandom of="$T_DIR/$name" bs=4k count=$PAGES status=none
done
dd if="$T_DIR/old" of="$DEV" bs=1M oflag=direct conv=fsync status=none

read -ra below_ssd < <(below nvmevirt_backend)
fault fail_page_alloc min-order=0
for kind in failslab fail_page_alloc; do
	fault $kind "${below_ssd[@]}" probability=30 times=$MANY ignore-gfp-wait=N verbose=0
	failed=$(write_pages "$T_DIR/new")
	felt=$((MANY - $(<"/sys/kernel/debug/$kind/times")))
	calm
	echo 3 >/proc/sys/vm/drop_caches
	check_that "$kind: writes failed, and no others" "$failed" -gt 20
	check_that "$kind: by allocations" "$felt" -ge "$failed"
	check_that "$kind: a page whose write failed is what it was" "$(pages_of "$T_DIR/old")" -eq "$failed"
	check_that "$kind: all others are new" "$(pages_of "$T_DIR/new")" -eq $((PAGES - failed))
	nvmev-ssd power-cut ssd0
	DEV=$(nvmev-ssd power-on ssd0)
	old=$(pages_of "$T_DIR/old") new=$(pages_of "$T_DIR/new")
	check_that "$kind: after a power failure pages are old or new" $((old + new)) -eq $PAGES
	check_that "$kind: and those that could not be written are old" "$old" -ge "$failed"
	check "$kind: with memory all can be written" test "$(write_pages "$T_DIR/new")" -eq 0
	blockdev --flushbufs "$DEV"
	nvme flush "$DEV"
	nvmev-ssd power-cut ssd0
	DEV=$(nvmev-ssd power-on ssd0)
	check_that "$kind: and what was flushed stays" "$(pages_of "$T_DIR/new")" -eq $PAGES
	dd if="$T_DIR/old" of="$DEV" bs=1M oflag=direct conv=fsync status=none
done
