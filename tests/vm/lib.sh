# SPDX-License-Identifier: GPL-2.0-only
# What the tests of this folder share: a working folder, sentences and counts. Sourced.
# shellcheck shell=bash
# shellcheck disable=SC2034 # top is for those who source this

top=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../.." && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

# expect SENTENCE COMMAND...: ok when COMMAND succeeds.
expect() {
	local sentence=$1
	shift

	if "$@"; then
		passed=$((passed + 1))
		echo "ok $((passed + failed)) - $sentence"
	else
		failed=$((failed + 1))
		echo "not ok $((passed + failed)) - $sentence"
	fi
}

# Prints the closing line. Return: whether nothing failed.
conclude() {
	echo "$passed passed, $failed failed"
	((failed == 0))
}
