#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Write Uncorrectable and Verify: what is declared unreadable is, by every command that reads it, until it is
# written, zeroed, deallocated or formatted; it outlives power off, and what a power failure takes with the
# cache of a volatile drive is what a write would lose.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 10
# timeout: 240
# sentences: 47
. "$(dirname "$0")/rc"

# uncorrectable LBA NR, verify LBA NR
uncorrectable() { nvme write-uncor "$DEV" --namespace-id=1 --start-block="$1" --block-count=$(($2 - 1)); }
verify() { nvme verify "$DEV" --namespace-id=1 --start-block="$1" --block-count=$(($2 - 1)); }

read_lbas() { dd if="$DEV" of="$T_DIR/read" bs=512 skip="$1" count="$2" iflag=direct status=none; }
write_lbas() { dd if="$T_DIR/$3" of="$DEV" bs=512 seek="$1" count="$2" oflag=direct status=none; }

# unreadable COMMAND...: it fails for that very reason
unreadable() {
	! "$@" >"$T_DIR/said" 2>&1 && grep -qi "unrecovered read error\|No data available" "$T_DIR/said"
}

# has FILE LBA NR: these LBAs are as in a file that begins with LBA 0
has() { read_lbas "$2" "$3" && cmp -i 0:$(($2 * 512)) -n $(($3 * 512)) "$T_DIR/read" "$T_DIR/$1"; }

cut_power() {
	nvmev-ssd power-cut ssd0
	nvmev-ssd power-on ssd0 >"$T_DIR/said"
	DEV=$(ssd_device ssd0)
}

python3 "$LAB_DIR/pages.py" 1 >"$T_DIR/old"
tr '\000-\377' '\001-\377\000' <"$T_DIR/old" >"$T_DIR/new"

new_ssd ssd0 capacity_mib=64
check_that "Identify says that there is Write Uncorrectable, and Verify" \
	$(($(nvme id-ctrl "${DEV%n1}" -o json | jq .oncs) & 0x82)) -eq $((0x82))
check_that "the command effects log that it changes data" \
	"$(nvme get-log "${DEV%n1}" --log-id=5 --log-len=4096 --raw-binary | od -A n -t u4 -j 1040 -N 4)" -eq 3
write_lbas 0 2048 old
check "Verify of what can be read" verify 0 2048
check "Write Uncorrectable" uncorrectable 103 10
media_errors() { nvme smart-log "${DEV%n1}" -o json | jq '.media_errors | tonumber'; }
media=$(media_errors)
check "Verify fails with Unrecovered Read Error" unreadable verify 0 2048
check "Verify reads what is before" verify 0 103
check "... and behind it" verify 113 1000
check "a read fails" unreadable read_lbas 103 1
check "one of its last LBA fails" unreadable read_lbas 112 1
check "the data before it is there" has old 0 103
check "the data behind it is there" has old 113 900
check "Copy of it fails" unreadable nvme copy "$DEV" --namespace-id=1 --sdlba=2000 --slbs=110 --blocks=7
check "Compare with it fails" unreadable nvme compare "$DEV" --namespace-id=1 --start-block=112 --block-count=0 \
	--data-size=512 --data="$T_DIR/old"
check "the error log has its first LBA" sh -c "nvme error-log ${DEV%n1} -o json | jq -e '[.errors[] | .lba] | index(103)'"
check_that "SMART counts no media error for that" "$(media_errors)" -eq "$media"
head -c $((105 * 512)) /dev/zero >"$T_DIR/head"
head -c 512 "$T_DIR/new" >>"$T_DIR/head"
write_lbas 105 1 head
check "a written LBA can be read again" read_lbas 105 1
check "the one before it still fails" unreadable read_lbas 104 1
check "... and the one behind it" unreadable read_lbas 106 1
nvme write-zeroes "$DEV" --namespace-id=1 --start-block=103 --block-count=1 >"$T_DIR/said"
check "what is zeroed can be read" read_lbas 103 3
blkdiscard -o $((104 * 512)) -l 4096 "$DEV"
check "what is deallocated can be read" read_lbas 104 8
check "what is not still fails" unreadable verify 112 1
uncorrectable 0 2048
check "whole pages" unreadable verify 2040 8
write_lbas 0 2048 new
check "can be written again" has new 0 2048
uncorrectable 4096 65536
check "as many LBAs as a command can name" unreadable verify 69631 1
nvme format "$DEV" --force --lbaf=0 >"$T_DIR/said"
check "Format ends it" verify 0 65536
check "LBAs of 4096 bytes" nvme format "$DEV" --force --lbaf=1
check "... can be unreadable, too" uncorrectable 5 1
check "one of them is" unreadable verify 5 1
check "and none beside it" verify 4 1
check "nor behind it" verify 6 10
drop_ssd ssd0

# A drive with protection loses nothing; a file keeps it.
new_ssd ssd0 capacity_mib=64 backing_file="$T_DIR/image"
write_lbas 0 2048 old
uncorrectable 16 1
cut_power
check "it outlives a power failure" unreadable verify 16 1
nvmev-ssd power-off ssd0
nvmev-ssd power-on ssd0 >"$T_DIR/said"
DEV=$(ssd_device ssd0)
check "... and power off" unreadable verify 16 1
drop_ssd ssd0
new_ssd ssd0 capacity_mib=64 backing_file="$T_DIR/image"
check "a backing file keeps it" unreadable verify 16 1
check "that one alone" verify 17 2000
check "with the data beside it" has old 0 16
drop_ssd ssd0

# A volatile cache: what was flushed is there, and no data from before that comes back.
new_ssd ssd0 profile=tlc capacity_mib=256 units_per_eblk=16
write_lbas 0 2048 old
nvme flush "$DEV" --namespace-id=1 >"$T_DIR/said"
uncorrectable 8 8
cut_power
check "what was not flushed is lost as a write is" has old 0 2048
uncorrectable 8 8
uncorrectable 65 2
nvme flush "$DEV" --namespace-id=1 >"$T_DIR/said"
cut_power
check "what was flushed stays" unreadable verify 8 1
check "... of parts of pages, too" unreadable verify 66 1
check "and nothing beside it" has old 67 1000
write_lbas 8 8 new
write_lbas 64 1 new
check "data can be written over it" read_lbas 8 8
check "... and beside it, where it stays unreadable" unreadable verify 65 1
cut_power
check "where that data is lost, what comes back is unreadable, and no older data" unreadable verify 8 1
check "... of parts of pages, too" unreadable verify 65 1
check "the data beside it is the older" has old 64 1
nvmev-ssd power-off ssd0
nvmev-ssd power-on ssd0 >"$T_DIR/said"
DEV=$(ssd_device ssd0)
check "that stays" unreadable verify 15 1

# Under errors on request, and sharing
echo "write_fault 0 8" >/sys/kernel/debug/nvmev/ssd0/inject
check_fails "Write Uncorrectable fails where writes do" uncorrectable 0 1
check "and has changed nothing then" has old 0 8
