#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Flexible Data Placement: a placement handle for each die, on which a write begins, or a reclaim
# group for each, which it does not leave, or handles that keep data apart; what nvme-cli sees, and
# where Linux has write streams (6.16), that they are these.
# kernels: 6.12 uml
# long: 6.1 newest
# smp: 1
# mem: 2G
# sentences: 56 uml:67 newest:67
# seconds: 10
# timeout: 120
. "$(dirname "$0")/rc"

fdp() {
	local verb=$1
	shift
	nvme fdp "$verb" "$@"
}

# dies_of FIRST_LBA NR_LBAS: of its pages, each once
dies_of() {
	nvmev-ssd map ssd0 "$1" "$2" | awk '{ print $2 }' | uniq | tr '\n' ' '
}

# raw_log LID BYTES [LSP]
raw_log() {
	nvme get-log "$ctrl" --log-id="$1" --log-len="$2" --lsi=1 --lsp="${3:-0}" --raw-binary
}

# status_of HANDLE: its line of I/O Management Receive: identifier, handle, LBAs left
status_of() {
	nvme io-passthru "$DEV" --opcode=0x12 --namespace-id=1 --read --data-len=4096 --cdw10=1 --cdw11=1023 \
		--raw-binary 2>/dev/null | python3 -c '
import struct, sys
raw = sys.stdin.buffer.read()
print(*struct.unpack_from("<HH4xQ", raw, 16 + 32 * int(sys.argv[1])), struct.unpack_from("<H", raw, 14)[0])' "$1"
}

# place HANDLE LBA BYTES
place() {
	nvme write "$DEV" --start-block="$2" --block-count=$(($3 / 512 - 1)) --data-size="$3" --data="$T_DIR/data" \
		--dir-type=2 --dir-spec="$1"
}

new_ssd ssd0 capacity_mib=256
check_that "without fdp=1 there is none" $(($(nvme id-ctrl "$DEV" -o json | jq .ctratt) & 1 << 19)) -eq 0
check_fails "nor a way to use it" nvme io-passthru "$DEV" --opcode=0x12 --namespace-id=1 --read --data-len=4096 \
	--cdw10=1 --cdw11=1023
drop_ssd ssd0

new_ssd ssd0 capacity_mib=256 fdp=1
ctrl=/dev/$(<"$CONFIGFS/ssd0/nvme")
queue=/sys/block/${DEV#/dev/}/queue
dd if=/dev/urandom of="$T_DIR/data" bs=1M count=1 status=none
check_that "Identify has FDP and endurance groups" $(($(nvme id-ctrl "$DEV" -o json | jq .ctratt) >> 4 & 0x8001)) -eq $((0x8001))
check_that "the namespace is in endurance group 1" "$(nvme id-ns "$DEV" -o json | jq .endgid)" -eq 1
check_that "the feature says enabled" "$(nvme get-feature "$ctrl" -f 0x1d --cdw11=1)" =~ '0x?0*1$'
check_that "a configuration with 8 handles, one group, none of them isolated" "$(raw_log 0x20 96 | python3 -c '
import struct, sys
raw = sys.stdin.buffer.read()
print(*struct.unpack_from("<H2xI", raw), *struct.unpack_from("<HBxIHHIQ", raw, 16), raw[80:88].hex())')" == \
	"0 112 96 128 1 8 7 16 134217728 c0000000c0000000"
check_that "8 handles are in use by the host" "$(raw_log 0x21 72 | od -A n -t u1 -w8 -v | awk 'NR == 1 { n = $1 } NR > 1 { sum += $1 } END { print n, sum }')" == "8 8"
check_that "the optimal write size is a unit of a die" "$(nvme id-ns "$DEV" -o json | jq .nows)" -eq 63
check_that "the status of 8 handles" "$(status_of 3)" == "3 3 262144 8"

for die in 5 0 7 2; do
	check "write to handle $die" place "$die" $((die * 1024)) 32768
	check_that "its unit is on die $die" "$(dies_of $((die * 1024)) 64)" == "$die "
done
check "write of four units to handle 6" place 6 65536 131072
check_that "they go round from there" "$(dies_of 65536 256)" == "6 7 0 1 "
place 3 131072 16384 >/dev/null
dd if="$T_DIR/data" of="$DEV" bs=4k count=5 seek=30000 oflag=direct status=none
place 3 131104 16384 >/dev/null
check_that "share a unit on die 3" "$(nvmev-ssd map ssd0 131072 64 | awk '{ print $2, $3 }' | sort -u | wc -l) $(dies_of 131072 64)" == "1 3 "
check_that "what is written is counted" "$(status_of 3)" == "3 3 $((262144 - 64)) 8"
check_that "seven commands were placed" "$(ssd_stat ssd0 hints_die)" -eq 7
check "the data is there" sh -c "dd if=$DEV bs=512 skip=65536 count=256 iflag=direct status=none | cmp -n 131072 - $T_DIR/data"

# Events: a handle that does not exist, and a reclaim unit that was not filled.
printf '\x00\x03' >"$T_DIR/types"
for handle in 0 3; do
	check "events of handle $handle are switched on" nvme admin-passthru "$ctrl" --opcode=9 --namespace-id=1 --write \
		--data-len=2 --input-file="$T_DIR/types" --cdw10=0x1e --cdw11=$((2 << 16 | handle)) --cdw12=1
done
# switched_on SELECT: each type of event of handle 3, and whether it is reported
switched_on() {
	nvme admin-passthru "$ctrl" --opcode=0xa --namespace-id=1 --read --data-len=4 --raw-binary \
		--cdw10=$((0x1e | $1 << 8)) --cdw11=$((2 << 16 | 3)) 2>/dev/null | od -A n -t u1 | tr -d ' '
}
check_that "Get Features says so" "$(switched_on 0)" == 0131
check_that "and that by default they are off" "$(switched_on 1)" == 0030
check_that "as they are where nothing is saved" "$(switched_on 2)" == 0030
check "a write to a handle that does not exist succeeds" place 999 200000 4096
printf '\x03\x00' >"$T_DIR/pids"
check "the reclaim unit of handle 3 is given up" nvme io-passthru "$DEV" --opcode=0x1d --namespace-id=1 --write \
	--data-len=2 --input-file="$T_DIR/pids" --cdw10=1
check_that "it has a new one" "$(status_of 3)" == "3 3 262144 8"
check_that "two events, the newest first" "$(raw_log 0x23 192 1 | python3 -c '
import struct, sys
raw = sys.stdin.buffer.read()
print(struct.unpack_from("<I", raw)[0], *(struct.unpack_from("<BBH8xI", raw, 64 * i) for i in (1, 2)))')" == \
	"2 (0, 3, 3, 1) (3, 3, 999, 1)"
check_that "statistics: bytes of the host" "$(raw_log 0x22 64 | od -A n -t u8 -N 8 | tr -d ' ')" -eq \
	$(($(ssd_stat ssd0 host_pages_written) * 4096))
if nvme fdp help >/dev/null 2>&1 || nvme help 2>&1 | grep -qw fdp; then
	check "nvme fdp configs" fdp configs "$ctrl" --endgrp-id=1
	check "nvme fdp status" fdp status "$DEV" --namespace-id=1
fi

if [[ -e $queue/max_write_streams ]]; then
	check_that "Linux has a write stream for each handle" "$(<"$queue/max_write_streams")" -eq 8
	check_that "of the size of a reclaim unit" "$(<"$queue/write_stream_granularity")" -eq 134217728
	for stream in 1 4 8; do
		check "a write with stream $stream" python3 "$LAB_DIR/stream.py" "$DEV" $stream $((stream << 20)) 65536
		check_that "begins on die $((stream - 1))" "$(dies_of $((stream << 11)) 128)" == \
			"$((stream - 1)) $((stream % 8)) "
	done
	check_fails "there is no stream 9" python3 "$LAB_DIR/stream.py" "$DEV" 9 0 4096
else
	t_skip "Linux has a write stream for each handle" "it has none before 6.16"
fi
check "plain writes verify" fio --name=v --filename="$DEV" --direct=1 --ioengine=libaio --iodepth=8 --size=2m \
	--rw=randwrite --bs=4k --verify=crc32c --verify_fatal=1
drop_ssd ssd0

new_ssd ssd0 capacity_mib=256 fdp=1 fdp_groups=1 reject_hints=4
ctrl=/dev/$(<"$CONFIGFS/ssd0/nvme")
queue=/sys/block/${DEV#/dev/}/queue
check_that "with groups, a configuration of 8 of them, in 3 bits, with one isolated handle" "$(raw_log 0x20 84 | python3 -c '
import struct, sys
raw = sys.stdin.buffer.read()
print(*struct.unpack_from("<H2xI", raw), *struct.unpack_from("<HBxIHHIQ", raw, 16), raw[80:84].hex())')" == \
	"0 84 68 131 8 1 7 16 16777216 01000000"
check_that "the status of group 3" "$(status_of 3)" == "24576 0 32768 8"
check "write of three units to group 5" place $((5 << 13)) 4096 98304
check_that "they are all on die 5" "$(dies_of 4096 192)" == "5 "
check "a write to handle 1 of group 5, which does not exist, succeeds" place $((5 << 13 | 1)) 8192 32768
check_that "and is a plain one" "$(dies_of 8192 64)" == "0 "
place $((7 << 13)) 16384 32768 >/dev/null
check_fails "the fourth placed write is failed, as asked for" place 0 0 32768
if [[ -e $queue/max_write_streams ]]; then
	check_that "Linux makes no write streams of several groups" "$(<"$queue/max_write_streams")" -eq 0
	check_fails "so there is no stream 3" python3 "$LAB_DIR/stream.py" "$DEV" 3 65536 65536
fi
drop_ssd ssd0

new_ssd ssd0 capacity_mib=64 fdp=1 fdp_groups=1 unit_kib=4 units_per_eblk=2
place 0 0 12288 >/dev/null
check_that "a write of one and a half reclaim units leaves a half" "$(status_of 0)" == "0 0 8 8"
place 0 64 20480 >/dev/null
check_that "... and one of two and a half then fills its last" "$(status_of 0)" == "0 0 16 8"
drop_ssd ssd0

# Lifetimes: handles that keep data apart. Without hints and SLC, a page of the namespace is a page of the drive.
new_ssd ssd0 capacity_mib=256 fdp=1 fdp_handles=3
ctrl=/dev/$(<"$CONFIGFS/ssd0/nvme")
queue=/sys/block/${DEV#/dev/}/queue
check_that "with lifetimes, a configuration of one group and 3 handles, initially isolated" "$(raw_log 0x20 92 | python3 -c '
import struct, sys
raw = sys.stdin.buffer.read()
print(*struct.unpack_from("<H2xI", raw), *struct.unpack_from("<HBxIHHIQ", raw, 16), raw[80:92].hex())')" == \
	"0 92 76 128 1 3 2 16 134217728 010000000100000001000000"
# eblks_of FIRST_LBA NR_LBAS: erase blocks of its pages that are on flash, each once; a block has 512 units
eblks_of() {
	nvmev-ssd map ssd0 "$1" "$2" | awk '$3 != "-" { print int($3 / UNITS) }' UNITS="$(<"$CONFIGFS/ssd0/units_per_eblk")" |
		sort -nu
}
for i in 0 1 2 3 4 5 6 7; do
	for handle in 0 1 2; do
		place $handle $(((handle * 16 + i) << 8)) 131072 >/dev/null
	done
done
for handle in 0 1 2; do
	eblks_of $((handle << 12)) 2048 >"$T_DIR/eblks$handle"
done
check_that "what goes to three handles in turn is in erase blocks of its own" "$(cat "$T_DIR"/eblks? | sort -n | uniq -d | wc -l)" -eq 0
check_that "each has one on each die" "$(wc -l <"$T_DIR/eblks0") $(wc -l <"$T_DIR/eblks2")" == "8 8"
check "a write without an identifier" dd if="$T_DIR/data" of="$DEV" bs=128k count=1 seek=$((3 << 4)) oflag=direct status=none
check_that "goes where the first handle's data is" "$(eblks_of $((3 << 12)) 256 | sort - "$T_DIR/eblks0" | uniq -d | wc -l)" -eq 4
check_that "what is written is counted" "$(status_of 2)" == "2 2 $((262144 - 2048)) 3"
printf '\x02\x00' >"$T_DIR/pids"
check "the reclaim unit of handle 2 is given up" nvme io-passthru "$DEV" --opcode=0x1d --namespace-id=1 --write \
	--data-len=2 --input-file="$T_DIR/pids" --cdw10=1
place 2 40960 131072 >/dev/null
check_that "what comes next is in other erase blocks" "$(eblks_of 40960 256 | sort - "$T_DIR/eblks2" | uniq -d | wc -l)" -eq 0
check_that "and counted in another unit" "$(status_of 2)" == "2 2 $((262144 - 256)) 3"
if [[ -e $queue/max_write_streams ]]; then
	check_that "Linux has a write stream for each" "$(<"$queue/max_write_streams")" -eq 3
fi
check "the data is there" sh -c "dd if=$DEV bs=512 skip=40960 count=256 iflag=direct status=none | cmp -n 131072 - $T_DIR/data"
drop_ssd ssd0
