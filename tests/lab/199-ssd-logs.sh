#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Vendor log pages with plain nvme-cli: where pages are, how well ranges can be read, and
# how worn the dies are agree with debugfs and with what was written.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 8
# timeout: 120
# sentences: 20
. "$(dirname "$0")/rc"

# entries FORMAT: the binary log page on stdin, an entry a line
entries() {
	python3 -c '
import struct, sys
for entry in struct.iter_unpack(sys.argv[1], sys.stdin.buffer.read()):
    print(*entry)' "$1"
}

# log_page LID FIRST_BYTE BYTES [LSP [NSID]]
log_page() {
	nvme get-log "$ctrl" --log-id="$1" --lpo="$2" --log-len="$3" --lsp="${4:-0}" --namespace-id="${5:-1}" --raw-binary
}

# The first fragmented file has all its units on the first die: 16 writes of a unit, with
# the rest of a stripe of something else behind each. The second lies in order.
new_ssd ssd0 capacity_mib=128 namespace_mib=64,32 units_per_eblk=16
ctrl=/dev/$(<"$CONFIGFS/ssd0/nvme")
second=$(ssd_device ssd0 2)
dd if=/dev/urandom of="$T_DIR/data" bs=1M count=4 status=none
for ((i = 0; i < 16; i++)); do
	dd if="$T_DIR/data" of="$DEV" bs=32k count=1 seek=$((32 + i)) oflag=direct status=none
	dd if="$T_DIR/data" of="$DEV" bs=224k count=1 seek=$((160 + i)) oflag=direct status=none
done
dd if="$T_DIR/data" of="$DEV" bs=512k count=1 seek=4 oflag=direct status=none
dd if="$T_DIR/data" of="$second" bs=512k count=1 oflag=direct status=none

log_page 0xc2 0 8192 | entries '<HHI' | awk '{ print $1 == 65535 ? "- -" : $1 " " $3 }' >"$T_DIR/log"
nvmev-ssd map ssd0 0 $((1024 * 8)) | awk '{ print $2, $3 }' >"$T_DIR/map"
check "the log of 1024 pages agrees with debugfs" cmp "$T_DIR/log" "$T_DIR/map"
check_that "128 pages of the file are on the first die" "$(sed -n 257,384p "$T_DIR/log" | grep -c '^0 ')" -eq 128
check_that "the second namespace has its own" "$(log_page 0xc2 0 1032 0 2 | entries '<HHI' | grep -vc ^65535)" -eq 128
check_fails "a namespace that does not exist" log_page 0xc2 0 8 0 3
check_fails "an offset behind the last page" log_page 0xc2 $((16384 * 8 + 8)) 8

# 64 KiB << 3 are 512 KiB: entry 2 is the file on one die, 4 that in order.
log_page 0xc3 0 80 3 | entries '<HHIII' >"$T_DIR/dof"
check_that "DoF_P of a file of 16 units on one of 8 dies" "$(sed -n 3p "$T_DIR/dof")" == "875 0 128 16 16"
check_that "DoF_P of one in order" "$(sed -n 5p "$T_DIR/dof")" == "0 0 128 16 2"
check_that "DoF_P of nothing" "$(sed -n 1p "$T_DIR/dof")" == "0 0 0 0 0"
check_that "the second namespace has its own" "$(log_page 0xc3 0 16 3 2 | entries '<HHIII')" == "0 0 128 16 2"
check_that "and a file of one unit" "$(log_page 0xc3 256 16 0 | entries '<HHIII' | cut -d ' ' -f 1)" -eq 500

# Wear: erase something.
for ((i = 0; i < 5; i++)); do
	dd if=/dev/zero of="$DEV" bs=1M count=64 oflag=direct status=none
done
log_page 0xc4 0 64 | entries '<HHHHIII44s' | cut -d ' ' -f 1-7 >"$T_DIR/wear"
read -r version header die_bytes eblk_bytes dies eblks cycles <"$T_DIR/wear"
check_that "head of the wear log" "$version $header $die_bytes $eblk_bytes $dies $cycles" == "1 64 32 8 8 3000"
sum_of() {
	awk -v column="$1" 'NR > 1 { sum += $column } END { print sum + 0 }' /sys/kernel/debug/nvmev/ssd0/dies
}
log_page 0xc4 64 $((32 * dies)) | entries '<QIIII8s' >"$T_DIR/dies"
log_page 0xc4 $((64 + 32 * dies)) $((8 * dies * eblks)) | entries '<IB3s' >"$T_DIR/eblks"
check_that "something was erased" "$(sum_of 5)" -gt 0
check_that "the dies' erases" "$(awk '{ sum += $1 } END { print sum }' "$T_DIR/dies")" -eq "$(sum_of 5)"
check_that "the blocks' erases" "$(awk '{ sum += $1 } END { print sum }' "$T_DIR/eblks")" -eq "$(sum_of 5)"
check_that "every block is there" "$(wc -l <"$T_DIR/eblks")" -eq "$(sum_of 11)"
check_that "free blocks" "$(grep -c '^[0-9]* 0 ' "$T_DIR/eblks")" -eq "$(sum_of 12)"

# Both namespaces together are too small for what one command may ask for; this drive is not.
new_ssd ssd1 capacity_mib=512
ctrl=/dev/$(<"$CONFIGFS/ssd1/nvme")
check "256 MiB of ranges at once" log_page 0xc3 0 $((256 * 16)) 4
check_fails "and no more" log_page 0xc3 0 $((257 * 16)) 4
check "a range of 256 MiB" log_page 0xc3 0 16 12
check_fails "and no larger one" log_page 0xc3 0 16 13
