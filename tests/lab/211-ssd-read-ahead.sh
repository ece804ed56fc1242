#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A drive that reads ahead: who reads in order waits for the link only, by the clock; who reads at
# random, or what was written since, gets nothing of it; data is right, and state files go with any
# read_ahead_kib.
# kernels: uml
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 6
# timeout: 120
# sentences: 14
. "$(dirname "$0")/rc"

PAGES=2000

# read_ns: what one read of a page takes, in order; and what the drive did meanwhile, in AHEAD and HITS
read_ns() {
	local ahead hits since

	ahead=$(ssd_stat ssd0 pages_read_ahead) hits=$(ssd_stat ssd0 ahead_hits)
	since=${EPOCHREALTIME/./}
	dd if="$DEV" of="$T_DIR/read" bs=4k count=$PAGES iflag=direct status=none
	NS=$(((${EPOCHREALTIME/./} - since) * 1000 / PAGES))
	AHEAD=$(($(ssd_stat ssd0 pages_read_ahead) - ahead)) HITS=$(($(ssd_stat ssd0 ahead_hits) - hits))
}

# is_near NS WANTED: within a twentieth, as starting dd takes no time here
is_near() {
	(($1 * 20 >= $2 * 19 && $1 * 20 <= $2 * 21))
}

power_cycle() {
	nvmev-ssd power-off ssd0
	DEV=$(nvmev-ssd power-on ssd0)
	[[ -b $DEV ]]
}

# The clock of the drive is slow, so that the timers' resolution does not count.
begin_ssd() {
	new_ssd ssd0 capacity_mib=256 time_scale=20 register_hits=0 "$@"
}

begin_ssd read_ahead_kib=0
dd if=/dev/urandom of="$DEV" bs=1M count=16 oflag=direct status=none
FILE_SUM=$(head -c $((PAGES * 4096)) "$DEV" | sha256sum)
sleep 1
# 3 us, 50 ns a page, tR of 30 and 42 us by turns, 5.12 us on the channel and 1.28 on the link, times 20
read_ns
note "A read takes $NS ns."
check "without it each read waits for a sense" is_near $NS 909000
check_that "and nothing is read ahead" "$AHEAD $HITS" == "0 0"
nvmev-ssd save ssd0 "$T_DIR/state" >"$T_DIR/said"
drop_ssd ssd0

begin_ssd read_ahead_kib=256
check_that "the property can be read" "$(<"$CONFIGFS/ssd0/read_ahead_kib")" -eq 256
check "a state file of a drive that does not is taken" nvmev-ssd load ssd0 "$T_DIR/state"
DEV=$(ssd_device ssd0)
read_ns
note "A read takes $NS ns."
check "with it the link is waited for" is_near $NS 87000
check_that "all but the first two reads find their page there" "$HITS" -eq $((PAGES - 2))
check_that "what is ahead of them is read as well" "$AHEAD" -gt $((PAGES - 2))
check_that "... and no more" "$AHEAD" -le $((PAGES + 62))
check_that "the data is right" "$(sha256sum <"$T_DIR/read")" == "$FILE_SUM"

before=$(ssd_stat ssd0 pages_read_ahead)
spans read 8 300 1 >"$T_DIR/said"
check_that "reads at random are no stream" "$(($(ssd_stat ssd0 pages_read_ahead) - before))" -le 200

# Every second page is another one by the time that it is asked for.
dd if="$DEV" of=/dev/null bs=4k count=8 iflag=direct status=none
for at in 8 10 12 14; do
	dd if=/dev/urandom of="$DEV" bs=4k count=1 seek=$at oflag=direct conv=notrunc status=none
done
before=$(ssd_stat ssd0 ahead_hits)
dd if="$DEV" of="$T_DIR/written" bs=4k skip=8 count=8 iflag=direct status=none
check_that "pages that were written since are not taken for what was read" \
	"$(($(ssd_stat ssd0 ahead_hits) - before))" -eq 4
sum=$(sha256sum <"$T_DIR/written")
check "three streams at once verify" fio --name=v --filename="$DEV" --direct=1 --ioengine=libaio --iodepth=4 --numjobs=3 \
	--offset_increment=16m --size=4m --rw=write --bs=16k --verify=crc32c --verify_fatal=1 --offset=64m
check "it is switched off and on" power_cycle
check_that "the data is there" "$(dd if="$DEV" bs=4k skip=8 count=8 iflag=direct status=none | sha256sum)" == "$sum"
