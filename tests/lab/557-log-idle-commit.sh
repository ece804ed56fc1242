#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode: what was written, and nobody flushed, is durable after a second all the same, as on dm-thin;
# what somebody flushed, at once, and then what comes later has a second of its own.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 3
# timeout: 300
# sentences: 9
. "$(dirname "$0")/rc"

# A second, and what a commit takes
IDLE_SECONDS=2

low_disk $((96 * 1024))
new_log_target t0 /dev/mapper/low --segment 1M
write_mib "$T_DIR/data" 2

put() {
	dd if="$T_DIR/data" of="$TARGET" bs=64k count=16 "$@" oflag=direct status=none
}

# power_fails: what was not written to the device below never is
power_fails() {
	becomes low "0 $SECTORS error"
	dmsetup remove --retry t0
	becomes low "0 $SECTORS linear /dev/ram0 0"
	dmsetup create t0 --table "$LINE"
}

# holds SKIP: the data is there
holds() {
	dd if="$TARGET" bs=64k count=16 skip="$1" iflag=direct status=none | cmp -n $((1 << 20)) - "$T_DIR/data"
}

# lost SKIP: it can be read, and is something else
lost() {
	dd if="$TARGET" of="$T_DIR/read" bs=64k count=16 skip="$1" iflag=direct status=none
	head -c $((1 << 20)) "$T_DIR/data" | cmp -s - "$T_DIR/read" && return 1
	[[ $(stat -c %s "$T_DIR/read") -eq $((1 << 20)) ]]
}

put conv=fsync,notrunc
power_fails
check "what was flushed is there after a power failure" holds 0
put seek=16 conv=notrunc
power_fails
check "what was not flushed is gone" lost 16
put seek=16 conv=notrunc
sleep $IDLE_SECONDS
power_fails
check "what was not flushed is there when $IDLE_SECONDS s have passed" holds 16
check "what was flushed is still there" holds 0

# later SKIP SECONDS: written 0.8 s after what was flushed at once, so many seconds before the power fails
later() {
	sleep 0.8
	put seek="$1" conv=notrunc
	sleep "$2"
	power_fails
}

# flush_pages: one by one, so that the last flushes need nothing but the flush
flush_pages() {
	local i

	for i in {1..6}; do
		dd if="$T_DIR/data" of="$TARGET" bs=4k count=1 oflag=direct conv=fsync,notrunc status=none
	done
}

put conv=fsync,notrunc
later 32 0.4
check "a flush leaves what comes later a second of its own" lost 32
put conv=fsync,notrunc
later 48 $IDLE_SECONDS
check "... and no more than that" holds 48
flush_pages
later 64 0.4
check "so does one that is the commit itself" lost 64
flush_pages
later 80 $IDLE_SECONDS
check "... and no more than that" holds 80
dmsetup remove --retry t0
check "dieaware check finds nothing" dieaware check /dev/mapper/low
