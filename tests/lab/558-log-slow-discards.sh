#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode above a disk whose discards take long: much is discarded at once, and whoever writes
# meanwhile does not wait for that.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 6
# timeout: 600
# sentences: 5
. "$(dirname "$0")/rc"

MIB=256
DISCARD_MS=50
# What a write may take while it has nothing to wait for but other writes
MOST_MS=2000

# longest_write_ms: of those of a time, one after the other, where nothing is discarded
longest_write_ms() {
	python3 - "$TARGET" <<-'END'
		import math, mmap, os, sys, time

		device = os.open(sys.argv[1], os.O_RDWR | os.O_DIRECT)
		buffer, longest, end = mmap.mmap(-1, 65536), 0.0, time.monotonic() + 25
		count = 0
		while time.monotonic() < end:
		    began = time.monotonic()
		    os.pwrite(device, buffer, count % 64 * 65536)
		    longest = max(longest, time.monotonic() - began)
		    count += 1
		    time.sleep(0.05)
		print(math.ceil(longest * 1000))
	END
}

# longest_beside_discards OPTION...: sets LONGEST
longest_beside_discards() {
	OPTIONS="no_space_timeout=30 $*" new_log_target t0 /dev/nbd0 --segment 1M
	lpns=$(status_field t0 lpns)
	dd if=/dev/zero of="$TARGET" bs=1M count=$((lpns / 256)) oflag=direct conv=fsync status=none
	longest_write_ms >"$T_DIR/longest" &
	writer=$!
	sleep 2
	blkdiscard -o $((16 << 20)) -l $(((lpns / 256 - 17) << 20)) "$TARGET"
	wait "$writer"
	LONGEST=$(<"$T_DIR/longest")
	dmsetup remove --retry t0
}

is_there() {
	(($(blockdev --getsz /dev/nbd0) > 0))
}

modprobe nbd nbds_max=1 max_part=0
at_end rmmod nbd
python3 "$LAB_DIR/nbd-slow.py" /dev/nbd0 $MIB $DISCARD_MS &
at_end kill $!
poll 20 is_there

longest_beside_discards discard_passdown=off
check_that "where discards are not handed on, no write takes long (ms)" "$LONGEST" -le $MOST_MS
longest_beside_discards
note "the longest write took $LONGEST ms"
check_that "where they are, none does either" "$LONGEST" -le $MOST_MS
check_that "all end well" "$LONGEST" -gt 0
check_that "and the disk is told what is free (sectors)" "$(awk '{ print $14 }' /sys/block/nbd0/stat)" \
	-gt $((100 << 11))
check "dieaware check finds nothing" dieaware check /dev/nbd0
