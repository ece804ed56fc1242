#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Hints by Flexible Data Placement: on an SSD that knows no hints but has a placement handle for each die, the
# target chooses the die of each write. Files that were appended to and overwritten in the worst way are read
# like those that lie in perfect order. What is refused is written all the same. (Linux has write streams from
# 6.16 on; before, there is one sentence.)
# kernels: uml 6.12
# long: newest
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 12
# timeout: 900
# sentences: 4 uml:42 newest:42
. "$(dirname "$0")/rc"

UNITS=96
TARGET_MIB=960
scratch_at=0
file=$T_DIR/mnt/file

# state: what the status says of hints
state() {
	echo "$(status_field t0 transport) $(status_field t0 hints)"
}

# places: device pages of the file, in its order
places() {
	dieaware runs extents --json "$file" | python3 -c '
import json, sys
print(*(page - run["file_page"] + run["device_page"] for run in json.load(sys.stdin)[0]["runs"]
        for page in range(run["file_page"], run["file_page"] + run["pages"])))'
}

# dies: of each of the file's units, in its order; a ? for one that is not on one die
dies() {
	local pages first last

	pages=$(places)
	first=$(tr ' ' '\n' <<<"$pages" | sort -n | sed -n 1p)
	last=$(tr ' ' '\n' <<<"$pages" | sort -n | tail -n 1)
	nvmev-ssd map ssd0 $((first * 8)) $(((last - first + 1) * 8)) | awk -v pages="$pages" '
		BEGIN { nr = split(pages, page, " ") }
		{ die[$1 / 8] = $2 }
		END {
			for (i = 1; i <= nr; i += 8) {
				unit = die[page[i]]
				for (j = 1; j < 8; j++)
					if (die[page[i + j]] != die[page[i]])
						unit = "?"
				printf "%s ", unit
			}
		}'
}

# most_on_one_die: of the file's units
most_on_one_die() {
	dies | tr ' ' '\n' | sed '/^$/d' | sort | uniq -c | awk '$1 > most { most = $1 } END { print most + 0 }'
}

# in_order: whether each unit is on the die after the one before it
in_order() {
	dies | awk '{ for (i = 2; i <= NF; i++) if ($i != ($(i - 1) + 1) % 8) { print; exit 1 } }'
}

# read_ns: how long the file takes to be read at once, the best of five
read_ns() {
	sync
	sleep 0.2
	python3 -c '
import mmap, os, sys, time
file = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
data = mmap.mmap(-1, os.fstat(file).st_size)
times = []
for _ in range(5):
    start = time.monotonic_ns()
    if os.preadv(file, [data], 0) != len(data):
        sys.exit("Not all was read.")
    times.append(time.monotonic_ns() - start)
print(min(times))' "$file"
}

# scratch PAGES: plain ones, each time behind the last, where the target does not reach
scratch() {
	dd if=/dev/zero of="$DEV" bs=4k count="$1" seek=$((TARGET_MIB * 256 + scratch_at)) oflag=direct status=none
	scratch_at=$((scratch_at + $1))
}

# begin_unit: what is written next without a hint begins a unit, and takes none that waits in the
# SSD's cache to be programmed
begin_unit() {
	local first=$(((TARGET_MIB * 256 + scratch_at) * 8)) last

	sync
	sleep 1
	scratch 16
	last=$(nvmev-ssd map ssd0 $first 128 | awk '{ nr = $3 == unit ? nr + 1 : 1; unit = $3 } END { print nr }')
	((last == 8)) || scratch $((8 - last))
}

# written HOW BETWEEN-KIB: a file of whole units, of which each is followed by so much of another file
written() {
	rm -f "$file" "$file.other"
	if [[ $1 == overwrite ]]; then
		begin_unit
		dd if="$T_DIR/old" of="$file" bs=1M iflag=fullblock oflag=direct status=none
	fi
	begin_unit
	python3 "$LAB_DIR/turns.py" $UNITS "$file" 32 0 "$T_DIR/data" "$file.other" "$2" 0 /dev/zero
}

# switch WORD: hints
switch() {
	sync
	dmsetup message t0 0 hints "$1"
}

new_ssd ssd0 capacity_mib=1024 hints=0 fdp=1 time_scale=16
if [[ ! -e /sys/block/${DEV#/dev/}/queue/max_write_streams ]]; then
	mark_log
	new_target t0 "$DEV" hints=fdp
	check_that "a kernel without write streams has none" "$(state)" == "none off:no_streams"
	check "and says so" log_has 'There are no hints. This kernel has no write streams: Linux has them from 6.16 on.'
	check "it is written all the same" dd if=/dev/zero of="$TARGET" bs=1M count=4 oflag=direct
	dmsetup message t0 0 hints auto
	check_that "with auto, there are none as without FDP" "$(status_field t0 hints)" == "off:not_announced"
	exit
fi

at_end drop_target t0
dmsetup create t0 --table "0 $((TARGET_MIB * 2048)) dieaware $DEV 0 hint 1 hints=fdp"
TARGET=/dev/mapper/t0
check_that "an SSD without hints but with handles has hints by FDP, if that is asked for" "$(state)" == "fdp on"
check_that "on eight write streams" "$(status_field t0 streams) $(status_field t0 die_unit_bytes) $(status_field t0 stripe_bytes)" \
	== "8 32768 262144"
asked=$(ssd_stat ssd0 admin_commands)
dmsetup message t0 0 hints fdp
check_that "which it is asked for by one command for each thing: controller, namespace, feature, log page" \
	$(($(ssd_stat ssd0 admin_commands) - asked)) -eq 4
# Nothing but the files is written while they are.
at_end sh -c "echo $(</proc/sys/vm/dirty_writeback_centisecs) >/proc/sys/vm/dirty_writeback_centisecs"
echo 0 >/proc/sys/vm/dirty_writeback_centisecs
make_fs ext4 "$TARGET" -O ^has_journal -E lazy_itable_init=0
new_mount "$TARGET" "$T_DIR/mnt"
write_mib "$T_DIR/data" 3
dd if=/dev/urandom of="$T_DIR/old" bs=1M count=3 status=none

for how in append overwrite; do
	switch off
	written $how 256
	ideal=$(read_ns)
	check "$how: ideal is a file in die order" in_order
	written $how 224
	plain=$(read_ns)
	check_that "$how: without hints all of it is on one die" "$(most_on_one_die)" -ge $((UNITS - 2))
	switch fdp
	dmsetup message t0 0 reset_counters
	before=$(ssd_stat ssd0 hints_die)
	written $how 224
	hinted=$(read_ns)
	check "$how: with hints each unit is on the die after the one before" in_order
	check "$how: the data is right" cmp "$T_DIR/data" "$file"
	streamed=$(status_field t0 streamed)
	check_that "$how: each write with a stream was one that the SSD has placed" \
		$(($(ssd_stat ssd0 hints_die) - before)) -eq "$streamed"
	check_that "$how: every unit of both files was one" "$streamed" -ge $((UNITS * 8))
	check_that "$how: none was refused" "$(status_field t0 retried)" -eq 0
	note "$how: ideal $ideal ns, hinted $hinted ns ($((ideal * 1000 / hinted)) permille of ideal), plain $plain ns ($((ideal * 1000 / plain)) permille)"
	check_that "$how: it is read at 97 % of ideal" $((ideal * 1000 / hinted)) -ge 970
	check_that "$how: without hints at less than half" $((ideal * 1000 / plain)) -lt 500
done
check_that "the statistics of FDP have what the host wrote" \
	"$(nvme get-log "${DEV%n1}" --log-id=0x22 --log-len=64 --lsi=1 --raw-binary | od -A n -t u8 -N 8 | tr -d ' ')" -eq \
	$(($(ssd_stat ssd0 host_pages_written) * 4096))

# Small appends fill a unit before the next die has its turn.
rm -f "$file"
for ((i = 0; i < 32; i++)); do
	dd if="$T_DIR/data" of="$file" bs=4k count=1 skip=$i seek=$i oflag=direct conv=notrunc status=none
done
check "units of small appends are on one die each, in order" in_order

# What nobody knows the file of goes on where the last one ended, over the ends of units.
umount "$T_DIR/mnt"
dmsetup message t0 0 reset_counters
dd if="$T_DIR/data" of="$TARGET" bs=256k count=3 seek=2048 oflag=direct status=none
check_that "two writes that continue one of an unknown file are cut into units" "$(status_field t0 streamed)" -eq 16
check_that "which go round the dies" "$(nvmev-ssd map ssd0 $((2049 * 512)) 1024 | awk '{ printf NR % 8 ? "" : $2 " " }')" == \
	"0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7 "
mount "$TARGET" "$T_DIR/mnt"

# Suspended and resumed while it is written, the device is asked again.
fio --name=load --filename="$T_DIR/mnt/load" --rw=randwrite --bs=16k --size=8m --direct=1 --ioengine=libaio \
	--iodepth=8 --verify=crc32c --verify_fatal=1 --output="$T_DIR/load" &
LOAD=$!
at_end kill "$LOAD"
for ((i = 0; i < 5; i++)); do
	dmsetup suspend t0
	dmsetup resume t0
done
check "writes go on over five resumes, and what was written is right" wait "$LOAD"
check "hints are on again" poll 60 sh -c "dmsetup status t0 | grep -q 'transport=fdp hints=on'"

# A stream that is refused
mark_log
echo 1 >"$CONFIGFS/ssd0/reject_hints" || true
check "what is refused with a stream is written without" dd if="$T_DIR/old" of="$file" bs=1M oflag=direct conv=notrunc,fsync status=none
check "the data is there" cmp "$T_DIR/old" "$file"
check_that "hints are off" "$(status_field t0 hints)" == "off:rejected"
check "with a sentence" poll 20 log_has 'rejects writes with hints'
check_that "which is said once" "$(new_log | grep -c 'rejects writes with hints')" -eq 1
echo 0 >"$CONFIGFS/ssd0/reject_hints"
switch fdp
check_that "the message tries again" "$(state)" == "fdp on"

# A table that comes later, over an SSD that has no FDP
umount "$T_DIR/mnt"
e2fsck -fn "$TARGET" >"$T_DIR/output" 2>&1 || t_fail "the filesystem is clean"
new_ssd ssd1 capacity_mib=1024 hints=0
mark_log
dmsetup load t0 --table "0 $((TARGET_MIB * 2048)) dieaware $DEV 0 hint 1 hints=fdp"
dmsetup suspend t0
dmsetup resume t0
check_that "a table over an SSD without FDP has no hints" "$(state)" == "none off:no_streams"
check "and says so" log_has 'There are no hints. The kernel has no write streams for the device.'
check "it is written all the same" dd if="$T_DIR/old" of="$TARGET" bs=1M oflag=direct status=none
dmsetup remove t0
drop_ssd ssd1
drop_ssd ssd0

# Handles that are no groups are lanes for who says so; hints of the SSD's own come first.
new_ssd ssd0 capacity_mib=256 hints=0 fdp=1
new_target t0 "$DEV"
check_that "handles of one group are not taken for dies" "$(status_field t0 hints)" == "off:not_announced"
mark_log
dmsetup message t0 0 hints fdp
check_that "but if somebody says so" "$(state)" == "fdp on"
dmsetup remove t0
drop_ssd ssd0
new_ssd ssd0 capacity_mib=256 fdp=1
new_target t0 "$DEV"
check_that "an SSD that announces hints gets those" "$(state)" == "tracepoint on"
dmsetup message t0 0 hints fdp
check_that "unless FDP is asked for" "$(state)" == "fdp on"
drop_target t0
drop_ssd ssd0

# Linux takes no namespace with several reclaim groups for one with write streams (7.2).
new_ssd ssd0 capacity_mib=256 hints=0 fdp=1 fdp_groups=1
new_target t0 "$DEV" hints=fdp
check_that "several groups, which Linux refuses, are no hints" "$(state)" == "none off:no_streams"
check "it is written all the same" dd if=/dev/zero of="$TARGET" bs=1M count=4 oflag=direct
