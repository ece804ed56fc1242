# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The fileserver workload of the die-aware paper (FAST'24, section 5.2) as fio jobs:
# a set of files is filled, ten threads append to random files of it, and ten
# threads read whole files. Expects lib.sh.
#
# Each thread has a share of the files of its own. The paper appends for a minute;
# here every file gets the same number of appends, so that all layouts, and the
# contiguous files they are compared with, have the same size.

FILESERVER_THREADS=10
FILESERVER_FILL_KB=128
FILESERVER_FINAL_KB=608
FILESERVER_FILES=${FILESERVER_FILES:-500}
FILESERVER_PAPER_FILES=10000
FILESERVER_READS=4

# fileserver_job KIND CHUNK_KB MODE: a fio job file on stdout. Blocks carry a
# checksum of their own, in pieces of a chunk.
fileserver_job() {
	local kind=$1 chunk=$2 mode=$3 thread per_thread
	per_thread=$((FILESERVER_FILES / FILESERVER_THREADS))

	cat <<-END
		[global]
		ioengine=psync
		thread=1
		direct=$([[ $mode == direct ]] && echo 1 || echo 0)
		directory=$MOUNT
		nrfiles=$per_thread
		openfiles=$per_thread
		fallocate=none
		randseed=1
		group_reporting=1
	END
	case $kind in
	fill | whole) fileserver_write "$kind" "$chunk" "$mode" ;;
	append)
		fileserver_write append "$chunk" "$mode"
		echo "file_append=1"
		echo "size=$((per_thread * (FILESERVER_FINAL_KB - FILESERVER_FILL_KB)))k"
		;;
	read | verify)
		cat <<-END
			rw=read
			invalidate=0
			bs=${FILESERVER_FINAL_KB}k
			filesize=${FILESERVER_FINAL_KB}k
			file_service_type=sequential
		END
		if [[ $kind == verify ]]; then
			printf 'verify=crc32c\nverify_interval=%sk\nverify_fatal=1\n' "$chunk"
		fi
		;;
	esac
	for ((thread = 0; thread < FILESERVER_THREADS; thread++)); do
		# shellcheck disable=SC2016 # fio's variable
		printf '[set%s]\nfilename_format=set.%s.$filenum\n' "$thread" "$thread"
		# Filling goes one file after the other.
		if [[ $kind == fill || $kind == whole ]]; then
			echo stonewall
		fi
	done
}

# The part of a writing job that says what is written in which order.
fileserver_write() {
	local kind=$1 chunk=$2 mode=$3 bytes_kb=$2 service=sequential
	local size=$FILESERVER_FINAL_KB

	case $kind in
	fill) size=$FILESERVER_FILL_KB bytes_kb=$FILESERVER_FILL_KB ;;
	whole) bytes_kb=$FILESERVER_FINAL_KB ;;
	append) service=random:1 ;;
	esac
	cat <<-END
		rw=write
		bs=${bytes_kb}k
		filesize=${size}k
		file_service_type=$service
		verify=crc32c
		verify_interval=${chunk}k
		do_verify=0
	END
	if [[ $mode == buffered ]]; then
		# Each append reaches the device when it is made, as with O_DIRECT.
		echo "sync_file_range=wait_before,write,wait_after:1"
	fi
}

fileserver_run() {
	local kind=$1 chunk=$2 mode=$3 job=/tmp/fileserver-$1.fio

	fileserver_job "$kind" "$chunk" "$mode" >"$job"
	fio --output-format=json --output="$job.json" "$job" >"$job.log" 2>&1 ||
		die "fio failed in step '$kind': $(tail -n 3 "$job.log" "$job.json" | tr '\n' ' ')"
}

# fileserver_write_files LAYOUT CHUNK_KB MODE
fileserver_write_files() {
	local layout=$1 chunk=$2 mode=$3

	if [[ $layout == contiguous ]]; then
		fileserver_run whole "$chunk" "$mode"
	else
		fileserver_run fill "$chunk" "$mode"
		fileserver_run append "$chunk" "$mode"
	fi
	sync
}

# fileserver_read_files ROW CHUNK_KB MODE: read the set several times, report,
# and verify every block.
fileserver_read_files() {
	local row=$1 chunk=$2 mode=$3 i runs="" bytes=0 note=""

	settle
	for ((i = 0; i < FILESERVER_READS; i++)); do
		echo 1 >/proc/sys/vm/drop_caches
		fileserver_run read "$chunk" "$mode"
		runs+=,$(jq '.jobs[0].read.runtime * 1000000' /tmp/fileserver-read.fio.json)
		bytes=$(jq '.jobs[0].read.io_bytes' /tmp/fileserver-read.fio.json)
	done
	echo 1 >/proc/sys/vm/drop_caches
	fileserver_run verify "$chunk" "$mode"
	if ((FILESERVER_FILES != FILESERVER_PAPER_FILES)); then
		note="note=$FILESERVER_FILES files instead of $FILESERVER_PAPER_FILES"
		note=" ${note// /_}"
	fi
	report "row=$row bytes=$bytes verified=1 runs_ns=${runs#,}$note"
}
