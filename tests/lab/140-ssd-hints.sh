#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Hints made by hand: the FTL follows appends, keeps overwrites on their dies,
# for every page of a command, and ignores what makes no sense.
# kernels: 6.1 6.12 uml
# long: newest
# smp: 1
# mem: 2G
# sentences: 49
# seconds: 20
# timeout: 240
. "$(dirname "$0")/rc"

new_ssd ssd0 capacity_mib=1024
run_sentences python3 "$LAB_DIR/hints.py" "$DEV" /sys/kernel/debug/nvmev/ssd0
check_that "the dies hold as many pages as the map" "$(ssd_valid ssd0)" -eq "$(ssd_stat ssd0 pages_mapped)"

# The same with nvme-cli, as a user would.
head -c 32768 /dev/urandom >"$T_DIR/unit"
appends=$(ssd_stat ssd0 hints_append)
check "nvme io-passthru with the APPEND bit" nvme io-passthru "$DEV" --opcode=1 --namespace-id=1 --write \
	--data-len=32768 --input-file="$T_DIR/unit" --cdw2=8056 --cdw3=0 --cdw10=8064 --cdw12=$(((1 << 24) | 63))
check_that "it is counted" $(($(ssd_stat ssd0 hints_append) - appends)) -eq 1
check "its data arrived" sh -c "dd if=$DEV bs=4096 skip=1008 count=8 iflag=direct status=none | cmp - $T_DIR/unit"
check "nvme write --control-like bits in CDW12 do no harm" nvme io-passthru "$DEV" --opcode=1 --namespace-id=1 --write \
	--data-len=32768 --input-file="$T_DIR/unit" --cdw10=8064 --cdw12=$(((1 << 26) | (1 << 31) | 63))

# A device that does not know of hints.
drop_ssd ssd0
new_ssd mute capacity_mib=1024 hints=0
nvme id-ctrl "${DEV%n1}" --raw-binary >"$T_DIR/id"
check_empty "hints=0 announces nothing" "$(dd if="$T_DIR/id" bs=1 skip=3072 count=8 status=none | tr -d '\0')"
check "the bits are then ignored" nvme io-passthru "$DEV" --opcode=1 --namespace-id=1 --write \
	--data-len=32768 --input-file="$T_DIR/unit" --cdw2=0 --cdw10=64 --cdw12=$(((1 << 24) | 63))
check_that "and not counted" "$(ssd_stat mute hints_append) $(ssd_stat mute hints_ignored)" == "0 0"
new_target t0 "$DEV"
check_that "hints=auto sends none there" "$(dmsetup status t0)" =~ hints=off
dmsetup remove t0
new_target t0 "$DEV" hints=on
check_that "hints=on sends them all the same" "$(dmsetup status t0)" =~ hints=on
