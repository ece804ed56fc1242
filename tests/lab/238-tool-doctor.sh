#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dieaware doctor against the truth, on profiles of the virtual SSD: files in one piece, files in
# pieces that lie on one die each, files in pieces that lie in order. Its verdict is what the files'
# speeds say before and after they have been defragmented, and no remedy gives more than it promised.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# sentences: 153
# seconds: 40
# timeout: 900
. "$(dirname "$0")/rc"

WINDOW=$((256 << 10))
FILE_KIB=2560
mnt=$T_DIR/mnt

# said KEY...: of the report
said() {
	python3 -c '
import json, sys
value = json.load(open(sys.argv[1]))
for key in sys.argv[2:]:
    value = value and value[int(key) if key.isdigit() else key]
print(value)' "$T_DIR/report" "$@"
}

# promised NAME BOUND: what a remedy gains, in permille; "None" where that is not known
promised() {
	python3 -c '
import json, sys
remedies = {one["name"]: one["gain"] for one in json.load(open(sys.argv[1]))["remedies"]}
gain = remedies[sys.argv[2]]
print(gain and gain[sys.argv[3] + "_permille"])' "$T_DIR/report" "$1" "$2"
}

# time_of FILE...: nanoseconds that their windows take, each at once as a program would read it
time_of() {
	python3 - "$WINDOW" "$@" <<'END'
import mmap, os, sys, time
window = mmap.mmap(-1, int(sys.argv[1]))
spent = 0
for path in sys.argv[2:]:
    file = os.open(path, os.O_RDONLY | os.O_DIRECT)
    size = os.fstat(file).st_size
    for turn in range(2):
        begin = time.monotonic_ns()
        for at in range(0, size, len(window)):
            os.preadv(file, [window], at)
        took = time.monotonic_ns() - begin
    spent += took
    os.close(file)
print(spent)
END
}

# all_but_holes FOLDER HOLE NR: no space is left but NR holes of that many bytes, which are not neighbours.
all_but_holes() {
	python3 - "$@" <<'END'
import ctypes, errno, os, sys
folder, hole, nr = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
KEEP_SIZE, PUNCH_HOLE = 1, 2
libc = ctypes.CDLL(None, use_errno=True)
libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]

def allocate(file, mode, at, length):
    if libc.fallocate(file, mode, at, length) == 0:
        return True
    if ctypes.get_errno() == errno.ENOSPC:
        return False
    sys.exit(os.strerror(ctypes.get_errno()))

holes = os.open(f"{folder}/holes", os.O_RDWR | os.O_CREAT)
if not allocate(holes, 0, 0, 2 * hole * nr):
    sys.exit("There is no space for the holes.")
rest = os.open(f"{folder}/rest", os.O_RDWR | os.O_CREAT)
at, step = 0, 64 << 20
while step >= 4096:
    if allocate(rest, 0, at, step):
        at += step
    else:
        step //= 2
# The list of what is left of the other file takes some blocks.
os.ftruncate(rest, at - (256 << 10))
os.sync()
for index in range(nr):
    if not allocate(holes, KEEP_SIZE | PUNCH_HOLE, 2 * hole * index, hole):
        sys.exit("No hole was made.")
os.fsync(holes)
END
}

# sectors_written: to the disk
sectors_written() {
	awk '{ print $7 }' "/sys/class/block/${DEV#/dev/}/stat"
}

# examine WORD OPTION...: its report, and that looking has changed nothing. Files that are there keep
# their places when there is space again.
examine() {
	local word=$1 before
	shift

	rm -f "$mnt/rest" "$mnt/holes"
	sync
	sleep 1
	before=$(sectors_written)
	check "$word: it makes a report" dieaware doctor --json "$@" "$mnt"
	cp "$T_DIR/output" "$T_DIR/report"
	(($#)) || check_that "$word: nothing is written" "$(sectors_written)" -eq "$before"
	note "$word: $(said verdict) ($(said reason)), cause $(said cause), defrag" \
		"$(promised defrag low)-$(promised defrag high) permille"
}

# is_true WORD FILE...: defragments the files, and compares what that gave with what was said
is_true() {
	local word=$1 slow fast gain high low
	shift

	high=$(promised defrag high) low=$(promised defrag low)
	slow=$(time_of "$@")
	check "$word: the files can be defragmented" dieaware defrag --method move --threshold 0 "$@"
	sync
	sleep 1
	fast=$(time_of "$@")
	gain=$((slow * 1000 / fast))
	note "$word: $slow ns before, $fast ns after: $gain permille"
	case $(said verdict) in
	affected) check_that "$word: it is affected" "$gain" -ge 1080 ;;
	not-affected) check_that "$word: it is not affected" "$gain" -le 1120 ;;
	*) check_that "$word: it can be told" never == true ;;
	esac
	# Up to 1.10 times is "nothing".
	if ((high < 1100)); then
		check_that "$word: nothing was promised, and nothing came" "$gain" -le 1120
	else
		check_that "$word: what was promised came" "$low" -le "$gain"
	fi
}

# try PROFILE CAUSE: what costs most there when pieces lie on one die each; "None": nothing
try() {
	local unit dies stripe turns verdict=affected region=()

	[[ $1 != slc-cache ]] || region=(slc_mib=32)
	nvmev-ssd create ssd0 profile="$1" capacity_mib=512 time_scale=16 hints=0 "${region[@]}" >/dev/null
	DEV=$(ssd_device ssd0)
	unit=$(<"$CONFIGFS/ssd0/unit_kib")
	dies=$(($(<"$CONFIGFS/ssd0/channels") * $(<"$CONFIGFS/ssd0/dies_per_channel")))
	stripe=$((unit * dies)) turns=$((FILE_KIB / unit))
	# With one CPU the drive has one queue, and a scheduler that would join what is sent piece by piece.
	echo none >"/sys/block/${DEV#/dev/}/queue/scheduler"
	make_fs ext4 "$DEV" -m 0 -E lazy_itable_init=0,lazy_journal_init=0
	mount -o noatime,commit=300 "$DEV" "$mnt"
	# What it keeps for itself would be left where nothing else is.
	echo 0 >"/sys/fs/ext4/${DEV#/dev/}/reserved_clusters"
	for file in whole1 whole2; do
		write_mib "$mnt/$file" 4 oflag=direct
	done

	# In one piece: with a file of its own it knows that this is as fast as it gets.
	examine "$1, whole" --write 8
	check_that "$1, whole: nothing is slow" "$(said verdict)" == not-affected

	# On one die each: what is between two pieces is the rest of a stripe.
	fallocate -l "$(((stripe - unit) * turns))KiB" "$mnt/between"
	all_but_holes "$mnt" $((unit << 10)) $((turns + 16))
	python3 "$LAB_DIR/turns.py" "$turns" "$mnt/dies" "$unit" 0 "$T_DIR/data" \
		"$mnt/between" $((stripe - unit)) 0 /dev/zero
	examine "$1, one die"
	[[ $2 != None ]] || verdict=not-affected
	check_that "$1, one die: it is $verdict" "$(said verdict)" == $verdict
	check_that "$1, one die: for $2" "$(said cause)" == "$2"
	is_true "$1, one die" "$mnt/dies"

	# In pieces, but in order
	rm "$mnt/dies" "$mnt/between"
	all_but_holes "$mnt" $((unit << 10)) $((turns + 16))
	dd if="$T_DIR/data" of="$mnt/order" bs="${unit}k" count="$turns" oflag=direct status=none
	examine "$1, order" --write 8
	# With open stripes, what is written goes to the die that is furthest behind, not to each in its turn.
	if (($(<"$CONFIGFS/ssd0/stripe_lead") == 0)); then
		check_that "$1, order: not for where pages lie" "$(said cause)" != places
	fi
	is_true "$1, order" "$mnt/order"
	umount "$mnt"
	nvmev-ssd remove ssd0
}

mkdir "$mnt"
at_end drop_ssd ssd0
at_end drop_mount "$mnt"
dd if=/dev/urandom of="$T_DIR/data" bs=1k count=$FILE_KIB status=none
for profile in fast24 nvme-a sata-b tlc qlc modern slc-cache ufs; do
	try $profile places
done
# One die is nearly as fast as its link: requests cost more, or nothing does.
try emmc splitting
try microsd None
# Where a piece is decides its number there, and not what was written before it.
try xpoint None
