#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The SSDs of the machine whose power failed.
set -euo pipefail

# shellcheck source=tests/vm/move/common.sh
. "$(dirname -- "$0")/common.sh"

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin
mkdir -p /run/ssds
tar -C /run/ssds -xzf /root/lab/files/ssds.tar.gz
new_ssd one 160 /run/ssds
new_ssd two 128 /run/ssds
new_ssd three 128 /run/ssds
