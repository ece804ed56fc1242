#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A drive that loses erase blocks says so by SMART and events, and is read-only when no
# spare one is left.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 5
# timeout: 120
# sentences: 26
. "$(dirname "$0")/rc"

new_ssd ssd0 capacity_mib=256 units_per_eblk=16 spare_eblks=2
take_raw ssd0
run_sentences python3 "$LAB_DIR/rawhost-worn.py" /sys/kernel/debug/nvmev/ssd0
give_back ssd0
check "the stock driver can read it" dd if="$DEV" of=/dev/null bs=1M count=4 iflag=direct
check_fails "and cannot write" dd if=/dev/zero of="$DEV" bs=4k count=1 oflag=direct
plain=$(ssd_stat ssd0 writes_plain)
check_fails "a write with both hints is refused as well" nvme io-passthru "$DEV" --opcode=1 --namespace-id=1 --write \
	--data-len=4096 --input-file=/dev/zero --cdw12=$((3 << 24 | 7))
check_that "and is no write that was refused a hint" "$(ssd_stat ssd0 hints_malformed)" -eq 0
check_that "nor one less of the others" "$(ssd_stat ssd0 writes_plain)" -eq "$plain"
check_that "nvme-cli shows a critical warning" "$(nvme smart-log "${DEV%n1}" -o json | jq .critical_warning)" -eq 9
check_fails "nvme format is refused" nvme format "$DEV" --force
