#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# nvme-cli on the virtual SSD: identify, logs, features, format, reset, and that
# what SMART counts is what was done.
# kernels: 6.12
# long: 6.1 newest
# smp: 1
# mem: 2G
# seconds: 20
# timeout: 240
# sentences: 66
. "$(dirname "$0")/rc"

# number_at FILE OFFSET BYTES: a little-endian number
number_at() {
	local number

	number=$(od -A n -t "u$3" -j "$2" -N "$3" "$1")
	echo "${number// /}"
}

json_of() {
	nvme "$@" -o json
}

# member NAME JSON: a number. jq takes long to start in an emulated machine.
member() {
	[[ $2 =~ \"$1\"\ *:\ *\"?([0-9]+) ]] && echo "${BASH_REMATCH[1]}"
}

smart() {
	member "$1" "$(json_of smart-log "$ctrl")"
}

new_ssd ssd0 capacity_mib=1024
ctrl=${DEV%n1}

check "nvme list shows it" sh -c "nvme list | grep -w $DEV"
id=$(json_of id-ctrl "$ctrl")
check_that "id-ctrl: a model name" "$(jq -r .mn <<<"$id")" =~ '[A-Za-z]'
check_that "id-ctrl: a serial number" "$(jq -r .sn <<<"$id")" =~ '[A-Za-z0-9]'
check_that "id-ctrl: one namespace" "$(member nn "$id")" -ge 1
check_that "id-ctrl: no volatile write cache where it is protected" $(($(member vwc "$id") & 1)) -eq 0
check_that "id-ctrl: dataset management and write zeroes" $(($(member oncs "$id") & 12)) -eq 12
nvme id-ctrl "$ctrl" --raw-binary >"$T_DIR/id"
check_that "identify data has 4096 bytes" "$(stat -c %s "$T_DIR/id")" -eq 4096
check_that "byte 3072 announces hints" "$(dd if="$T_DIR/id" bs=1 skip=3072 count=8 status=none)" == DIEAWARE
check_that "their version is 1" "$(number_at "$T_DIR/id" 3080 2)" -eq 1
check_that "append and overwrite are understood" $(($(number_at "$T_DIR/id" 3082 2) & 3)) -eq 3
log_geometry=$(number_at "$T_DIR/id" 3084 1)
log_dies=$(number_at "$T_DIR/id" 3085 1)

ns=$(json_of id-ns "$DEV")
lbaf=$(($(member flbas "$ns") & 15))
check_that "id-ns: the size is the capacity" $(($(member nsze "$ns") << $(jq ".lbafs[$lbaf].ds" <<<"$ns"))) -eq $((1024 << 20))
check_that "id-ns: no metadata in any format" "$(jq '[.lbafs[].ms] | max' <<<"$ns")" -eq 0
check_that "id-ns: 512 and 4096 bytes" "$(jq -c '[.lbafs[].ds] | sort' <<<"$ns")" == "[9,12]"

check_that "id-ns: a page is written whole or not at all" "$(jq -c '[.nawun, .nawupf]' <<<"$ns")" == "[7,7]"
check_that "id-ns: but not what is in two of them" "$(jq -c '[.nabsn, .nabo, .nabspf]' <<<"$ns")" == "[7,0,7]"

# Geometry and per-die statistics.
nvme get-log "$ctrl" --log-id="$log_geometry" --log-len=64 --raw-binary >"$T_DIR/geometry"
dies=$(number_at "$T_DIR/geometry" 8 4)
unit=$(number_at "$T_DIR/geometry" 16 4)
check_that "geometry log: version" "$(number_at "$T_DIR/geometry" 0 2)" -eq 1
check_that "geometry log: channels divide dies" $((dies % $(number_at "$T_DIR/geometry" 4 4))) -eq 0
check_that "geometry log: pages of 4096 bytes" "$(number_at "$T_DIR/geometry" 12 4)" -eq 4096
check_that "geometry log: the units of runs are open" "$(number_at "$T_DIR/geometry" 20 4)" -eq \
	"$(<"$CONFIGFS/ssd0/run_units")"
check_that "geometry log: stripe is die unit times dies" "$(number_at "$T_DIR/geometry" 24 8)" -eq $((dies * unit))

# die_sum OFFSET: sum of one member over all dies
die_sum() {
	nvme get-log "$ctrl" --log-id="$log_dies" --log-len=$((64 + 64 * dies)) --raw-binary >"$T_DIR/dies"
	od -A n -v -t u8 -w64 -j 64 -N $((64 * dies)) "$T_DIR/dies" | awk -v at=$(($1 / 8 + 1)) '{ sum += $at } END { print sum }'
}
check_that "die log: all dies" "$(die_sum 0 >/dev/null; number_at "$T_DIR/dies" 4 4)" -eq "$dies"
valid=$(die_sum 40)
programmed=$(die_sum 24)
written=$(smart host_write_commands)
units=$(smart data_units_written)
dd if=/dev/urandom of="$T_DIR/data" bs=1M count=16 status=none
dd if="$T_DIR/data" of="$DEV" bs=128k oflag=direct status=none
nvme flush "$DEV" >/dev/null
check_that "die log: 4096 pages more are valid" $(($(die_sum 40) - valid)) -eq 4096
check_that "die log: 4096 pages more were programmed for the host" $(($(die_sum 24) - programmed)) -eq 4096
check_that "SMART: 128 write commands" $(($(smart host_write_commands) - written)) -eq 128
grown=$(($(smart data_units_written) - units))
check_that "SMART: 16 MiB in units of 512,000 bytes (33, by rounding)" "$grown" =~ '^3[234]$'
read=$(smart data_units_read)
reads=$(smart host_read_commands)
dd if="$DEV" of=/dev/null bs=128k count=64 iflag=direct status=none
check_that "SMART: 64 read commands" $(($(smart host_read_commands) - reads)) -eq 64
grown=$(($(smart data_units_read) - read))
check_that "SMART: 8 MiB read" "$grown" =~ '^1[678]$'
check_that "SMART: the temperature is a temperature" "$(smart temperature)" =~ '^(2[789]|3[0-4]).$'
check_that "SMART: spare is 100 percent at first" "$(smart avail_spare)" -gt 0

# The error log takes what really failed.
errors=$(smart num_err_log_entries)
check_fails "an unknown admin command fails" nvme admin-passthru "$ctrl" --opcode=0x7f
check_fails "an unknown I/O command fails" nvme io-passthru "$DEV" --opcode=0x7f --namespace-id=1
check_fails "a read beyond the end fails" nvme read "$DEV" --start-block=99999999 --block-count=0 --data-size=512
check_that "SMART counts three errors" $(($(smart num_err_log_entries) - errors)) -ge 3
check "error-log shows the last one's LBA" sh -c "nvme error-log $ctrl -e 4 -o json | grep -q 99999999"
check_fails "a log page that does not exist" nvme get-log "$ctrl" --log-id=0xef --log-len=64
check_fails "a namespace that does not exist" nvme id-ns "$ctrl" --namespace-id=77

# Features.
check "get-feature: number of queues" nvme get-feature "$ctrl" -f 7
check "get-feature: temperature threshold" nvme get-feature "$ctrl" -f 4
check_fails "a feature that does not exist" nvme get-feature "$ctrl" -f 0xbf

# Commands that the block layer seldom sends.
head -c 4096 "$T_DIR/data" >"$T_DIR/page"
blocks=$((4096 / $(blockdev --getss "$DEV")))
check "compare with what is there" nvme compare "$DEV" --start-block=0 --block-count=$((blocks - 1)) \
	--data-size=4096 --data="$T_DIR/page"
head -c 4096 /dev/zero >"$T_DIR/zero"
check_fails "compare with something else fails" nvme compare "$DEV" --start-block=0 --block-count=$((blocks - 1)) \
	--data-size=4096 --data="$T_DIR/zero"
check "verify" nvme verify "$DEV" --namespace-id=1 --start-block=0 --block-count=$((blocks - 1))
check "write zeroes" nvme write-zeroes "$DEV" --namespace-id=1 --start-block=0 --block-count=$((blocks - 1))
check "they are zero" cmp -n 4096 "$DEV" /dev/zero
check "flush" nvme flush "$DEV" --namespace-id=1
valid=$(die_sum 40)
check "deallocate 256 pages" nvme dsm "$DEV" --namespace-id=1 --ad --slbs=$((1024 * blocks)) --blocks=$((256 * blocks))
check_that "they are not valid any more" $((valid - $(die_sum 40))) -eq 256
check "and read as zero" sh -c "dd if=$DEV bs=4096 skip=1024 count=256 iflag=direct status=none | cmp -n 1048576 - /dev/zero"

# Reset and format.
sum=$(dd if="$DEV" bs=1M count=16 iflag=direct status=none | sha256sum)
check "nvme reset" nvme reset "$ctrl"
check_that "data is the same after it" "$(dd if="$DEV" bs=1M count=16 iflag=direct status=none | sha256sum)" == "$sum"
check_that "the capacity too" "$(blockdev --getsize64 "$DEV")" -eq $((1024 << 20))
lbaf4k=$(jq '[.lbafs[].ds] | index(12)' <<<"$ns")
lbaf512=$(jq '[.lbafs[].ds] | index(9)' <<<"$ns")
check "format to 4096-byte blocks" nvme format "$DEV" --namespace-id=1 --lbaf="$lbaf4k" --force
check_that "the block size is 4096" "$(poll 10 sh -c "[ \$(blockdev --getss $DEV) = 4096 ]"; blockdev --getss "$DEV")" -eq 4096
check_that "the capacity is the same" "$(blockdev --getsize64 "$DEV")" -eq $((1024 << 20))
check "everything is zero" sh -c "dd if=$DEV bs=1M count=16 iflag=direct status=none | cmp -n 16777216 - /dev/zero"
check_that "no page is valid" "$(die_sum 40)" -eq 0
check "data verifies" fio --name=v --filename="$DEV" --direct=1 --ioengine=libaio --iodepth=8 --size=8m --rw=randwrite \
	--bs=4k --verify=crc32c --verify_fatal=1
check "format back to 512" nvme format "$DEV" --namespace-id=1 --lbaf="$lbaf512" --force
check_that "the block size is 512" "$(poll 10 sh -c "[ \$(blockdev --getss $DEV) = 512 ]"; blockdev --getss "$DEV")" -eq 512
check_fails "a format that does not exist" nvme format "$DEV" --namespace-id=1 --lbaf=9 --force

# Without power-loss protection there is a cache to flush and to switch off.
drop_ssd ssd0
new_ssd volatile capacity_mib=512 plp=0
ctrl=${DEV%n1}
check_that "id-ctrl: a volatile write cache" $(($(member vwc "$(json_of id-ctrl "$ctrl")") & 1)) -eq 1
check_that "the kernel knows" "$(queue_limit "$DEV" write_cache)" == "write back"
check "get-feature: write cache" nvme get-feature "$ctrl" -f 6
check "set-feature: write cache off" nvme set-feature "$ctrl" -f 6 -v 0
check_that "it is off" "$(nvme get-feature "$ctrl" -f 6 | grep -o '0x*0*$' | tail -c 2)" == 0
check "and on again" nvme set-feature "$ctrl" -f 6 -v 1
