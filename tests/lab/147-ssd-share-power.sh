#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Power failures of a drive with a volatile cache that shares: a share command that is
# complete is there with all of its pages, one that is not is there as a whole or not at
# all, also when the drive has collected and when the power fails at a given operation.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 25
# timeout: 240
# sentences: 16
. "$(dirname "$0")/rc"

PAGES=256

# share FROM_PAGE TO_PAGE NR_PAGES
share() {
	{
		le 8 $(($1 * 8)) $(($2 * 8))
		le 4 $(($3 * 8)) 0 0 0
	} >"$T_DIR/range"
	nvme io-passthru "$DEV" --opcode=0x81 --namespace-id=1 --write --data-len=32 --input-file="$T_DIR/range" --cdw10=0
}

# sum PAGE NR_PAGES
sum() {
	dd if="$DEV" bs=64k skip=$(($1 / 16)) count=$(($2 / 16)) iflag=direct status=none | sha256sum
}

# put FILE PAGE: write it, page by page, and flush
put() {
	dd if="$1" of="$DEV" bs=4k seek="$2" oflag=direct conv=fsync status=none
}

flush() {
	nvme flush "$DEV" --namespace-id=1
}

fail_now() {
	nvmev-ssd power-cut ssd0
	DEV=$(nvmev-ssd power-on ssd0)
}

new_ssd ssd0 capacity_mib=64 channels=2 units_per_eblk=16 wbuf_kib=2048 run_units=8 plp=0 share_pages=4096
for name in old new next; do
	dd if=/dev/urandom of="$T_DIR/$name" bs=4k count=$PAGES status=none
done
put "$T_DIR/old" 0
put "$T_DIR/next" 4096
old=$(sum 0 $PAGES) next=$(sum 4096 $PAGES)

check "pages are shared" share 0 8192 $PAGES
programs=$(ssd_stat ssd0 defrag_programs)
fail_now
check_that "nobody has flushed, and what a command gave is lost by a power failure" \
	"$(sum 8192 $PAGES)" == "$(head -c $((PAGES * 4096)) /dev/zero | sha256sum)"
check "they are shared again" share 0 8192 $PAGES
check "and flushed" flush
check_that "which takes a program of the log" "$(ssd_stat ssd0 defrag_programs)" -eq $((programs + 1))
fail_now
check_that "what a command gave is there after a power failure" "$(sum 8192 $PAGES)" == "$old"
check_that "where it came from, too" "$(sum 0 $PAGES)" == "$old"
put "$T_DIR/new" 0
fail_now
check_that "the giver was written: the taker keeps the data" "$(sum 8192 $PAGES)" == "$old"
check_that "and the giver has its own" "$(sum 0 $PAGES)" == "$(sha256sum <"$T_DIR/new")"

# Blocks with shared pages are collected: everything else is overwritten a few times.
check "the drive is overwritten" fio --name=w --filename="$DEV" --direct=1 --ioengine=libaio --iodepth=32 --rw=randwrite \
	--bs=32k --offset=36m --size=27m --loops=4 --end_fsync=1
check_that "it has collected" "$(ssd_stat ssd0 gc_runs)" -gt 5
fail_now
check_that "the taker still has it" "$(sum 8192 $PAGES)" == "$old"
blkdiscard -o $((8192 * 4096)) -l $((PAGES * 4096)) "$DEV"
fail_now
check_that "until it is deallocated" "$(sum 8192 $PAGES)" == "$(head -c $((PAGES * 4096)) /dev/zero | sha256sum)"

# The power fails at the Nth program or erase from then on: the log waits for the data.
done=0 undone=0
for n in 1 2 5 12 20 30 31 32 33 34 40; do
	{ share 4096 8192 $PAGES && flush; } >"$T_DIR/output" 2>&1
	nvmev-ssd power-cut ssd0 "$n"
	# Where there is no device any more nothing must make a file, or none could come back.
	{ dd if="$T_DIR/new" of="$DEV" bs=4k oflag=direct conv=nocreat && share 0 8192 $PAGES && flush &&
		fio --name=w --filename="$DEV" --allow_file_create=0 --direct=1 --rw=write --bs=64k --offset=36m --size=8m; } \
		>"$T_DIR/output" 2>&1 || true
	poll 10 sh -c "[ \$(cat $CONFIGFS/ssd0/power) = 0 ]" || nvmev-ssd power-cut ssd0
	DEV=$(nvmev-ssd power-on ssd0)
	case $(sum 8192 $PAGES) in
	"$next") undone=$((undone + 1)) ;;
	"$(sum 0 $PAGES)") done=$((done + 1)) ;;
	*) check_that "power failed at operation $n: the command is there as a whole or not at all" n == y ;;
	esac
	put "$T_DIR/next" 4096
done
check_that "of commands that the power failed under all were whole or not there" $((done + undone)) -eq 11
check_that "some of them there" "$done" -ge 1
check_that "and some not" "$undone" -ge 1
