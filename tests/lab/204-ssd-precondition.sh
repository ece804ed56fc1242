#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Preconditioning: a used drive in seconds, which is the simulator's to the page, and nearly what a host
# leaves that writes the same; what it refuses, and what is left of it when it is interrupted.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 15
# timeout: 240
# sentences: 54
. "$(dirname "$0")/rc"

ITEM=$CONFIGFS/ssd0

# precondition TEXT: by configfs
precondition() { echo "$1" >"$ITEM/precondition"; }

# refuses SENTENCE WORDS TEXT: the file does not take it, and says why
refuses() {
	check_fails "$1 is refused" precondition "$3"
	check_that "... with a sentence" "$(<"$ITEM/error")" =~ "$2"
}

# simulate TRACE OPTION...: the simulator's report
simulate() {
	dieaware sim --json "${@:2}" "$1" >"$T_DIR/report"
}

# Of what would take seconds
is_interrupted() {
	local status=0

	timeout 0.3 bash -c "echo 100 10000 >$ITEM/precondition" || status=$?
	((status == 124))
}

COUNTERS=(host_pages_written nand_pages_programmed pages_padded gc_runs pages_mapped eblks_levelled pages_levelled)

is_simulated() {
	local counter

	for counter in "${COUNTERS[@]}"; do
		[[ $(ssd_stat ssd0 "$counter") == $(jq ".counters.$counter" "$T_DIR/report") ]] || return 1
	done
}

# dies_of_ssd, dies_of_report: for each die what it has programmed, erased, moved and has
dies_of_ssd() {
	awk 'NR > 1 { print $4, $5, $6, $7, $8, $12, $14, $15 }' /sys/kernel/debug/nvmev/ssd0/dies
}
dies_of_report() {
	jq -r '.dies[] | "\(.units_programmed) \(.eblks_erased) \(.pages_host) \(.pages_gc) \(.pages_valid) \(.eblks_free) \(.erases_least) \(.erases_most)"' "$T_DIR/report"
}

# waf NAME: in thousandths, of all that its dies have programmed
waf() { ssd_stat "$1" write_amplification_permille; }

printf '# dieaware trace 1\n- idle 10000000000\n' >"$T_DIR/rest"
new_ssd ssd0 capacity_mib=256 units_per_eblk=16
since=${EPOCHREALTIME/./}
said=$(nvmev-ssd precondition ssd0 --fill 90 --random 2x --seed 3)
took=$((${EPOCHREALTIME/./} - since))
DEV=$(ssd_device ssd0)
check_that "the block device of a drive that was on is printed" "$said" == "$DEV"
note "256 MiB took $((took / 1000)) ms, with power off and on."
simulate "$T_DIR/rest" --set capacity_mib=256 --set units_per_eblk=16 --fill 90 --random 2x --seed 3
check "its counters are those of the simulator's drive" poll 10 is_simulated
check_that "so is what each die has done and has" "$(dies_of_ssd)" == "$(dies_of_report)"
check_that "which collects" "$(ssd_stat ssd0 gc_runs)" -gt 0
check_that "90 percent of the pages hold data" "$(ssd_stat ssd0 pages_mapped)" -eq $((65536 * 90 / 100))
check_that "the host has written nothing" "$(ssd_stat ssd0 writes)" -eq 0
check_that "the dies are free" "$(awk 'NR > 1 { sum += $10 } END { print sum }' /sys/kernel/debug/nvmev/ssd0/dies)" -eq 0
check "all of it reads as zeroes" cmp -n $((256 << 20)) "$DEV" /dev/zero
check "and can be written" write_mib "$DEV" 16 oflag=direct
drop_ssd ssd0

# The same by a host, with times between commands that are the machine's: nothing of the drive depends
# on them where it collects only when it must, and holds nothing back.
ALIKE=(capacity_mib=64 units_per_eblk=16 bg_eblks=0 hold_ns=0)
new_ssd ssd0 "${ALIKE[@]}"
python3 - "$DEV" <<'END'
import mmap
import os
import sys

PAGES = 16384 * 90 // 100
MASK = (1 << 64) - 1
device = os.open(sys.argv[1], os.O_WRONLY | os.O_DIRECT)
zeroes = mmap.mmap(-1, 1 << 20)
for at in range(0, PAGES, 256):
    os.pwrite(device, memoryview(zeroes)[: min(256, PAGES - at) * 4096], at * 4096)
state = 5
page = memoryview(zeroes)[:4096]
for _ in range(PAGES):
    state = state + 0x9E3779B97F4A7C15 & MASK
    number = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & MASK
    number = (number ^ number >> 27) * 0x94D049BB133111EB & MASK
    number ^= number >> 31
    os.pwrite(device, page, ((number >> 32) * PAGES >> 32) * 4096)
os.fsync(device)
END
host=$(waf ssd0)
written=$(ssd_stat ssd0 host_pages_written)
drop_ssd ssd0
new_ssd ssd0 "${ALIKE[@]}"
nvmev-ssd precondition ssd0 --fill 90 --random 1x --seed 5 >"$T_DIR/said"
DEV=$(ssd_device ssd0)
note "Write amplification is $(waf ssd0) thousandths, and $host if a host writes the same."
check_that "as many pages were written as by a host" "$(ssd_stat ssd0 host_pages_written)" -eq "$written"
check_that "write amplification is not lower by more than 1 percent" $(($(waf ssd0) * 100)) -ge $((host * 99))
check_that "nor higher" $(($(waf ssd0) * 100)) -le $((host * 101))

# Data, a drive that is in use, and what cannot be
write_mib "$DEV" 64 oflag=direct
dd if="$DEV" of="$T_DIR/half" bs=1M skip=32 status=none
refuses "one that is on" "while it is switched off" "90 200"
mkfs.ext4 -q "$DEV" 1M
mkdir "$T_DIR/mount"
mount "$DEV" "$T_DIR/mount"
at_end umount "$T_DIR/mount"
exits 1 "$DEV is mounted or swapped to" nvmev-ssd precondition ssd0
check_that "it is still on" "$(<"$ITEM/power")" -eq 1
umount "$T_DIR/mount"
nvmev-ssd precondition ssd0 --fill 050 --random 0x >"$T_DIR/said"
DEV=$(ssd_device ssd0)
check "what is filled reads as zeroes" cmp -n $((32 << 20)) "$DEV" /dev/zero
check "what is not has its data" cmp -i $((32 << 20)):0 "$DEV" "$T_DIR/half"
exits 1 "is not a number for --fill" nvmev-ssd precondition ssd0 --fill half
exits 1 "is not a number for --fill" nvmev-ssd precondition ssd0 --fill 18446744073709551696
exits 1 "A name is missing" nvmev-ssd stats
exits 1 "write 2x, or 1.5x" nvmev-ssd precondition ssd0 --random 2
exits 1 "There is no option '--speed'" nvmev-ssd precondition ssd0 --speed 1
exits 1 "between 1 and 100 percent" nvmev-ssd precondition ssd0 --fill 101
check_that "one that was on is on again after that" "$(<"$ITEM/power")" -eq 1
nvmev-ssd power-off ssd0
refuses "a fill of nothing" "between 1 and 100 percent" "0 200"
refuses "too much" "100 times at most" "90 10001"
refuses "a single number" "takes the percentage" "90"
check_fails "so are four numbers" precondition "90 200 1 1"
check_fails "and what is none" precondition "90 much"
check_fails "and one that is too large" precondition "90 200 18446744073709551616"
check "it can be interrupted" is_interrupted
check_that "... which says what is left" "$(<"$ITEM/error")" =~ "was interrupted"
nvmev-ssd power-on ssd0 >"$T_DIR/said"
DEV=$(ssd_device ssd0)
check "it works after that" write_mib "$DEV" 16 oflag=direct
drop_ssd ssd0

# A new one that was never on; its namespaces are filled alike
mkdir "$ITEM"
at_end drop_ssd ssd0
echo 64 >"$ITEM/capacity_mib"
echo 32,16 >"$ITEM/namespace_mib"
check "one that was never on can be preconditioned" precondition "25 100 9"
echo 128 >"$ITEM/capacity_mib"
check_fails "it is another drive no more after that" sh -c "echo 1 >$ITEM/power"
echo 64 >"$ITEM/capacity_mib"
echo 1 >"$ITEM/power"
poll 20 nvmev-ssd dev ssd0 2
check_that "each namespace is filled by the same share" \
	"$(sed -n 's/^pages_mapped //p' /sys/kernel/debug/nvmev/ssd0/ns{1,2}/stats | xargs)" == "2048 1024"
drop_ssd ssd0

# Nothing of what was there before comes back with a power failure
new_ssd ssd0 profile=tlc capacity_mib=256 units_per_eblk=16 wbuf_kib=8192 run_units=8
write_mib "$DEV" 128 oflag=direct
nvmev-ssd precondition ssd0 --fill 50 >"$T_DIR/said"
nvmev-ssd power-cut ssd0
nvmev-ssd power-on ssd0 >"$T_DIR/said"
DEV=$(ssd_device ssd0)
check_that "a volatile drive keeps its state when its power fails" "$(ssd_stat ssd0 pages_mapped)" -eq 32768
check "and no older data comes back" cmp -n $((128 << 20)) "$DEV" /dev/zero
drop_ssd ssd0

# With a file, which has it although the drive was not on since
mkdir "$ITEM"
echo "$T_DIR/image" >"$ITEM/backing_file"
echo 64 >"$ITEM/capacity_mib"
precondition "90 100 1"
rmdir "$ITEM"
new_ssd ssd0 backing_file="$T_DIR/image" capacity_mib=64
check_that "a backing file keeps it" "$(ssd_stat ssd0 host_pages_written)" -eq $((2 * 14745))
echo "program 1 1" >/sys/kernel/debug/nvmev/ssd0/fail
check_fails "a write fails when no erase block is left" write_mib "$DEV" 8 oflag=direct
check_that "a drive without spare blocks that fails a program is read-only" "$(ssd_stat ssd0 read_only)" -eq 1
exits 1 "is read-only" nvmev-ssd precondition ssd0
