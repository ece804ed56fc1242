#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The SSDs of the other machine, and one that is empty.
set -euo pipefail

# shellcheck source=tests/vm/boot/common.sh
. "$(dirname -- "$0")/common.sh"

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin
mkdir -p /run/ssds
tar -C /run/ssds -xzf /root/lab/files/ssds.tar.gz
nvmev-ssd create one capacity_mib=$ONE_MIB backing_file=/run/ssds/one
nvmev-ssd create two capacity_mib=$TWO_MIB backing_file=/run/ssds/two
nvmev-ssd create three capacity_mib=64
