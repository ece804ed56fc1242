#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode on a disk that does not read the newest root: the kernel's log says which root is left out, and where the
# other one is too old, that this is why.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 3
# timeout: 120
# sentences: 9
. "$(dirname "$0")/rc"

low_disk $((64 * 1024))
OPTIONS="cleaning=off idle_ms=0" new_log_target t0 /dev/mapper/low --segment 256K

write_some() {
	write_mib "$TARGET" 1 oflag=direct conv=fsync
}

# field NAME: of the dump
field() {
	grep -oE "\b$1=[0-9]+" "$T_DIR/dump" | tail -n 1 | cut -d = -f 2
}

# newest_root_fails: sets ROOT to its letter
newest_root_fails() {
	local places=(root_even root_odd) letters=(A B) at which

	dieaware dump --part superblock,root /dev/mapper/low >"$T_DIR/dump"
	which=$(($(field epoch) % 2))
	ROOT=${letters[which]}
	at=$(($(field "${places[which]}") * 8))
	becomes low "0 $at linear /dev/ram0 0" "$at 8 error" "$((at + 8)) $((SECTORS - at - 8)) linear /dev/ram0 $((at + 8))"
}

write_some
sum=$(head -c 1M "$TARGET" | sha256sum)
dmsetup remove --retry t0
newest_root_fails
mark_log
check "when the newest root cannot be read, the device can" dmsetup create t0 --readonly --table "$LINE"
check_that "with all that it has" "$(head -c 1M "$TARGET" | sha256sum)" == "$sum"
check "it says which root is left out" log_has "dieaware: [0-9:]+: Root $ROOT is left out: a root cannot be read\.\$"
dmsetup remove --retry t0
becomes low "0 $SECTORS linear /dev/ram0 0"

dmsetup create t0 --table "$LINE"
write_some
becomes low "0 $SECTORS error"
dmsetup remove --retry t0
becomes low "0 $SECTORS linear /dev/ram0 0"
newest_root_fails
mark_log
check_fails "when the other one is older than the last start, it cannot" dmsetup create t0 --readonly --table "$LINE"
check "it says that" log_has "The device cannot be started: a root cannot be read or is damaged, and the one before it is too old\.\$"
check "and which root is left out" log_has "dieaware: [0-9:]+: Root $ROOT is left out: a root cannot be read\.\$"
check_fails "and nothing of flushes" log_has "ignores flushes"
becomes low "0 $SECTORS linear /dev/ram0 0"
mark_log
dmsetup create t0 --table "$LINE"
check_fails "with both roots nothing is left out" log_has "is left out"
dmsetup remove --retry t0
mark_log
new_log_target t0 /dev/mapper/low --segment 256K
check_fails "nor is what another log has left there" log_has "is left out"
