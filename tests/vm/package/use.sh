#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The machine that has the packages: does what they brought work?
set -euxo pipefail

# Not the programs that the lab brings
export PATH=/usr/sbin:/usr/bin:/sbin:/bin

# until_true COMMAND...: within a minute
until_true() {
	local limit=$((SECONDS + 60))

	until "$@"; do
		((SECONDS < limit))
		sleep 0.5
	done
}

# unit_is STATE UNIT
unit_is() {
	[[ $(systemctl is-active "$2") == "$1" ]]
}

# has_mended: a pass has ended well, and has said what it did
has_mended() {
	local unit=dieaware-defragd-once@mnt

	[[ $(systemctl show -P ExecMainExitTimestampMonotonic -P Result "$unit" | paste -sd ' ') =~ ^([1-9][0-9]* success|success [1-9][0-9]*)$ ]] &&
		journalctl -b --no-pager -o cat -u "$unit" | grep -q '^method '
}

# What is read is counted as long as the daemon runs, and its timer has files mended: every Monday,
# and here two seconds later.
count_and_mend() {
	local counts=/var/lib/dieaware/defragd/mnt timer=dieaware-defragd@mnt.timer

	systemctl start dieaware-defragd@mnt
	until_true test -e "$counts"
	unit_is active "$timer"
	[[ $(systemctl show -P TimersCalendar "$timer") == *"Mon *-*-* 00:00:00"* ]]
	cat /mnt/file >/dev/null
	systemctl stop dieaware-defragd@mnt
	grep -q '"reads":\[\[' "$counts"
	unit_is inactive "$timer"
	if has_mended; then
		return 1
	fi

	mkdir "/run/systemd/system/$timer.d"
	printf '[Timer]\nOnCalendar=\nOnActiveSec=2s\nAccuracySec=1s\nRandomizedDelaySec=0\n' \
		>"/run/systemd/system/$timer.d/soon.conf"
	systemctl daemon-reload
	systemctl start dieaware-defragd@mnt
	until_true has_mended
	systemctl stop dieaware-defragd@mnt
}

# A filesystem is defragmented by a timer that has to be enabled, within a budget.
defrag_by_timer() {
	local timer=dieaware-defrag@mnt.timer service=dieaware-defrag@mnt.service

	[[ $(systemctl is-enabled "$timer" || true) == disabled ]]
	systemctl enable --now "$timer"
	[[ $(systemctl show -P TimersCalendar "$timer") == *"Mon *-*-* 00:00:00"* ]]
	systemctl start "$service"
	[[ $(systemctl show -P Result "$service") == success ]]
	journalctl -b --no-pager -o cat -u "$service" | grep -q ' /mnt/file$'
	systemctl disable --now "$timer"
}

depmod -a
modprobe dm-dieaware
[[ $(modinfo -n dm-dieaware) == */updates/dkms/dm-dieaware.ko ]]
drive=$(nvmev-ssd create ssd0 capacity_mib=128)
dieaware create --mode log --format db "$drive"
mkfs.ext4 -q /dev/mapper/db
mount /dev/mapper/db /mnt
head -c 1000000 /dev/urandom >/mnt/file
before=$(sha256sum </mnt/file)
umount /mnt
dieaware status db
dieaware remove db
dieaware check "$drive"
if [[ -d /run/systemd/system ]]; then
	# udev's rules and the generator, as the package puts them
	udevadm trigger --settle "$drive"
	[[ $(udevadm info --query=property --property=ID_FS_TYPE --value "$drive") == dieaware_log ]]
	echo "db $drive log noauto" >/etc/dietab
	systemctl daemon-reload
	systemctl start dieaware@db.service
	systemd-analyze verify --man=no /usr/lib/systemd/system/dieaware*
else
	dieaware create --mode log db "$drive"
fi
mount /dev/mapper/db /mnt
[[ $(sha256sum </mnt/file) == "$before" ]]
if [[ -d /run/systemd/system ]]; then
	count_and_mend
	defrag_by_timer
fi
umount /mnt
dieaware remove db
nvmev-ssd remove ssd0
