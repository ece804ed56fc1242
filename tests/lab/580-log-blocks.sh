#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A device in log mode that was formatted where blocks have 512 bytes, and copied to where they have
# 4096: its journal cannot be written there. It is refused, as long as nothing has failed, but to read.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 5
# timeout: 120
# sentences: 7
. "$(dirname "$0")/rc"

# attach SECTOR-SIZE: the file as a block device, LOOP
attach() {
	LOOP=$(losetup -f --show --sector-size "$1" "$T_DIR/file")
	at_end losetup -d "$LOOP"
}

holds_data() {
	cmp -n 1048576 "$T_DIR/data" "$TARGET"
}

modprobe loop
truncate -s 64M "$T_DIR/file"
dd if=/dev/urandom of="$T_DIR/data" bs=1M count=1 status=none
attach 512
new_log_target t0 "$LOOP" --segment 1M
dd if="$T_DIR/data" of="$TARGET" bs=1M oflag=direct status=none
dmsetup remove --retry t0
losetup -d "$LOOP"

attach 4096
LINE=$(sed -E "s,/dev/[^ ]+,$LOOP," <<<"$LINE")
mark_log
check_fails "where blocks are larger it is refused" dmsetup create t0 --table "$LINE"
check "with a sentence" log_has "blocks are larger than"
check "but not to read" dmsetup create t0 --readonly --table "$LINE"
check "what was written is there" holds_data
dmsetup remove --retry t0
losetup -d "$LOOP"

attach 512
LINE=$(sed -E "s,/dev/[^ ]+,$LOOP," <<<"$LINE")
check "where they are not, it can be used as before" dmsetup create t0 --table "$LINE"
check "and written" dd if="$T_DIR/data" of="$TARGET" bs=1M oflag=direct conv=fsync,notrunc status=none
dmsetup remove --retry t0
check "dieaware check finds nothing" dieaware check "$LOOP"
