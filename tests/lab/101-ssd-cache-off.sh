#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The volatile write cache can be switched off, which takes as long as its data takes to NAND. Then what a
# command has done is durable when it is complete.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 2
# timeout: 120
# sentences: 5
. "$(dirname "$0")/rc"

# Switching it off is done when the flush is: 185 ms for a program at this scale.
# cache_off_ms: how long it takes
cache_off_ms() {
	local since=${EPOCHREALTIME/./}

	nvme set-feature "$ctrl" -f 6 -v 0 >"$T_DIR/output"
	echo $(((${EPOCHREALTIME/./} - since) / 1000))
}

new_ssd slow capacity_mib=64 channels=2 units_per_eblk=16 wbuf_kib=2048 run_units=8 plp=0 time_scale=1000
ctrl=${DEV%n1}
dd if=/dev/urandom of="$T_DIR/page" bs=4k count=1 status=none
dd if="$T_DIR/page" of="$DEV" bs=4k oflag=direct status=none
check_that "the cache goes off when its data is on NAND" "$(cache_off_ms)" -ge 180
nvmev-ssd power-cut slow
DEV=$(nvmev-ssd power-on slow)
ctrl=${DEV%n1}
check "so that a power failure does not take it" cmp -n 4096 "$T_DIR/page" "$DEV"
nvme set-feature "$ctrl" -f 6 -v 1 >"$T_DIR/output"
check_that "with nothing in it, it goes off at once" "$(cache_off_ms)" -lt 150

# Nor does Share leave anything in it then.
drop_ssd slow
new_ssd ssd0 capacity_mib=64 channels=2 units_per_eblk=16 wbuf_kib=2048 run_units=8 plp=0 share_pages=64
ctrl=${DEV%n1}
dd if="$T_DIR/page" of="$DEV" bs=4k oflag=direct status=none
cache_off_ms >"$T_DIR/output"
le 8 0 800 >"$T_DIR/range"
le 4 8 0 0 0 >>"$T_DIR/range"
check "with the cache off, a page gets the data of another" nvme io-passthru "$DEV" --opcode=0x81 --namespace-id=1 --write \
	--data-len=32 --input-file="$T_DIR/range" --cdw10=0
nvmev-ssd power-cut ssd0
DEV=$(nvmev-ssd power-on ssd0)
check "... and has it after a power failure" cmp -n 4096 -i 0:409600 "$T_DIR/page" "$DEV"
