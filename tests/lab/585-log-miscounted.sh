#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode on a device whose segment table has more valid pages for a segment than there are: it can
# never be emptied, and cleaning comes to an end all the same.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 6
# timeout: 240
# sentences: 5
. "$(dirname "$0")/rc"

# Of a segment of 64 pages one is its summary.
PAGES=63

low_disk $((64 * 1024))
OPTIONS="in_place=100 idle_ms=0 no_space_timeout=5" new_log_target t0 /dev/mapper/low --segment 256K --reserve 2
lpns=$(status_field t0 lpns)
dd if=/dev/zero of="$TARGET" bs=$((PAGES * 4))k count=$((lpns / PAGES)) oflag=direct conv=fsync status=none
blkdiscard -o $((100 * PAGES * 4096)) -l 8192 "$TARGET"
dmsetup remove --retry t0

# One page more in the only segment that has lost some
dieaware dump --exact /dev/mapper/low >"$T_DIR/exact"
python3 - "$T_DIR/exact" >"$T_DIR/changed" <<-'END'
	import sys

	for line in open(sys.argv[1]):
	    if line.startswith("segments "):
	        head, body = line.rstrip("\n").split(" body=")
	        entries = [body[at : at + 32] for at in range(0, len(body), 32)]
	        entries = ["3e" + entry[2:] if entry[:10] == "3d00000002" else entry for entry in entries]
	        line = head + " body=" + "".join(entries) + "\n"
	    sys.stdout.write(line)
END
check_that "one segment is said to have a page more" \
	"$(diff "$T_DIR/exact" "$T_DIR/changed" | grep -c '^>')" -eq 1
dieaware restore --force "$T_DIR/changed" /dev/mapper/low

check "it starts" dmsetup create t0 --table "$LINE"
sleep 3
cleaned=$(status_field t0 cleaned_segments)
sleep 3
check_that "cleaning has come to an end" "$(status_field t0 cleaned_segments)" -eq "$cleaned"
check "the target can be written" dd if=/dev/zero of="$TARGET" bs=4k count=16 oflag=direct conv=fsync,notrunc status=none
check "and suspended" timeout 60 dmsetup suspend t0
dmsetup resume t0
