#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode, writes whose page of the map is not in memory: it is read while their data is being
# written; both may fail; what comes later waits for neither, or for both if it has to.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 1G
# clock: virtual
# seconds: 6
# timeout: 240
# sentences: 22
. "$(dirname "$0")/rc"

SIZE_KIB=65536
SECTORS=$((SIZE_KIB * 2))
BLOCKS_PER_PAGE=806
modprobe brd rd_nr=2 rd_size=$SIZE_KIB
at_end rmmod brd
at_end drop_target low
dmsetup create low --table "0 $SECTORS linear /dev/ram0 0"

low_is() {
	becomes low "$@"
}

# it_takes READ-MS WRITE-MS: each command of the device below
it_takes() {
	low_is "0 $SECTORS delay /dev/ram0 0 $1 /dev/ram0 0 $2"
}

well() {
	low_is "0 $SECTORS linear /dev/ram0 0"
}

# put DIGIT BLOCK [NR]: blocks of that digit only
put() {
	head -c $((${3:-1} * 4096)) /dev/zero | tr '\0' "$1" |
		dd of="$TARGET" bs=4k seek="$2" iflag=fullblock oflag=direct conv=notrunc status=none
}

# digit BLOCK [DEVICE]: what it is full of
digit() {
	dd if="${2:-$TARGET}" bs=4k skip="$1" count=1 iflag=direct status=none | tr -s 0-9
}

now_ms() {
	echo $(($(date +%s%N) / 1000000))
}

# measure COMMAND...: sets MS to how long it takes.
measure() {
	local begin
	begin=$(now_ms)
	"$@"
	MS=$(($(now_ms) - begin))
}

OPTIONS="idle_ms=0" new_log_target t0 /dev/mapper/low --segment 256K
put 1 0 $((4 * BLOCKS_PER_PAGE))
again t0
tables=$(dieaware dump --part superblock /dev/mapper/low | grep -oE '\btables=[0-9]+' | sed -n 1p | cut -d = -f 2)
segments=$(dieaware dump --part superblock /dev/mapper/low | grep -oE '\bsegments=[0-9]+' | sed -n 1p | cut -d = -f 2)
tables=$((tables * 8)) segments=$((segments * 8))
[[ $tables -gt 0 && $segments -gt $tables ]]

# Both at once
it_takes 1500 1500
measure put 2 7
it_takes 0 0
check_that "one page of the map was read" "$(status_field t0 map_reads)" -eq 1
check_that "and a write took no less than that" "$MS" -ge 1400
check_that "nor as long as one after the other" "$MS" -lt 2800
check_that "it wrote" "$(digit 6)$(digit 7)$(digit 8)" == 121

# A write waits for a page that comes late; what has nothing to do with it does not.
it_takes 4000 0
begin=$(now_ms)
put 3 $((BLOCKS_PER_PAGE + 1)) &
writer=$!
sleep 0.5
put 4 $((BLOCKS_PER_PAGE + 1)) &
second=$!
measure put 5 8
check_that "a write whose page is there ends" "$MS" -lt 2000
measure sync -d "$TARGET"
check_that "so does a flush" "$MS" -lt 2000
check "who waits for a page waits" is_running "$writer"
dmsetup suspend --nolockfs t0
check_that "a suspend waits for it" $(($(now_ms) - begin)) -ge 4000
dmsetup resume t0
wait "$writer"
wait "$second"
it_takes 0 0
check_that "the later write of the same block counts" "$(digit $((BLOCKS_PER_PAGE + 1)))" == 4
check_that "its neighbours are as they were" \
	"$(digit $BLOCKS_PER_PAGE)$(digit $((BLOCKS_PER_PAGE + 2)))" == 11

# A FUA write, and one across two pages of the map
again t0
it_takes 800 0
head -c 8192 /dev/zero | tr '\0' 6 |
	dd of="$TARGET" bs=8k iflag=fullblock oflag=direct,dsync,seek_bytes conv=notrunc \
		status=none seek=$(((2 * BLOCKS_PER_PAGE - 1) * 4096))
it_takes 0 0
check_that "two pages of the map were read" "$(status_field t0 map_reads)" -eq 2
dd if=/dev/ram0 of=/dev/ram1 bs=1M iflag=direct oflag=direct status=none
dmsetup remove --retry t0
at_end drop_target t1
dmsetup create t1 --readonly --table "${LINE//mapper\/low/ram1}"
check_that "what was written with O_DSYNC is there after a crash" \
	"$(digit $((2 * BLOCKS_PER_PAGE - 1)) /dev/mapper/t1)$(digit $((2 * BLOCKS_PER_PAGE)) /dev/mapper/t1)" == 66
dmsetup remove t1

# The data cannot be written.
dmsetup create t0 --table "$LINE"
low_is "0 $segments delay /dev/ram0 0 800 /dev/ram0 0 0" \
	"$segments $((SECTORS - segments)) error"
check_error "data that cannot be written is an error" "Input/output error" put 7 9
well
check_that "the page of the map was read nevertheless" "$(status_field t0 map_reads)" -eq 1
check_that "and the target works on" "$(status_field t0 state)" == write
check_that "with what was there" "$(digit 9)" == 1
put 7 9
check_that "it can be written again" "$(digit 9)" == 7

# The page cannot be read.
again t0
low_is "0 $tables linear /dev/ram0 0" \
	"$tables $((segments - tables)) error" \
	"$segments $((SECTORS - segments)) delay /dev/ram0 $segments 0 /dev/ram0 $segments 1000"
put 8 10 2>/dev/null &
writer=$!
sleep 0.3
check_that "a page that cannot be read is a failure" "$(status_field t0 state)" == failed
check "the write ends when its data is written" is_running "$writer"
check_fails "with an error" wait "$writer"
well
dmsetup remove t0
check "dieaware check finds no damage" dieaware check --clear-needs-check /dev/mapper/low
dmsetup create t0 --table "$LINE"
check_that "and what was there is there" "$(digit 10)" == 1
