#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Inside the guest: run tests of blktests on one kind of device. /out/lines gets a line
# "TEST pass|fail|skip REASON" for each; what is printed may have anything between.
#
# Usage: guest.sh KIND SECONDS TEST...
#
#   KIND     raw (a virtual SSD), or linear, hint or log over one
#   SECONDS  limit the tests that can be limited
set -uo pipefail

SUITE=/opt/blktests
KIND=$1 SECONDS_EACH=$2
shift 2

result() {
	echo "result $*"
	echo "$*" >>/out/lines
}

# new_device SSD: print the path of the device that is tested.
new_device() {
	local sectors table

	sectors=$(blockdev --getsz "$1")
	case $KIND in
	raw)
		echo "$1"
		return
		;;
	linear) table="0 $sectors linear $1 0" ;;
	hint) table="0 $sectors dieaware $1 0 hint" ;;
	log) table=$(dieaware format "$1" --force 2>/out/format.log | tail -n 1) ;;
	esac
	dmsetup create blktests --table "$table" || return
	# blktests asks sysfs for the name that stands here.
	echo "/dev/$(dmsetup info -c --noheadings -o blkdevname blktests)"
}

modprobe -a nvme nvmevirt-backend dm-mod dm-dieaware || exit 1
ssd=$(nvmev-ssd create blktests capacity_mib=4096 lba_bytes=4096) || exit 1
device=$(new_device "$ssd") || exit 1
# Who is root already needs no sudo; nvme/067 calls it.
type -P sudo >/dev/null || ln -s "$(type -P env)" /usr/local/bin/sudo
# No udev runs here; the tests of passed-through controllers look for its names.
mkdir -p /dev/char
for controller in /sys/class/nvme/*/; do
	ln -sf "../$(basename "$controller")" "/dev/char/$(<"$controller/dev")"
done
# Where a release has more in it than "6.12.95-", blktests stumbles over it and forgets the test.
plain_release() {
	local release plain

	release=$(uname -r)
	plain=${release%%[!0-9.]*}
	printf '#!/bin/sh\n%s "$@" | sed "s/%s/%s/"\n' "$(type -P uname)" "$release" "$plain" >/usr/local/bin/uname
	chmod +x /usr/local/bin/uname
	ln -sfn "$release" "/lib/modules/$plain"
	ln -sf "config-$release" "/boot/config-$plain"
}
plain_release
cat >"$SUITE/config" <<-END
	TEST_DEVS=($device)
	DEVICE_ONLY=1
	TIMEOUT=$SECONDS_EACH
	NORMAL_USER=fsgqa
END
cd "$SUITE" || exit 1
./check "$@" >/out/check.log 2>&1 </dev/null

# reason NAME: why it was not run; the line behind the one that says so.
reason() {
	awk -v name="$1 " '
		/^[a-z]+\/[0-9]+ / { wanted = index($0, name) == 1 && /\[not run\]$/; next }
		wanted { sub(/^ +/, ""); print; exit }' /out/check.log
}

# A file of its results for each test.
for result in results/*/*/*[0-9]; do
	[[ -f $result ]] || continue
	name=${result#results/*/}
	value() {
		sed -n "s/^$1\t//p" "$result"
	}
	case $(value status) in
	pass) result "$name pass $(value description), $(value runtime)" ;;
	"not run") result "$name skip $(reason "$name")" ;;
	*) result "$name fail $(value description) ($(value reason))" ;;
	esac
done
cp -r results /out/

# wanted WORD...: the tests of these groups and names that take a device.
wanted() {
	local word file

	for word; do
		for file in "tests/$word" "tests/$word"/[0-9][0-9][0-9]; do
			[[ ! -f $file ]] || ! grep -q '^test_device()' "$file" || echo "${file#tests/}"
		done
	done
}

for name in $(wanted "$@"); do
	compgen -G "results/*/$name" >/dev/null || result "$name fail it left no result: see check.log"
done

# finish NAME COMMAND...: what has to go well in the end.
finish() {
	local name=$1
	shift

	if "$@"; then
		result "$name pass"
	else
		result "$name fail it fails: $*"
	fi
}

[[ $KIND == raw ]] || finish after/remove dmsetup remove --retry blktests
[[ $KIND != log ]] || finish after/check dieaware check "$ssd"
finish after/ssd nvmev-ssd remove blktests
