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

# An emulator whose first guest dies with what is in $DYING on its console.
fake_emulator() {
	mkdir "$work/bin"
	cat >"$work/bin/qemu-system-x86_64" <<-'END'
		#!/bin/bash
		console=$(grep -oE 'id=console,path=[^ ]*' <<<"$*")
		if mv "$DYING" "${console#*path=}" 2>/dev/null; then
			exit 0
		fi
		exec "$REAL" "$@"
	END
	chmod +x "$work/bin/qemu-system-x86_64"
}

# dying NAME TEXT: run a command in a guest whose first boot ends like that.
dying() {
	local name=$1
	printf '%s\n' "$2" >"$work/$name.dying"
	shift 2
	REAL=$(type -P qemu-system-x86_64) DYING=$work/$name.dying DIEAWARE_BOOTS=$work/$name.boots \
		PATH=$work/bin:$PATH lab "$name" -- "$@"
}

# A module that is loaded before the command runs, and has the kernel complain.
warning_root() {
	mkdir -p "$work/warning/etc/modprobe.d"
	echo "install configfs /bin/sh -c 'echo \"<4>WARNING: CPU: 0 PID: 1 at nowhere\" >/dev/kmsg; \
modprobe --ignore-install configfs'" >"$work/warning/etc/modprobe.d/warning.conf"
}

# What a guest's boot does wrong is not forgotten
run_bad_boots() {
	fake_emulator
	warning_root
	dying int3 "Oops: int3: 0000 [#1] PREEMPT SMP NOPTI" true &
	lab warning --root "$work/warning" -- true &
	wait
	dying silent "Booting" true
	dying oops "BUG: kernel NULL pointer dereference, address: 0000000000000000" true
	dying ours $'Oops: int3: 0000 [#1] PREEMPT SMP NOPTI\nModules linked in: dm_dieaware(OE)' true
}

tried_again() {
	[[ $(cat "$work/$1.boots"/*.console | head -n 1) == "a boot was tried again: $2" ]]
}

# runner NAME COMMAND...: a script of the project in a folder of files that only pretend.
runner() {
	(cd "$work/tree" && guest "$1" env -u DIEAWARE_BOOTS "${@:2}")
}

# pretend FILE LINE...: a program that prints lines, the last of which is its status
pretend() {
	printf '#!/bin/bash\ncat <<END\n%s\nEND\nexit %s\n' "$(printf '%s\n' "${@:2:$#-2}")" "${*: -1}" >"$work/tree/$1"
	chmod +x "$work/tree/$1"
}

# More tests in a batch than machines are tried for it, each of which ends its machine; and no room for the
# logs of one.
# shellcheck disable=SC2016 # the program's variables
run_dying() {
	printf '#!/bin/bash\nwhile [[ $1 != */run-guest.sh ]]; do shift; done\necho "begin ${3%%.sh}"\nexit 125\n' \
		>"$work/tree/scripts/lab"
	touch "$work/tree/tests/lab"/10{1..5}-b.sh
	runner dying scripts/lab-tests --kernel 6.1
	rm "$work/tree/tests/lab"/10{1..5}-b.sh
	pretend scripts/lab "begin 100-a" "ok - 100-a: one" "end 100-a 1" "all done" 0
	echo 'mkdir -p out/lab-tests/02-6.1-smp2-2G-iommu-off-host-own-1.log' |
		sed -i '1r /dev/stdin' "$work/tree/scripts/lab"
	runner no_room scripts/lab-tests --jobs 1
}

# What scripts/check and scripts/lab-tests make of what suites and machines say
run_runners() {
	mkdir -p "$work/tree"/{scripts/lib,tests/lab}
	cp "$top"/scripts/{check,lab-tests} "$work/tree/scripts/"
	cp -r "$top/scripts/lib" "$work/tree/scripts/"
	pretend scripts/modules 0
	printf '%s\n' '# kernels: 6.1 6.12' >"$work/tree/tests/lab/100-a.sh"
	pretend scripts/lab "begin 100-a" "ok - 100-a: one" "ok - 100-a: two # SKIP too old" \
		"not ok - 100-a: three # TODO L0" "end 100-a 1" "all done" 0
	runner always scripts/lab-tests
	runner once scripts/lab-tests --kernel 6.1
	pretend scripts/lab "begin 100-a" "ok - 100-a: one" "end 100-a 1" 124
	runner hangs scripts/lab-tests --kernel 6.1
	run_dying
	pretend scripts/check-style "ok - one" "# 2 known to fail: L2 L10" "7 passed, 0 failed, 3 skipped" 0
	pretend scripts/unit "# 1 known to fail: L1" "5 passed, 0 failed" 0
	echo "mkdir -p \$DIEAWARE_BOOTS; echo a boot was tried again: it stopped >\$DIEAWARE_BOOTS/a.console" |
		sed -i '1r /dev/stdin' "$work/tree/scripts/unit"
	runner sums scripts/check style unit
	pretend scripts/unit "5 passed, 0 failed, 1 skipped" 3
	runner bad_end scripts/check unit
	pretend scripts/unit "5 passed" 0
	runner plain scripts/check unit
	pretend scripts/unit "0 passed, 0 failed" 0
	runner nothing scripts/check unit
	pretend scripts/unit "5 passed, 0 failed" 0
	# It has no room for what it counts.
	sed -i '1a mkdir -p out/check/unit.counts' "$work/tree/scripts/unit"
	runner uncounted scripts/check style unit
}

ends_with() {
	tail -n "$2" "$work/$1.out" | cmp -s - <(printf '%s\n' "${@:3}") || {
		tail -n 5 "$work/$1.out" | sed 's/^/# /'
		return 1
	}
}

# make_behind FLAVOUR: modules for that UML kernel that do wrong, in $work/FLAVOUR
make_behind() {
	cp -r "$top/tests/vm/behind" "$work/$1"
	(
		# shellcheck source=scripts/lib/load.sh
		. "$top/scripts/lib/load.sh"
		# shellcheck source=scripts/lib/uml.sh
		. "$DIEAWARE_LIB/uml.sh"
		need_groups modules
		uml_need "$1"
		quietly make -C "$KERNEL_HEADERS" ARCH=um M="$work/$1" modules
	)
}

# Two machines at a time, as there may be only two CPUs.
# shellcheck disable=SC2016 # the guest's shell expands these
run_guests() {
	head -c 200000 /dev/urandom >"$work/bytes"
	mkdir "$work/folder"
	printf '#!/bin/sh\necho "called with $*"\n' >"$work/folder/script"
	chmod +x "$work/folder/script"

	lab status -- 'dmesg --color=never; exit 7' &
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
	lab new --kernel newest -- 'uname -r' &
	wait
	lab clock1 --virtual-time -- "$busy_loop" &
	lab clock2 --virtual-time -- "$busy_loop" &
	wait
	lab option --no-such-option
	lab jump --virtual-time --qemu-nvme-fdp 64M -- true
	lab missing --copy "$work/no-such-file" -- true
	uml uml --out "$work/uml-back" -- 'uname -r; echo kept >/out/file; exit 9' &
	uml uml_crash -- 'echo c >/proc/sysrq-trigger; sleep 300' &
	wait
	uml timed --virtual-time -- "$sleeps_a_day" &
	uml timed_smp --virtual-time --smp 2 -- true
	wait
	# As Linux has it
	echo 65530 >/proc/sys/vm/max_map_count
	uml many --plain --smp 2 --mem 1024M --timeout 120 -- "python3 -c '$many_pages'"
	make_behind debug
	uml behind --copy "$work/debug/behind.ko" -- insmod behind.ko
	# Of one CPU, the kernel of --plain is this one, and the newest.
	make_behind timed
	uml warns --copy "$work/debug/warns.ko" -- insmod warns.ko &
	uml warns_newest --plain --copy "$work/timed/warns.ko" -- insmod warns.ko
	wait
	uml disk --disk "$work/disk:64M" -- 'mkfs.ext4 -q /dev/ubdb && mount /dev/ubdb /mnt && echo here >/mnt/file && umount /mnt'
	uml disk_again --disk "$work/disk" -- 'mount /dev/ubdb /mnt && cat /mnt/file'
}

# Prints how many microseconds of the guest's clock a fixed piece of work took.
# The shortest of ten: a guest that has just booted still has work of its own to do.
# shellcheck disable=SC2016 # the guest's shell expands these
busy_loop='for ((r = 0; r < 10; r++)); do a=${EPOCHREALTIME/./}
	for ((i = 0; i < 4000; i++)); do :; done; echo $((${EPOCHREALTIME/./} - a)); done | sort -n | head -n 1'

# Prints how many milliseconds of the guest's clock a day takes with some work in it.
# shellcheck disable=SC2016 # likewise
sleeps_a_day='a=${EPOCHREALTIME/./}; sleep 43200; for ((i = 0; i < 100000; i++)); do :; done; sleep 43200
	echo $(((${EPOCHREALTIME/./} - a) / 1000))'

# Writes to every other page, so that no two are one mapping of the host's: 320 MB of them
many_pages='
import mmap
step, nr = 2 * mmap.PAGESIZE, 80000
memory = mmap.mmap(-1, nr * step, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for i in range(nr):
    memory[i * step] = i % 251
print(sum(memory[i * step] == i % 251 for i in range(nr)))'

# Within half a percent, and not zero.
clocks_agree() {
	local a b

	a=$(<"$work/clock1.out")
	b=$(<"$work/clock2.out")
	echo "# the same work took $a and $b us of virtual time"
	((a > 1000 && b > 1000 && (a > b ? a - b : b - a) * 200 < a))
}

# Where CPUs are added to an emulated machine, its kernel has nothing left to wait for with its random
# numbers: it would change code that another CPU runs.
random_before_cpus() {
	! grep -q ' maxcpus=1 ' "$work/status.out" ||
		awk '/random: crng init done/ { done = NR } /Booting Node .* Processor 1 / { added = NR }
			END { exit !(done && added && done < added) }' "$work/status.out"
}

# As the library says
newest_version() {
	DIEAWARE_TOP=$top bash -c '. "$DIEAWARE_TOP/scripts/lib/load.sh"; kernel_version newest'
}

kernel_is() {
	[[ $(<"$work/$1.out") == "$2"* ]]
}

run_guests
run_bad_boots
run_runners

expect "the exit status passes through" status_is status 7
expect "random numbers are there before the second CPU" random_before_cpus
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
expect "the newest kernel of the archive runs" kernel_is new "$(newest_version)"
expect "virtual time repeats" clocks_agree
expect "an unknown option ends with 125" status_is option 125
expect "an unknown option is named" says option "no option '--no-such-option'"
expect "devices whose data is in files are refused in virtual time" status_is jump 125
expect "and why" says jump 'cannot be had in virtual time'
expect "a missing file ends with 125" status_is missing 125
expect "UML passes the exit status through" status_is uml 9
expect "UML hands back /out" grep -qx kept "$work/uml-back/file"
expect "a crashed UML kernel ends with 126" status_is uml_crash 126
expect "a module that reads behind its memory is a bug there" status_is behind 126
expect "which is shown" says behind 'KASAN: slab-out-of-bounds in'
expect "a module that warns is one" status_is warns 126
expect "also on the newest kernel, which has other words for it" status_is warns_newest 126
expect "in virtual time, UML waits for nothing, and work takes no time" output_is timed $'86400000\n'
expect "several CPUs are refused there" status_is timed_smp 125
expect "and why" says timed_smp 'Only the kernel of --plain has several CPUs'
expect "a process in UML may have more pages than Linux allows mappings" output_is many $'80000\n'
expect "a disk of UML keeps its contents" output_is disk_again $'here\n'
expect "a boot that dies of the emulator is tried again" status_is int3 0
expect "which is said" says int3 'did not come up .*int3.*, trying once more'
expect "and its console is kept" tried_again int3 "Oops: int3: 0000 [#1] PREEMPT SMP NOPTI"
expect "so is one that dies without a word" tried_again silent "it stopped"
expect "a boot that dies of anything else is a bug" status_is oops 126
expect "which is shown" says oops 'NULL pointer dereference'
expect "also one that dies of that with a module of the project" status_is ours 126
expect "a warning before the command begins is a bug" status_is warning 126
expect "a sentence that is skipped on all kernels of its test is an error" \
	grep -qx "not ok - 100-a: two is not always skipped" "$work/always.out"
expect "it is counted; skips and known defects are apart" \
	ends_with always 2 "# 2 known to fail: L0" "2 passed, 1 failed, 2 skipped"
expect "on some of the kernels it is none" ends_with once 2 "# 1 known to fail: L0" "1 passed, 0 failed, 1 skipped"
expect "a machine that hangs behind its last test is an error" \
	ends_with hangs 1 "1 passed, 1 failed"
expect "of tests that end their machines each is counted, however many there are" \
	ends_with dying 1 "0 passed, 6 failed"
expect "a batch of which nothing is known is an error" ends_with no_room 1 "1 passed, 1 failed"
expect "the check adds up what suites count" ends_with sums 4 "# a boot was tried again: it stopped" \
	"# 1 boots were tried again" "# 3 known to fail: L1 L2 L10" "12 passed, 0 failed, 3 skipped"
expect "the check fails a suite that ends badly" ends_with bad_end 1 "5 passed, 1 failed, 1 skipped"
expect "one without a closing line has failed" ends_with plain 1 "0 passed, 1 failed"
expect "so has one that has tested nothing" ends_with nothing 1 "0 passed, 1 failed"
expect "and one whose counts are lost" ends_with uncounted 1 "7 passed, 1 failed, 3 skipped"

conclude
