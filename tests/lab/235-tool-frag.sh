#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dieaware frag: a file that was written fragmented, with plain writes and with hints, gives the
# figures that the SSD's own tables have; through a target, a partition and a linear target; and on btrfs,
# whose addresses are its own: the pages of a file lie where it is said.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 20
# timeout: 120
# sentences: 31
. "$(dirname "$0")/rc"

# fragment FOLDER: a file of 16 units of 32 KiB, each followed by the rest of a stripe of another one
fragment() {
	python3 "$LAB_DIR/turns.py" 16 "$1/file" 32 0 /dev/urandom "$1/other" 224 0 /dev/urandom
}

# figure FILE KEY: from the JSON
figure() {
	dieaware frag --json "$1" | jq -r ".[0] | if has(\"$2\") then .$2 else .physical.$2 end |
		if type == \"array\" then \"[\" + join(\", \") + \"]\" else . end"
}

# device_dies FILE FIRST: pages on each die by the debug table of the SSD, the file's filesystem
# beginning at page FIRST of the namespace
device_dies() {
	dieaware runs extents --json "$1" | python3 -c '
import json, subprocess, sys
first, pages = int(sys.argv[1]), [0] * 8
for run in json.load(sys.stdin)[0]["runs"]:
    blocks = [str(8 * number) for number in (first + run["device_page"], run["pages"])]
    table = subprocess.run(["nvmev-ssd", "map", "ssd0", *blocks], text=True, check=True, capture_output=True)
    for line in table.stdout.splitlines():
        pages[int(line.split()[1])] += 1
print(pages)' "$2"
}

# lies_there FILE DEVICE: the device has the file's pages where runs extents says.
lies_there() {
	dieaware runs extents --json "$1" | python3 -c '
import json, sys
runs = json.load(sys.stdin)[0]["runs"]
with open(sys.argv[1], "rb") as file, open(sys.argv[2], "rb") as device:
    for run in runs:
        file.seek(run["file_page"] * 4096)
        device.seek(run["device_page"] * 4096)
        if file.read(run["pages"] * 4096) != device.read(run["pages"] * 4096):
            sys.exit("{} is elsewhere".format(run))
print(sum(run["pages"] for run in runs))' "$1" "$2"
}

new_ssd ssd0 capacity_mib=512
printf 'label: gpt\nstart=2048, size=524288\n' | sfdisk -q "$DEV"
poll 20 test -b "${DEV}p1" || partx -a "$DEV"
at_end drop_target t0
at_end drop_target t1

# Without hints the file is on one die.
dieaware create t0 "${DEV}p1" --mode hint --option hints=off
make_fs ext4 /dev/mapper/t0
new_mount /dev/mapper/t0 "$T_DIR/mnt"
mkdir "$T_DIR/mnt/plain" "$T_DIR/mnt/hinted" "$T_DIR/mnt/whole"
fragment "$T_DIR/mnt/plain"
plain=$T_DIR/mnt/plain/file
plain_dof=$(figure "$plain" dof_permille)
check_that "most of 16 units are on one of 8 dies" "$plain_dof" -ge 700
check_that "it is in pieces" "$(figure "$plain" pieces)" -gt 1
check_that "the dies are those of the SSD's own table" "$(figure "$plain" die_pages)" == "$(device_dies "$plain" 256)"

# With hints each unit is on the next die.
dmsetup message t0 0 hints on
fragment "$T_DIR/mnt/hinted"
hinted=$T_DIR/mnt/hinted/file
check_that "with hints the dies have the same share" "$(figure "$hinted" die_pages)" == "[16, 16, 16, 16, 16, 16, 16, 16]"
check_that "which is as fast as the SSD can be" "$(figure "$hinted" dof_permille)" -eq 0
check_that "the SSD's own table says so, too" "$(device_dies "$hinted" 256)" == "[16, 16, 16, 16, 16, 16, 16, 16]"
dd if=/dev/urandom of="$T_DIR/mnt/whole/file" bs=512k count=1 oflag=direct status=none
check_that "a file in one piece has a DoF_L of 1" "$(figure "$T_DIR/mnt/whole/file" dof_l_permille)" -eq 1000

# A folder, the worst file first
dieaware frag "$T_DIR/mnt" >"$T_DIR/list"
check_that "the worst file comes first" "$(sed -n 2p "$T_DIR/list")" =~ "plain/file"
check_that "with its DoF_P" "$(sed -n 2p "$T_DIR/list" | awk "{ print \$1 }")" == "0.$plain_dof"
check_that "all files are there" "$(wc -l <"$T_DIR/list")" -eq 6
check_that "or as many as are asked for" "$(dieaware frag --top 2 "$T_DIR/mnt" | wc -l)" -eq 3
check "a picture" dieaware frag --svg "$T_DIR/svg" "$plain" "$hinted"
check "is well-formed" python3 -c 'import sys, xml.dom.minidom as dom; dom.parse(sys.argv[1])' "$T_DIR/svg"
check_that "and dark cells" "$(grep -c "<rect" "$T_DIR/svg")" -gt 16

# The same without the target, and with a linear one instead
umount "$T_DIR/mnt"
dieaware remove t0
mount "${DEV}p1" "$T_DIR/mnt"
check_that "on the partition it is the same" "$(figure "$plain" dof_permille)" -eq "$plain_dof"
umount "$T_DIR/mnt"
dmsetup create t1 --table "0 524288 linear ${DEV}p1 0"
mount /dev/mapper/t1 "$T_DIR/mnt"
check_that "and on a linear target" "$(figure "$plain" die_pages)" == "$(device_dies "$plain" 256)"
umount "$T_DIR/mnt"
dmsetup remove t1

# btrfs: a file in several chunks, one with a part that is compressed, a subvolume
dieaware create t0 "${DEV}p1" --mode hint --option hints=off
make_fs btrfs /dev/mapper/t0
mount /dev/mapper/t0 "$T_DIR/mnt"
fragment "$T_DIR/mnt"
file=$T_DIR/mnt/file
write_mib "$T_DIR/mnt/large" 48
btrfs -q subvolume create "$T_DIR/mnt/sub"
dd if=/dev/urandom of="$T_DIR/mnt/sub/file" bs=64k count=1 status=none
cp "$T_DIR/mnt/sub/file" "$T_DIR/mnt/mixed"
sync
btrfs property set "$T_DIR/mnt/mixed" compression zstd
head -c 64K /dev/zero | tr '\0' y | dd of="$T_DIR/mnt/mixed" bs=64k seek=1 iflag=fullblock status=none
sync
check_that "btrfs: the file lies where it is said" "$(lies_there "$file" /dev/mapper/t0)" -eq 128
check_that "btrfs: ... and one in several chunks" "$(lies_there "$T_DIR/mnt/large" /dev/mapper/t0)" -eq 12288
check_that "btrfs: ... and one in a subvolume" "$(lies_there "$T_DIR/mnt/sub/file" /dev/mapper/t0)" -eq 16
check_that "btrfs: ... and what of one is not compressed" "$(lies_there "$T_DIR/mnt/mixed" /dev/mapper/t0)" -eq 16
check_that "btrfs: the dies are those of the SSD's own table" "$(figure "$file" die_pages)" == "$(device_dies "$file" 256)"
exits 0 "128 pages" dieaware runs load t0 "$file"
exits 0 "4 files" dieaware runs save --list "$T_DIR/saved" "$T_DIR/mnt"
check_that "btrfs: what lies in a subvolume is not listed" "$(grep -c sub/ "$T_DIR/saved")" -eq 0
exits 0 "4 of 4 files, " dieaware runs load --list "$T_DIR/saved" --saved "$T_DIR/mnt"
umount "$T_DIR/mnt"
make_fs btrfs /dev/mapper/t0 -d dup -m dup
mount /dev/mapper/t0 "$T_DIR/mnt"
dd if=/dev/urandom of="$file" bs=64k count=1 status=none
exits 3 "keeps data as dup" dieaware frag "$file"
umount "$T_DIR/mnt"
dieaware remove t0

# In log mode the target says where files are, see 564.
dieaware create t0 "${DEV}p1" --mode log --format --force
make_fs ext4 /dev/mapper/t0
mount /dev/mapper/t0 "$T_DIR/mnt"
dd if=/dev/urandom of="$T_DIR/mnt/file" bs=512k count=1 oflag=direct status=none
check_that "in log mode the dies of all pages are known, too" "$(figure "$T_DIR/mnt/file" nr_pages)" -eq 128
umount "$T_DIR/mnt"
