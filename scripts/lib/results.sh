# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Results of suites that only the host computes, kept under a hash of all that they read: the
# checkout's files, the machine's packages and tools, the kernels that modules are built for. Whoever
# runs such a suite again, with nothing changed, gets the log of that run. Only a run without failure
# is kept, and nothing of what a machine ran: there the emulator, the clock and chance have a say.
# Too much in the hash costs a run, too little a wrong result. Expects load.sh.

RESULTS_FRESH=${RESULTS_FRESH:-0}
# A week: who comes back to a branch does not pay again.
RESULTS_KEEP_MINUTES=$((7 * 24 * 60))

# What only machines, figures or pages need
RESULTS_ELSEWHERE="bench debian tests/blktests tests/crash tests/fio tests/lab tests/pages"

# The suites that boot no machine, and folders of the checkout that they do not read
declare -A RESULTS_UNREAD=(
	[style]=""
	[scripts]=""
	[unit]="$RESULTS_ELSEWHERE boot docs packaging tests/vm tools userspace"
	[mutants]="$RESULTS_ELSEWHERE boot packaging tools userspace"
	[modules]="$RESULTS_ELSEWHERE boot docs packaging tests/vm tools userspace"
	# Its tests run scripts of debian/ as well.
	[tools]="${RESULTS_ELSEWHERE/debian /}"
	[fuzz]="$RESULTS_ELSEWHERE boot docs packaging tests/vm tools userspace"
	[drives]="boot debian dm-dieaware docs packaging tests tools userspace"
)

# Programs that may come from elsewhere than a package
RESULTS_PROGRAMS=(gcc clang ld make sparse shellcheck perl python3 git patch cargo rustc)

# results_tree SUITE: name, mode and contents of each file, also of one that nobody has added yet.
# Without git there is no answer, and nothing is kept.
results_tree() {
	local folder file files without=()

	for folder in ${RESULTS_UNREAD[$1]}; do
		without+=(":(exclude)$folder")
	done
	cd "$DIEAWARE_TOP" || return
	mapfile -d '' -t files < <(git ls-files -z -co --exclude-standard -- . "${without[@]}" | sort -zu)
	((${#files[@]})) || return
	for file in "${files[@]}"; do
		if [[ -L $file ]]; then
			echo "link $file $(readlink "$file")"
		elif [[ -x $file ]]; then
			echo "program $file"
		fi
	done
	# A file that is gone, or a link into nowhere, has no contents.
	printf '%s\0' "${files[@]}" | xargs -0 sha256sum -- 2>/dev/null || true
}

results_machine() {
	local program

	uname -srm
	printf '%s\n' "$HOME" "$PATH" "$CACHE_DIR"
	# Where the checkout lies, and where consoles are to be kept, is nothing that a suite tests.
	env | grep -E '^(DIEAWARE_|CC=|CFLAGS|LDFLAGS|MAKEFLAGS|RUST|CARGO)' |
		grep -vE '^DIEAWARE_(TOP|BOOTS)=' | sort || true
	# shellcheck disable=SC2016 # dpkg's variables, not the shell's
	dpkg-query -W -f '${Package} ${Architecture} ${Version} ${db:Status-Abbrev}\n' 2>/dev/null
	for program in "${RESULTS_PROGRAMS[@]}"; do
		if type -P "$program" >/dev/null; then
			type -P "$program"
			"$program" --version 2>&1 | head -n 3 || true
		fi
	done
}

# results_others SUITE: what only this suite depends on
results_others() {
	local series

	case $1 in
	style)
		# Addresses that no file may have
		apt-get indextargets --format "\$(SITE)" 2>/dev/null | sort -u
		;;
	mutants)
		# What they change in folders that it does not read otherwise
		(cd "$DIEAWARE_TOP" && sed -n 's|^--- a/||p' tests/mutants/*.patch 2>/dev/null | sort -u |
			xargs -r -d '\n' sha256sum -- 2>/dev/null) || true
		;;
	modules)
		for series in "${KERNEL_SERIES[@]}"; do
			kernel_version "$series" || return
		done
		;;
	esac
}

# results_key SUITE COMMAND...
results_key() {
	local suite=$1 others tree
	shift

	others=$(results_others "$suite") || return
	tree=$(results_tree "$suite") || return
	hash_words "$suite" "$*" "$others" "$tree" "$(results_machine)"
}

# Whether this log is of a run in which everything was tested, and nothing failed
results_worth_keeping() {
	tail -n 1 "$1" 2>/dev/null | grep -qE '^[1-9][0-9]* passed, 0 failed' &&
		! grep -qE '^ *not ok |[1-9][0-9]* skipped' "$1"
}

# Builder
results_keep() {
	cp "$1" "$2/log"
}

# results_run SUITE LOG COMMAND...: run it, or take the log of the same run before; set
# RESULTS_CACHED to " (cached)" then. Return: the command's status.
results_run() {
	local suite=$1 log=$2 key="" status=0
	shift 2

	RESULTS_CACHED=""
	if [[ -v RESULTS_UNREAD[$suite] ]]; then
		key=$(results_key "$suite" "$@" 2>/dev/null) || key=""
	fi
	if [[ -n $key && $RESULTS_FRESH == 0 ]] && results_worth_keeping "$CACHE_DIR/results-$suite-$key/log"; then
		# Says "in use" to cache_prune.
		touch -c "$CACHE_DIR/results-$suite-$key"
		cp "$CACHE_DIR/results-$suite-$key/log" "$log"
		# shellcheck disable=SC2034 # the caller prints it
		RESULTS_CACHED=" (cached)"
		return 0
	fi
	"$@" >"$log" 2>&1 </dev/null || status=$?
	# What was changed or installed meanwhile was not read, or only by half of the suite.
	if [[ -n $key ]] && ((status == 0)) && results_worth_keeping "$log" &&
		[[ $(results_key "$suite" "$@" 2>/dev/null) == "$key" ]]; then
		(
			# shellcheck disable=SC2034 # cache_prune reads it
			CACHE_KEEP_MINUTES=$RESULTS_KEEP_MINUTES
			rm -rf "$CACHE_DIR/results-$suite-$key"
			cache_get "results-$suite" "$key" results_keep "$log"
		) || true
	fi
	return "$status"
}
