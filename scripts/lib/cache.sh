# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Things built once and kept. An entry is a directory NAME-KEY under the cache,
# where KEY is a hash of everything the entry was made from: a changed input is
# another entry. It is built beside its final name and moved there when it is
# complete, so an entry that exists is whole; a lock makes a second caller wait
# instead of building the same. Expects common.sh.

CACHE_DIR=${DIEAWARE_CACHE:-$HOME/.cache/dm-dieaware}
CACHE_KEEP_MINUTES=${DIEAWARE_CACHE_KEEP_MINUTES:-120}

# Hash of the words given.
hash_words() {
	printf '%s\0' "$@" | sha256sum | cut -c1-16
}

# Hash of files and trees: names (the project's without its path), contents and
# whether they can be executed.
hash_files() {
	local path

	# shellcheck disable=SC2016 # variables of the inner shell
	for path; do
		find "$path" -name .git -prune -o \( -type f -o -type l \) -print0
	done | sort -z | xargs -0 -r sh -c '
		for f; do [ -x "$f" ] && echo "x $f"; done
		exec sha256sum -- "$@"' sh 2>/dev/null |
		sed "s| $DIEAWARE_TOP/| |" | sha256sum | cut -c1-16
}

# Entries of the same name which nobody has used for two hours, and what a killed
# run left behind.
cache_prune() {
	local name=$1 keep=$2 entry

	# On a machine that has kept nothing yet there is neither folder.
	mkdir -p "$CACHE_DIR/locks"
	for entry in "$CACHE_DIR/$name"-????????????????; do
		if [[ -d $entry && $entry != "$keep" ]]; then
			find "$entry" -maxdepth 0 -mmin "+$CACHE_KEEP_MINUTES" -exec rm -rf {} +
		fi
	done
	find "$CACHE_DIR" -mindepth 1 -maxdepth 1 -type d \( -name '.*' -o -name 'run.*' \) \
		-mmin "+$CACHE_KEEP_MINUTES" -exec rm -rf {} +
	find "$CACHE_DIR/locks" -type f -mmin "+$CACHE_KEEP_MINUTES" -delete
}

# cache_get NAME KEY BUILDER [ARG...]: set CACHE_ENTRY to the entry, and build
# it when it is missing with BUILDER ARG... DIR. The script must run under
# set -e, and must not call this in a condition: bash would then go on after an
# error in BUILDER and keep half an entry.
cache_get() {
	local name=$1 key=$2 fresh
	shift 2

	CACHE_ENTRY=$CACHE_DIR/$name-$key
	if [[ ! -d $CACHE_ENTRY ]]; then
		mkdir -p "$CACHE_DIR/locks"
		fresh=$CACHE_DIR/.$name-$key.$$
		(
			# The lock is held until this subshell ends, however it ends.
			exec 9>"$CACHE_DIR/locks/$name-$key"
			flock 9
			if [[ -d $CACHE_ENTRY ]]; then
				exit 0
			fi
			trap 'rm -rf "$fresh"' EXIT
			rm -rf "$fresh"
			mkdir "$fresh"
			"$@" "$fresh" 9>&-
			mv -T "$fresh" "$CACHE_ENTRY"
			cache_prune "$name" "$CACHE_ENTRY"
		)
	fi
	# Says "in use" to cache_prune.
	touch -c "$CACHE_ENTRY"
}
