#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dieaware doctor against the truth, as 238, on the profile large: what lies between the pieces of a file on one
# of 256 dies is 640 MiB. So many dies remember what was read last, while others are read: only first reads count.
# kernels: uml
# smp: 1
# mem: 4G
# clock: virtual
# sentences: 15
# seconds: 10
# timeout: 900
. "$(dirname "$0")/rc"
. "$LAB_DIR/doctor"

mkdir "$mnt"
at_end drop_ssd ssd0
at_end drop_mount "$mnt"
dd if=/dev/urandom of="$T_DIR/data" bs=1k count=$FILE_KIB status=none
try_begin large
try_whole large
try_dies large places
try_order large
try_end
