#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A drive with an SLC region: a burst is as fast as the region, by the clock, and what does not fit is
# programmed past it; at rest it is folded, on each die what is there; the data is right over folding,
# state files and power failures, and the simulator makes the same drive.
# kernels: uml
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 5
# timeout: 180
# sentences: 29
. "$(dirname "$0")/rc"

ITEM=$CONFIGFS/ssd0
# 8 dies with 2 blocks of 64 / 3 units of 8 pages
REGION_PAGES=$((8 * 2 * 21 * 8))

# write_ns FIRST_MIB MIB: what each page takes, in NS, and how many programs were of the region, in FAST
write_ns() {
	local fast since

	fast=$(ssd_stat ssd0 slc_programs)
	since=${EPOCHREALTIME/./}
	dd if="$T_DIR/random" of="$DEV" bs=256k seek=$(($1 * 4)) count=$(($2 * 4)) oflag=direct conv=notrunc status=none
	NS=$(((${EPOCHREALTIME/./} - since) * 1000 / ($2 * 256)))
	FAST=$(($(ssd_stat ssd0 slc_programs) - fast))
}

# is_near NS WANTED: within a tenth
is_near() {
	(($1 * 10 >= $2 * 9 && $1 * 10 <= $2 * 11))
}

# is_empty: the region has all of its room
is_empty() {
	(($(ssd_stat ssd0 slc_pages_free) == REGION_PAGES))
}

has_folded() {
	(($(ssd_stat ssd0 slc_folds) > 0))
}

# copies: pages that each die has copied, one line if they are as many on all
copies() {
	awk 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "pages_gc") at = i; next } { print $at }' \
		/sys/kernel/debug/nvmev/ssd0/dies | sort -u
}

head -c 16M /dev/urandom >"$T_DIR/random"

# The clock of the drive is slow, so that the timers' resolution does not count.
new_ssd ssd0 capacity_mib=512 units_per_eblk=64 time_scale=20 hold_ns=0 run_units=8 wbuf_kib=1024 slc_mib=10
check_that "the property can be read" "$(<"$ITEM/slc_mib")" -eq 10
check_that "bits of a cell, too" "$(<"$ITEM/cell_bits")" -eq 3
check_that "the region takes what its erase blocks hold" "$(ssd_stat ssd0 slc_pages_free)" -eq $REGION_PAGES
write_ns 0 2
# A unit takes 41 us on the channel, and 62 us to program, or 185: on 8 dies, for 8 pages, times 20
write_ns 2 6
note "A page takes $NS ns."
check "a burst is as fast as the region" is_near $NS 32200
check_that "in which all of it is" $FAST -eq 192
write_ns 8 4
write_ns 0 8
note "A page takes $NS ns."
check "more than it holds takes the time of the others" is_near $NS 70600
check_that "and goes past it" $FAST -eq 0
check_that "nothing is folded while there are writes" "$(ssd_stat ssd0 slc_folds)" -eq 0
check "at rest it is folded" poll 60 is_empty
check_that "block by block" "$(ssd_stat ssd0 slc_folds)" -eq 16
# 0 to 8 MiB were overwritten past it: of what it had, 8 to 10.5 MiB are left
check_that "without what was overwritten" "$(ssd_stat ssd0 slc_pages_folded)" -eq 640
check_that "as many on each die as it had" "$(copies)" -eq 80
check "the data is right" cmp -n 8M "$DEV" "$T_DIR/random"
write_ns 0 2
write_ns 2 6
check "the next burst is as fast as the first" is_near $NS 32200
check_that "and in the region" $FAST -eq 192
drop_ssd ssd0

# Collection, hints, state files
new_ssd ssd0 capacity_mib=512 units_per_eblk=16 slc_mib=6 cell_bits=4
nvmev-ssd precondition ssd0 --fill 90 --random 0.5x >"$T_DIR/said"
DEV=$(ssd_device ssd0)
check "2000 pages are written to a drive that collects" spans write 512 2000 5
check "and are there" spans verify 512 2000 5
check_that "it collects" "$(ssd_stat ssd0 gc_runs)" -gt 0
check "it folds" poll 60 has_folded
check "they are there still" spans verify 512 2000 5
spans_outlive_state_file 512 2000 5
drop_ssd ssd0

# The simulator has the same region.
simulator_makes_the_same 0.5x capacity_mib=512 units_per_eblk=16 slc_mib=8 slc_program_ns=50000 slc_read_ns=20000

# The power fails while blocks are folded, and after that.
new_ssd ssd0 profile=tlc capacity_mib=2048 units_per_eblk=16 slc_mib=16 slc_program_ns=80000
for seed in 7 8 9; do
	spans write 2048 1000 "$seed"
	dd if=/dev/zero of="$DEV" bs=1M seek=$((seed * 128)) count=32 oflag=direct status=none
	spans write 2048 1000 "$seed"
	sleep "0.1$seed"
	nvmev-ssd power-cut ssd0
	DEV=$(nvmev-ssd power-on ssd0)
	check "what was flushed before power failure $((seed - 6)) is there" spans verify 2048 1000 "$seed"
done
check_that "blocks were folded meanwhile" "$(ssd_stat ssd0 slc_folds)" -gt 0
drop_ssd ssd0
