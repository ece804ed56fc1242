# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# All of the library, in the order in which its pieces need each other.

DIEAWARE_LIB=$(dirname -- "${BASH_SOURCE[0]}")
# shellcheck source=scripts/lib/common.sh
. "$DIEAWARE_LIB/common.sh"
# shellcheck source=scripts/lib/packages.sh
. "$DIEAWARE_LIB/packages.sh"
# shellcheck source=scripts/lib/cache.sh
. "$DIEAWARE_LIB/cache.sh"
# shellcheck source=scripts/lib/apt.sh
. "$DIEAWARE_LIB/apt.sh"
# shellcheck source=scripts/lib/kernels.sh
. "$DIEAWARE_LIB/kernels.sh"
# shellcheck source=scripts/lib/source.sh
. "$DIEAWARE_LIB/source.sh"
# shellcheck source=scripts/lib/debug.sh
. "$DIEAWARE_LIB/debug.sh"
# shellcheck source=scripts/lib/toolchain.sh
. "$DIEAWARE_LIB/toolchain.sh"
# shellcheck source=scripts/lib/rootfs.sh
. "$DIEAWARE_LIB/rootfs.sh"
# shellcheck source=scripts/lib/modules.sh
. "$DIEAWARE_LIB/modules.sh"
# shellcheck source=scripts/lib/tools.sh
. "$DIEAWARE_LIB/tools.sh"
# shellcheck source=scripts/lib/machine.sh
. "$DIEAWARE_LIB/machine.sh"
