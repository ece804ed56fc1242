#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Stripes over all dies and their parity: how many programs they take, what becomes of units that are too
# far ahead, and data that is right through collection, state files and power failures.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 2
# timeout: 240
# sentences: 26
. "$(dirname "$0")/rc"

ITEM=$CONFIGFS/ssd0
OVERWRITE=$((1 << 25))
PLACES=$TRACEFS/events/nvmev/nvmev_place/enable

# put_over FIRST_PAGE: overwrite a unit, with a hint
put_over() {
	nvme io-passthru "$DEV" --opcode=1 --namespace-id=1 --write --data-len=32768 \
		--input-file="$T_DIR/zeroes" --cdw10=$(($1 * 8)) --cdw12=$((OVERWRITE | 63)) >"$T_DIR/said" 2>&1
}

# put_units NUMBER: write so many units in order, each by a command
put_units() {
	dd if=/dev/zero of="$DEV" bs=32768 count="$1" oflag=direct status=none
}

head -c 32768 /dev/zero >"$T_DIR/zeroes"

# Eight dies, units of 8 pages: a stripe has seven units of data. Nothing depends on times.
TIMELESS=(capacity_mib=512 units_per_eblk=16 bg_eblks=0 bg_mend=0 hold_ns=0)
new_ssd ssd0 "${TIMELESS[@]}" stripe_lead=4 parity=1
check_that "the lead can be read" "$(<"$ITEM/stripe_lead")" == 4
check_that "and the parity" "$(<"$ITEM/parity")" == 1
put_units 672
check_that "672 units are 96 stripes" "$(ssd_stat ssd0 parity_programs)" -eq 96
check_that "of eight units each" "$(ssd_stat ssd0 nand_pages_programmed)" -eq $((96 * 8 * 8))
check_that "in which plain units go round" "$(ssd_stat ssd0 stripe_moves)" -eq 0
for _ in {1..6}; do
	put_over 0
done
check_that "a unit that is overwritten stays on its die" "$(ssd_stat ssd0 stripe_moves)" -eq 0
check_that "at the cost of padding on others" "$(ssd_stat ssd0 stripe_pads)" -gt 0
echo 1 >"$PLACES"
for _ in {1..60}; do
	put_over 0
done
echo 0 >"$PLACES"
check_that "until that is too much" "$(ssd_stat ssd0 stripe_moves)" -gt 0
# Four for each die, and one for four units
check_that "which was one for four units" "$(ssd_stat ssd0 stripe_pads)" -le $((32 + 738 / 4))
check "the trace tells of units that went elsewhere" grep -q 'lpn=-1 nr_pages=8 rule=7 ' "$TRACEFS/trace"
nvmev-ssd power-off ssd0
echo 5 >"$ITEM/stripe_lead"
check_fails "the lead stays what it was while there is data" sh -c "echo 1 >$ITEM/power"
drop_ssd ssd0

new_ssd ssd0 "${TIMELESS[@]}" stripe_lead=4
put_units 672
check_that "without parity 672 units are 672" "$(ssd_stat ssd0 nand_pages_programmed)" -eq $((672 * 8))
check_that "and none of parity" "$(ssd_stat ssd0 parity_programs)" -eq 0
drop_ssd ssd0

# Collection, state files
new_ssd ssd0 capacity_mib=512 units_per_eblk=16 stripe_lead=2 parity=1
nvmev-ssd precondition ssd0 --fill 90 --random 0.5x >"$T_DIR/said"
DEV=$(ssd_device ssd0)
before=$(ssd_stat ssd0 parity_programs)
check "2000 pages are written to a drive that collects" spans write 512 2000 5
check "and are there" spans verify 512 2000 5
check_that "it collects" "$(ssd_stat ssd0 gc_runs)" -gt 0
check_that "and has parity" "$(ssd_stat ssd0 parity_programs)" -gt "$before"
spans_outlive_state_file 512 2000 5
drop_ssd ssd0

# The simulator has the same stripes.
simulator_makes_the_same 0.5x capacity_mib=512 units_per_eblk=16 stripe_lead=3 parity=1

# The power fails: what was flushed is there, parity is not mistaken for data.
new_ssd ssd0 profile=tlc capacity_mib=2048 units_per_eblk=16 stripe_lead=2 parity=1
for seed in 7 8 9; do
	spans write 2048 1000 "$seed"
	dd if=/dev/zero of="$DEV" bs=1M seek=$((seed * 128)) count=64 oflag=direct status=none
	spans write 2048 1000 "$seed"
	nvmev-ssd power-cut ssd0
	DEV=$(nvmev-ssd power-on ssd0)
	check "what was flushed before power failure $((seed - 6)) is there" spans verify 2048 1000 "$seed"
done
check_that "there was parity" "$(ssd_stat ssd0 parity_programs)" -gt 0
drop_ssd ssd0
