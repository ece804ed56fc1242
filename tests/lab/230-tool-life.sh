#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The tool makes devices and takes them away: hint and log mode, what it refuses and in which
# words, without root, without the module; and a check of a device that cannot be read everywhere.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# sentences: 140
# seconds: 20
# timeout: 120
. "$(dirname "$0")/rc"

# json_says FILTER COMMAND...
json_says() {
	local filter=$1
	shift

	"$@" | tee "$T_DIR/json"
	jq -e "$filter" "$T_DIR/json"
}

new_ssd ssd0 capacity_mib=256
printf 'label: gpt\nstart=2048, size=131072\nstart=133120, size=262144\n' | sfdisk -q "$DEV"
poll 20 test -b "${DEV}p2" || partx -a "$DEV"
at_end drop_target t0
at_end drop_target t1

# Hint mode: nothing of it stays on the device.
exits 0 "announces that it understands hints" dieaware create t0 "${DEV}p1" --mode hint --dry-run
check_fails "--dry-run makes nothing" dmsetup info t0
exits 0 "/dev/mapper/t0: 0 131072 dieaware ${DEV}p1 0 hint 1 runs_mb=8" \
	dieaware create t0 "${DEV}p1" --mode hint --option runs_mb=8
check_that "its UUID" "$(dmsetup info -c --noheadings -o uuid t0)" == DIEAWARE-HINT-t0
check_that "hints are sent" "$(status_field t0 hints)" == on
exits 3 "; root may do that" setpriv --reuid=65534 --clear-groups dieaware check "$DEV"
exits 0 "t0 is there already, and is left as it is" dieaware create t0 "${DEV}p1" --mode hint --option runs_mb=8
exits 0 "/dev/mapper/t0: 0 131072 dieaware " \
	dieaware create t0 "${DEV}p1" --mode hint --option runs_mb=08 --option hints=auto --dry-run
exits 2 "it has runs_mb=8, and not 64" dieaware create t0 "${DEV}p1" --mode hint
exits 2 "which is another one: it lies on 259:" dieaware create t0 "${DEV}p2" --mode hint --option runs_mb=8
exits 2 "its mode is hint" dieaware create t0 "${DEV}p1" --mode log
exits 2 "it begins at sector 0, and not at 8" dieaware create t0 "${DEV}p1" --mode hint --option runs_mb=8 --start 8
exits 2 "There is a device t0 already, so ${DEV}p1 is not formatted" \
	dieaware create t0 "${DEV}p1" --mode log --format --force
dmsetup suspend t0
exits 2 "it is suspended" dieaware create t0 "${DEV}p1" --mode hint --option runs_mb=8
dmsetup resume t0
exits 2 "is in use" dieaware create t1 "${DEV}p1" --mode hint
exits 2 "is in use" dieaware create t1 "${DEV}p1" --mode log --format --force
exits 2 "is in use" dieaware create t1 "$DEV" --mode log --format --force
exits 0 "t0    hint  259:" dieaware list
# top may begin late and tells only what happens between its two looks: write as long as it runs.
dieaware top --count 1 --interval 2 t0 >"$T_DIR/top" &
while is_running $!; do
	dd if=/dev/zero of=/dev/mapper/t0 bs=64k count=64 oflag=direct status=none
done
check "top says what has happened" grep -q "^writes  " "$T_DIR/top"
check_that "and what each die has done" "$(grep -c '^die ' "$T_DIR/top")" -eq 8
make_fs ext4 /dev/mapper/t0
new_mount /dev/mapper/t0 "$T_DIR/mnt"
exits 2 "t0 is in use: unmount" dieaware remove t0
umount "$T_DIR/mnt"
exits 0 "\"created\": false" dieaware create t0 "${DEV}p1" --mode hint --option runs_mb=8 --json
exits 0 "would remove t0: 0 131072 dieaware " dieaware remove --dry-run t0
check "and that removes nothing" dmsetup info t0
exits 2 "it is no device of device-mapper" dieaware remove "${DEV}p1"
exits 2 "it is no device of device-mapper" dieaware remove /dev/no-such
# Where nobody took it away, the node of a device that went leads to the next one of its number.
mknod /dev/mapper/gone b "$(stat -c 0x%t /dev/mapper/t0)" "$(stat -c 0x%T /dev/mapper/t0)"
for words in remove status grow attach detach; do
	exits 2 "/dev/mapper/gone is a node of another device, which device-mapper calls t0" dieaware $words /dev/mapper/gone
done
check "and nothing is done to that" dmsetup info t0
# It is one more name of its device's if udev has made it, and takes it away.
record=/run/udev/data/b$(dmsetup info -c --noheadings -o devno t0)
mkdir -p "${record%/*}"
echo "S:mapper/gone" >"$record"
exits 0 "would remove t0: " dieaware remove --dry-run /dev/mapper/gone
rm "$record" /dev/mapper/gone
exits 0 "would remove t0: " dieaware remove --dry-run /dev/mapper/../mapper/t0
exits 0 "would remove t0: " dieaware remove --dry-run "/dev/$(dmsetup info -c --noheadings -o blkdevname t0)"
check "remove, by its path" dieaware remove /dev/mapper/t0
exits 0 "there is no device t0" dieaware remove /dev/mapper/t0
dmsetup create t0 --table "0 131072 dieaware ${DEV}p1 0 hint"
exits 2 "it was not made by \"dieaware create\"" dieaware create t0 "${DEV}p1" --mode hint
exits 2 "is in use" dieaware format --dry-run --force "${DEV}p1"
dmsetup remove t0
dmsetup create t1 --table "0 8 zero"
exits 2 "not one dieaware target alone" dieaware create t1 "${DEV}p1" --mode hint
exits 2 "t1 has no dieaware target" dieaware remove t1
dmsetup remove t1

# Log mode: data is not destroyed by mistake.
exits 2 "holds a filesystem (ext4)" dieaware create t0 "${DEV}p1" --mode log --format
exits 2 "holds a partition table (gpt)" dieaware create t0 "$DEV" --mode log --format
exits 2 "is not formatted for log mode; --format does" dieaware create t0 "${DEV}p2" --mode log
exits 2 "is not formatted for log mode; --format does" dieaware create t0 "${DEV}p1" --mode log
check "the filesystem is still there" fsck.ext4 -fn "${DEV}p1"
exits 0 "is formatted for log mode; what it holds is lost" dieaware create t0 "${DEV}p1" --mode log --format --force --dry-run
sum=$(sha256sum <"${DEV}p1")
exits 0 "holds a filesystem (ext4), which would be lost" dieaware format --dry-run --force "${DEV}p1"
check_that "which changes nothing" "$(sha256sum <"${DEV}p1")" == "$sum"
check "and after --dry-run as well" fsck.ext4 -fn "${DEV}p1"
check "what create has done is JSON for programs" \
	json_says '.version == 1 and .created and .formatted and (.table | contains(" log")) and .path == "/dev/mapper/t0"' \
	dieaware create t0 "${DEV}p1" --mode log --format --force --json
check_that "it can be written" "$(status_field t0 state)" == write
dd if=/dev/urandom of="$T_DIR/data" bs=1M count=8 status=none
dd if="$T_DIR/data" of=/dev/mapper/t0 bs=1M conv=fsync status=none
log=$(dieaware dump --part superblock "${DEV}p1" 2>/dev/null | sed -n 's/^superblock uuid=\([^ ]*\) .*/\1/p' | tr -d -)
check_that "its UUID" "$(dmsetup info -c --noheadings -o uuid t0)" == "DIEAWARE-LOG-$log-t0"
exits 0 "t0 is there already" dieaware create t0 "${DEV}p1" --mode log
# shellcheck disable=SC2086 # words
for verb in check stat dump "dump --part superblock"; do
	exits 2 "its metadata lies on ${DEV}p1" dieaware $verb /dev/mapper/t0
done
dmsetup message t0 0 idle 0 20
exits 2 "it has idle_ms=0, and not 1000" dieaware create t0 "${DEV}p1" --mode log
exits 0 "\"state\": \"write\"" dieaware list --json
check "remove" dieaware remove t0
exits 0 "which is used as it is" dieaware create t0 "${DEV}p1" --mode log
check "the data is there again" cmp -n 8388608 "$T_DIR/data" /dev/mapper/t0
check "so is what remove has done" json_says '.version == 1 and .removed and (.tables | length) == 1' \
	dieaware remove --json t0
check_fails "the device has gone" dmsetup info t0
exits 2 "holds a device in log mode" dieaware create t0 "${DEV}p1" --mode log --format
exits 0 "is formatted for log mode: its files are seen" dieaware create t0 "${DEV}p1" --mode hint --dry-run

# What the target refuses is said in its own words.
exits 2 "The target refuses: " dieaware create t0 "${DEV}p1" --mode hint --option runs_mb=0
exits 2 "is not of the form KEY=VALUE" dieaware create t0 "${DEV}p1" --mode hint --option runs_mb
exits 3 "cannot be opened" dieaware create t0 /dev/nothing --mode hint
exits 3 "only root can use device-mapper" setpriv --reuid=65534 --clear-groups dieaware list
exits 3 "cannot be opened" setpriv --reuid=65534 --clear-groups dieaware create t0 "${DEV}p1" --mode hint

# Without the module
modprobe -r dm-dieaware
echo "install dm-dieaware /bin/false" >/etc/modprobe.d/none.conf
exits 3 "is the module dm-dieaware installed?" dieaware create t0 "${DEV}p1" --mode hint
rm /etc/modprobe.d/none.conf
exits 0 /dev/mapper/t0 dieaware create t0 "${DEV}p1" --mode hint
check "the module was loaded" grep -q ^dm_dieaware /proc/modules
check "remove" dieaware remove t0

# A device some of which cannot be read: a page of the map's table, and the rest is looked at.
bad=$(dieaware dump --exact "${DEV}p1" | sed -n 's/^map dpn=\([0-9]*\) .*/\1/p' | sed -n 1p)
bad=$((bad * 8))
dmsetup create t1 --table "0 $bad linear ${DEV}p1 0
$bad 8 error
$((bad + 8)) $((131072 - bad - 8)) linear ${DEV}p1 $((bad + 8))"
exits 3 "of the map is damaged: it cannot be read (Input/output error" dieaware check /dev/mapper/t1
exits 3 "cannot be read in all places" dieaware dump /dev/mapper/t1
exits 3 "cannot be read in all places" dieaware repair --from /dev/mapper/t1 --to "$T_DIR/fixed"
exits 0 "2048 of " dieaware check "$T_DIR/fixed"
dmsetup remove t1
