#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A backing file keeps an SSD over power off, removal and unloading of the module; one that
# is damaged, of another drive, in use, or on a full disk is refused with the reason.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 40
# timeout: 240
# sentences: 61
. "$(dirname "$0")/rc"

SSD=(capacity_mib=32 channels=2 units_per_eblk=16 wbuf_kib=2048 run_units=8)
FILE=$T_DIR/ssd.img

# again NAME [KEY=VALUE...]: make an SSD anew from the file.
again() {
	local name=$1

	shift
	new_ssd "$name" "${SSD[@]}" backing_file="$FILE" "$@"
}

# refused SENTENCE PATTERN [KEY=VALUE...]: it cannot be switched on, and says why.
refused() {
	local sentence=$1 pattern=$2 output

	shift 2
	output=$(nvmev-ssd create bad "${SSD[@]}" backing_file="$FILE" "$@" 2>&1) && output="made: $output"
	check_that "$sentence" "$output" =~ "$pattern"
	drop_ssd bad
}

read_back() {
	dd if="$DEV" bs=1M count=8 skip="$1" iflag=direct status=none | cmp - "$T_DIR/data"
}

# flip OFFSET: change a byte of the file
flip() {
	local byte

	byte=$(od -An -tu1 -j "$1" -N 1 "$FILE")
	printf "%b" "$(printf '\\\\x%02x' $((byte ^ 1)))" |
		dd of="$FILE" bs=1 seek="$1" conv=notrunc status=none
}

dd if=/dev/urandom of="$T_DIR/data" bs=1M count=8 status=none
again ssd0 plp=0
dd if="$T_DIR/data" of="$DEV" bs=1M seek=4 oflag=direct status=none
programmed=$(ssd_stat ssd0 nand_pages_programmed)
refused "a file in use is refused" "in use" plp=0
refused "also if it is to be recovered" "in use by another" plp=0 backing_recover=1
check "it is removed" drop_ssd ssd0
check "the module is unloaded" rmmod nvmevirt_backend
again ssd0 plp=0
check "the data is there after it was loaded again" read_back 4
check_that "statistics go on" "$(ssd_stat ssd0 nand_pages_programmed)" -ge "$programmed"

dd if="$T_DIR/data" of="$DEV" bs=1M seek=16 oflag=direct conv=fsync status=none
nvmev-ssd power-cut ssd0
drop_ssd ssd0
again ssd0 plp=0
check "what was flushed before a power failure is there" read_back 16
check "and the rest, too" read_back 4
drop_ssd ssd0

# As if the machine had stopped while the SSD was on: nothing but the header is written then.
again ssd0 plp=0
cp "$FILE" "$T_DIR/crashed"
dd if=/dev/zero of="$DEV" bs=1M count=8 seek=4 oflag=direct conv=fsync status=none
check "the file is as it was when the SSD was switched on" cmp "$FILE" "$T_DIR/crashed"
drop_ssd ssd0
cp "$FILE" "$T_DIR/later"
cp "$T_DIR/crashed" "$FILE"
refused "a file that was left in use is refused" "was in use when its machine stopped.*backing_recover" plp=0
again ssd0 plp=0 backing_recover=1
check "it is recovered if that is asked for" read_back 4
check "with what was written before" read_back 16
check_that "which is in the kernel log" "$(dmesg)" =~ "is lost"
check_that "and counts as an unsafe shutdown" "$(nvme smart-log "${DEV%n1}" -o json | jq -r .unsafe_shutdowns)" -ge 2
check_that "once" "$(<"$CONFIGFS/ssd0/backing_recover")" -eq 0
drop_ssd ssd0
# Two headers, one for each power on and off: with either damaged, the other is told from it.
cp "$T_DIR/later" "$FILE"
read -r older newer < <(python3 "$LAB_DIR/image.py" headers "$FILE")
flip $((newer + 200))
refused "a damaged header is refused" "One of the two headers.*backing_recover" plp=0
refused "there is nothing of the time of the one before it" "damaged" plp=0 backing_recover=1
cp "$T_DIR/later" "$FILE"
flip $((older + 200))
refused "a damaged header is refused, though it is the older one" "One of the two headers" plp=0
again ssd0 plp=0 backing_recover=1
check "the newer one is taken if that is asked for" read_back 16
check_that "with what was written last" "$(dd if="$DEV" bs=1M count=8 skip=4 iflag=direct status=none | tr -d '\0' | wc -c)" -eq 0
drop_ssd ssd0
again ssd0 plp=0
check "the file is in order again" read_back 16
drop_ssd ssd0
rm "$FILE"
again ssd0 plp=0
cp "$FILE" "$T_DIR/crashed"
drop_ssd ssd0
cp "$T_DIR/crashed" "$FILE"
again ssd0 plp=0 backing_recover=1
check "a file to which nothing was written yet is a new SSD" cmp -n 1048576 /dev/zero "$DEV"
drop_ssd ssd0
cp "$T_DIR/later" "$FILE"

cp "$FILE" "$T_DIR/good"
refused "a drive with other properties is refused" "other properties" plp=1
mapfile -t used < <(python3 "$LAB_DIR/image.py" used "$FILE")
check_that "one half of the file is in use" "${#used[@]}" -eq 3
for offset in 0 8 100 4096 "${used[@]}"; do
	flip "$offset"
	refused "a change at byte $offset is refused" "damaged|version|not one" plp=0
	cp "$T_DIR/good" "$FILE"
done
truncate -s 100000 "$FILE"
refused "a short file is refused" "short" plp=0
truncate -s 10 "$FILE"
refused "a very short one, too" "short" plp=0
rm "$FILE"
mkdir "$FILE"
refused "a folder is refused" "opened" plp=0
rmdir "$FILE"
cp "$T_DIR/good" "$FILE"
again ssd0 plp=0
check "the good file still works" read_back 16
drop_ssd ssd0

mkdir "$T_DIR/small"
mount -t tmpfs -o size=4m none "$T_DIR/small"
at_end umount "$T_DIR/small"
FILE=$T_DIR/small/ssd.img
again ssd1
# So that both headers have their place, and it can be switched on with a full disk
nvmev-ssd power-off ssd1
DEV=$(nvmev-ssd power-on ssd1)
dd if="$T_DIR/data" of="$DEV" bs=1M oflag=direct status=none
check_fails "a disk that is full is reported at power off" sh -c "echo 0 >$CONFIGFS/ssd1/power"
check_that "with the reason" "$(<"$CONFIGFS/ssd1/error")" =~ "no space"
nvmev-ssd power-on ssd1 >"$T_DIR/said"
check_fails "nvmev-ssd, too" nvmev-ssd power-off ssd1
check_that "says the reason" "$(<"$T_DIR/output")" =~ "no space"
nvmev-ssd power-on ssd1 >"$T_DIR/said"
check_fails "what needs it to be off does not begin" nvmev-ssd save ssd1 "$T_DIR/state"
check_that "for that reason" "$(<"$T_DIR/output")" =~ "no space"
check_that "and leaves it on" "$(<"$CONFIGFS/ssd1/power")" -eq 1
check "and makes no file" test ! -e "$T_DIR/state"
check_fails "a failing power-cut" nvmev-ssd power-cut ssd1
check_that "says it as well" "$(<"$T_DIR/output")" =~ "no space"
check_fails "what its file has not is not removed" nvmev-ssd remove ssd1
check_that "and how it can be is said" "$(<"$T_DIR/output")" =~ "no space.*--discard"
nvmev-ssd power-on ssd1 >"$T_DIR/said"
check_fails "nor is one that is on" nvmev-ssd remove ssd1
check_that "for the same reason" "$(<"$T_DIR/output")" =~ "no space.*--discard"
check_that "which is off then" "$(<"$CONFIGFS/ssd1/power")" -eq 0
mount -o remount,size=64m "$T_DIR/small"
DEV=$(nvmev-ssd power-on ssd1)
check "nothing is lost" read_back 0
check "and with more space it can be kept" sh -c "echo 0 >$CONFIGFS/ssd1/power"
check "and removed" nvmev-ssd remove ssd1
again ssd1
check "and read back" read_back 0

# full: leave nothing of the small disk
full() {
	dd if=/dev/zero of="$T_DIR/small/rest" bs=64k 2>"$T_DIR/said" || true
}

dd if="$T_DIR/data" of="$DEV" bs=1M seek=12 oflag=direct status=none
full
check_fails "with a disk that is full again it cannot be kept" nvmev-ssd power-off ssd1
check_fails "nor at another try" nvmev-ssd power-off ssd1
rm "$T_DIR/small/rest"
check "with space it is kept without being switched on" nvmev-ssd remove ssd1
again ssd1
check "with all that was written" read_back 12
check "and with what was there before" read_back 0
dd if=/dev/zero of="$DEV" bs=1M count=8 seek=12 oflag=direct status=none
full
check "what its file has not can be thrown away" nvmev-ssd remove ssd1 --discard
rm "$T_DIR/small/rest"
again ssd1 backing_recover=1
check "then the file has what it had before" read_back 12
