# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What machines of boot_test.sh, move_test.sh and root_test.sh do to look at themselves. Sourced.

# shellcheck source=scripts/lib/whole.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/whole.sh"
set -E

# What was seen, for the host
SAID=${SAID:-/out/said}

# Seconds that a busy machine may take for what is done in no time.
PATIENCE=60

# until_true COMMAND...: wait for it.
until_true() {
	local end=$((SECONDS + PATIENCE))

	until "$@" >/dev/null 2>&1; do
		if ((SECONDS >= end)); then
			echo "Not true after $PATIENCE seconds: $*" >&2
			return 1
		fi
		sleep 0.2
	done
}

settle() {
	udevadm settle --timeout=$PATIENCE
}

# look SENTENCE COMMAND...: the command must succeed, all of it. Goes to SAID.
look() {
	local sentence=$1 log=/tmp/log
	shift

	run_whole "$@" >"$log" 2>&1
	# One sentence that does not hold keeps no other one from being looked at.
	set +e
	if ((!WHOLE_STATUS)); then
		echo "ok - $sentence"
	else
		echo "not ok - $sentence"
		tail -n 20 "$log"
	fi >>"$SAID"
}

is() {
	[[ $1 == "$2" ]] || {
		echo "'$1' is not '$2'."
		return 1
	}
}
