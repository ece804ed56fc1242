# SPDX-License-Identifier: GPL-2.0-only
# What the tests of this folder share: a working folder, sentences and counts. Sourced.
# shellcheck shell=bash
# shellcheck disable=SC2034 # top is for those who source this

top=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../.." && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=scripts/lib/tap.sh
. "$top/scripts/lib/tap.sh"
# shellcheck source=scripts/lib/whole.sh
. "$top/scripts/lib/whole.sh"
set -E
sentences=0
# Where machine.sh keeps the consoles of boots that had to be tried again
export DIEAWARE_BOOTS=${DIEAWARE_BOOTS:-$work/boots}

# say_sentence RESULT SENTENCE: print it, and count it.
say_sentence() {
	sentences=$((sentences + 1))
	echo "$1 $sentences - $2"
	tap_count "" <<<"$1 - $2"
}

# expect SENTENCE COMMAND...: ok when COMMAND succeeds, all of it.
expect() {
	local sentence=$1
	shift

	run_whole "$@"
	if ((WHOLE_STATUS)); then
		say_sentence "not ok" "$sentence"
	else
		say_sentence ok "$sentence"
	fi
}

# expect_known NAME SENTENCE COMMAND...: COMMAND is known to fail, because of the defect NAME; see
# docs/testing.md.
expect_known() {
	local name=$1 sentence=$2
	shift 2

	run_whole "$@"
	if ((!WHOLE_STATUS)); then
		say_sentence "not ok" "$sentence: passes although it is marked as known to fail ($name): take the mark off"
	else
		say_sentence "not ok" "$sentence # TODO $name"
	fi
}

# said FILE SENTENCE: a machine has found it true (tests/vm/guest.sh).
said() {
	grep -qxF "ok - $2" "$1" || {
		grep -F -A 20 "not ok - $2" "$1" | sed 's/^/# /'
		return 1
	}
}

# expect_said FILE SCRIPT [PREFIX]: likewise, all that SCRIPT looks at there.
expect_said() {
	local file=$1 script=$2 prefix=${3:-} sentence

	while read -r sentence; do
		expect "$prefix$sentence" said "$file" "$sentence"
	done < <(sed -n 's/^look "\([^"]*\)".*/\1/p' "$script")
}

# relay OPTION...: scripts/lab with these, for scripts with guest.sh. The machine has in files/ what the one before it
# has left in /out, and what it leaves is in $work/files.
relay() {
	local status=0

	mkdir -p "$work/files"
	rm -rf "$work/back"
	"$top/scripts/lab" --copy "$work/files" --copy "$top/tests/vm/guest.sh" --copy "$top/scripts/lib/whole.sh" \
		--out "$work/back" "$@" \
		>"$work/out" 2>"$work/err" </dev/null || status=$?
	if ((status)); then
		tail -n 30 "$work/out" "$work/err" | sed 's/^/# /'
	fi
	rm -rf "$work/files"
	mv "$work/back" "$work/files"
	return "$status"
}

# install_root: the project as a user installs it, in $work/root
install_root() {
	"$top/scripts/install" "$work/root" 2>"$work/err" || {
		cat "$work/err"
		return 1
	}
}

# skip SENTENCE REASON
skip() {
	say_sentence ok "$1 # SKIP $2"
}

# Prints the closing lines. Return: whether nothing failed.
conclude() {
	tap_boots "$DIEAWARE_BOOTS"
	tap_conclude
}
