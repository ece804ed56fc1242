#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dieaware pick watch: a file that is read much, or mapped, and lies on few dies, is spread while it is read; one that
# nobody reads, and one that is too large, are left alone. SIGTERM ends it, and a snapshot below it does not.
# One CPU: tracing patches the code of the scheduler, and an emulated CPU may run what another one has patched
# while it is half done ("Oops: int3").
# kernels: 6.12
# smp: 1
# mem: 2G
# sentences: 28
# seconds: 50
# timeout: 300
. "$(dirname "$0")/rc"

# dof FILE: DoF_P in thousandths
dof() {
	frag_value "$1" physical dof_permille
}

is_spread() {
	local dof

	dof=$(dof "$1")
	# It says null of what it cannot tell.
	[[ $dof == [0-9]* ]] && ((dof <= 130))
}

# watch OPTION...: in the background, its process in WATCH
watch() {
	dieaware pick watch --every 2 "$@" "$mnt" >"$T_DIR/said" 2>"$T_DIR/errors" &
	WATCH=$!
	at_end kill $WATCH
}

# ends STATUS: what the watcher ends with
ends() {
	local status=0

	wait $WATCH || status=$?
	check_that "it ends with $1" $status -eq "$1"
	check_empty "no probe is left" "$(ls "$TRACEFS/instances")$(<"$TRACEFS/kprobe_events")"
}

# reads FILE...: somebody does, again and again, its process in reader
reads() {
	(while :; do cat "$@" >/dev/null; sleep 0.1; done) &
	reader=$!
	at_end kill $reader
}

# complains N: so many turns have met the snapshot. What they have said is shown where this fails.
complains() {
	cat "$T_DIR/errors"
	(($(grep -c 'snapshot-origin, .*for now' "$T_DIR/errors") >= $1))
}

# leave: nobody reads any more, and nothing is mounted. The last program of the reader outlives it, with the file open.
leave() {
	kill $reader
	poll 20 umount "$mnt"
}

# gives_up DEVICE SENTENCE WORDS: the watcher of a new filesystem there ends, and says this
gives_up() {
	make_fs ext4 "$1"
	mount "$1" "$mnt"
	write_fragmented "$mnt/hot" 8
	reads "$mnt/hot"
	watch --threshold 0
	ends 3
	check "$2" grep -q "$3" "$T_DIR/errors"
	leave
}

dd if=/dev/urandom of="$T_DIR/data" bs=1M count=4 status=none
new_ssd ssd0 capacity_mib=256
make_fs ext4 "$DEV"
mnt=$T_DIR/mnt
new_mount "$DEV" "$mnt"
write_fragmented "$mnt/hot" 32
write_fragmented "$mnt/cold" 32
write_fragmented "$mnt/large" 96
sum=$(sums "$mnt")
reads "$mnt/hot" "$mnt/large"

check_that "all three lie badly" $(($(dof "$mnt/hot") >= 700 && $(dof "$mnt/cold") >= 700 && $(dof "$mnt/large") >= 700)) -eq 1
watch --most 2M
check "what is read is spread" poll 60 is_spread "$mnt/hot"
# Another time to work
poll 5 false || true
check_that "what nobody reads is not" "$(dof "$mnt/cold")" -ge 700
check_that "nor is what is too large" "$(dof "$mnt/large")" -ge 700
check "a line says what was done" grep -qE "^ssd +0\.[0-9]+ .* $mnt/hot$" "$T_DIR/said"
kill -TERM $WATCH
ends 0
watch
check "with more time for it, the large one is" poll 60 is_spread "$mnt/large"
kill -INT $WATCH
ends 0
check_that "all files are the same" "$(sums "$mnt")" == "$sum"
leave

# btrfs, by page faults
make_fs btrfs "$DEV"
mount "$DEV" "$mnt"
write_fragmented "$mnt/hot" 32
(while :; do
	python3 -c 'import mmap, sys; file = open(sys.argv[1]); mmap.mmap(file.fileno(), 0, access=1).find(b"none")' "$mnt/hot"
	sleep 0.1
done) &
reader=$!
at_end kill $reader
check_that "btrfs: it lies badly" "$(dof "$mnt/hot")" -ge 700
watch
check "btrfs: what is mapped and read is spread" poll 60 is_spread "$mnt/hot"
kill -TERM $WATCH
ends 0
leave

# LVM puts a layer in for as long as there is a snapshot.
all="0 $(blockdev --getsz "$DEV")"
dmsetup create volume --table "$all linear $DEV 0"
at_end drop_target volume
make_fs ext4 /dev/mapper/volume
mount /dev/mapper/volume "$mnt"
write_fragmented "$mnt/hot" 32
reads "$mnt/hot"
becomes volume "$all snapshot-origin $DEV"
# Nobody can say how badly it lies: pieces alone need not be bad enough.
watch --threshold 0
check "a snapshot's layer hides files at three turns" poll 60 complains 3
check "which does not end it" is_running $WATCH
becomes volume "$all linear $DEV 0"
check "when that is gone, what is read is spread" poll 60 is_spread "$mnt/hot"
kill -TERM $WATCH
ends 0
leave
drop_target volume

drop_ssd ssd0
new_ssd ssd0 capacity_mib=256 hints=0
gives_up "$DEV" "it says why" "the SSD has no command for it"

# What lies in a file of another filesystem is nowhere on an SSD for anybody who asks.
truncate -s 64M "$T_DIR/image"
modprobe loop
loop=$(losetup -f --show "$T_DIR/image")
at_end losetup -d "$loop"
gives_up "$loop" "loop: it says why" "the SSD has no command for it.*$loop does not say where pages are"
exits 3 "cannot be traced" dieaware pick watch /tmp
