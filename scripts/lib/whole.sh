# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034
#
# run_whole, for whoever judges a command by its status: tests/lab/rc in a machine, tests/vm/lib.sh on the host.
# Sourced; wants "set -E".

# What is done when a command fails that nobody judges, as words for trap
ERR_TRAP=${ERR_TRAP:--}

# run_whole COMMAND...: sets WHOLE_STATUS to what it ends with. A function ends with the first of its commands that
# fails, as a test does: behind "if" or "||", where bash would go on, only the last one would count. No shell of its
# own: what it sets stays set.
run_whole() {
	local depth=${#FUNCNAME[@]}

	set +e
	trap 'WHOLE_STATUS=$?; ((${#FUNCNAME[@]} == depth)) || return $WHOLE_STATUS' ERR
	"$@"
	WHOLE_STATUS=$?
	# shellcheck disable=SC2064 # as it is now
	trap "$ERR_TRAP" ERR
	set -e
}
