# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2119,SC2120 # who sources this reads and calls it
#
# The target in log mode, drives and filesystems with and without it, and fio on them.
# Expects lib.sh, and the tool dieaware beside it.

# log_format DEVICE [OPTION]...: an empty log; sets LOG_TABLE, without options. On the guest's
# console there would be a bar, and what is reported next would stand behind it.
log_format() {
	local device=$1
	shift

	LOG_TABLE=$("$BENCH_DIR/dieaware" format "$device" --force "$@" 2>/tmp/format.txt |
		tail -n 1) || die "The device could not be formatted: $(tail -n 1 /tmp/format.txt)"
	[[ $LOG_TABLE == 0\ *\ log ]] || die "'dieaware format' printed no table line: $LOG_TABLE"
}

# log_create [OPTION]...: what is on the device; sets DEVICE.
log_create() {
	dmsetup create "$TARGET" --table "$LOG_TABLE${*:+ $# $*}" ||
		die "The log was not activated: $(dmesg | grep -i dieaware | tail -n 1)"
	DEVICE=/dev/mapper/$TARGET
}

# What the log counted, to the guest's log; it must still take writes.
log_check() {
	local status

	status=$(dmsetup status "$TARGET")
	echo "log of $1: $status"
	[[ $status == *" state=write "* ]] || die "The log no longer takes writes: $status"
}

JOBS=8
FIO_JSON=/tmp/fio.json

# As mkfs makes and mount mounts them, but nothing is trimmed.
plain_filesystem() {
	local type=$1

	case $type in
	ext4) mkfs.ext4 -q -F -b 4096 -E nodiscard,lazy_itable_init=0,lazy_journal_init=0 "$DEVICE" ;;
	xfs) mkfs.xfs -q -f -K "$DEVICE" ;;
	btrfs) modprobe btrfs && mkfs.btrfs -q -f -K "$DEVICE" >/dev/null 2>&1 ;;
	f2fs) mkfs.f2fs -q -f -t 0 "$DEVICE" >/dev/null ;;
	*) die "There is no filesystem '$type' here." ;;
	esac || die "The $type filesystem could not be made."
	case $type in
	btrfs | f2fs) mount -o nodiscard "$DEVICE" "$MOUNT" ;;
	*) mount "$DEVICE" "$MOUNT" ;;
	esac || die "The $type filesystem could not be mounted."
}

# limit_dirty BYTES: of so many that are written, as many may be in memory and dirty as on the
# paper's machine, 13 percent.
limit_dirty() {
	echo $(($1 / 8)) >/proc/sys/vm/dirty_bytes
	echo $(($1 / 16)) >/proc/sys/vm/dirty_background_bytes
}

# run_fio OPTION...: one fio job of JOBS threads, its result in FIO_JSON. Unless told --randrepeat=0, fio 3.33 takes
# no notice of --randseed, and every run has the same offsets in the same order.
run_fio() {
	echo 1 >/proc/sys/vm/drop_caches
	fio --name=bench --thread --numjobs=$JOBS --ioengine=psync --clocksource=clock_gettime \
		--randrepeat=0 --randseed=7 --fallocate=none --group_reporting --output-format=json \
		--output=$FIO_JSON "$@" ||
		die "fio failed: $(tail -n 3 $FIO_JSON | tr '\n' ' ')"
}

# Sets NR_BYTES and RUN_NS of the writes just made.
read_fio() {
	NR_BYTES=$(jq '.jobs[0].write.io_bytes' $FIO_JSON)
	RUN_NS=$(jq '.jobs[0].write.runtime * 1000000' $FIO_JSON)
}

# The control of log mode: the raw drive, with as much left alone as log mode leaves alone
SAME_SPACE=bench-same-space

# same_space_create [FORMAT OPTION]...: sets DEVICE to so many of the drive's first sectors as a
# log on it would show. The drive is new again afterwards.
same_space_create() {
	local sectors

	log_format "$SSD" "$@"
	read -r _ sectors _ <<<"$LOG_TABLE"
	ssd_remove
	ssd_create
	dmsetup create $SAME_SPACE --table "0 $sectors linear $SSD 0"
	DEVICE=/dev/mapper/$SAME_SPACE
}

# device_begin KIND [FORMAT OPTION]...: what is measured is DEVICE: raw, log or raw_same_space.
# LOG_OPTION is an option of log mode.
device_begin() {
	local kind=$1
	shift

	ssd_create
	DEVICE=$SSD
	case $kind in
	log) log_format "$SSD" "$@" && log_create ${LOG_OPTION:+"$LOG_OPTION"} ;;
	raw_same_space) same_space_create "$@" ;;
	esac
}

# same_pages ROW KIND: log mode keeps no page that mkfs zeroed and nobody wrote since; nor does its
# control from now on. Everything else on the device must hold other data.
same_pages() {
	local offset bytes pages=0

	sync
	case $2 in
	log) pages=$(($(counter lpns) - $(counter mapped_pages))) ;;
	raw_same_space)
		while read -r offset bytes; do
			blkdiscard -f -o "$offset" -l "$bytes" "$DEVICE" || die "Pages could not be trimmed."
			pages=$((pages + bytes / PAGE_BYTES))
		done < <(zero_pages --path "$DEVICE")
		;;
	*) return 0 ;;
	esac
	report "row=$1 target=$2 unmapped=$pages"
}

device_end() {
	case $1 in
	log)
		log_check "$2"
		target_remove
		;;
	raw_same_space) dmsetup remove $SAME_SPACE ;;
	esac
	echo "ftl of $2 $1: $(tr '\n' ' ' <"$SSD_DEBUG/ftl")"
	ssd_remove
}

# Where the files lie: lines "LPN PAGES", in the order of each file.
extents_of_files() {
	local file

	for file in "$MOUNT"/bench.*; do
		filefrag -e -b4096 "$file" |
			sed -nE 's/^ *[0-9]+: *[0-9]+\.\. *[0-9]+: *([0-9]+)\.\. *[0-9]+: *([0-9]+):.*/\1 \2/p'
		echo end
	done
}

# nr_fragments EXTENTS: pieces of all files on the drive. The target is not there.
nr_fragments() {
	"$BENCH_DIR/dieaware" dump --part map "$SSD" |
		awk '$1 == "map" { for (i = 2; i <= 4; i++) sub(/.*=/, "", $i); print "map", $2, $3, $4 }' |
		awk '
			$1 == "map" { for (i = 0; i < $4; i++) dpn[$2 + i] = $3 + i; next }
			$1 == "end" { last = -1; next }
			{ for (i = 0; i < $2; i++) {
				here = ($1 + i) in dpn ? dpn[$1 + i] : -1
				if (last < 0 || here != last + 1) nr++
				last = here
			} }
			END { print nr }' - "$1"
}
