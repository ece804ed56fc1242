#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Take away what the commands of a page have left: the next page begins with nothing.
set -uo pipefail

umount -q -R /mnt
umount -q -R /srv
echo 0 >/sys/kernel/tracing/events/enable
echo >/sys/kernel/tracing/trace
for name in $(dmsetup info -c --noheadings -o name 2>/dev/null); do
	[[ $name == No ]] || dmsetup remove --retry "$name"
done >/dev/null 2>&1
for ssd in /sys/kernel/config/nvmev/*/; do
	[[ -d $ssd ]] || continue
	# Where a sentence has failed something may still use it.
	nvmev-ssd remove "$(basename "$ssd")" || { nvmev-ssd surprise "$(basename "$ssd")"; rmdir "$ssd"; }
done
exit 0
