#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode gets a write that is longer than an operation of its journal, in one bio; and small ones
# are not cut where their length does not ask for it.
# kernels: 6.12
# long: 6.1 newest
# smp: 1
# mem: 2G
# seconds: 11
# timeout: 60
# sentences: 10
. "$(dirname "$0")/rc"

MAX_OP_PAGES=512 HUGE_PAGES=4
BYTES=$((HUGE_PAGES * 2097152))

# write_huge FILE OFFSET: FILE in one call, from huge pages, whose bio is not limited to 256 pages
write_huge() {
	python3 - "$1" "$TARGET" "$2" <<-'END'
		import mmap, os, sys

		MAP_HUGETLB = 0x40000
		data = open(sys.argv[1], "rb").read()
		memory = mmap.mmap(-1, len(data), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_HUGETLB)
		memory[:] = data
		target = os.open(sys.argv[2], os.O_WRONLY | os.O_DIRECT)
		assert os.pwrite(target, memory, int(sys.argv[3])) == len(data)
	END
}

huge_pages() {
	echo "$1" >/proc/sys/vm/nr_hugepages
}

at_end huge_pages 0
huge_pages "$HUGE_PAGES"
new_ssd ssd0 capacity_mib=512
new_log_target t0 "$DEV" --segment 4M
dd if=/dev/urandom of="$T_DIR/data" bs=1M count=$((HUGE_PAGES * 2)) status=none
at_end trace_off
trace_on dmda_log_write
check "a write of 8 MiB" write_huge "$T_DIR/data" 12288
traced_lengths >"$T_DIR/lengths"
check_that "is cut into operations as long as may be" "$(grep -cx "$MAX_OP_PAGES" "$T_DIR/lengths")" -ge 2
check_that "and none that are longer" "$(sort -n "$T_DIR/lengths" | tail -n 1)" -eq "$MAX_OP_PAGES"
check_that "all of it is written" "$(awk '{ sum += $1 } END { print sum }' "$T_DIR/lengths")" -eq $((HUGE_PAGES * 512))

check "it reads back" cmp -n "$BYTES" -i 0:12288 "$T_DIR/data" "$TARGET"

# 8 pages each, at multiples of 8 pages and 4: one would be cut at page 512.
echo >"$TRACEFS/trace"
dd if="$T_DIR/data" of="$TARGET" bs=32k count=224 oflag=direct,seek_bytes seek=16384 status=none
trace_off
traced_lengths >"$T_DIR/lengths"
check_that "writes of 32 KiB" "$(wc -l <"$T_DIR/lengths")" -ge 224
check_that "are cut where a segment ends, at most" "$(grep -vcx 8 "$T_DIR/lengths")" -le 4

again t0
check "after a restart they read back" cmp -n $((224 * 32768)) -i 0:16384 "$T_DIR/data" "$TARGET"
check "and so does what they left of the first" cmp -n 4096 -i 0:12288 "$T_DIR/data" "$TARGET"
dmsetup remove --retry t0
check "dieaware check finds nothing" dieaware check "$DEV"
