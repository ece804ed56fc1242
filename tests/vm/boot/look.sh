#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The machine that was booted with everything in its dietab and fstab: what is there?
# Writes "ok - SENTENCE" or "not ok - SENTENCE" to /out/said.
# shellcheck disable=SC2317 # look() calls the functions
set -uo pipefail

# shellcheck source=tests/vm/boot/common.sh
. "$(dirname -- "$0")/common.sh"

files=/root/lab/files

property() {
	udevadm info --query=property --property="$2" --value "$1"
}

# same_files NAME: the mounted filesystem is on the device wanted, with its files.
same_files() {
	until_true findmnt "/srv/$1"
	is "$(findmnt -no SOURCE "/srv/$1")" "$2" && (cd "/srv/$1" && sha256sum -c "$files/$1.sum")
}

runs_are_loaded() {
	until_true systemctl is-active dieaware-runs@srv-fast
	journalctl -b --no-pager -o cat -u dieaware-runs@srv-fast | tee /tmp/runs
	grep -qE '^/srv/fast: 1 of 1 files, [1-9][0-9]* runs, 977 pages$' /tmp/runs
}

runs_are_saved() {
	head -c 5000 /dev/urandom >"/srv/fast/new file" &&
		systemctl stop dieaware-runs@srv-fast &&
		diff - <(sed 1d /var/lib/dieaware/runs/srv-fast) <<<$'new file\ndata' &&
		systemctl start dieaware-runs@srv-fast && is "$(findmnt -no TARGET /srv/fast)" /srv/fast
}

# In order, which udev's are not
links_of() {
	property "$1" DEVLINKS | xargs -n 1 | sort | xargs
}

# Below the volume is log mode, so it gains nothing; but it is LVM's, and mounted.
attached_at_boot() {
	local links

	until_true systemctl is-active dieaware-attach@srv-volume
	links=$(links_of /dev/vg/volume)
	dmsetup table vg-volume | grep dieaware && same_files volume /dev/mapper/vg-volume &&
		systemctl stop dieaware-attach@srv-volume && ! dmsetup table vg-volume | grep dieaware &&
		same_files volume /dev/mapper/vg-volume && settle &&
		is "$(links_of /dev/vg/volume)" "$links" &&
		is "$(readlink -f /dev/vg/volume)" "$(readlink -f /dev/mapper/vg-volume)"
}

links_lead_above() {
	local link

	link=/dev/disk/by-uuid/$(<"$files/fast.uuid")
	is "$(readlink -f "$link")" "$(readlink -f /dev/mapper/fast)" &&
		is "$(readlink -f /dev/disk/by-label/fast)" "$(readlink -f /dev/mapper/fast)"
}

# Nor did it before the device above was there: it has no such name.
source_has_other_links() {
	local links

	links=$(links_of "$(nvmev-ssd dev one)")
	[[ $links == *by-id* && $links != *by-uuid* && $links != *by-label* ]]
}

source_types() {
	is "$(property "$(nvmev-ssd dev one)" ID_FS_TYPE)" dieaware_hint &&
		is "$(property "$(nvmev-ssd dev two)p1" ID_FS_TYPE)" dieaware_log &&
		is "$(property "$(nvmev-ssd dev two)p2" ID_FS_TYPE)" dieaware_log
}

snapshots_work() {
	lvcreate -q -y -s -L 8M -n snap vg/volume && mount -o ro /dev/vg/snap /mnt &&
		(cd /mnt && sha256sum -c "$files/volume.sum") && umount /mnt && lvremove -q -y vg/snap
}

crypt_works() {
	local key=/tmp/key

	head -c 32 /dev/urandom >"$key"
	cryptsetup -q luksFormat --pbkdf pbkdf2 --pbkdf-force-iterations 1000 /dev/vg/thin "$key" &&
		cryptsetup open --key-file "$key" /dev/vg/thin secret &&
		mkfs.ext4 -q /dev/mapper/secret && mount /dev/mapper/secret /mnt &&
		cp /srv/volume/data /mnt/ && umount /mnt && cryptsetup close secret
}

others_are_reported() {
	dmesg | grep 'dietab, line [0-9]*: the mode is hint or log'
}

# What /etc/multipath.conf wants: every disk that has two paths. Ours have one, or are no disks.
multipathd_takes_nothing() {
	systemctl is-active multipathd && ! multipath_is_there
}

multipath_is_there() {
	dmsetup ls --target multipath | grep -v 'No devices'
}

seen_as_log() {
	is "$(property "$1" ID_FS_TYPE)" dieaware_log
}

# The paths of a disk that has two
two_paths() {
	grep -l scsi_debug /sys/block/sd*/device/model | cut -d / -f 4
}

two_paths_are_there() {
	is "$(two_paths | wc -l)" 2
}

works_on_multipath() {
	local first second mpath=/dev/mapper/mpath

	modprobe scsi_debug add_host=2 vpd_use_hostno=0 dev_size_mb=160
	until_true two_paths_are_there && settle
	{ read -r first && read -r second; } < <(two_paths)
	dmsetup create mpath --table "0 $(blockdev --getsz "/dev/$first") multipath 0 0 2 1 \
		service-time 0 1 1 /dev/$first 1 service-time 0 1 1 /dev/$second 1" &&
		dieaware create --mode log --format over "$mpath" && mkfs.ext4 -q /dev/mapper/over &&
		mount /dev/mapper/over /mnt && cp /srv/volume/data /mnt/ && sync /mnt/data &&
		dmsetup message mpath 0 "fail_path /dev/$first" && echo 3 >/proc/sys/vm/drop_caches &&
		cmp /srv/volume/data /mnt/data && cp /srv/volume/data /mnt/again && sync /mnt/again &&
		umount /mnt && until_true seen_as_log "$mpath" && dieaware remove over &&
		dieaware check "$mpath" && dmsetup remove --retry mpath
}

counters_are_written() {
	local file=/var/lib/prometheus/node-exporter/dieaware.prom

	# Nobody but the timer starts the service, and it does so again.
	until_true grep '^dieaware_info{device="fast"' "$file" && rm "$file" &&
		until_true grep '^dieaware_info{device="small"' "$file"
}

# A source in log mode is seen as what it is, also when nobody uses it, and not written over while
# somebody does.
sources_are_protected() {
	local source

	source=$(nvmev-ssd dev two)p2
	lsblk -f "$source" | grep dieaware_log || return
	is "$(lsblk -dno UUID "$source")" "$(property "$source" ID_FS_UUID)" || return
	! mkfs.ext4 -q -F "$source" </dev/null && ! pvcreate -qq -ff -y "$source" &&
		! wipefs -qa "$source" && ! mkswap "$source" && ! pvs --noheadings "$source"
}

# The journal has it as a warning, and the program in /etc/dieaware/events.d was run.
watch_tells() {
	local switch=/sys/kernel/config/nvmev/one/reject_hints

	until_true systemctl is-active dieaware-watch@fast dieaware-watch@db dieaware-watch@small || return
	echo 1 >"$switch" && dd if=/dev/zero of=/srv/fast/more bs=64k count=8 oflag=direct status=none &&
		until_true grep -x "fast hints-off" /run/events && echo 0 >"$switch" &&
		journalctl -b --no-pager -o cat -p warning -u dieaware-watch@fast | grep '^hints-off: fast: '
}

has_state() {
	[[ $(systemctl is-active "$1") == "$2" ]]
}

watch_ends() {
	until_true has_state dieaware-watch@later inactive && ! systemctl --failed --no-legend | grep watch && return
	journalctl -b -n 15 --no-pager -o cat -u dieaware-watch@later
	return 1
}

one_on_demand() {
	! [[ -e /dev/mapper/later ]] && systemctl start dieaware@later.service &&
		[[ -b /dev/mapper/later ]] && until_true systemctl is-active dieaware-watch@later && systemctl stop dieaware@later.service &&
		! [[ -e /dev/mapper/later ]]
}

stops_in_order() {
	systemctl stop dieaware@fast.service srv-fast.mount && until_true test ! -e /dev/mapper/fast &&
		! findmnt /srv/fast && ! systemctl --failed --no-legend | grep fast && return
	journalctl -b -n 15 --no-pager -o cat -u dieaware@fast -u srv-fast.mount
	return 1
}

boot_is_done() {
	until_true systemctl is-active --quiet dieaware.target &&
		! systemctl --failed --no-legend | grep dieaware && return
	journalctl -b -n 40 --no-pager -o cat -u virtual-ssds -u 'dieaware@*' -u dieaware-export
	return 1
}

look "every device of dietab is there, and no unit failed" boot_is_done
look "ext4 on a device in hint mode is mounted and has its files" same_files fast /dev/mapper/fast
look "f2fs on a partition in log mode is mounted and has its files" same_files small /dev/mapper/small
look "ext4 on LVM on a partition in log mode is mounted and has its files" \
	same_files volume /dev/mapper/vg-volume
look "a volume of LVM is attached at boot while it is mounted, and detached" attached_at_boot
look "the run table is loaded at boot" runs_are_loaded
look "files are listed for the next boot when it ends" runs_are_saved
look "links by UUID and label lead to the device in hint mode, not to its source" links_lead_above
look "which has no such link of its own" source_has_other_links
look "udev knows sources of both modes" source_types
look "lsblk shows a source in log mode, and mkfs, pvcreate, wipefs refuse it" sources_are_protected
look "the timer of the counters fires, and again" counters_are_written
look "multipathd takes none of our devices, nor what is below" multipathd_takes_nothing
look "log mode works on a multipath device that loses a path" works_on_multipath
look "LVM makes snapshots" snapshots_work
look "dm-crypt works on a thin volume" crypt_works
look "a line that is wrong is reported, and others count" others_are_reported
look "who watches a device in hint mode tells the journal and a program that hints are off" watch_tells
look "a line with noauto is started and stopped on demand" one_on_demand
look "nobody watches a device that has gone" watch_ends
look "a filesystem is unmounted before its device is removed" stops_in_order
cp /out/said "$files/" 2>/dev/null
exit 0
