#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Writes of more than a page that come whole or not at all (atomic_kib): announced, used by the
# kernel, and kept when data cannot be fetched and when the power fails.
# kernels: uml
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 8
# timeout: 180
# sentences: 31
. "$(dirname "$0")/rc"

new_ssd ssd0 capacity_mib=1024 atomic_kib=64
ns=$(nvme id-ns -o json "$DEV")
check_that "id-ns: 64 KiB are written whole or not at all" "$(jq -c '[.nawun, .nawupf]' <<<"$ns")" == "[127,127]"
check_that "id-ns: wherever they begin" "$(jq -c '[.nabsn, .nabo, .nabspf]' <<<"$ns")" == "[0,0,0]"
check_that "id-ns: a page is worth writing, as before" "$(jq -c '[.npwg, .npwa, .nows]' <<<"$ns")" == "[7,7,7]"
limits=/sys/block/${DEV#/dev/}/queue
check_that "the kernel knows it" "$(<"$limits/atomic_write_unit_max_bytes")" -eq 65536
check "and takes such writes" python3 -c '
import mmap, os, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_DIRECT)
RWF_ATOMIC = 0x40
assert os.pwritev(fd, [mmap.mmap(-1, 65536)], 1 << 20, RWF_ATOMIC) == 65536
' "$DEV"
take_raw ssd0
run_sentences python3 "$LAB_DIR/rawhost-atomic.py"
give_back ssd0
nvmev-ssd power-off ssd0
run_sentences python3 "$LAB_DIR/atomic.py" ssd0 64 25
drop_ssd ssd0

# What is written whole is arranged when the drive is made.
new_ssd ssd1 capacity_mib=64
dd if=/dev/zero of="$DEV" bs=4k count=1 oflag=direct status=none
nvmev-ssd power-off ssd1
echo 64 >"$CONFIGFS/ssd1/atomic_kib"
check_fails "one that has data cannot begin to" sh -c "echo 1 >$CONFIGFS/ssd1/power"
echo 4 >"$CONFIGFS/ssd1/atomic_kib"
check "and is what it was" nvmev-ssd power-on ssd1
drop_ssd ssd1
