#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode tells what it does: its tracepoints fire, as often as the status counts; and it discards
# segments on the device below only when it is to.
# kernels: uml
# long: 6.1 6.12 newest
# smp: 1
# mem: 2G
# seconds: 10
# timeout: 120
# sentences: 17
. "$(dirname "$0")/rc"

# events NAME [WORDS]: how often it fired
events() {
	grep -c "dmda_log_$1: .*${2:-}" "$TRACEFS/trace" || true
}

# Discards that the device below has got
discards() {
	awk '{ print $12 }' "/sys/dev/block/$((0x$(stat -Lc %t "$DEV"))):$((0x$(stat -Lc %T "$DEV")))/stat"
}

new_ssd ssd0 capacity_mib=128
new_log_target t0 "$DEV" --segment 1M
echo 16384 >"$TRACEFS/buffer_size_kb"
at_end trace_off
trace_on
commits=$(status_field t0 commits) checkpoints=$(status_field t0 checkpoints)
fetched=$(status_field t0 map_reads)
dd if=/dev/urandom of="$TARGET" bs=64k count=320 oflag=direct conv=fsync status=none
dd if=/dev/urandom of="$TARGET" bs=4k count=256 seek=1024 oflag=direct conv=fsync status=none
dmsetup message t0 0 checkpoint
dmsetup message t0 0 clean
poll 10 grep -q "dmda_log_segment: .* free" "$TRACEFS/trace" || t_fail "a segment becomes free"
dmsetup suspend t0
commits=$(($(status_field t0 commits) - commits)) checkpoints=$(($(status_field t0 checkpoints) - checkpoints))
fetched=$(($(status_field t0 map_reads) - fetched))
dmsetup resume t0
trace_off
check_that "each write fires at least once" "$(events write)" -ge $((320 + 256))
check_that "and says which pages went where" "$(grep -m 1 "dmda_log_write: " "$TRACEFS/trace")" =~ \
	"dev=[0-9]+:[0-9]+ lpn=[0-9]+ dpn=[1-9][0-9]* nr=[0-9]+ file="
pages=$(traced_lengths | awk '{ sum += $1 } END { print sum }')
check_that "all pages of users are there" "$pages" -eq "$(status_field t0 user_pages)"
check_that "commits fire" "$(events commit ret=0)" -eq "$commits"
check_that "checkpoints fire" "$(events checkpoint ret=0)" -eq "$checkpoints"
check_that "pages of the map fire, of which nothing is read the first time" "$(events map_fetch)" -gt "$fetched"
check_that "those that are read say where" "$(events map_fetch "dpn=[1-9]")" -eq "$fetched"
check_that "segments that are cleaned fire" "$(events clean valid=)" -eq "$(status_field t0 cleaned_segments)"
for kind in open close free; do
	check_that "segments fire: $kind" "$(events segment $kind)" -ge 5
done

# A page that was written is fetched from its place.
again t0
trace_on dmda_log_map_fetch
dd if="$TARGET" of=/dev/null bs=4k count=1 iflag=direct status=none
trace_off
check_that "a page of the map that was written is fetched" "$(events map_fetch "dpn=[1-9]")" -ge 1

# Discards
check "the target takes discards" blkdiscard "$TARGET"
dmsetup suspend t0
dmsetup resume t0
before=$(discards)
fill_and_discard() {
	write_mib "$TARGET" 20 oflag=direct conv=fsync
	blkdiscard "$TARGET"
	sync "$TARGET"
	poll 10 sh -c "[ \$(dmsetup status t0 | grep -o 'empty_segments=[0-9]*' | cut -d = -f 2) -eq 0 ]"
}
fill_and_discard
check_that "segments that become free are discarded below" "$(discards)" -gt "$before"
dmsetup remove t0
dmsetup create t0 --table "$LINE 1 discard_passdown=off"
check_that "the table line is printed back" "$(dmsetup table t0)" =~ "log 1 discard_passdown=off"
before=$(discards)
fill_and_discard
check_that "with discard_passdown=off they are not" "$(discards)" -eq "$before"
check_that "but they are free" "$(status_field t0 free_segments)" -gt 20
