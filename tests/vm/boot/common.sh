# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What both machines of boot_test.sh do. Sourced.

# Sizes of the SSDs
# shellcheck disable=SC2034
ONE_MIB=64 TWO_MIB=288

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
