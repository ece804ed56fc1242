#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Every command of README.md and docs/ is run: in a machine, page by page, or by another suite of
# scripts/check, as tests/pages/where says. Prints ok / not ok lines and a closing line. Takes some
# 80 seconds.

set -euo pipefail

top=$(cd -- "$(dirname -- "$(readlink -f -- "$0")")/../.." && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$top"
# shellcheck source=scripts/lib/load.sh
. scripts/lib/load.sh
# shellcheck source=tests/pages/watchers.sh
. tests/pages/watchers.sh

# Whoever is named as running a command exists.
suites_exist() {
	local suite known

	known=$(scripts/check --list)
	while read -r suite; do
		if ! grep -q "^$suite " <<<"$known"; then
			echo "not ok - tests/pages/where: there is no suite $suite"
		fi
	done < <(sed -n 's/^by \([a-z]*\) .*/\1/p' tests/pages/where | sort -u)
}

scripts/tools >/dev/null
watchers_need
status=0
# The machine has the pages where the checkout has them.
scripts/lab --mem 4G --copy tests/pages --copy docs --copy README.md --copy packaging \
	--root "$WATCHERS_TREE" -- \
	'python3 pages/console.py run pages/where README.md docs/*.md docs/*.rst' \
	>"$work/log" 2>&1 || status=$?
suites_exist >>"$work/log"
cat "$work/log"
passed=$(grep -c '^ok ' "$work/log" || true)
failed=$(grep -c '^not ok ' "$work/log" || true)
if ((passed < 50)); then
	failed=$((failed + 1))
	echo "not ok - not all commands were run"
fi
if ((status && !failed)); then
	failed=1
	echo "not ok - the machine ended with $status"
fi
echo "$passed passed, $failed failed"
((failed == 0))
