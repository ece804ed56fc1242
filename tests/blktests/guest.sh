#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Inside the guest: run blktests' tests on a virtual SSD and print a line for each.
#
# Usage: guest.sh SECONDS TEST...     SECONDS limit the tests that can be limited
set -uo pipefail
cd "$(dirname "$0")" || exit 1

SECONDS_EACH=$1
shift

# What blktests looks for: the kernel's configuration, a user who is not root.
mkdir -p /boot
cp kernel-config "/boot/config-$(uname -r)"
modprobe -a nvme nvmevirt-backend || exit 1
device=$(nvmev-ssd create blktests capacity_mib=4096) || exit 1
# No udev runs here; the tests of passed-through controllers look for its names.
mkdir -p /dev/char
for controller in /sys/class/nvme/*/; do
	ln -sf "../$(basename "$controller")" "/dev/char/$(<"$controller/dev")"
done
cat >blktests/config <<-END
	TEST_DEVS=($device)
	DEVICE_ONLY=1
	TIMEOUT=$SECONDS_EACH
	NORMAL_USER=nobody
END
(cd blktests && ./check "$@") >/out/check.log 2>&1 </dev/null

# reason NAME: why it was not run; the line behind the one that says so.
reason() {
	awk -v name="$1 " '
		/^[a-z]+\/[0-9]+ / { wanted = index($0, name) == 1 && /\[not run\]$/; next }
		wanted { sub(/^ +/, ""); print; exit }' /out/check.log
}

# A file of its results for each test.
for result in blktests/results/*/*/*[0-9]; do
	[[ -f $result ]] || continue
	name=${result#blktests/results/*/}
	value() {
		sed -n "s/^$1\t//p" "$result"
	}
	case $(value status) in
	pass) echo "ok - $name: $(value description), $(value runtime)" ;;
	"not run") echo "ok - $name: $(value description) # SKIP $(reason "$name")" ;;
	*) echo "not ok - $name: $(value description)" ;;
	esac
done
cp -r blktests/results /out/
nvmev-ssd remove blktests || echo "not ok - the virtual SSD can be removed afterwards"
