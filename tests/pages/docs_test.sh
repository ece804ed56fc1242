#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Every command of README.md and docs/ is run, and what it prints is compared: in a machine, page by
# page, or in this checkout, as tests/pages/where says, which also has those that other suites of
# scripts/check run, and those that nobody can run. Prints ok / not ok lines and a closing line.

set -euo pipefail

top=$(cd -- "$(dirname -- "$(readlink -f -- "$0")")/../.." && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$top"
# shellcheck source=scripts/lib/load.sh
. scripts/lib/load.sh
# shellcheck source=scripts/lib/tap.sh
. scripts/lib/tap.sh
# shellcheck source=tests/pages/watchers.sh
. tests/pages/watchers.sh

need_packages python3
export PYTHONDONTWRITEBYTECODE=1

# step NAME COMMAND...: its lines go to the log; whoever fails without a word has failed.
step() {
	local name=$1 status=0
	shift

	"$@" >"$work/$name" 2>&1 || status=$?
	cat "$work/$name"
	if ((status)) && ! grep -q '^not ok ' "$work/$name"; then
		echo "not ok - $name: it ended with $status" | tee -a "$work/$name"
	fi
}

# The machine has the pages where the checkout has them.
in_machine() {
	local place=$1
	shift

	"$@" --copy tests/pages --copy docs --copy README.md --copy packaging -- \
		"python3 pages/console.py run $place pages/where README.md docs/*.md docs/*.rst"
}

# One CPU: tracers change the kernel's code, which QEMU's CPUs do not always survive when another one
# runs it ("Oops: int3").
in_guest() {
	scripts/tools >/dev/null
	watchers_need
	in_machine guest scripts/lab --mem 4G --smp 1 --root "$WATCHERS_TREE"
}

in_uml() {
	in_machine uml scripts/uml --plain --mem 4096M
}

# In a folder that has the checkout's scripts, and keeps what a command leaves.
on_host() {
	mkdir "$work/checkout"
	ln -s "$top"/* "$work/checkout/"
	rm -f "$work/checkout/out"
	cd "$work/checkout"
	"$top/tests/pages/console.py" run host "$top/tests/pages/where" README.md docs/*.md docs/*.rst
}

# counted WHAT: in both places
counted() {
	sed -nE "s/^# (guest|uml|host):.* $1=([0-9]+).*/\2/p" "$work"/{guest,uml,host} |
		awk '{ sum += $1 } END { print sum + 0 }'
}

# A command that nobody has counted was forgotten, or the machine died before it.
nobody_is_forgotten() {
	local all seen

	all=$(tests/pages/console.py list README.md docs/*.md docs/*.rst | wc -l)
	seen=$(($(counted run) + $(counted listed) + $(counted by) + $(counted not)))
	if ((seen == all)); then
		echo "ok - each of the $all commands is accounted for"
	else
		echo "not ok - there are $all commands, and $seen were accounted for"
	fi
}

step comparison tests/pages/figures_test.py
step guest in_guest
step uml in_uml
step host on_host
step all nobody_is_forgotten
tap_count "" < <(cat "$work"/{comparison,guest,uml,host,all})
echo "# of the commands $(counted run) were run, the output of $(counted compared) was compared," \
	"$(counted listed) were tried with --list, $(counted by) are run by other suites," \
	"$(counted not) were only parsed"
tap_conclude
