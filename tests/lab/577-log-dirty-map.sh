#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode that may only read, after a power failure, when what the journal has changed of the map is more than
# its cache: pages that cannot be written are not looked at again and again.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 12
# timeout: 180
# sentences: 3
. "$(dirname "$0")/rc"

# Lpns of two places that have not the same page of the map
STRIDE=1024
NR_CLEAN=400
NR_DIRTY=5000

# at_strides FIRST NR write|read: a page each
at_strides() {
	python3 - "$TARGET" "$1" "$2" "$STRIDE" "$3" <<-'END'
		import mmap, os, sys
		path, first, number, stride, verb = sys.argv[1], *map(int, sys.argv[2:5]), sys.argv[5]
		file = os.open(path, (os.O_RDWR if verb == "write" else os.O_RDONLY) | os.O_DIRECT)
		page = mmap.mmap(-1, 4096)
		for i in range(first, first + number):
		    page[:8] = i.to_bytes(8, "little")
		    if verb == "write":
		        os.pwrite(file, page, i * stride * 4096)
		    elif os.preadv(file, [page], i * stride * 4096) != 4096 or int.from_bytes(page[:8], "little") != i:
		        sys.exit(f"Page {i} is wrong.")
		if verb == "write":
		    os.fsync(file)
	END
}

# ticks_of FIRST: that the kernel takes to read NR_CLEAN pages, the program's start included
ticks_of() {
	local before

	before=$(awk '/^cpu / { print $4 }' /proc/stat)
	at_strides "$1" $NR_CLEAN read
	echo $(($(awk '/^cpu / { print $4 }' /proc/stat) - before))
}

low_disk $((30 * 1024 * 1024))
OPTIONS="map_cache_mb=64 idle_ms=0" new_log_target t0 /dev/mapper/low
at_strides 0 $NR_CLEAN write
dmsetup suspend t0
dmsetup resume t0
at_strides $NR_CLEAN $NR_DIRTY write
becomes low "0 $SECTORS error"
dmsetup remove --retry t0
becomes low "0 $SECTORS linear /dev/ram0 0"
dmsetup create t0 --readonly --table "${LINE/map_cache_mb=64/map_cache_mb=1}"
pages=$(status_field t0 map_pages)
check_that "the map is larger than its cache" "${pages%/*}" -ge $NR_DIRTY
there=$(ticks_of $NR_CLEAN)
missing=$(ticks_of 0)
note "$missing ticks where pages of the map have to be read, $there where they are there"
check_that "for each page that has to be read few others are looked at" $((missing - there)) -lt \
	$((2 * $(getconf CLK_TCK)))
check "all is as it was written" at_strides $NR_CLEAN $NR_DIRTY read
