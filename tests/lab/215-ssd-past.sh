#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What a drive without power-loss protection keeps of older data is bounded, also of a page that was shared or
# spread and is written again and again, and is what comes back when the power fails.
# kernels: uml
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 2
# timeout: 120
# sentences: 6
. "$(dirname "$0")/rc"

# share FROM_PAGE TO_PAGE, spread PAGE NR_PAGES
share() {
	le 8 $(($1 * 8)) $(($2 * 8)) >"$T_DIR/range"
	le 4 8 0 0 0 >>"$T_DIR/range"
	nvme io-passthru "$DEV" --opcode=0x81 --namespace-id=1 --write --data-len=32 --input-file="$T_DIR/range" --cdw10=0
}

spread() {
	le 8 $(($1 * 8)) >"$T_DIR/range"
	le 4 $(($2 * 8)) 0 >>"$T_DIR/range"
	nvme io-passthru "$DEV" --opcode=0x85 --namespace-id=1 --write --data-len=16 --input-file="$T_DIR/range" --cdw10=0 --cdw11=0
}

# again PAGE NR: write a page so often, without a flush
again() {
	python3 -c '
import mmap, os, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_DIRECT)
data = mmap.mmap(-1, 4096)
for i in range(int(sys.argv[3])):
    data[:8] = i.to_bytes(8, "little")
    os.pwritev(fd, [data], 4096 * int(sys.argv[2]))
' "$DEV" "$1" "$2"
}

in_memory() {
	awk '$1 == "data_pages_in_memory" { print $2 }' /sys/kernel/debug/nvmev/ssd0/controller
}

page() {
	dd if="$DEV" bs=4k skip="$1" count=1 iflag=direct status=none | sha256sum
}

new_ssd ssd0 capacity_mib=64 channels=2 units_per_eblk=16 wbuf_kib=2048 run_units=8 plp=0 share_pages=4096
dd if=/dev/urandom of="$DEV" bs=4k count=1 oflag=direct conv=fsync status=none
dd if=/dev/urandom of="$DEV" bs=4k seek=100 count=1 oflag=direct conv=fsync status=none
given=$(page 100)
check "a page is spread" spread 0 1
again 0 3000
check_that "... and written 3000 times: not all of that is kept" "$(in_memory)" -lt 100
check "a page gets the data of another" share 100 200
check "... and that is flushed" nvme flush "$DEV" --namespace-id=1
again 200 3000
check_that "... and it is written 3000 times: not all of that is kept" "$(in_memory)" -lt 100
nvmev-ssd power-cut ssd0
DEV=$(nvmev-ssd power-on ssd0)
check_that "a power failure leaves what was flushed" "$(page 200) $(page 100)" == "$given $given"
