# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# All of the library, in the order in which its pieces need each other.

for piece in common packages cache apt kernels toolchain rootfs modules machine qemu; do
	# shellcheck source=/dev/null
	. "$(dirname -- "${BASH_SOURCE[0]}")/$piece.sh"
done
unset piece
