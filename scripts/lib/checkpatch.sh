# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# checkpatch over files, two minutes for all of them. It looks at each one by itself, so one in which it
# has found nothing is not looked at again until it changes: the file "clean" beside checkpatch has a line
# for it with all that its verdict depends on. With RESULTS_FRESH=1 all are looked at. Expects common.sh,
# CACHE_ENTRY (the folder with checkpatch), CHECK_TMP.

CLEAN_LINES=20000

# clean_marks IGNORED FILE...: a line for each, as "clean" has it
clean_marks() {
	local ignored=$1 perl
	shift

	perl=$(perl -e 'print $]')
	(cd "$DIEAWARE_TOP" && sha256sum -- "$@") | sed "s|^|$perl $ignored |"
}

# Of the lines on stdin those that are not in "clean"
not_clean() {
	if [[ ${RESULTS_FRESH:-0} == 1 || ! -e $CACHE_ENTRY/clean ]]; then
		cat
	else
		grep -vxFf "$CACHE_ENTRY/clean" || true
	fi
}

# The files of such lines
files_of_marks() {
	sed -E 's/^[^ ]+ [^ ]+ [0-9a-f]+ .//'
}

# remember_clean IGNORED FILE...: those of $CHECK_TMP/asked that are as they were then, and have no
# finding.
remember_clean() {
	local mark file clean=$CACHE_ENTRY/clean

	while read -r mark; do
		file=$(files_of_marks <<<"$mark")
		grep -qF -- "$file:" "$CHECK_TMP/checkpatch" || echo "$mark"
	done < <(clean_marks "$@" | grep -xFf "$CHECK_TMP/asked") >"$CHECK_TMP/clean"
	cat "$CHECK_TMP/clean" >>"$clean"
	if (($(wc -l <"$clean") > CLEAN_LINES)); then
		tail -n $((CLEAN_LINES / 2)) "$clean" >"$clean.$$" && mv "$clean.$$" "$clean"
	fi
}

# run_checkpatch IGNORED FILE...: findings with the project's own paths.
run_checkpatch() {
	local ignored=$1 files status=0

	clean_marks "$@" | not_clean >"$CHECK_TMP/asked"
	mapfile -t files < <(files_of_marks <"$CHECK_TMP/asked")
	((${#files[@]})) || return 0
	# checkpatch keeps notes in the folder it runs in, and without a kernel
	# tree it complains on stderr about not finding one.
	(
		cd "$CACHE_ENTRY"
		perl ./checkpatch.pl --strict --no-tree --terse --no-summary --quiet --show-types \
			--ignore "$ignored" -f "${files[@]/#/$DIEAWARE_TOP/}" 2>/dev/null
	) >"$CHECK_TMP/checkpatch" || status=$?
	sed "s|^$DIEAWARE_TOP/||" "$CHECK_TMP/checkpatch"
	if ((status > 1)); then
		echo "${files[0]}:1: checkpatch itself failed with $status"
	else
		remember_clean "$ignored" "${files[@]}"
	fi
}
