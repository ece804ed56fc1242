#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Devices in log mode that earlier versions have written are read by this one: stored images, of devices
# that were removed in order and of ones that crashed, with each feature that a device can have. All of each reads back, `dieaware check` finds
# nothing, and it can be written on.
# kernels: uml
# long: 6.1 6.12 newest
# smp: 1
# mem: 2G
# seconds: 20
# timeout: 300
# sentences: 101
. "$(dirname "$0")/rc"

IMAGES=$LAB_DIR/../images

# member KEY: of the manifest's line that is being looked at
member() {
	grep -oE "(^| )$1=[^ ]*" <<<"$image" | cut -d = -f 2
}

sum_of() {
	sha256sum "$1" | cut -d ' ' -f 1
}

look_at() {
	local name version features loop

	name=$(member image)
	gunzip -c "$IMAGES/$name.gz" >"$T_DIR/file"
	loop=$(losetup -f --show --sector-size "$(member logical)" "$T_DIR/file")
	at_end losetup -d "$loop"
	version=$(od -An -tu2 -j8 -N2 "$T_DIR/file" | tr -d ' ')
	features=$(dieaware dump --part superblock "$loop" | sed -n 's/^features //p')
	check_that "$name: version and features are those of the manifest" "$version $features" == \
		"$(member version) compat=$(member compat) ro_compat=$(member ro_compat) incompat=$(member incompat)"
	check_that "$name: the journal has as many records behind the last checkpoint" \
		"$(dieaware dump --part journal "$loop" | grep -c '^record')" -eq "$(member records)"
	check "$name: dieaware check finds nothing" dieaware check "$loop"
	LINE="0 $(($(member lpns) * 8)) dieaware $loop 0 log"
	at_end drop_target t0
	check "$name: it starts" dmsetup create t0 --table "$LINE"
	check_that "$name: all of it is what was written" "$(sum_of /dev/mapper/t0)" == "$(member sha256)"
	again t0
	check_that "$name: after a restart as well" "$(sum_of /dev/mapper/t0)" == "$(member sha256)"
	check "$name: it can be written" dd if=/dev/mapper/t0 of=/dev/mapper/t0 bs=64k oflag=direct conv=fsync,notrunc status=none
	again t0
	check_that "$name: and is the same then" "$(sum_of /dev/mapper/t0)" == "$(member sha256)"
	dmsetup remove --retry t0
	check "$name: dieaware check finds nothing after that" dieaware check "$loop"
	losetup -d "$loop"
}

modprobe loop
nr=0
while read -r image; do
	[[ $image == image=* ]] || continue
	look_at
	nr=$((nr + 1))
done <"$IMAGES/manifest"
check_that "each stored image is in the manifest" "$nr" -eq "$(find "$IMAGES" -name '*.gz' | wc -l)"
check_that "there are some" "$nr" -ge 11
