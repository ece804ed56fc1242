#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dieaware defrag: files that are slow to read become fast by each of its ways and stay what they
# are, also when it is interrupted or killed; files in use, shared ones, holes.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 28
# timeout: 600
# sentences: 113
. "$(dirname "$0")/rc"

# figure FILE KEY: from frag's JSON
figure() {
	dieaware frag --json "$1" | python3 -c '
import json, sys
found = json.load(sys.stdin)[0]
print(found[sys.argv[1]] if sys.argv[1] in found else found["physical"][sys.argv[1]])' "$2"
}

# time_of FILE: microseconds that reading it takes
time_of() {
	local before after

	dd if="$1" of=/dev/null bs=1M iflag=direct status=none
	before=$(date +%s%N)
	dd if="$1" of=/dev/null bs=1M iflag=direct status=none
	after=$(date +%s%N)
	echo $(((after - before) / 1000))
}

# Tenths. On an emulated CPU, what the kernel and the tool take is in both times; in UML it takes none.
FASTER=25
if [[ $(</proc/cpuinfo) == *"User Mode Linux"* ]]; then
	FASTER=30
fi

# gets_fast WORD FILE OPTION...: it reads so much faster, and is the same.
gets_fast() {
	local word=$1 file=$2 sum slow fast
	shift 2

	sum=$(sha256sum <"$file") slow=$(time_of "$file")
	check_that "$word: it is slow before" "$(figure "$file" dof_permille)" -ge 700
	exits 0 "$word" dieaware defrag "$@" "$file"
	# What is in a write buffer is on no die yet.
	sleep 1
	fast=$(time_of "$file")
	note "$word: $slow us before, $fast us after"
	check_that "$word: its pages are spread" "$(figure "$file" dof_permille)" -le 130
	check_that "$word: it reads $((FASTER / 10)).$((FASTER % 10)) times as fast at least" $((fast * FASTER)) -le $((slow * 10))
	check_that "$word: it is the same" "$(sha256sum <"$file")" == "$sum"
}

dd if=/dev/urandom of="$T_DIR/data" bs=1M count=16 status=none
new_ssd ssd0 capacity_mib=512 time_scale=16
make_fs ext4 "$DEV"
mnt=$T_DIR/mnt
new_mount "$DEV" "$mnt"
file=$mnt/file

# Each way, and what is only looked at
write_fragmented "$file"
exits 0 "ssd" dieaware defrag --dry-run "$file"
check_that "--dry-run does nothing" "$(figure "$file" dof_permille)" -ge 700
pieces=$(figure "$file" pieces)
gets_fast ssd "$file"
check_that "the filesystem has seen nothing of it" "$(figure "$file" pieces)" -eq "$pieces"
exits 0 left dieaware defrag "$file"
write_fragmented "$file"
gets_fast move "$file" --method move
check_that "move: it is in one piece" "$(figure "$file" pieces)" -eq 1
write_fragmented "$file"
touch -d 2001-02-03 "$file"
gets_fast rewrite "$file" --method rewrite
check_that "rewrite: its time is the same" "$(stat -c %Y "$file")" -eq "$(date -d 2001-02-03 +%s)"

# What the kernel takes from a file that is written, it keeps: it may bind to port 80.
capability=0x0100000200040000000000000000000000000000
capability_of() {
	getfattr --absolute-names -n security.capability -e hex "$1" 2>/dev/null | sed -n 's/^security.capability=//p'
}
write_fragmented "$file"
setfattr -n security.capability -v $capability "$file"
exits 3 "it has file capabilities" dieaware defrag --method rewrite "$file"
exits 0 "it has file capabilities" dieaware defrag --method rewrite "$mnt"
for method in ssd move; do
	exits 0 $method dieaware defrag --threshold 0 --method $method "$file"
	check_that "$method: its capabilities are the same" "$(capability_of "$file")" == $capability
done

# What does not fit is left for another time: by what it holds, and by how long it takes
write_fragmented "$file"
write_fragmented "$file.small" 16
exits 0 "$file was left alone: it has 2048 KiB, and 1024 KiB may be moved yet (--max-bytes)" \
	dieaware defrag --method move --max-bytes 1M "$file" "$file.small"
check_that "a small one behind it is moved" "$(figure "$file.small" pieces)" -eq 1
check_that "and this one is not" "$(figure "$file" dof_permille)" -ge 700
exits 0 "The time is over (--max-time): " \
	sh -c "yes '$file' | head -n 400 | xargs dieaware defrag --threshold 0 --method move --max-time 1"
note "$(tail -n 1 "$T_DIR/said")"
check_that "some had their turn" "$(tail -n 1 "$T_DIR/said")" =~ ": [1-9][0-9]* of 400 files"
check_that "and it is the same" "$(sha256sum <"$file")" == "$(head -c 2M "$T_DIR/data" | sha256sum)"
rm "$file.small"
write_fragmented "$file"
gets_fast move "$file" --method move --fast

# A hole stays one, and the end of a file is where it was.
write_fragmented "$file" 32
truncate -s 3000001 "$file"
dd if="$T_DIR/data" of="$file" bs=32k count=16 seek=90 oflag=direct conv=notrunc status=none
printf end >>"$file"
# The last block, and what leads to it, is there when it is written.
sync "$file"
sum=$(sha256sum <"$file") size=$(stat -c %s "$file") blocks=$(stat -c %b "$file")
for method in ssd move rewrite; do
	exits 0 $method dieaware defrag --threshold 0 --method $method "$file"
	check_that "$method: a file with a hole is the same" "$(sha256sum <"$file")" == "$sum"
	check_that "$method: and as long" "$(stat -c %s "$file")" -eq "$size"
	check_that "$method: the hole is one" "$(stat -c %b "$file")" -le "$blocks"
done

# A folder: what is slow is done, the rest is left alone.
mkdir "$mnt/folder"
write_fragmented "$mnt/folder/slow" 16
dd if="$T_DIR/data" of="$mnt/folder/fast" bs=8M count=1 oflag=direct status=none
dieaware defrag --json "$mnt/folder" >"$T_DIR/json"
check_that "a folder: one of three files was slow" "$(python3 -c '
import json, sys
for row in json.load(open(sys.argv[1])):
    print(row["path"].split("/")[-1], row["method"], row["after"] is not None)' "$T_DIR/json" | tr '\n' ,)" \
	== "fast None False,slow ssd True,slow.other None False,"

# Somebody has it open.
write_fragmented "$file" 16
exec 7<"$file"
exits 3 "somebody has it open" dieaware defrag --method rewrite "$file"
exits 0 move dieaware defrag --method move "$file"
exec 7<&-
exits 3 "No such file" dieaware defrag "$mnt/nothing"
exits 2 "invalid value" dieaware defrag --method magic "$file"

# Interrupted and killed
write_fragmented "$file" 512
sum=$(sha256sum <"$file")
for method in move rewrite ssd; do
	ended=""
	for after in 0.01 0.03 0.06 0.1 0.2 0.4; do
		# A file that is in memory is rewritten in no time where work takes none.
		echo 3 >/proc/sys/vm/drop_caches
		status=0
		timeout --preserve-status -s INT $after dieaware defrag --threshold 0 --method $method "$file" >/dev/null 2>&1 || status=$?
		ended+=" $status"
	done
	# One command of the SSD takes all of a small file.
	[[ $method == ssd ]] || check_that "$method: Ctrl-C ends it with 130" "$ended" =~ 130
	for after in 0.05 0.1 0.15; do
		timeout -s KILL $after dieaware defrag --threshold 0 --method $method "$file" >/dev/null 2>&1 || true
	done
	echo 3 >/proc/sys/vm/drop_caches
	check_that "$method: interrupted and killed, it is the same" "$(sha256sum <"$file")" == "$sum"
done
umount "$mnt"
check "fsck finds nothing" check_fs ext4 "$DEV"

# xfs; shared blocks are left alone.
make_fs xfs "$DEV"
mount "$DEV" "$mnt"
write_fragmented "$file"
gets_fast rewrite "$file" --method rewrite
write_fragmented "$file"
gets_fast move "$file" --method move
check_that "move: it is in one piece" "$(figure "$file" pieces)" -eq 1
write_fragmented "$file"
setfattr -n security.capability -v $capability "$file"
exits 0 move dieaware defrag --method move "$file"
check_that "xfs: its capabilities are the same" "$(capability_of "$file")" == $capability
setfattr -x security.capability "$file"
cp --reflink=always "$file" "$mnt/copy"
exits 3 "it shares blocks with other files" dieaware defrag --threshold 0 --method rewrite "$file"
umount "$mnt"

# Above a target that sends hints, what is written in place stays on its dies.
new_target t0 "$DEV"
dmsetup message t0 0 hints off
make_fs xfs "$TARGET"
mount "$TARGET" "$mnt"
write_fragmented "$file"
dmsetup message t0 0 hints auto
exits 3 'send t0 the message "hints off"' dieaware defrag --method rewrite "$file"
check_that "it is as slow as before" "$(figure "$file" dof_permille)" -ge 700
dmsetup message t0 0 hints off
gets_fast rewrite "$file" --method rewrite
umount "$mnt"
drop_target t0

# On a drive without hints only the pieces are known.
drop_ssd ssd0
new_ssd ssd0 capacity_mib=256 hints=0
make_fs ext4 "$DEV"
mount "$DEV" "$mnt"
python3 "$LAB_DIR/turns.py" 64 "$file" 32 0 - "$file.other" 32 0 -
dd if="$T_DIR/data" of="$file" bs=32k count=64 oflag=direct conv=notrunc status=none
check_that "without hints: it is in many pieces" "$(figure "$file" pieces)" -ge 16
exits 0 move dieaware defrag "$file"
check_that "without hints: it is in one piece" "$(figure "$file" pieces)" -eq 1
exits 0 left dieaware defrag "$file"
umount "$mnt"
