#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dieaware pick analyze: whatever way a file is read in, also by page faults and by threads of the kernel, its
# ranges and counts are known, of what is watched and of nothing else; sequential reads become windows of
# read-ahead; no probe is left behind.
# One CPU: tracing patches the code of the scheduler, and an emulated CPU may run what another one has patched
# while it is half done ("Oops: int3").
# kernels: 6.12
# long: 6.1 newest
# smp: 1
# mem: 2G
# sentences: 87
# seconds: 50
# timeout: 600
. "$(dirname "$0")/rc"

# ranges FILE: what the analysis says of a file, as begin+length*count in KiB
ranges() {
	# jq takes long to start in an emulated machine.
	awk -v path="\"$1\"," '
		$1 == "\"path\":" { ours = $2 == path }
		$1 == "\"begin\":" { begin = $2 / 1024 }
		$1 == "\"bytes\":" { kib = $2 / 1024 }
		ours && $1 == "\"count\":" { printf "%d+%d*%d ", begin, kib, $2 }' "$T_DIR/hot"
}

# analyze OPTION...: of the mount
analyze() {
	dieaware pick analyze --out "$T_DIR/hot" --path "$mnt" "$@"
}

# left: probes and instances of ours
left() {
	find "$TRACEFS/instances" -maxdepth 1 -name 'dieaware*' | wc -l
	grep -c dieaware "$TRACEFS/kprobe_events" || true
}

none=$'0\n0'
mnt=$T_DIR/mnt
new_ssd ssd0 capacity_mib=1024
for fs in ext4 xfs f2fs btrfs; do
	make_fs $fs "$DEV"
	new_mount "$DEV" "$mnt"
	dd if=/dev/urandom of="$mnt/file" bs=1M count=1 status=none
	mkdir "$mnt/folder"
	cp "$mnt/file" "$mnt/folder/sequential"
	cp "$mnt/file" "$mnt/other"
	sync

	check "$fs: reads are watched" analyze --read-ahead 128K -- python3 "$LAB_DIR/reads.py" "$mnt/file"
	# A buffered request of io_uring that waited for its page may be taken for two.
	check_that "$fs: each way to read is seen" "$(ranges "$mnt/file" | sed 's/640+4\*2/640+4*1/')" == \
		"0+4*1 64+8*1 128+4*1 192+4*1 256+16*1 320+4*1 384+8*1 448+8*1 512+8*1 576+8*1 640+4*1 704+4*1 768+4*1 832+128*1 "
	check_empty "$fs: nothing else is" "$(ranges "$mnt/other")"
	check_that "$fs: no probe is left" "$(left)" == "$none"

	# Again by a program that reads 4 KiB at a time, from the page cache
	check "$fs: a sequential reader is watched" \
		analyze -- dd if="$mnt/folder/sequential" of=/dev/null bs=4k count=40 status=none
	# btrfs reads 4 MiB ahead, whatever its disk says.
	windows="0+128*1 128+128*1 "
	[[ $fs != btrfs ]] || windows="0+1024*1 "
	check_that "$fs: it reads windows of read-ahead" "$(ranges "$mnt/folder/sequential")" == "$windows"
	check "$fs: --read-ahead" analyze --read-ahead 64K -- \
		bash -c "for i in 1 2 3; do dd if=$mnt/folder/sequential of=/dev/null bs=4k count=20 status=none; done"
	check_that "$fs: its windows are smaller, and counted" "$(ranges "$mnt/folder/sequential")" == "0+64*3 64+64*3 "
	check "$fs: a mapping is read" analyze --read-ahead 64K -- \
		python3 -c 'import mmap, sys; file = open(sys.argv[1]); mmap.mmap(file.fileno(), 192 << 10, access=1).find(b"none")' \
		"$mnt/folder/sequential"
	# A fault that finds a large folio maps more than its window, and there may be none for the last one.
	check_that "$fs: ... in windows" "$(ranges "$mnt/folder/sequential")" =~ '^0\+64\*1 64\+64\*1 (128\+64\*1 )?$'
	if [[ $fs == btrfs ]]; then
		btrfs -q subvolume create "$mnt/sub"
		cp "$mnt/other" "$mnt/sub/file"
		check_that "$fs: inode numbers repeat" "$(stat -c %i "$mnt/sub/file")" -eq "$(stat -c %i "$mnt/file")"
		check "$fs: a subvolume is read" analyze -- cat "$mnt/sub/file"
		check_empty "$fs: it is not taken for the other one" "$(ranges "$mnt/file")"
		check "$fs: ... and watched" dieaware pick analyze --out "$T_DIR/hot" --path "$mnt/sub" -- cat "$mnt/sub/file"
		check_that "$fs: ... it has been read" "$(ranges "$mnt/sub/file")" == "0+1024*1 "
	fi
	umount "$mnt"
done
make_fs ext4 "$DEV"
mount "$DEV" "$mnt"
dd if=/dev/urandom of="$mnt/file" bs=1M count=1 status=none
mkdir "$mnt/folder"
cp "$mnt/file" "$mnt/folder/file"
sync

# read_at FILE KIB [COUNT]: with O_DIRECT
read_at() {
	dd if="$1" of=/dev/null bs=4k skip=$(($2 / 4)) count="${3:-1}" iflag=direct status=none
}

# Everybody, for a time; and only a command
(while :; do
	read_at "$mnt/file" 64
	sleep 0.1
done) &
at_end kill $!
check "everybody is watched for a second" analyze --seconds 1
check_that "another process was seen" "$(ranges "$mnt/file")" =~ ^64\+4\*
check "a command is watched" analyze -- cat "$mnt/folder/file"
check_empty "another process was not" "$(ranges "$mnt/file")"
kill $!
wait $! 2>/dev/null || true

# Folders, files, writes, hotness
check "a folder" dieaware pick analyze --out "$T_DIR/hot" --path "$mnt/folder" -- cat "$mnt/folder/file" "$mnt/file"
check_that "what lies beside it does not count" "$(ranges "$mnt/file")$(ranges "$mnt/folder/file" | head -c 5)" == "0+128"
for option in "" --writes; do
	# shellcheck disable=SC2086
	check "a writer ${option:-alone}" analyze $option -- \
		dd if=/dev/zero of="$mnt/file" bs=8k count=1 seek=5 conv=notrunc oflag=direct status=none
	check_that "it counts with --writes" "read: $(ranges "$mnt/file")" == "read: ${option:+40+8*1 }"
done
# The second read is within the first, the third one twice.
cat >"$T_DIR/job" <<END
dd if=$mnt/file of=/dev/null bs=32k count=1 skip=2 iflag=direct status=none
dd if=$mnt/file of=/dev/null bs=4k count=1 skip=18 iflag=direct status=none
dd if=$mnt/file of=/dev/null bs=4k count=1 skip=60 iflag=direct status=none
dd if=$mnt/folder/file of=/dev/null bs=4k count=1 skip=9 iflag=direct status=none
dd if=$mnt/file of=/dev/null bs=4k count=1 skip=60 iflag=direct status=none
dd if=$mnt/file of=/dev/null bs=4k count=1 skip=60 iflag=direct status=none
END
check "all ranges" analyze -- bash "$T_DIR/job"
check_that "what overlaps is one" "$(ranges "$mnt/file"); $(ranges "$mnt/folder/file")" == "64+32*2 240+4*3 ; 36+4*1 "
check "the hottest third" analyze --hot 33 -- bash "$T_DIR/job"
check_that "only that is kept" "$(ranges "$mnt/file"); $(ranges "$mnt/folder/file")" == "240+4*3 ; "
check "without watching" analyze --bypass --read-ahead 512K
check_that "files are cut into windows" "$(ranges "$mnt/file")" == "0+512*1 512+512*1 "

# Ctrl-C
dieaware pick analyze --out "$T_DIR/hot" --path "$mnt" >"$T_DIR/said" 2>&1 &
pid=$!
# The last one that is enabled
poll 20 grep -qs 1 "$TRACEFS/instances/dieaware-$pid/events/dieaware_$pid/fault/enable"
read_at "$mnt/file" 80 4
kill -INT $pid
status=0
wait $pid || status=$?
check_that "Ctrl-C is the end when there is no other" $status -eq 0
check_that "what was read counts" "$(ranges "$mnt/file")" == "80+4*1 84+4*1 88+4*1 92+4*1 "
rm "$T_DIR/hot"
status=0
# In the foreground: else it sends the signal twice, and the second one ends the process at once.
timeout --foreground --preserve-status -s INT 2 dieaware pick analyze --out "$T_DIR/hot" --path "$mnt" -- sleep 100 >/dev/null 2>&1 || status=$?
check_that "Ctrl-C before the end of the command ends it with 130" $status -eq 130
check "nothing is written then" test ! -e "$T_DIR/hot"
check_that "no probe is left" "$(left)" == "$none"
dieaware pick analyze --out "$T_DIR/hot" --path "$mnt" >/dev/null 2>&1 &
pid=$!
poll 20 test -d "$TRACEFS/instances/dieaware-$pid/events/dieaware_$pid/fault"
kill -KILL $pid
wait $pid || true
check_that "who is killed leaves its probes" "$(left)" != "$none"
check "the next one takes them away" analyze -- true
check_that "no probe is left" "$(left)" == "$none"

# The terminal closes.
dieaware pick analyze --seconds 100 --out "$T_DIR/hot" --path "$mnt" >/dev/null 2>&1 &
pid=$!
check "pick analyze watches" poll 30 grep -q dieaware "$TRACEFS/kprobe_events"
kill -HUP $pid
wait $pid || true
check_that "it leaves no probe behind when its terminal closes" "$(left)" == "$none"

exits 3 "accesses to tmpfs cannot be traced" dieaware pick analyze --out "$T_DIR/hot" --path /tmp -- true
exits 3 "No such file" dieaware pick analyze --out "$T_DIR/hot" --path "$mnt/none" -- true
exits 3 "none cannot be started" analyze -- "$mnt/none"
exits 0 "ended with exit status: 7" analyze -- bash -c "exit 7"
exits 3 "/none/hot cannot be written" dieaware pick analyze --out /none/hot --path "$mnt" -- touch "$T_DIR/begun"
check "what cannot be written is not watched for" test ! -e "$T_DIR/begun"
exits 2 "cannot be used with" analyze --seconds 1 -- true
exits 2 "no more than 100 percent" analyze --hot 101 -- true
check_that "no probe is left" "$(left)" == "$none"
umount "$mnt"
