#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What the tool must not do: write over a device that is in use, format what may be data, believe
# what it reads from a device that is being written, move a file that gets no better, take the room
# that is root's, keep a program from being started, end because a file is gone, take memory without a
# limit.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 40
# timeout: 240
# sentences: 39
. "$(dirname "$0")/rc"

FS_MIB=64

# new_ext4 RESERVED-PERCENT: mounted
new_ext4() {
	drop_mount "$T_DIR/mnt"
	make_fs ext4 /dev/ram0 -m "$1" -O ^has_journal
	new_mount /dev/ram0 "$T_DIR/mnt"
}

# pieces_of FILE
pieces_of() {
	frag_value "$1" pieces
}

# scatter MIB KIB: $T_DIR/mnt/file in pieces of so many KiB, between those of another one
scatter() {
	python3 - "$T_DIR/mnt" "$1" "$2" <<'END'
import os
import sys

folder, mib, step = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with open(f"{folder}/file", "wb", 0) as file, open(f"{folder}/other", "wb", 0) as other:
    for _ in range(mib * 1024 // step):
        for each in (file, other):
            each.write(os.urandom(step << 10))
            os.fsync(each.fileno())
END
}

# refused COMMAND...: as wrong usage
refused() {
	local status=0

	"$@" || status=$?
	echo "It ended with $status."
	((status == 2))
}

modprobe brd rd_nr=2 rd_size=$((FS_MIB * 1024))
at_end rmmod brd

new_ext4 0
check "what is mounted is not formatted, with --force either" refused dieaware format --force /dev/ram0
umount "$T_DIR/mnt"

truncate -s 64M "$T_DIR/disk"
modprobe loop
loop=$(losetup -f --show "$T_DIR/disk")
at_end losetup -d "$loop"
make_fs ext4 "$loop"
new_mount "$loop" "$T_DIR/looped"
check "nor is a file that a loop device shows which is mounted" refused dieaware format --force "$T_DIR/disk"
check "nor is that checked" refused dieaware check "$T_DIR/disk"
umount "$T_DIR/looped"
check "without the mount it is formatted" dieaware format --force "$T_DIR/disk"
losetup -d "$loop"
loop=$(losetup -f --show /dev/ram0)
new_mount "$loop" "$T_DIR/looped"
check "nor is a device that a loop device shows" refused dieaware format --force /dev/ram0
umount "$T_DIR/looped"
losetup -d "$loop"

check "a name that dmsetup would write in another way is none" refused dieaware create "a b" /dev/ram1 --mode hint

# As plain dm-crypt looks, or a database's device
write_mib /dev/ram1 4
at_end drop_target made
check "create does not format what may be data" refused dieaware create --mode log made /dev/ram1
drop_target made

new_log_target t0 /dev/ram1 --segment 1M
check "a device that is being written is not checked" refused dieaware check /dev/ram1
check "nor dumped" refused dieaware dump /dev/ram1
check "nor repaired" \
	refused dieaware repair --from /dev/ram1 --to "$T_DIR/fixed"
check "but its superblock can be seen" dieaware dump --part superblock /dev/ram1
drop_target t0
dieaware pack /dev/ram1 "$T_DIR/good"
dmsetup create t0 --table "$LINE"
check "a device that a target has is not restored, with --force either" \
	refused dieaware restore --force "$T_DIR/good" /dev/ram1
dieaware unpack "$T_DIR/good" "$T_DIR/image"
check "nor is anything repaired onto it" \
	refused dieaware repair --force --from "$T_DIR/image" --to /dev/ram1
drop_target t0
check "without the target it is sound" dieaware check /dev/ram1
check "and the same log is restored without --force" dieaware restore "$T_DIR/good" /dev/ram1

# A pack of 130 KB has its superblock 40,000 times.
dieaware dump --exact /dev/ram1 >"$T_DIR/text"
python3 - "$T_DIR/text" "$T_DIR/pack" <<'END'
import gzip
import sys

lines = open(sys.argv[1]).read().split("\n")
with gzip.open(sys.argv[2], "wt", 1) as pack:
    pack.write("\n".join(lines[:3] + lines[2:3] * 40000) + "\n")
END
# restores_in MIB FILE: or refuses it
restores_in() {
	local status=0

	prlimit --as=$(($1 << 20)) dieaware restore --force "$2" "$T_DIR/restored" || status=$?
	rm -f "$T_DIR/restored"
	((status <= 2))
}
check "a pack is restored in 128 MiB" restores_in 128 "$T_DIR/good"
check "or refused in 128 MiB, whatever it holds" restores_in 128 "$T_DIR/pack"

# Room is free in small pieces only: what is moved lies as before.
new_ext4 0
python3 - "$T_DIR/mnt" <<'END'
import os
import sys

number = 0
try:
    while True:
        with open(f"{sys.argv[1]}/{number}", "wb", 0) as file:
            os.posix_fallocate(file.fileno(), 0, 64 << 10)
        number += 1
except OSError:
    for each in range(0, number, 2):
        os.unlink(f"{sys.argv[1]}/{each}")
END
sync
write_mib "$T_DIR/mnt/file" 2 conv=fsync
pieces=$(pieces_of "$T_DIR/mnt/file")
check_that "a file is in pieces" "$pieces" -ge 16
check "defrag takes it" dieaware defrag "$T_DIR/mnt/file"
check_that "it finds no place that is much better" "$(pieces_of "$T_DIR/mnt/file")" -ge $((pieces - 2))
# method_of ARGUMENT...: by which a file is moved
method_of() {
	dieaware defrag --json "$@" | jq -r '.[0].method'
}
moves_nothing() {
	[[ $(method_of "$@") == null ]]
}
check "so it does not move it a second time" moves_nothing "$T_DIR/mnt/file"
check "rewriting it is tried" dieaware defrag --method rewrite "$T_DIR/mnt/file"
check "and not a second time" moves_nothing --method rewrite "$T_DIR/mnt/file"
check_that "unless no file is to be left alone" "$(method_of --threshold 0 --method rewrite "$T_DIR/mnt/file")" == rewrite
check "a file that is a little in pieces is left alone" moves_nothing --threshold 95 "$T_DIR/mnt/file"

# A filesystem that is frozen keeps all writers waiting, and the kernel waits for no lease that long.
new_ext4 0
scatter 3 32
lease_seconds=$(</proc/sys/fs/lease-break-time)
at_end eval "echo $lease_seconds >/proc/sys/fs/lease-break-time"
echo 1 >/proc/sys/fs/lease-break-time
fsfreeze -f "$T_DIR/mnt"
dieaware defrag --method rewrite --threshold 0 "$T_DIR/mnt/file" >"$T_DIR/rows" 2>&1 &
mover=$!
poll 20 grep -q LEASE /proc/locks
write_mib "$T_DIR/mnt/file" 1 conv=notrunc,nocreat,fsync &
writer=$!
check "who writes to a frozen filesystem is let in" poll 20 sh -c "! grep -q LEASE /proc/locks"
fsfreeze -u "$T_DIR/mnt"
status=0
wait "$mover" || status=$?
check_that "and is not written over with what was there before" "$status" -eq 3
check "... as the tool says" grep -q "somebody has it open" "$T_DIR/rows"
wait "$writer"
echo "$lease_seconds" >/proc/sys/fs/lease-break-time

# What was moved waits for its sync, together with what comes after it.
new_ext4 0
scatter 3 32
printf '#!/bin/sh\nexit 0\n' | dd of="$T_DIR/mnt/file" conv=notrunc,fsync status=none
chmod +x "$T_DIR/mnt/file"
write_mib "$T_DIR/mnt/next" 1 conv=fsync
moves_it_not() {
	local before
	before=$(pieces_of "$T_DIR/mnt/file")
	dieaware defrag "$T_DIR/mnt" >"$T_DIR/rows" 2>&1
	cat "$T_DIR/rows"
	(($(pieces_of "$T_DIR/mnt/file") == before)) && grep -q "mnt/file was left alone: it may be a program" "$T_DIR/rows"
}
check "a program that is not named is left alone" moves_it_not
python3 - "$T_DIR/mnt/next" <<'END' &
import fcntl
import signal
import sys

signal.signal(signal.SIGIO, signal.SIG_IGN)
with open(sys.argv[1], "r+b") as file:
    fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    signal.pause()
END
holder=$!
at_end kill "$holder"
poll 10 grep -q WRITE /proc/locks
dieaware defrag "$T_DIR/mnt/file" "$T_DIR/mnt/next" >"$T_DIR/rows" 2>&1 &
mover=$!
is_moved() {
	(($(pieces_of "$T_DIR/mnt/file") < 8))
}
check "a program is moved" poll 20 is_moved
# Between its move and that it is closed it is somebody's who writes.
check "which can be started before others have been moved" poll 20 "$T_DIR/mnt/file"
kill "$holder"
wait "$mover"

new_ext4 20
scatter 3 32
fallocate -l $((($(stat -fc %a "$T_DIR/mnt") - 256) * 4096)) "$T_DIR/mnt/filler"
check_that "there is less room than the file takes, but for root's" "$(stat -fc %a "$T_DIR/mnt")" -le 300
takes_no_reserve() {
	! dieaware defrag "$T_DIR/mnt/file"
}
check "defrag does not take root's" takes_no_reserve

new_ext4 0

# It has gone between the folder and itself.
mkdir "$T_DIR/mnt/folder"
cp "$T_DIR/data" "$T_DIR/mnt/folder/stays" 2>/dev/null || write_mib "$T_DIR/mnt/folder/stays" 1
write_mib "$T_DIR/mnt/folder/vanishes" 1
check "a folder is looked at" dieaware frag "$T_DIR/mnt/folder"
strace -e trace=statx -o "$T_DIR/strace" dieaware frag "$T_DIR/mnt/folder" >"$T_DIR/frag"
number=$(grep -n '"vanishes"' "$T_DIR/strace" | sed -n 1p | cut -d : -f 1)
goes_on() {
	strace -o "$T_DIR/strace" -e trace=statx -e "inject=statx:error=ENOENT:when=$number" \
		dieaware frag "$T_DIR/mnt/folder" >"$T_DIR/frag" || true
	grep -H 'INJECTED\|stays' "$T_DIR/strace" "$T_DIR/frag"
	grep -q stays "$T_DIR/frag"
}
check "also when a file in it vanishes meanwhile" goes_on

drop_mount "$T_DIR/mnt"
at_end drop_target linear
dmsetup create linear --table "0 $(blockdev --getsz /dev/ram0) linear /dev/ram0 0"
# As udev has it
mv /dev/mapper/linear /dev/dm-0
ln -s ../dm-0 /dev/mapper/linear
at_end rm -f /dev/dm-0
mkfs.btrfs -qf --mixed /dev/mapper/linear
new_mount /dev/mapper/linear "$T_DIR/mnt"
dieaware doctor --time 2 /dev/mapper/linear >"$T_DIR/said" 2>&1 || true
check_fails "btrfs on device-mapper is not said to be unmounted" grep "is not mounted" "$T_DIR/said"
drop_mount "$T_DIR/mnt"
drop_target linear

at_end drop_target bad
dmsetup create bad <<END
0 128 linear /dev/ram1 0
128 8 error
136 $(($(blockdev --getsz /dev/ram1) - 136)) linear /dev/ram1 136
END
at_end drop_target hinted
check "hint mode needs no page that cannot be read" dieaware create hinted /dev/mapper/bad --mode hint
drop_target hinted
drop_target bad

new_ext4 0
write_mib "$T_DIR/mnt/stays" 1
latin=$T_DIR/m$'\xfc'nchen
new_mount "$T_DIR/mnt" "$latin" bind
check "a mount point whose name is no UTF-8 is in nobody's way" dieaware frag "$T_DIR/mnt/stays" "$latin/stays"
drop_mount "$latin"

truncate -s 1T "$T_DIR/mnt/sparse"
check "pick --bypass of a sparse file of 1 TiB needs no more than 256 MiB" \
	prlimit --as=$((256 << 20)) dieaware pick analyze --bypass --read-ahead 64K --out "$T_DIR/hot" --path "$T_DIR/mnt"
rm "$T_DIR/mnt/sparse"
umount "$T_DIR/mnt"
