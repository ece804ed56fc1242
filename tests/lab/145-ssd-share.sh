#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Share and Redistribute by nvme io-passthru, as in docs/nvmevirt-backend.md: the pieces of a
# scattered file are given to one range without a NAND program, both stay valid until one is
# written or trimmed; a file on one die is spread and reads faster.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 6
# timeout: 240
# sentences: 30
. "$(dirname "$0")/rc"

# share_range FROM TO NR_LBAS
share_range() {
	le 8 "$1" "$2"
	le 4 "$3" 0 0 0
}

# spread_range FIRST NR_LBAS
spread_range() {
	le 8 "$1"
	le 4 "$2" 0
}

# send OPCODE FILE RANGE_BYTES [CDW11]
send() {
	local bytes

	bytes=$(stat -c %s "$2")
	nvme io-passthru "$DEV" --opcode="$1" --namespace-id=1 --write --data-len="$bytes" --input-file="$2" \
		--cdw10=$((bytes / $3 - 1)) --cdw11="${4:-0}" 2>&1
}

# result OUTPUT: dword 0 of the completion
result() {
	local word

	word=$(grep -o '0x[0-9a-f]*' <<<"$1" | tail -n 1)
	echo $((word))
}

read_at() {
	dd if="$DEV" bs=32k skip="$1" count="$2" iflag=direct status=none
}

# speed_of FIRST_MIB NR_MIB: KiB/s, in virtual time, which the clock of the CPU knows nothing of
speed_of() {
	fio --clocksource=clock_gettime --output-format=json --filename="$DEV" --direct=1 --ioengine=libaio --iodepth=1 --rw=read --bs=1m \
		--offset="$1m" --size="$2m" --name=read | jq '.jobs[0].read.bw'
}

programs() {
	ssd_stat ssd0 nand_pages_programmed
}

new_ssd ssd0 capacity_mib=1024 time_scale=20 share_pages=4096
nvme id-ctrl "${DEV%n1}" --raw-binary >"$T_DIR/id"
check_that "Identify announces both" $(($(od -An -tu2 -j $((3072 + 10)) -N 2 "$T_DIR/id") & 12)) -eq 12

# A file of 64 pieces of 32 KiB, each a MiB from the next, is brought to 512 MiB.
dd if=/dev/urandom of="$T_DIR/file" bs=32k count=64 status=none
for ((i = 0; i < 64; i++)); do
	dd if="$T_DIR/file" of="$DEV" bs=32k count=1 skip=$i seek=$((i * 32)) oflag=direct status=none
	share_range $((i * 2048)) $((1048576 + i * 64)) 64 >>"$T_DIR/ranges"
done
# Full units wait in the buffer for a while.
sleep 1
read_at 0 1 >/dev/null
before=$(programs)
check "Share of 64 ranges" send 0x81 "$T_DIR/ranges" 32
check_that "it costs no NAND program" "$(programs)" -eq "$before"
check_that "512 pages lie in the places of others" "$(ssd_stat ssd0 pages_shared)" -eq 512
check "the new range is the file" sh -c "dd if=$DEV bs=32k skip=16384 count=64 iflag=direct status=none | cmp - $T_DIR/file"
nvmev-ssd map ssd0 1048576 64 | awk '{ print $2, $3 }' >"$T_DIR/new"
nvmev-ssd map ssd0 0 64 | awk '{ print $2, $3 }' >"$T_DIR/old"
check "the map shows the same places for both" cmp "$T_DIR/new" "$T_DIR/old"

# A driver that does not mind deallocated LBAs zeroes three of them in a page.
check "Write Zeroes with deallocation in a shared page" \
	nvme write-zeroes "$DEV" --namespace-id=1 --start-block=$((1048576 + 9)) --block-count=2 --deac
check "has zeroed them" sh -c "dd if=$DEV bs=512 skip=$((1048576 + 9)) count=3 iflag=direct status=none | cmp -n 1536 - /dev/zero"
{
	head -c $((4096 + 512)) "$T_DIR/file"
	head -c 1536 /dev/zero
	tail -c +$((4096 + 512 + 1536 + 1)) "$T_DIR/file"
} >"$T_DIR/holed"
check "and nothing else" sh -c "dd if=$DEV bs=32k skip=16384 count=64 iflag=direct status=none | cmp - $T_DIR/holed"
check "nor for the other owner" sh -c "dd if=$DEV bs=32k count=1 iflag=direct status=none | cmp -n 32768 - $T_DIR/file"
share_range 8 $((1048576 + 8)) 8 >"$T_DIR/again"
check "the page is shared again" send 0x81 "$T_DIR/again" 32

# One side is overwritten, the other side of another page is trimmed.
dd if=/dev/urandom of="$T_DIR/other" bs=32k count=1 status=none
dd if="$T_DIR/other" of="$DEV" bs=32k seek=0 oflag=direct status=none
check "what is overwritten has the new data" sh -c "dd if=$DEV bs=32k count=1 iflag=direct status=none | cmp - $T_DIR/other"
blkdiscard --offset=$((1 << 20)) --length=32768 "$DEV"
check "what is trimmed reads as zeroes" sh -c "dd if=$DEV bs=32k skip=32 count=1 iflag=direct status=none | cmp -n 32768 - /dev/zero"
check "the other owners still have the file" sh -c "dd if=$DEV bs=32k skip=16384 count=64 iflag=direct status=none | cmp - $T_DIR/file"
check_that "fewer pages are shared" "$(ssd_stat ssd0 pages_shared)" -eq 496
blkdiscard --offset=$((2 << 20)) --length=$((64 << 20)) "$DEV"
check "nor do they miss those that are gone" sh -c "dd if=$DEV bs=32k skip=16384 count=64 iflag=direct status=none | cmp - $T_DIR/file"
check_that "nothing is shared any more" "$(ssd_stat ssd0 pages_shared)" -eq 0
check_that "the dies hold as many pages as the map" "$(ssd_valid ssd0)" -eq "$(ssd_stat ssd0 pages_mapped)"

# 8 MiB whose units all lie on one die, because a stripe less a unit came after each.
python3 "$LAB_DIR/turns.py" 256 "$DEV" 32 4096 /dev/zero "$DEV" 224 2000 /dev/zero
sum=$(read_at 4096 256 | sha256sum)
slow=$(speed_of 128 8)
spread_range 262144 16384 >"$T_DIR/spread"
said=$(result "$(send 0x85 "$T_DIR/spread" 16 1023)")
note "DoF_P $((said & 1023)) before, $((said >> 16 & 1023)) after, in thousandths"
check_that "its DoF_P is that of one die of eight" $((said & 1023)) -ge 800
check_that "it is spread after that" $((said >> 16 & 1023)) -le 30
check_that "the command says that it has written it" $((said >> 31 & 1)) -eq 1
check_that "the pages were counted" "$(ssd_stat ssd0 pages_redistributed)" -eq 2048
check_that "the data is the same" "$(read_at 4096 256 | sha256sum)" == "$sum"
sleep 1
fast=$(speed_of 128 8)
note "reads at $slow KiB/s before, $fast KiB/s after, at time_scale=20"
check_that "it reads three times as fast at least" "$fast" -gt $((3 * slow))
said=$(result "$(send 0x85 "$T_DIR/spread" 16 1023)")
check_that "a second time nothing is written" $((said >> 31 & 1)) -eq 0
check_that "nor counted" "$(ssd_stat ssd0 pages_redistributed)" -eq 2048

# The examples of the docs, to the letter but for the device.
cd "$T_DIR"
dd if="$T_DIR/file" of="$DEV" bs=8k count=1 oflag=direct status=none
printf '\0\0\0\0\0\0\0\0''\0\x08\0\0\0\0\0\0''\x10\0\0\0''\0\0\0\0\0\0\0\0\0\0\0\0' > ranges
check "Share as in the docs" \
	nvme io-passthru "$DEV" --opcode=0x81 --namespace-id=1 --write --data-len=32 --input-file=ranges --cdw10=0
check "it has shared 8 KiB" sh -c "dd if=$DEV bs=8k skip=128 count=1 iflag=direct status=none | cmp -n 8192 - $T_DIR/file"
printf '\0\0\0\0\0\0\0\0''\0\x40\0\0''\0\0\0\0' > ranges
check "Redistribute as in the docs" \
	nvme io-passthru "$DEV" --opcode=0x85 --namespace-id=1 --write --data-len=16 --input-file=ranges \
	--cdw10=0 --cdw11=1023

drop_ssd ssd0
new_ssd plain capacity_mib=64
check_fails "a drive without share_pages does not know the command" send 0x81 "$T_DIR/ranges" 32
