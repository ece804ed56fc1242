#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode: what was written, and nobody flushed, is durable after a second all the same, as on dm-thin;
# what somebody flushed, at once.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 2
# timeout: 300
# sentences: 5
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

put conv=fsync,notrunc
power_fails
check "what was flushed is there after a power failure" holds 0
put seek=16 conv=notrunc
power_fails
check_fails "what was not flushed is gone" holds 16
put seek=16 conv=notrunc
sleep $IDLE_SECONDS
power_fails
check "what was not flushed is there when $IDLE_SECONDS s have passed" holds 16
check "what was flushed is still there" holds 0
dmsetup remove --retry t0
check "dieaware check finds nothing" dieaware check /dev/mapper/low
