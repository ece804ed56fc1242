#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode above a disk that says that it could not write a root, and has written it: what that root
# names stays as it is, also what had to leave the cache of the map just then.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 12
# timeout: 300
# sentences: 8
. "$(dirname "$0")/rc"

ENTRIES=806
NR=450

# pages WHAT FIRST NR ROUND: the first block of each of these pages of the map
pages() {
	local what=$1
	shift

	python3 "$LAB_DIR/map-blocks.py" "$what" "$TARGET" $ENTRIES "$@" "$T_DIR/done"
}

is_there() {
	(($(blockdev --getsz /dev/nbd0) > 0))
}

has_failed() {
	[[ $(status_field t0 state) == failed ]]
}

has_either() {
	pages read 0 $NR 3 || pages read 0 $NR 2
}

modprobe nbd nbds_max=1 max_part=0
at_end rmmod nbd
python3 "$LAB_DIR/nbd-slow.py" /dev/nbd0 1600 0 "$T_DIR/lies" 20 &
at_end kill $!
poll 20 is_there

OPTIONS="map_cache_mb=2 cleaning=off" new_log_target t0 /dev/nbd0
check "blocks are written" pages write 0 $NR 1
dmsetup message t0 0 checkpoint
check "and once more" pages write 0 $NR 2

# Until the root is there, no page of the map can be written: who makes room waits.
touch "$T_DIR/lies"
dmsetup message t0 0 checkpoint &
checkpoint=$!
sleep 5
pages write 0 $NR 3
dmsetup message t0 0 map_cache_mb 1 &
smaller=$!
sleep 5
check "the cache becomes no smaller" is_running "$smaller"
check "the target fails with the root" poll 60 has_failed
wait "$checkpoint" "$smaller" || true
check "what was written is read" pages read 0 $NR 3
dmsetup remove --retry t0
rm "$T_DIR/lies"

check "it can be started again" dmsetup create t0 --table "$LINE"
check_that "to be read" "$(status_field t0 state)" == read_only
check "and has what was flushed, or what was written over it" has_either
