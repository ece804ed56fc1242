# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034 # who sources this reads what is set here
#
# NVMe namespaces of the kernel's own loop transport: they complete without waiting, so
# elapsed virtual time is nothing but instructions. Expects lib.sh.

# loop_device NAME BACKING: set DEVICE_BELOW to an NVMe device over BACKING.
loop_device() {
	local name=$1 backing=$2 nvmet=/sys/kernel/config/nvmet subsystem controller

	subsystem=$nvmet/subsystems/$name
	mkdir "$subsystem" "$subsystem/namespaces/1"
	echo 1 >"$subsystem/attr_allow_any_host"
	echo "$backing" >"$subsystem/namespaces/1/device_path"
	echo 1 >"$subsystem/namespaces/1/enable"
	if [[ ! -d $nvmet/ports/1 ]]; then
		mkdir "$nvmet/ports/1"
		echo loop >"$nvmet/ports/1/addr_trtype"
	fi
	ln -s "$subsystem" "$nvmet/ports/1/subsystems/"
	echo "transport=loop,nqn=$name,hostnqn=nqn.2014-08.org.nvmexpress:uuid:00000000-0000-4000-8000-000000000001,hostid=00000000-0000-4000-8000-000000000001" \
		>/dev/nvme-fabrics || die "The loop device '$name' could not be connected."
	for controller in /sys/class/nvme/nvme*; do
		if [[ $(<"$controller/subsysnqn") == "$name" ]]; then
			DEVICE_BELOW=/dev/${controller##*/}n1
			wait_for_block_device "$DEVICE_BELOW"
			return
		fi
	done
	die "The loop device '$name' did not appear."
}
