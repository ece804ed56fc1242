#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the scripts themselves promise, without a machine: which results scripts/check takes again
# (scripts/lib/results.sh), and which kernel is the newest (scripts/lib/kernels.sh). In a checkout and
# a cache made for that. Prints ok / not ok lines and a closing line.

set -euo pipefail

# Each test says for itself whether results are looked for, whatever "scripts/check --fresh" says.
unset RESULTS_FRESH

# shellcheck source=tests/vm/lib.sh
. "$(dirname -- "$(readlink -f -- "$0")")/../vm/lib.sh"

# A machine that is new has none of these.
DIEAWARE_TOP=$top bash -c 'set -euo pipefail; . "$DIEAWARE_TOP/scripts/lib/load.sh"; need_packages git perl python3'

fake=$work/checkout
ran=$work/ran
export DIEAWARE_CACHE=$work/cache
unset DIEAWARE_TOP

# A checkout whose suites only note that they ran. The suite lab stands for those of machines.
make_checkout() {
	mkdir -p "$fake"/{scripts,dm-dieaware/core,docs,userspace,tests/lab} "$DIEAWARE_CACHE"
	cp -r "$top/scripts/lib" "$top/scripts/check" "$fake/scripts/"
	cat >"$fake/scripts/unit" <<-END
		#!/bin/bash
		echo unit >>$ran
		[[ -e $work/edit ]] && echo meanwhile >>dm-dieaware/core/placed.c
		if [[ -e $work/broken ]]; then
			echo "not ok 1 - a case"; echo "2 passed, 1 failed"; exit 1
		elif [[ -e $work/skips ]]; then
			echo "3 passed, 0 failed, 1 skipped"; exit
		fi
		echo "3 passed, 0 failed"
		[[ ! -e $work/killed ]]
	END
	printf '#!/bin/bash\necho lab >>%s\necho "1 passed, 0 failed"\n' "$ran" >"$fake/scripts/lab-tests"
	chmod +x "$fake"/scripts/{unit,lab-tests}
	echo 'int place;' >"$fake/dm-dieaware/core/place.c"
	echo 'int old;' >"$fake/dm-dieaware/core/old.c"
	echo 'page' >"$fake/docs/page.md"
	printf 'out\nignored\n' >"$fake/.gitignore"
	git -C "$fake" init -q
	git -C "$fake" add -A
}

# Other suites of the same check install packages meanwhile, on a machine that is new: here nothing
# changes but what a test changes.
freeze_packages() {
	local program

	mkdir "$work/frozen"
	for program in dpkg-query gcc clang ld make sparse shellcheck perl patch cargo rustc; do
		printf '#!/bin/sh\necho 1\n' >"$work/frozen/$program"
		chmod +x "$work/frozen/$program"
	done
	PATH=$work/frozen:$PATH
}

# check ARGUMENT...: scripts/check there
check() {
	"$fake/scripts/check" "$@" >"$work/said" 2>&1
}

# runs NR [ARGUMENT...]: how often the suite unit runs in a check of it
runs() {
	local nr=$1
	shift

	: >"$ran"
	check "$@" unit || true
	[[ $(wc -l <"$ran") == "$nr" ]] && return
	sed 's/^/# /' "$work/said"
	return 1
}

# again_after COMMAND...: after it unit runs, and not twice
again_after() {
	"$@" && runs 1 && runs 0
}

says_cached() {
	runs 0 && grep -qE '^unit +3 passed, 0 failed, .*\(cached\)$' "$work/said" &&
		grep -qx '3 passed, 0 failed' "$work/said" && grep -qx '3 passed, 0 failed' "$fake/out/check/unit.log"
}

says_nothing_when_it_runs() {
	runs 1 --fresh && ! grep -q cached "$work/said"
}

change_a_byte() {
	sed -i 's/place/plane/' "$fake/dm-dieaware/core/place.c"
}

add_a_file() {
	touch "$fake/dm-dieaware/core/more.c"
}

remove_a_file() {
	rm "$fake/dm-dieaware/core/old.c"
}

rename_a_file() {
	mv "$fake/dm-dieaware/core/place.c" "$fake/dm-dieaware/core/placed.c"
}

change_a_mode() {
	chmod +x "$fake/docs/page.md" "$fake/dm-dieaware/core/"*.c
}

change_a_library() {
	echo '# more' >>"$fake/scripts/lib/common.sh"
}

# Another compiler in the way
change_a_program() {
	mkdir "$work/bin"
	printf '#!/bin/sh\necho 99\n' >"$work/bin/gcc"
	chmod +x "$work/bin/gcc"
	PATH=$work/bin:$PATH
}

change_a_program_only() {
	printf '#!/bin/sh\necho 100\n' >"$work/bin/gcc"
}

ignores_what_is_not_read() {
	echo 'another word' >>"$fake/docs/page.md" && echo built >"$fake/ignored" && runs 0
}

comes_back() {
	sed -i 's/plane/place/' "$fake/dm-dieaware/core/placed.c" && runs 1 &&
		sed -i 's/place/plane/' "$fake/dm-dieaware/core/placed.c" && runs 0
}

holds_elsewhere() {
	local fake=$work/elsewhere

	cp -a "$1" "$fake" && runs 0
}

failure_is_not_kept() {
	echo more >>"$fake/dm-dieaware/core/placed.c"
	touch "$work/broken"
	runs 1 && ! check unit && runs 1 || return
	rm "$work/broken"
	runs 1 && runs 0
}

bad_end_is_not_kept() {
	echo more >>"$fake/dm-dieaware/core/placed.c"
	touch "$work/killed"
	runs 1 && runs 1 || return
	rm "$work/killed"
	runs 1 && runs 0
}

skips_are_not_kept() {
	echo more >>"$fake/dm-dieaware/core/placed.c"
	touch "$work/skips"
	runs 1 && runs 1 || return
	rm "$work/skips"
	runs 1 && runs 0
}

# Nobody knows which of both the suite has read.
edit_meanwhile_is_not_kept() {
	local file=$fake/dm-dieaware/core/placed.c

	echo more >>"$file"
	cp "$file" "$work/before"
	touch "$work/edit"
	runs 1 && rm "$work/edit" && cp "$work/before" "$file" && runs 1 && runs 0
}

fresh_runs() {
	runs 0 && runs 1 --fresh && runs 1 --fresh && runs 0
}

not_without_git() {
	mv "$fake/.git" "$work/git"
	runs 1 && runs 1 && mv "$work/git" "$fake/.git"
}

machines_always_run() {
	: >"$ran"
	check lab && check lab && [[ $(wc -l <"$ran") == 2 ]] && ! grep -q cached "$work/said"
}

# only_known_suites: each that results.sh knows is one of scripts/check, and boots no machine.
only_known_suites() {
	local suite command known

	known=$("$top/scripts/check" --list)
	for suite in $(DIEAWARE_TOP=$top bash -c '. "$1/scripts/lib/load.sh"; . "$1/scripts/lib/results.sh"
		echo "${!RESULTS_UNREAD[@]}"' bash "$top"); do
		[[ $suite != scripts ]] || continue
		command=$(awk -v name="$suite" '$1 == name { print $2 }' <<<"$known")
		if [[ -z $command ]] || grep -qE '(scripts/(lab|uml)"|lib/(qemu|uml|bench)\.sh)' "$top/$command"; then
			echo "# $suite is no suite of the host"
			return 1
		fi
	done
}

# sources_of SUITE: what the suite is made from, where it would name a folder that it reads
sources_of() {
	local core=(dm-dieaware nvmevirt-backend include)

	case $1 in
	unit) echo "${core[@]}" tests/unit tests/pair scripts/unit ;;
	mutants) echo "${core[@]}" tests/unit tests/pair scripts/mutants ;;
	modules) echo "${core[@]}" tests/rawhost Kbuild scripts/modules ;;
	tools) echo userspace tests/golden scripts/tools scripts/lib/tools.sh ;;
	fuzz) echo "${core[@]}" tests/fuzz scripts/fuzz ;;
	drives) echo nvmevirt-backend include bench/drives.py scripts/drives ;;
	esac
}

# no_unread_folder_is_read TREE SUITE...: no such suite of the host names, as seen from the checkout's folder, one that its
# results do not depend on: "/../boot/", "$(TOP)/boot/", "$top/boot/", top().join("boot/").
no_unread_folder_is_read() {
	local tree=$1 suite folder unread named status=0
	shift

	for suite; do
		unread=$(DIEAWARE_TOP=$tree bash -c '. "$DIEAWARE_TOP/scripts/lib/load.sh"; . "$DIEAWARE_LIB/results.sh"
			echo "${RESULTS_UNREAD[$1]}"' bash "$suite")
		for folder in $unread; do
			# shellcheck disable=SC2046 # words
			named=$(cd "$tree" && grep -rnE "(\.\.|TOP[)}\"]*|top\"?)/$folder\b|top\(\)\.join\(\"$folder\b" \
				$(sources_of "$suite")) || [[ $? == 1 && -z $named ]] || return
			[[ $named ]] || continue
			head -n 3 <<<"$named" | sed "s/^/# $suite: /"
			status=1
		done
	done
	return "$status"
}

notices_an_unread_folder() {
	local tree=$work/unread

	mkdir -p "$tree"/{userspace/tests,tests/golden}
	cp -r "$top/scripts" "$tree/"
	printf '%s\n' 'let hook = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/lab/rc");' >"$tree/userspace/tests/hook.rs"
	! no_unread_folder_is_read "$tree" tools >"$work/said" && grep -q '^# tools: .*tests/lab/rc' "$work/said"
}

# counts_half: a function of which a command fails has not passed, whatever comes behind it.
counts_half() {
	DIEAWARE_TOP=$top bash -c '
		set -euo pipefail
		. "$DIEAWARE_TOP/tests/vm/lib.sh"
		half() { false; true; }
		nested() { half; echo "went on"; }
		whole() { ! false; [[ -z "" ]] || false; kept=1; }
		expect "half" half
		expect "nested" nested
		expect "whole" whole
		echo "kept ${kept:-nothing}"' >"$work/said"
	diff - "$work/said" <<-'END'
		not ok 1 - half
		not ok 2 - nested
		ok 3 - whole
		kept 1
	END
}

# guest_counts_half: likewise in a machine, which goes on with the next sentence.
guest_counts_half() {
	mkdir -p "$work/guest" && cp "$top/tests/vm/guest.sh" "$top/scripts/lib/whole.sh" "$work/guest/" || return
	rm -f "$work/guest/said"
	SAID=$work/guest/said bash -c '
		set -uo pipefail
		. "$1/guest.sh"
		PATIENCE=0
		half() { until_true false; true; }
		nested() { half; echo "went on"; }
		whole() { ! false; [[ -z "" ]] || false; kept=1; }
		look "half" half
		look "nested" nested
		look "whole" whole
		false
		look "kept ${kept:-nothing}" true' bash "$work/guest" || return
	grep -E "^(not )?ok" "$work/guest/said" | diff - <(printf "%s\n" "not ok - half" "not ok - nested" "ok - whole" "ok - kept 1")
}

# prunes_nothing: a machine that is new has no folder to prune.
prunes_nothing() {
	DIEAWARE_CACHE=$work/none DIEAWARE_TOP=$top bash -c '
		set -euo pipefail
		. "$DIEAWARE_TOP/scripts/lib/load.sh"
		cache_prune unit ""'
}

# edited_build BUILD: a checkout some file of which changes while BUILD runs; what it builds may not be kept.
edited_build() {
	local tree=$work/edited

	mkdir -p "$tree"/{userspace/{sim,src},nvmevirt-backend/core,include}
	cp -r "$top/scripts" "$tree/"
	touch "$tree"/userspace/{Cargo.toml,Cargo.lock,build.rs,src/main.rs} "$tree/Kbuild"
	DIEAWARE_CACHE=$work/edited-cache DIEAWARE_TOP=$tree bash -c '
		set -euo pipefail
		. "$DIEAWARE_TOP/scripts/lib/load.sh"
		have_rust() { true; }
		need_packages() { :; }
		need_groups() { :; }
		edit() { echo more >>"$DIEAWARE_TOP/userspace/src/main.rs"; echo more >>"$DIEAWARE_TOP/Kbuild"; }
		tool_cargo() { edit; mkdir -p "$(tool_target)/release"; touch "$(tool_target)"/release/dieaware{,-generator}; }
		own_sources_copy() { mkdir -p "$1"; edit; }
		own_modules_make() { :; }
		KERNEL_DIR=kernel KERNEL_VERSION=1 KERNEL_KUNIT=no
		'"$1" >"$work/said" 2>&1 && return 1
	grep -q "try again" "$work/said" && ! compgen -G "$work/edited-cache/$2-*" >/dev/null && return
	sed 's/^/# /' "$work/said"
	return 1
}

# key_of CHECK SPARSE: of modules that are built like this where sparse has this version
key_of() {
	DIEAWARE_TOP=$top SPARSE=$2 bash -c '
		set -euo pipefail
		. "$DIEAWARE_TOP/scripts/lib/load.sh"
		toolchain_run() { echo "$SPARSE"; }
		cache_get() { echo "$2"; }
		KERNEL_DIR=kernel KERNEL_VERSION=1 KERNEL_KUNIT=no CACHE_ENTRY=""
		own_modules_need "$1" include' bash "$1"
}

checks_again_with_another_sparse() {
	[[ $(key_of check 1) != "$(key_of check 2)" && $(key_of check 1) == "$(key_of check 1)" &&
		$(key_of plain 1) == "$(key_of plain 2)" ]]
}

# What was checked is compiled: nothing is compiled once more for a machine. Another sparse, or none, says nothing of it.
takes_what_was_checked() {
	local check plain entry

	check=$(key_of check 1) && plain=$(key_of plain 1) && [[ $check != "$plain" ]] || return
	entry=$DIEAWARE_CACHE/modules-1-$check
	mkdir "$entry"
	[[ $(key_of plain 1) == "$check" && $(key_of plain 2) == "$plain" && $(key_of lock-costs 1) != "$check" ]] || return
	rmdir "$entry"
}

# Of two files that came since, the one that looks older is touched, and only once.
touches_what_looks_old() {
	local touch=("$top/scripts/lib/touch-changed" "$work/late/stamp" "$work/late/tree") edited

	mkdir -p "$work/late/tree"
	echo old >"$work/late/tree/older.c"
	"${touch[@]}" && sleep 0.1 && echo new >"$work/late/tree/edited.c" && echo new >"$work/late/older.c" || return
	touch -d '-1 day' "$work/late/older.c"
	mv "$work/late/older.c" "$work/late/tree/older.c"
	edited=$(stat -c %.Y "$work/late/tree/edited.c")
	touch "$work/late/built" && "${touch[@]}" && sleep 0.1 || return
	[[ $work/late/tree/older.c -nt $work/late/built && $(stat -c %.Y "$work/late/tree/edited.c") == "$edited" ]] || return
	touch "$work/late/built" && "${touch[@]}" && [[ $work/late/built -nt $work/late/tree/older.c ]]
}

# keeps_what_runs: a machine's folder, when nothing has come into it for hours; not one of which nobody says so
keeps_what_runs() {
	DIEAWARE_CACHE=$work/running DIEAWARE_TOP=$top bash -c '
		set -euo pipefail
		. "$DIEAWARE_TOP/scripts/lib/load.sh"
		RUN=$CACHE_DIR/run.abcdef MACHINE_PID=$$ IN_USE_SECONDS=1
		mkdir -p "$RUN" "$CACHE_DIR/run.killed"
		: >"$RUN/control"
		touch -d "-3 hours" "$RUN" "$CACHE_DIR/run.killed"
		machine_wait nothing 2 || true
		cache_prune unit ""
		[[ -d $RUN && ! -d $CACHE_DIR/run.killed ]]'
}

# ends_with_machines: lab-tests with more tests than machines at once, which is killed; machines only pretend
ends_with_machines() {
	local tree=$work/killed process status=0 i

	mkdir -p "$tree"/{scripts,tests/lab}
	cp -r "$top/scripts/lib" "$top/scripts/lab-tests" "$tree/scripts/"
	printf '#!/bin/bash\n' >"$tree/scripts/modules"
	printf '#!/bin/bash\ntrap "echo >>%s/ended; exit 130" TERM\necho >>%s/begun\nsleep 60\n' "$tree" "$tree" >"$tree/scripts/lab"
	chmod +x "$tree/scripts"/{modules,lab}
	for i in 1 2 3; do
		printf '# kernels: 6.12\n# mem: %sG\n' "$i" >"$tree/tests/lab/10$i-a.sh"
	done
	: >"$tree/begun"
	: >"$tree/ended"
	(cd "$tree" && exec scripts/lab-tests) >"$work/said" 2>&1 &
	process=$!
	for ((i = 0; i < 100 && $(wc -l <"$tree/begun") < 2; i++)); do
		sleep 0.1
	done
	kill -TERM "$process"
	wait "$process" || status=$?
	for ((i = 0; i < 100 && $(wc -l <"$tree/ended") < 2; i++)); do
		sleep 0.1
	done
	# What goes on begins another one.
	sleep 1
	[[ $status == 143 && $(wc -l <"$tree/begun") == 2 && $(wc -l <"$tree/ended") == 2 ]]
}

# of_tests NAME...: the numbers of the tests that lab-tests takes for these
of_tests() {
	local tree=$work/named

	mkdir -p "$tree"/{scripts,tests/lab}
	cp -r "$top/scripts/lib" "$top/scripts/lab-tests" "$tree/scripts/"
	touch "$tree/tests/lab"/{500-disk-310,310-a,310-b,131-05a}.sh
	(cd "$tree" && scripts/lab-tests --list "$@") | sed -nE 's/.* ([0-9]{3})-.*/\1/p' | paste -sd ' '
}

takes_numbers_and_parts() {
	[[ $(of_tests 310) == "310 310" && $(of_tests 10-a) == 310 && $(of_tests disk) == 500 && $(of_tests 131 500) == "131 500" ]]
}

# seconds_on KERNEL: what a test is expected to take that has another number for 6.12
seconds_on() {
	local tree=$work/named

	printf '# seconds: 80 6.12:8\n' >"$tree/tests/lab/310-a.sh"
	(cd "$tree" && scripts/lab-tests --list --kernel "$1" 310-a) | awk 'END { print $(NF - 1) }'
}

times_each_kernel() {
	[[ $(of_tests 310-a) == 310 && $(seconds_on 6.1) == 80 && $(seconds_on 6.12) == 8 ]]
}

knows_names_that_fit_none() {
	! of_tests 310 nothing disk >"$work/said" 2>&1 && grep -q "No test for these kernels has the name 'nothing'" "$work/said"
}

# skips KERNELS: what lab-tests says of a test for these kernels that skips one of two sentences where it runs
skips() {
	local tree=$work/skips

	rm -rf "$tree"
	mkdir -p "$tree"/{scripts,tests/lab}
	cp -r "$top/scripts/lib" "$top/scripts/lab-tests" "$tree/scripts/"
	printf '#!/bin/bash\n' >"$tree/scripts/modules"
	printf '#!/bin/bash\nprintf "%%s\\n" "begin 101-a" "ok - 101-a: yes" "ok - 101-a: never # SKIP no" "end 101-a 1"\n' >"$tree/scripts/lab"
	chmod +x "$tree/scripts"/{modules,lab}
	printf '# kernels: %s\n' "$1" >"$tree/tests/lab/101-a.sh"
	(cd "$tree" && scripts/lab-tests "${@:2}") 2>&1 | grep '^not ok' || true
}

notices_what_is_always_skipped() {
	local noticed="not ok - 101-a: never is not always skipped"

	[[ $(skips 6.12) == "$noticed" && $(skips "6.12 debug kcsan") == "$noticed" &&
		-z $(skips "6.12 debug" --kernel debug) && -z $(skips "6.1 6.12" --kernel 6.12) ]]
}

# tells_what_tests_cost: a test whose machine computes for a second, without having said so, and one that only waits
tells_what_tests_cost() {
	local tree=$work/costs

	mkdir -p "$tree"/{scripts,tests/lab}
	cp -r "$top/scripts/lib" "$top/scripts/lab-tests" "$tree/scripts/"
	printf '#!/bin/bash\n' >"$tree/scripts/modules"
	cat >"$tree/scripts/lab" <<-'END'
		#!/bin/bash
		echo "begin 101-a"
		python3 -c 'import time
		while time.process_time() < 1: pass'
		printf '%s\n' "ok - 101-a: yes" "end 101-a 0" "begin 102-a"
		sleep 0.5
		printf '%s\n' "ok - 102-a: yes" "end 102-a 9"
	END
	cat >"$tree/scripts/uml" <<-'END'
		#!/bin/bash
		echo "begin 103-a"
		python3 -c 'import time
		while time.process_time() < 2: pass'
		printf '%s\n' "ok - 103-a: yes" "end 103-a 0"
	END
	chmod +x "$tree/scripts"/{modules,lab,uml}
	touch "$tree/tests/lab"/{101,102}-a.sh
	echo "# kernels: uml" >"$tree/tests/lab/103-a.sh"
	(cd "$tree" && scripts/lab-tests) >"$work/said" || return 1
	grep -qE '^# cpu: 101-a on 6.12, (0\.9|1\.[0-4]) s$' "$work/said" &&
		grep -qE '^# cpu: 102-a on 6.12, 0\.[0-2] s$' "$work/said" &&
		grep -qE '^# cpu: 2 boots, 0 s; all, [345] s$' "$work/said" || return
	# The dearest first, on whichever kernel
	[[ $(sed -nE 's/^# cpu: (10.)-a on .*/\1/p' "$work/said" | paste -sd " ") == "103 101 102" ]]
}

# What a shell's machine took before is no part of the next one's boot.
boots_from_now() {
	local said

	said=$(bash -c '. "$0/scripts/lib/children.sh"; . "$0/scripts/lib/stamp.sh"
		python3 -c "import time
while time.process_time() < 1: pass"
		printf "begin 101-a\n" | stamp_tests $$' "$top")
	[[ $said =~ ^"cpu boot 0.0"[0-9]$'\n'"begin 101-a"$ ]]
}

# is_trouble LINE: of a kernel
is_trouble() {
	echo "$1" >"$work/console"
	[[ $(DIEAWARE_TOP=$top bash -c '. "$DIEAWARE_TOP/scripts/lib/load.sh"; kernel_trouble "$1"' bash "$work/console") ]]
}

knows_kernels_trouble() {
	is_trouble "[   21.0] rcu: INFO: rcu_preempt self-detected stall on CPU" &&
		is_trouble "[   21.0] watchdog: BUG: soft lockup - CPU#0 stuck for 26s!" &&
		is_trouble "[   21.0] INFO: task dd:12 blocked for more than 120 seconds." &&
		! is_trouble "[   21.0] rcu: Hierarchical RCU implementation."
}

# fio_counts PROGRAM: whether scripts/fio fails for one filesystem, above a machine that does this
fio_counts() {
	local tree=$work/fio status=0

	rm -rf "$tree"
	mkdir -p "$tree"/{scripts,tests/lab}
	cp -r "$top/scripts/lib" "$top/scripts/fio" "$tree/scripts/"
	cp "$top/tests/lab/kernels-races" "$tree/tests/lab/"
	printf '#!/bin/bash\n%s\n' "$1" >"$tree/scripts/uml"
	chmod +x "$tree/scripts/uml"
	(cd "$tree" && scripts/fio --jobs 1 verify ext4 xfs) >"$work/said" 2>&1 || status=$?
	tail -n 1 "$work/said"
	return "$status"
}

# The log of one is a folder from its beginning on: nothing can be written to it.
fio_counts_all_machines() {
	local says='echo "ok - one"; echo "all done"'

	[[ $(fio_counts "$says") == "2 passed, 0 failed" ]] || return
	[[ $(fio_counts "rm -rf out/fio/verify-xfs.log; [[ \$* == *ext4* ]] || { mkdir out/fio/verify-xfs.log; exit; }; $says") == \
		"1 passed, 1 failed" ]]
}

fuzz_wants_time() {
	! "$top/scripts/fuzz" 0 >"$work/said" 2>&1 && grep -q "how many seconds" "$work/said"
}

# makes_suite LINE: a program that says this of its case, and notes that it ran
makes_suite() {
	printf '#!/bin/sh\necho >>%s/suite-ran\nprintf "    %%s\\n" "%s"\n%s\n' "$work" "$1" "${2:-}" >"$work/one_kunit"
	chmod +x "$work/one_kunit"
	: >"$work/suite-ran"
}

# suite_ran NR LAST-LINE: so often, in two runs
suite_ran() {
	"$top/tests/unit/run-suites" "$work/suites-kept" "$work/one_kunit" >/dev/null || true
	"$top/tests/unit/run-suites" "$work/suites-kept" "$work/one_kunit" >"$work/said" || true
	[[ $(wc -l <"$work/suite-ran") == "$1" && $(tail -n 1 "$work/said") == "$2" ]] && return
	sed 's/^/# /' "$work/said"
	return 1
}

suites_say_it_again() {
	makes_suite "ok 1 - a" && suite_ran 1 "1 passed, 0 failed" && suite_ran 1 "1 passed, 0 failed" &&
		RESULTS_FRESH=1 suite_ran 3 "1 passed, 0 failed" && SHIM_KUNIT_CASE=a suite_ran 5 "1 passed, 0 failed" &&
		makes_suite "ok 1 - b" && suite_ran 1 "1 passed, 0 failed"
}

suites_that_fail_run() {
	makes_suite "not ok 1 - a" && suite_ran 2 "0 passed, 1 failed" &&
		makes_suite "ok 1 - a # SKIP no" && suite_ran 2 "0 passed, 0 failed, 1 skipped" &&
		makes_suite "ok 1 - a" "exit 1" && suite_ran 2 "1 passed, 1 failed"
}

# fuzzers_say FILE...: the counts of a fuzzer that is built as these, each of which finds nothing
fuzzers_say() {
	local folder=$work/fuzzers file

	rm -rf "$folder"
	mkdir "$folder"
	for file; do
		printf '#!/bin/sh\n' >"$folder/$file"
		chmod +x "$folder/$file"
	done
	"$top/tests/fuzz/run-fuzzers" "$folder" "$work/corpora" 2 1 a >"$work/said" && tail -n 1 "$work/said"
}

half_of_fuzz_is_missed() {
	[[ $(fuzzers_say a.drawn a.guided) == "1 passed, 0 failed" && $(fuzzers_say a.drawn) == "1 passed, 0 failed, 1 skipped" ]]
}

# kernels VERSIONS COMMAND: in a shell with the library, in an archive that has these images; KERNEL
# says which of them the cache has as the newest, and DAYS how long ago that was asked.
kernels() {
	rm -rf "$DIEAWARE_CACHE"
	mkdir -p "$DIEAWARE_CACHE"
	DIEAWARE_TOP=$top IMAGES=$1 bash -c '
		set -euo pipefail
		. "$DIEAWARE_TOP/scripts/lib/load.sh"
		need_groups() { :; }
		suite_update() { [[ $IMAGES ]] || die "no mirror"; }
		suite_apt() { printf "linux-image-%s\n" $IMAGES | grep -F "$4" || true; }
		if [[ ${KERNEL:-} ]]; then
			echo "$KERNEL" >"$CACHE_DIR/kernel-newest.version"
			touch -d "-${HOURS:-0} hours" "$CACHE_DIR/kernel-newest.version"
			mkdir -p "$CACHE_DIR/$(kernel_entry_name newest "$KERNEL")"
		fi
		'"$2" 2>&1
}

IMAGES="amd64 rt-amd64 cloud-amd64 6.12.1-amd64 7.2.13+deb14-amd64 7.2.14+deb14-rt-amd64 7.2.9+deb14-amd64"

newest_is() {
	local said

	said=$(kernels "$2" "$3") || true
	[[ $said == "$1" ]] && return
	echo "# '$said' is not '$1'"
	return 1
}

# checker FUNCTION ARGUMENT...: run_checkpatch or run_shellcheck in a folder of its own, above checkers that
# note what they look at and find the word "bad".
checker() (
	export DIEAWARE_TOP=$work/patched CACHE_ENTRY=$work/patch CHECK_TMP=$work/patch-tmp
	# shellcheck source=scripts/lib/cache.sh
	. "$top/scripts/lib/cache.sh"
	# shellcheck source=scripts/lib/checkpatch.sh
	. "${CHECKPATCH_LIB:-$top/scripts/lib/checkpatch.sh}"
	cd "$DIEAWARE_TOP"
	"$@"
)

# It is called with four words before the files.
shellcheck() {
	printf '%s\n' "${@:5}" >>"$work/patch/seen"
	! grep -n bad "${@:5}" /dev/null
}

make_checkpatch() {
	mkdir "$work"/{patched,patch,patch-tmp}
	echo 'int good;' >"$work/patched/good.c"
	echo 'int bad;' >"$work/patched/bad.c"
	cat >"$work/patch/checkpatch.pl" <<-'END'
		open(my $seen, '>>', 'seen');
		shift while @ARGV && $ARGV[0] ne '-f';
		shift;
		my $status = 0;
		for my $file (@ARGV) {
			print $seen "$file\n";
			open(my $text, '<', $file);
			if (grep { /bad/ } <$text>) { print "$file:1: WARNING:BAD: it is bad\n"; $status = 1; }
		}
		exit(-e 'dies' ? 2 : $status);
	END
}

# is_seen "FILE..." FUNCTION ARGUMENT...: which files a checker looks at
is_seen() {
	local wanted=$1 seen
	shift

	: >"$work/patch/seen"
	checker "$@" >"$work/said" || true
	seen=$(sed 's|.*/||' "$work/patch/seen" | sort | paste -sd ' ')
	[[ $seen == "$wanted" ]] && return
	echo "# it looked at '$seen', not at '$wanted'"
	return 1
}

# looks_at "FILE..." ARGUMENT...: the same of checkpatch, by PATH's perl
looks_at() {
	is_seen "$1" run_checkpatch "${@:2}"
}

finds_bad_again() {
	looks_at bad.c NONE good.c bad.c && grep -qx 'bad.c:1: WARNING:BAD: it is bad' "$work/said"
}

changed_is_looked_at() {
	echo 'int other;' >>"$work/patched/good.c"
	looks_at good.c NONE good.c && looks_at "" NONE good.c
}

renamed_is_looked_at() {
	cp "$work/patched/good.c" "$work/patched/copy.c"
	looks_at copy.c NONE good.c copy.c
}

crash_vouches_for_nothing() {
	echo 'int more;' >>"$work/patched/good.c"
	touch "$work/patch/dies"
	looks_at good.c NONE good.c && rm "$work/patch/dies" && looks_at good.c NONE good.c
}

fresh_looks_at_all() {
	RESULTS_FRESH=1 looks_at good.c NONE good.c
}

other_options_look_at_all() {
	sed 's/ --strict / /' "$top/scripts/lib/checkpatch.sh" >"$work/patch/checkpatch.sh"
	CHECKPATCH_LIB=$work/patch/checkpatch.sh looks_at good.c NONE good.c && looks_at "" NONE good.c
}

shellcheck_finds_bad_again() {
	is_seen bad.c run_shellcheck good.c bad.c && grep -q '^bad.c:1:' "$work/said"
}

# files_of FOLDER [PATTERN...]: what check-style looks at there
files_of() (
	eval "$(sed -n '/^all_files() {/,/^}/p; /^project_files() {/,/^}/p' "$top/scripts/check-style")"
	DIEAWARE_TOP=$1
	cd "$1"
	project_files "${@:2}"
)

finds_all_files() {
	local tree=$work/unpacked

	mkdir -p "$tree"/{out,part/core}
	touch "$tree"/{Kbuild,page.md,part/core/{place.c,place.o},out/old.c}
	printf '/out/\n*.o\n' >"$tree/.gitignore"
	git -C "$tree" init -q && git -C "$tree" add Kbuild || return
	files_of "$tree" >"$work/known" && files_of "$tree" '*/core/*.c' '*.md' >>"$work/known" || return
	rm -rf "$tree/.git"
	files_of "$tree" >"$work/found" && files_of "$tree" '*/core/*.c' '*.md' >>"$work/found" || return
	[[ $(wc -l <"$work/known") == 6 ]] && diff "$work/known" "$work/found" | sed 's/^/# /' &&
		cmp -s "$work/known" "$work/found"
}

# install_beside STATE: modules for a kernel that is not there, where dpkg has a package in that state
install_beside() {
	mkdir -p "$work/dpkg" && printf '#!/bin/sh\nprintf "%s"\n' "$1" >"$work/dpkg/dpkg-query" &&
		chmod +x "$work/dpkg/dpkg-query" || return
	PATH=$work/dpkg:$PATH "$top/scripts/install-modules" 0.1 >"$work/said" 2>&1 && return 1
	sed 's/^/# /' "$work/said"
}

# knows_its_options SCRIPT: it says how it is called, and takes nothing else for a version or a folder
knows_its_options() {
	"$top/scripts/$1" --help </dev/null >"$work/said" && grep -q "^Usage: scripts/$1 " "$work/said" || return
	! "$top/scripts/$1" --bogus </dev/null >"$work/said" 2>&1 && grep -q "no option '--bogus'" "$work/said"
}

is_refused_beside() {
	install_beside "$1" && grep -q "The package dieaware-dkms is installed" "$work/said"
}

is_tried_beside() {
	install_beside "$1" && grep -q "There are no headers of the kernel 0.1" "$work/said"
}

export KERNEL="" HOURS=0

# Before perl is frozen
make_checkpatch
expect "checkpatch looks at all files" looks_at "bad.c good.c" NONE good.c bad.c
expect "and again at one in which it has found something" finds_bad_again
expect "and at one that has changed" changed_is_looked_at
expect "at the same text in another file" renamed_is_looked_at
expect "for other rules" looks_at good.c OTHER good.c
expect "where it failed itself before" crash_vouches_for_nothing
expect "with --fresh" fresh_looks_at_all
expect "with other options" other_options_look_at_all
expect "and not otherwise" looks_at "" NONE good.c copy.c
expect "shellcheck looks at all files, whatever checkpatch has found" is_seen "bad.c good.c" run_shellcheck good.c bad.c
expect "and again at one in which it has found something" shellcheck_finds_bad_again
expect "check-style finds the same files where there is no git" finds_all_files

make_checkout
freeze_packages
expect "a suite runs" runs 1
expect "and not again, which the summary says" says_cached
expect "with --fresh it runs all the same" fresh_runs
expect "which is not called cached" says_nothing_when_it_runs
expect "it runs again after one byte of an input" again_after change_a_byte
expect "after a new file that nobody has added to git" again_after add_a_file
expect "after one that is gone" again_after remove_a_file
expect "after one that has another name" again_after rename_a_file
expect "after one that can be executed now" again_after change_a_mode
expect "after a change of the library" again_after change_a_library
expect "after another compiler" again_after change_a_program
expect "after another version of it" again_after change_a_program_only
expect "after another environment" again_after export DIEAWARE_VERBOSE=1
expect "not after a change of what it does not read" ignores_what_is_not_read
expect "results of both sides of a change are kept" comes_back
expect "and hold in another folder" holds_elsewhere "$fake"
expect "a failure is not kept" failure_is_not_kept
expect "nor a run that ends badly, whatever it says" bad_end_is_not_kept
expect "nor a run that has skipped something" skips_are_not_kept
expect "nor one during which an input changed" edit_meanwhile_is_not_kept
expect "nothing is kept where git does not know the files" not_without_git
expect "suites of machines always run" machines_always_run
expect "no other suite is taken for one of the host" only_known_suites
expect "none of them reads a folder that its results do not depend on" \
	no_unread_folder_is_read "$top" unit mutants modules tools fuzz drives
expect "and one that did would be noticed" notices_an_unread_folder
expect "what fails in the midst of a test's function is a failure" counts_half
expect "also in a machine" guest_counts_half

expect "a machine that has no cache yet has nothing to prune" prunes_nothing

expect "whoever kills lab-tests ends its machines, and no other one begins" ends_with_machines
expect "it takes a number for that of a test, and anything else for a part of a name" takes_numbers_and_parts
expect "a test's time may be another one on some kernel" times_each_kernel
expect "a name that fits no test is refused, also beside one that does" knows_names_that_fit_none
expect "a sentence that is skipped wherever it is due has failed" notices_what_is_always_skipped
expect "what a test takes of the CPUs is told, whatever its machine says" tells_what_tests_cost
expect "and not what the machine before it took" boots_from_now
expect "a machine's kernel that is stuck has failed" knows_kernels_trouble
expect "a machine of fio without room for its log is a failure" fio_counts_all_machines
expect "fuzzers that are given no time are refused" fuzz_wants_time
expect "a suite of core/ that has passed says the same again, until its program changes" suites_say_it_again
expect "and runs again if it has not passed" suites_that_fail_run
expect "a clang without libFuzzer is a test that is skipped" half_of_fuzz_is_missed
expect "what a machine uses that runs for hours is not pruned" keeps_what_runs
expect "a tool whose sources change while it is built is not kept" edited_build tools_need tools
expect "nor are modules" edited_build "own_modules_need plain include" modules
expect "modules are checked again when sparse is another one" checks_again_with_another_sparse
expect "those that were checked are taken where any will do" takes_what_was_checked
expect "a file that came later than what was built of it, and looks older, is touched" touches_what_looks_old

expect "a run that has failed leaves the figure that is on record" python3 -B "$top/tests/scripts/records_test.py"
expect "the oracle of the soak objects to what is wrong, and to nothing else" \
	python3 "$top/tests/soak/oracle_test.py"
expect "its workers take an error for an error, also in the middle of a read and of a sync" \
	python3 "$top/tests/soak/worker_test.py"
expect "its shifts take for a failure what is one" python3 "$top/tests/soak/soak_test.py"

for state in installed half-configured half-installed unpacked triggers-awaited; do
	expect "no modules are installed beside a package that is $state" is_refused_beside "$state"
done
for state in not-installed config-files ""; do
	expect "they are beside one that is ${state:-unknown}" is_tried_beside "$state"
done

for script in install install-modules drives unit; do
	expect "scripts/$script knows its options" knows_its_options "$script"
done

expect "the newest kernel is the newest of the archive" \
	newest_is 7.2.13+deb14-amd64 "$IMAGES" 'kernel_version newest'
expect "also when the archive has moved on" \
	newest_is 7.10.1+deb14-amd64 "$IMAGES 7.10.1+deb14-amd64" 'kernel_version newest'
expect "a series is the newest of its own" newest_is 6.12.1-amd64 "$IMAGES" 'kernel_version 6.12'
expect "the newest may be called by its series" newest_is newest "$IMAGES" 'kernel_series 7.2'
expect "but not by another" \
	newest_is "bash: There is no kernel '7.3' here: choose one of 6.1 6.12 newest; the newest is 7.2.13+deb14-amd64." \
	"$IMAGES" 'kernel_series 7.3'
KERNEL=7.1.5+deb14-amd64 HOURS=20
expect "one that is in the cache stays the newest for a day" newest_is "$KERNEL" "$IMAGES" 'kernel_version newest'
HOURS=30
expect "and no longer" newest_is 7.2.13+deb14-amd64 "$IMAGES" 'kernel_version newest'
expect "but where no mirror answers" newest_is "$KERNEL" "" 'kernel_version newest 2>/dev/null'
conclude
