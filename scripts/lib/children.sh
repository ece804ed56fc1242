# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For scripts that start others in the background: these do not see a Ctrl-C, and whoever kills the script
# kills only that. What it has started would go on, with its machines. Needs nothing else of the library.

# descendants PROCESS: those that it has started, and those that these have.
descendants() {
	local child

	# shellcheck disable=SC2013 # words
	for child in $(cat "/proc/$1"/task/*/children 2>/dev/null); do
		echo "$child"
		descendants "$child"
	done
}

# stop_with_children STATUS: end all of them, and this script.
stop_with_children() {
	local processes

	trap '' INT TERM
	mapfile -t processes < <(descendants $$)
	kill -TERM "${processes[@]}" 2>/dev/null || true
	wait
	exit "$1"
}

# stop_on_signals: from now on.
stop_on_signals() {
	trap 'stop_with_children 130' INT
	trap 'stop_with_children 143' TERM
}
