#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Tests of the lab itself: what goes into a guest, what comes back, and what
# becomes of a command that fails, hangs or takes the kernel with it. Prints
# ok / not ok lines and a closing line.

set -euo pipefail

# shellcheck source=tests/vm/lib.sh
. "$(dirname -- "$(readlink -f -- "$0")")/lib.sh"

# guest NAME PROGRAM ARGUMENT...: run it; stdout, stderr and exit status go to
# files named NAME.
guest() {
	local name=$1 status=0
	shift

	"$@" >"$work/$name.out" 2>"$work/$name.err" </dev/null || status=$?
	echo "$status" >"$work/$name.status"
}

lab() {
	guest "$1" "$top/scripts/lab" --no-modules "${@:2}"
}

uml() {
	guest "$1" "$top/scripts/uml" --no-modules "${@:2}"
}

status_is() {
	local got

	got=$(<"$work/$1.status")
	if [[ $got != "$2" ]]; then
		echo "# $1 ended with $got, not $2"
		tail -n 20 "$work/$1.err" | sed 's/^/# /'
		return 1
	fi
}

output_is() {
	printf '%s' "$2" | cmp -s - "$work/$1.out" || {
		head -c 2000 "$work/$1.out" | sed 's/^/# /'
		return 1
	}
}

says() {
	grep -qE -- "$2" "$work/$1.err"
}

# Two machines at a time, as there may be only two CPUs.
# shellcheck disable=SC2016 # the guest's shell expands these
run_guests() {
	head -c 200000 /dev/urandom >"$work/bytes"
	mkdir "$work/folder"
	printf '#!/bin/sh\necho "called with $*"\n' >"$work/folder/script"
	chmod +x "$work/folder/script"

	lab status -- 'exit 7' &
	lab words -- printf '<%s>' 'two words' "it's" '$HOME' '' &
	wait
	# Kernel messages come while the command writes.
	lab bytes --copy "$work/bytes" -- \
		'for i in {1..50}; do echo "<0>noise $i" >/dev/kmsg; done & cat bytes; wait' &
	lab files --copy "$work/bytes" --copy "$work/folder" --out "$work/back" -- \
		'folder/script a b >/out/answer && mkdir /out/deep && cp bytes /out/deep/' &
	wait
	lab late --timeout 3 -- 'echo begun; sleep 300' &
	lab crash -- 'echo begun; sleep 1; echo c >/proc/sysrq-trigger; sleep 300' &
	wait
	lab old --kernel 6.1 -- 'uname -r' &
	lab new --kernel 7.2 -- 'uname -r' &
	wait
	lab clock1 --virtual-time -- "$busy_loop" &
	lab clock2 --virtual-time -- "$busy_loop" &
	wait
	lab option --no-such-option
	lab missing --copy "$work/no-such-file" -- true
	uml uml --out "$work/uml-back" -- 'uname -r; echo kept >/out/file; exit 9' &
	uml uml_crash -- 'echo c >/proc/sysrq-trigger; sleep 300' &
	wait
	uml disk --disk "$work/disk:64M" -- 'mkfs.ext4 -q /dev/ubdb && mount /dev/ubdb /mnt && echo here >/mnt/file && umount /mnt'
	uml disk_again --disk "$work/disk" -- 'mount /dev/ubdb /mnt && cat /mnt/file'
}

# Prints how many microseconds of the guest's clock a fixed piece of work took.
# The shortest of ten: a guest that has just booted still has work of its own to do.
# shellcheck disable=SC2016 # the guest's shell expands these
busy_loop='for ((r = 0; r < 10; r++)); do a=${EPOCHREALTIME/./}
	for ((i = 0; i < 4000; i++)); do :; done; echo $((${EPOCHREALTIME/./} - a)); done | sort -n | head -n 1'

# Within half a percent, and not zero.
clocks_agree() {
	local a b

	a=$(<"$work/clock1.out")
	b=$(<"$work/clock2.out")
	echo "# the same work took $a and $b us of virtual time"
	((a > 1000 && b > 1000 && (a > b ? a - b : b - a) * 200 < a))
}

kernel_is() {
	[[ $(<"$work/$1.out") == "$2"* ]]
}

run_guests

expect "the exit status passes through" status_is status 7
expect "arguments arrive as they were given" output_is words "<two words><it's><\$HOME><>"
expect "output is what the command wrote, byte for byte, whatever the kernel prints" \
	cmp "$work/bytes" "$work/bytes.out"
expect "copied files and folders are in the guest, and can be executed" \
	grep -qx "called with a b" "$work/back/answer"
expect "what the guest puts into /out comes back" cmp "$work/bytes" "$work/back/deep/bytes"
expect "a command that is late ends with 124" status_is late 124
expect "a late command's output is kept" output_is late $'begun\n'
expect "a crashed kernel ends with 126" status_is crash 126
expect "a crashed kernel's last words are shown" says crash 'sysrq|SysRq|Kernel panic'
expect "kernel 6.1 runs" kernel_is old 6.1.
expect "kernel 7.2 runs" kernel_is new 7.2.
expect "virtual time repeats" clocks_agree
expect "an unknown option ends with 125" status_is option 125
expect "an unknown option is named" says option "no option '--no-such-option'"
expect "a missing file ends with 125" status_is missing 125
expect "UML passes the exit status through" status_is uml 9
expect "UML hands back /out" grep -qx kept "$work/uml-back/file"
expect "a crashed UML kernel ends with 126" status_is uml_crash 126
expect "a disk of UML keeps its contents" output_is disk_again $'here\n'

conclude
