# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# checkpatch and shellcheck over files, minutes for all of them. Each file is looked at by itself, so one in
# which nothing was found is not looked at again until it changes: the file "clean" in the checker's folder
# of the cache has a line for it with all that its verdict depends on. With RESULTS_FRESH=1 all are looked
# at. Expects common.sh, CACHE_ENTRY (that folder), CHECK_TMP.

CLEAN_LINES=20000
CHECKPATCH=(perl ./checkpatch.pl --strict --no-tree --terse --no-summary --quiet --show-types)
SHELLCHECK=(shellcheck -x --source-path=SCRIPTDIR -f gcc)

# clean_marks CHECKER FILE...: a line for each, as "clean" has it. CHECKER is a word that says which one
# it is, and how it looks.
clean_marks() {
	local checker=$1
	shift

	(cd "$DIEAWARE_TOP" && sha256sum -- "$@") | sed "s|^|$checker |"
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
	sed -E 's/^[^ ]+ [0-9a-f]+ .//'
}

# what_is_not_clean CHECKER FILE...: the files that have to be looked at; remember_clean needs to know
what_is_not_clean() {
	clean_marks "$@" | not_clean >"$CHECK_TMP/asked"
	files_of_marks <"$CHECK_TMP/asked"
}

# remember_clean CHECKER FILE...: those of $CHECK_TMP/asked that are as they were then, and have no
# finding in $CHECK_TMP/findings.
remember_clean() {
	local mark file clean=$CACHE_ENTRY/clean

	while read -r mark; do
		file=$(files_of_marks <<<"$mark")
		grep -qF -- "$file:" "$CHECK_TMP/findings" || echo "$mark"
	done < <(clean_marks "$@" | grep -xFf "$CHECK_TMP/asked") >"$CHECK_TMP/clean"
	cat "$CHECK_TMP/clean" >>"$clean"
	if (($(wc -l <"$clean") > CLEAN_LINES)); then
		tail -n $((CLEAN_LINES / 2)) "$clean" >"$clean.$$" && mv "$clean.$$" "$clean"
	fi
}

# run_checkpatch IGNORED FILE...: findings with the project's own paths.
run_checkpatch() {
	local ignored=$1 checker files status=0
	shift

	checker=$(perl -e 'print $]')-$(hash_words "${CHECKPATCH[@]}")-$ignored
	mapfile -t files < <(what_is_not_clean "$checker" "$@")
	((${#files[@]})) || return 0
	# checkpatch keeps notes in the folder it runs in, and without a kernel
	# tree it complains on stderr about not finding one.
	(
		cd "$CACHE_ENTRY"
		"${CHECKPATCH[@]}" --ignore "$ignored" -f "${files[@]/#/$DIEAWARE_TOP/}" 2>/dev/null
	) >"$CHECK_TMP/findings" || status=$?
	sed "s|^$DIEAWARE_TOP/||" "$CHECK_TMP/findings"
	if ((status > 1)); then
		echo "${files[0]}:1: checkpatch itself failed with $status"
	else
		remember_clean "$checker" "${files[@]}"
	fi
}

# run_shellcheck FILE...: in the project's folder
run_shellcheck() {
	local checker files status=0

	checker=shellcheck-$(hash_words "${SHELLCHECK[@]}")
	mapfile -t files < <(what_is_not_clean "$checker" "$@")
	((${#files[@]})) || return 0
	"${SHELLCHECK[@]}" "${files[@]}" >"$CHECK_TMP/findings" || status=$?
	cat "$CHECK_TMP/findings"
	if ((status > 1)); then
		echo "${files[0]}:1: shellcheck itself failed with $status"
	else
		remember_clean "$checker" "${files[@]}"
	fi
}
