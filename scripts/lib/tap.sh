# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# How every suite counts its sentences and how it ends. A sentence is one of
#
#	ok - SENTENCE
#	not ok - SENTENCE
#	ok - SENTENCE # SKIP REASON
#	not ok - SENTENCE # TODO NAME	fails because of the known defect NAME
#
# with or without a number behind "ok". A suite's last line is "N passed, N failed", and
# ", N skipped" behind it where there are any; a line before it names the known defects.
# scripts/check adds up these lines. Needs nothing else of the library.

TAP_PASSED=0 TAP_FAILED=0 TAP_SKIPPED=0 TAP_KNOWN=0 TAP_DEFECTS=()

# tap_count INDENT: count the sentences of stdin that are indented like this: in nested KTAP, suites
# or their cases.
tap_count() {
	local kind number

	while read -r kind number; do
		case $kind in
		passed) TAP_PASSED=$((TAP_PASSED + number)) ;;
		failed) TAP_FAILED=$((TAP_FAILED + number)) ;;
		skipped) TAP_SKIPPED=$((TAP_SKIPPED + number)) ;;
		*)
			TAP_KNOWN=$((TAP_KNOWN + number))
			TAP_DEFECTS+=("${kind#known:}")
			;;
		esac
	done < <(awk -v indent="$1" '
		!match($0, "^" indent "(not )?ok( |$)") { next }
		substr($0, length(indent) + 1) ~ /^not ok/ {
			if (match($0, / # TODO [A-Z]+[0-9]+/))
				count["known:" substr($0, RSTART + 8, RLENGTH - 8)]++
			else
				count["failed"]++
			next
		}
		# It passes although it is marked as known to fail.
		/ # TODO [A-Z]+[0-9]+/ { count["failed"]++; next }
		/ # SKIP/ { count["skipped"]++; next }
		{ count["passed"]++ }
		END { for (kind in count) print kind, count[kind] }')
}

# Of stdin, the lines that are no known defect's
tap_without_known() {
	grep -v ' # TODO ' || true
}

# tap_add PASSED FAILED SKIPPED [KNOWN DEFECT...]: what a suite has counted by itself
tap_add() {
	TAP_PASSED=$((TAP_PASSED + $1))
	TAP_FAILED=$((TAP_FAILED + $2))
	TAP_SKIPPED=$((TAP_SKIPPED + $3))
	TAP_KNOWN=$((TAP_KNOWN + ${4:-0}))
	TAP_DEFECTS+=("${@:5}")
}

# The counts that tap_add takes, as words
tap_counts() {
	echo "$TAP_PASSED $TAP_FAILED $TAP_SKIPPED $TAP_KNOWN ${TAP_DEFECTS[*]}"
}

# tap_closing LOG: the counts of a suite that has ended, from its last lines; nothing if it has
# not come that far.
tap_closing() {
	awk '
		/^# [0-9]+ known to fail: / { known = $2; sub(/^[^:]*: /, ""); defects = $0 }
		/^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$/ { counts = $1 " " $3 " " $5 + 0 }
		END { if (counts != "") print counts, known + 0, defects }' "$1"
}

# tap_boots FOLDER: say which boots had to be tried again: machine.sh leaves a file for each there.
tap_boots() {
	local file number=0

	while read -r file; do
		number=$((number + 1))
		echo "# $(head -n 1 "$file")"
	done < <(find "$1" -name '*.console' 2>/dev/null | sort)
	((!number)) || echo "# $number boots were tried again"
}

# The closing lines. Return: whether the suite has passed.
tap_conclude() {
	if ((TAP_KNOWN)); then
		echo "# $TAP_KNOWN known to fail: $(printf '%s\n' "${TAP_DEFECTS[@]}" | sort -uV | paste -sd ' ')"
	fi
	echo "$TAP_PASSED passed, $TAP_FAILED failed$( ((!TAP_SKIPPED)) || echo ", $TAP_SKIPPED skipped")"
	((TAP_FAILED == 0 && TAP_PASSED > 0))
}
