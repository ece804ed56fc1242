#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# How fast files are read over NVMe/TCP, in virtual time: one that was written in one go, and two that
# grew in turns with another, with hints and without. The figures are in docs/fabrics.md.
# kernels: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 10
# timeout: 600
# sentences: 2
. "$(dirname "$0")/rc"
. "$(dirname "$0")/fabric"

# A file of 8 MiB, on an SSD that is so many times slower than the emulated CPU takes it to be
UNITS=256 SCALE=16

# read_ns FILE: the median time of reading all of it in steps of 1 MiB, past the page cache
read_ns() {
	python3 - "$1" <<-'END'
		import mmap, os, statistics, sys, time

		buffer = mmap.mmap(-1, 1 << 20)
		fd = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
		times = []
		for _ in range(6):
		    begin, at = time.monotonic_ns(), 0
		    while at < os.fstat(fd).st_size:
		        at += os.preadv(fd, [buffer], at)
		    times.append(time.monotonic_ns() - begin)
		# The first one reads metadata as well.
		print(int(statistics.median(times[1:])))
	END
}

# percent FILE: of the speed at which the contiguous file is read
percent() {
	echo $((100 * contiguous / $(read_ns "$1")))
}

new_ssd ssd0 capacity_mib=512 time_scale=$SCALE
connect_ssd "$DEV"
new_target t0 "$REMOTE"
make_fs ext4 "$TARGET" -E nodiscard
new_mount "$TARGET" "$T_DIR/mnt"
dd if=/dev/urandom of="$T_DIR/data" bs=32k count=$UNITS status=none

dd if="$T_DIR/data" of="$T_DIR/mnt/contiguous" bs=1M oflag=direct status=none
write_fragmented "$T_DIR/mnt/hinted" $UNITS
dmsetup message t0 0 hints off
write_fragmented "$T_DIR/mnt/plain" $UNITS
# What is in a write buffer is on no die yet.
sleep 1
contiguous=$(read_ns "$T_DIR/mnt/contiguous")
hinted=$(percent "$T_DIR/mnt/hinted")
plain=$(percent "$T_DIR/mnt/plain")
note "contiguous $((UNITS * 32768 * 1000 * SCALE / contiguous)) MB/s, hinted $hinted %, plain $plain %"
check_that "without hints the file is slow" "$plain" -le 40
check_that "with hints it is three times as fast at least" "$hinted" -ge $((3 * plain))
