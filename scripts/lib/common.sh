# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What every script here needs first: where the project is, and how to talk.
# Messages go to stderr, so that a script's stdout is only its result.

if [[ -z ${DIEAWARE_TOP:-} ]]; then
	DIEAWARE_TOP=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
fi

say() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
}

die() {
	say "$*"
	exit 125
}

# Run the rest of the words with stdout sent to stderr and shown only on
# failure, or at once when DIEAWARE_VERBOSE is set.
quietly() {
	local log status=0

	if [[ -n ${DIEAWARE_VERBOSE:-} ]]; then
		"$@" >&2
		return
	fi
	log=$(mktemp)
	"$@" >"$log" 2>&1 || status=$?
	if ((status)); then
		tail -n "${QUIETLY_LINES:-40}" "$log" >&2
	fi
	rm -f "$log"
	return "$status"
}
