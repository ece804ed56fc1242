# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What every benchmark in the guest needs: a virtual SSD, the target over it, a
# filesystem on that, and lines which bench/ understands. Runs as root in the lab
# (scripts/lab), with the programs of bench/workloads beside this folder.
#
# The SSD is made anew for each measurement, so a figure does not depend on which
# others were taken before it.

BENCH_DIR=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
PATH=$BENCH_DIR/programs:$PATH

SSD_PROFILE=${SSD_PROFILE:-fast24}
SSD_CAPACITY_MB=${SSD_CAPACITY_MB:-4096}
SSD_SCALE=${SSD_SCALE:-16}
# What fast24 has on top of the paper's Table 2 where the paper is not repeated: place.sh has none of it
SSD_FIRMWARE=${SSD_FIRMWARE-hold_ns=5000000 register_hits=1}
SSD_NAME=bench
SSD_DEBUG=/sys/kernel/debug/nvmev/$SSD_NAME
PAGE_BYTES=4096

# The end of the device, which the target leaves out: room for pin_phase.
SCRATCH_MB=64
SCRATCH_PAGES=$((SCRATCH_MB * 256))

TARGET=bench
MOUNT=/mnt
JOURNAL_DEV=/dev/ram0
TRACING=/sys/kernel/tracing

die() {
	echo "bench: error=${*// /_}"
	echo "${0##*/}: $*" >&2
	exit 1
}

# report WORD...: one line for bench/guest.py.
report() {
	echo "bench: $*"
}

wait_for_block_device() {
	local tries

	for ((tries = 0; tries < 200; tries++)); do
		if [[ -b $1 ]] && (($(blockdev --getsz "$1") > 0)); then
			return
		fi
		sleep 0.05
	done
	die "The device $1 did not appear."
}

# QEMU's own NVMe device (scripts/lab --qemu-nvme), which keeps no data: the cheapest there is
qemu_device() {
	local name tries

	for ((tries = 0; tries < 200; tries++)); do
		for name in /sys/block/nvme*; do
			if grep -q '^QEMU NVMe' "$name/device/model" 2>/dev/null; then
				echo "/dev/${name##*/}"
				return
			fi
		done
		sleep 0.05
	done
	die "QEMU's NVMe device did not appear."
}

# fill_pattern DEVICE MIB: with what no device leaves out
fill_pattern() {
	dd of="$1" bs=1M count="$2" iflag=fullblock oflag=direct status=none < <(yes dieaware) ||
		die "$1 could not be filled."
}

# Run a program of bench/workloads and give its line further words.
measure() {
	local words=$1 line
	shift

	settle
	line=$("$@") || die "The program '$*' failed."
	report "$words ${line#bench: }"
}

# What the SSD keeps in its write buffer for a while is on its dies after this.
settle() {
	sync
	sleep 1
}

prepare_guest() {
	modprobe dm-dieaware
	modprobe brd rd_nr=1 rd_size=65536
	# Metadata goes to the device when the workload asks for it, not by the clock.
	echo 0 >/proc/sys/vm/dirty_writeback_centisecs
	report "kernel=$(uname -r) profile=$SSD_PROFILE"
}

# ---- the SSD ----------------------------------------------------------------

# Sets SSD, its geometry, and how its LBAs and pages go together.
ssd_create() {
	local first_page firmware=

	if [[ $SSD_PROFILE == fast24 ]]; then
		firmware=$SSD_FIRMWARE
	fi
	# shellcheck disable=SC2086 # words
	SSD=$(nvmev-ssd create "$SSD_NAME" "profile=$SSD_PROFILE" \
		"capacity_mib=$SSD_CAPACITY_MB" "time_scale=$SSD_SCALE" \
		$firmware ${SSD_PROPERTIES:-}) ||
		die "The virtual SSD could not be made."
	report "profile=$SSD_PROFILE"
	NR_DIES=$(($(<"/sys/kernel/config/nvmev/$SSD_NAME/channels") * \
		$(<"/sys/kernel/config/nvmev/$SSD_NAME/dies_per_channel")))
	UNIT_BYTES=$(($(<"/sys/kernel/config/nvmev/$SSD_NAME/unit_kib") * 1024))
	STRIPE_BYTES=$((UNIT_BYTES * NR_DIES))
	NR_PAGE_KINDS=$(tr ',' '\n' <"/sys/kernel/config/nvmev/$SSD_NAME/read_ns" | wc -l)
	LBAS_PER_PAGE=$((PAGE_BYTES / $(blockdev --getss "$SSD")))
	first_page=$(($(blockdev --getsize64 "$SSD") / PAGE_BYTES - SCRATCH_PAGES))
	SCRATCH_FIRST=$first_page
	SCRATCH_NEXT=0
}

ssd_remove() {
	nvmev-ssd remove "$SSD_NAME" || die "The virtual SSD could not be removed."
}

# ssd_map FIRST_PAGE NR_PAGES: lines "LBA DIE UNIT".
ssd_map() {
	nvmev-ssd map "$SSD_NAME" $(($1 * LBAS_PER_PAGE)) $(($2 * LBAS_PER_PAGE)) ||
		die "The SSD's map could not be read."
}

# Write so many blocks of one page each to the scratch pages, each to another one:
# the FTL replaces a page that is still in its open unit where it is.
write_scratch() {
	local count=$1

	((SCRATCH_NEXT + count <= SCRATCH_PAGES)) || die "There are no scratch pages left."
	((count)) || return 0
	dd if=/dev/zero of="$SSD" bs=$PAGE_BYTES count="$count" oflag=direct status=none \
		seek=$((SCRATCH_FIRST + SCRATCH_NEXT)) || die "Writing scratch pages failed."
	SCRATCH_NEXT=$((SCRATCH_NEXT + count))
}

# Of the last NR scratch pages: how many were written since the last one that
# filled a unit of the last die, and the kind of that unit's page. Units are
# numbered through each erase block, and their kinds take turns.
pages_behind_stripe() {
	local nr=$1

	ssd_map $((SCRATCH_FIRST + SCRATCH_NEXT - nr)) "$nr" |
		awk -v last=$((NR_DIES - 1)) -v full=$((UNIT_BYTES / PAGE_BYTES)) \
			-v kinds="$NR_PAGE_KINDS" '
			{ same = ($3 == unit) ? same + 1 : 1; unit = $3 }
			$2 == last && same == full { end = NR; kind = unit % kinds }
			END { print end ? NR - end " " kind : "none 0" }'
}

# pin_phase [KIND]: bring the FTL's write pointer to the first die and the start of a
# unit, whatever was written before; with KIND, of a unit on that kind of page.
pin_phase() {
	local kind=${1:-any} stripe=$((STRIPE_BYTES / PAGE_BYTES)) behind found

	sync
	# Two stripes hold one unit of the last die that is all ours.
	write_scratch $((2 * stripe))
	read -r behind found < <(pages_behind_stripe $((2 * stripe)))
	[[ $behind != none ]] || die "The scratch pages do not go round the dies."
	write_scratch $(((stripe - behind) % stripe))
	read -r behind found < <(pages_behind_stripe $((2 * stripe)))
	if [[ $kind != any ]] && (((found + 1) % NR_PAGE_KINDS != kind)); then
		write_scratch $((stripe * ((kind - found - 1 + NR_PAGE_KINDS) % NR_PAGE_KINDS)))
		read -r behind found < <(pages_behind_stripe $((2 * stripe)))
		(((found + 1) % NR_PAGE_KINDS == kind)) ||
			die "The FTL's write pointer could not be pinned to page kind $kind."
	fi
	[[ $behind == 0 ]] || die "The FTL's write pointer could not be pinned."
}

# blocks_of FILE: where it lies below the filesystem, in its order: lines "BYTE BYTES", by what the
# drive is asked for while it is read a page at a time. What the filesystem itself needs is in memory then.
blocks_of() {
	echo 32768 >"$TRACING/buffer_size_kb"
	dd if="$1" of=/dev/null bs=1M iflag=direct status=none || die "$1 could not be read."
	echo >"$TRACING/trace"
	echo 1 >"$TRACING/events/nvmev/nvmev_cmd/enable"
	dd if="$1" of=/dev/null bs=$PAGE_BYTES iflag=direct status=none || die "$1 could not be read."
	echo 0 >"$TRACING/events/nvmev/nvmev_cmd/enable"
	sed -nE 's/.* nvmev_cmd: .* opcode=0x02 .* slba=([0-9]+) nlb=([0-9]+) .*/\1 \2/p' "$TRACING/trace" |
		awk -v lba=$((PAGE_BYTES / LBAS_PER_PAGE)) -v most=$((1 << 20)) '
			$1 == end && nr * lba < most { nr += $2; end += $2; next }
			nr { printf "%.0f %.0f\n", start * lba, nr * lba }
			{ start = $1; nr = $2; end = $1 + $2 }
			END { if (nr) printf "%.0f %.0f\n", start * lba, nr * lba }'
}

# show_dies ROW FILE: with SHOW_DIES, on which die and flash page each unit of a file
# lies, to the log only.
show_dies() {
	local row=$1 file=$2 start length

	if [[ -z ${SHOW_DIES:-} ]]; then
		return 0
	fi
	blocks_of "$file" |
		while read -r start length; do
			ssd_map $((start / PAGE_BYTES)) $((length / PAGE_BYTES))
		done | awk -v row="$row" '
			$3 != unit { line = line " " $2; unit = $3; units++; on[$2]++ }
			END {
				for (die in on) most = on[die] > most ? on[die] : most
				print "dies of " row " (" units " units, most on one die " most "):" line
			}'
}

# What the target and the SSD counted, to the log only.
show_counters() {
	echo "target of $1: $(dmsetup status "$TARGET")"
	echo "ftl of $1: $(tr '\n' ' ' <"$SSD_DEBUG/ftl")"
}

# ---- the target -------------------------------------------------------------

# target_create HINTS: the target over all of the SSD but the scratch pages.
target_create() {
	local hints=$1 sectors

	sectors=$(($(blockdev --getsz "$SSD") - SCRATCH_MB * 2048))
	dmsetup create "$TARGET" --table "0 $sectors dieaware $SSD 0 hint 1 hints=$hints" ||
		die "The target was not created: $(dmesg | grep -i dieaware | tail -n 1)"
	DEVICE=/dev/mapper/$TARGET
	DM_NAME=dm-$(dmsetup info -c --noheadings -o minor "$TARGET" | tr -d ' ')
}

# The value of NAME=VALUE in the target's status line
counter() {
	dmsetup status "$TARGET" | tr ' ' '\n' | sed -n "s/^$1=//p"
}

target_remove() {
	dmsetup remove "$TARGET" || die "The target could not be removed."
}

# ---- the filesystem ---------------------------------------------------------

# ext4 is set up as the paper describes: journal on another device, no delayed
# allocation, nothing reserved, no preallocation for single files, so that files are
# as fragmented as they were written. The others are as their mkfs makes them.
filesystem_make() {
	local type=$1

	case $type in
	ext4)
		mke2fs -q -F -O journal_dev -b 4096 "$JOURNAL_DEV" 16384 &&
			mkfs.ext4 -q -F -b 4096 -m 0 -J "device=$JOURNAL_DEV" "$DEVICE" &&
			mount -o nodelalloc,noinit_itable "$DEVICE" "$MOUNT" ||
			die "The ext4 filesystem could not be made."
		echo 0 >"/sys/fs/ext4/$DM_NAME/reserved_clusters"
		# All files are "small": they share one preallocation.
		echo 1000000000 >"/sys/fs/ext4/$DM_NAME/mb_stream_req"
		echo 8192 >"/sys/fs/ext4/$DM_NAME/mb_group_prealloc"
		;;
	xfs) mkfs.xfs -q -f "$DEVICE" && mount "$DEVICE" "$MOUNT" ;;
	btrfs) modprobe btrfs && mkfs.btrfs -q -f "$DEVICE" >/dev/null 2>&1 && mount "$DEVICE" "$MOUNT" ;;
	f2fs) mkfs.f2fs -q -f "$DEVICE" >/dev/null && mount "$DEVICE" "$MOUNT" ;;
	*) die "There is no filesystem '$type' here." ;;
	esac || die "The $type filesystem could not be made."
	sync
}

filesystem_remove() {
	umount "$MOUNT" || die "The filesystem could not be unmounted."
}
