#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode tells the drive of places that hold nothing among valid pages, when it overwrites in
# place: the drive takes them for empty, and nothing else, while others read and after a power failure.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 30
# timeout: 240
# sentences: 13
. "$(dirname "$0")/rc"

NR=16384

# pages WHAT: write versions of the pages, or read all and compare with the last ones.
pages() {
	python3 - "$TARGET" $NR "$1" <<-"END"
		import mmap, os, random, sys
		device, nr, what = sys.argv[1], int(sys.argv[2]), sys.argv[3]
		fd = os.open(device, os.O_RDWR | os.O_DIRECT)
		block = mmap.mmap(-1, 4096)
		spread = random.Random(1).sample(range(nr), nr // 4)
		again = random.Random(2).sample(range(nr), nr // 8)
		version = [0] * nr
		for page in spread:
		    version[page] = 1
		if what == "check":
		    for page in again:
		        version[page] = 2
		    for page in range(nr):
		        os.preadv(fd, [block], page * 4096)
		        if block[:] != b"%08d-%07d" % (page, version[page]) * 256:
		            sys.exit(f"Page {page} has other data: {block[:16]}")
		    sys.exit()
		for page in {"fill": range(nr), "spread": spread, "again": again}[what]:
		    block[:] = b"%08d-%07d" % (page, {"fill": 0, "spread": 1, "again": 2}[what]) * 256
		    os.pwritev(fd, [block], page * 4096)
		os.fsync(fd)
	END
}

# Pages of which the drive believes that they hold something
nr_mapped() {
	awk '$1 == "pages_mapped" { print $2 }' /sys/kernel/debug/nvmev/ssd0/ftl
}

knows_holes() {
	(($(nr_mapped) < before - NR / 5))
}

new_ssd ssd0 capacity_mib=128 plp=0
OPTIONS="in_place=100 idle_ms=0 cleaning=off" new_log_target t0 "$DEV" --segment 512K --stripe 32K
check "pages are written" pages fill
check "a quarter of them again, all over the device" pages spread
before=$(nr_mapped)
check_that "each of these left a place that holds nothing" "$before" -ge $((NR * 5 / 4))
check "overwrites in place are allowed" dmsetup message t0 0 in_place 0
# Somebody reads all the time: then it is done a little later.
dd if="$TARGET" of=/dev/null bs=64k iflag=direct status=none count=$((NR / 16)) &
check "some are overwritten in place" pages again
wait $!
check_that "they were" "$(status_field t0 in_place_pages)" -ge $((NR * 9 / 80))
check "the drive knows of the holes" poll 10 knows_holes
check_that "and has the data" "$(nr_mapped)" -ge $NR
check "the data is the same" pages check
nvmev-ssd power-cut ssd0
dmsetup remove --retry t0
DEV=$(nvmev-ssd power-on ssd0)
check "dieaware check finds nothing" dieaware check "$DEV"
dmsetup create t0 --table "${LINE/ \/dev\/nvme[0-9]*n1 / $DEV }"
check "after a power failure it is the same" pages check
check "and when all is cleaned" dmsetup message t0 0 clean
check "it is the same then" pages check
