#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode on a drive that loses its write cache: what was overwritten in place, or discarded, and nobody
# flushed, is durable after a second, as what went to new places is (557).
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 3
# timeout: 300
# sentences: 12
. "$(dirname "$0")/rc"
. "$LAB_DIR/log-pages"

# A second, and what a flush takes
IDLE_SECONDS=2

new_in_place 1 2

# discard LPN PAGES
discard() {
	blkdiscard -o $(($1 * 4096)) -l $(($2 * 4096)) "$TARGET"
}

# is_trimmed LPN PAGES
is_trimmed() {
	dd if="$TARGET" bs=4k count="$2" skip="$1" iflag=direct status=none | cmp -n $(($2 * 4096)) - /dev/zero
}

power_fails() {
	nvmev-ssd power-cut ssd0
	dmsetup remove --retry t0
	DEV=$(nvmev-ssd power-on ssd0)
	LINE=${LINE/ \/dev\/nvme[0-9]*n1 / $DEV }
	dmsetup create t0 --table "$LINE"
	dd if=/dev/null of="$TARGET" conv=fsync,notrunc status=none
}

check "pages are written and flushed" put 1 0 64 conv=fsync
in_place=$(status_field t0 in_place_pages)
put 2 5 1
check_that "a page is overwritten in place" "$(status_field t0 in_place_pages)" == $((in_place + 1))
power_fails
check "... and gone if the power fails at once" holds 1 5 1
commits=$(status_field t0 commits)
put 2 5 1
sleep $IDLE_SECONDS
check_that "one that nobody flushes has no operation" "$(status_field t0 commits)" == "$commits"
power_fails
check "... and is there when $IDLE_SECONDS s have passed" holds 2 5 1
check "what is beside it is as it was" holds 1 6 58

check "pages are discarded" discard 16 8
power_fails
check "... and as they were if the power fails at once" holds 1 16 8
discard 16 8
sleep $IDLE_SECONDS
power_fails
check "pages that were discarded are so when $IDLE_SECONDS s have passed" is_trimmed 16 8
check "what is in front of them is as it was" holds 1 6 10
check "what is behind them, too" holds 1 24 40
dmsetup remove --retry t0
check "dieaware check finds nothing" dieaware check "$DEV"
