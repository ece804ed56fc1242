# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What both machines of boot_test.sh do. Sourced.

# shellcheck source=tests/vm/guest.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/../guest.sh"

# Sizes of the SSDs
# shellcheck disable=SC2034
ONE_MIB=64 TWO_MIB=288
