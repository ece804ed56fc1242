# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What bench/run.py needs on the machine: the workload programs, built into the
# cache, and a python3 of Debian's own, which finds Debian's matplotlib. Expects
# common.sh, packages.sh, cache.sh.

BENCH_PYTHON=/usr/bin/python3

bench_programs_build() {
	quietly make -C "$DIEAWARE_TOP/bench" BUILD="$1/programs" ||
		die "The workload programs of bench/workloads do not build: see the lines above."
}

# bench_run ARGUMENT...: bench/run.py with everything it needs.
bench_run() {
	local bench=$DIEAWARE_TOP/bench

	need_groups base bench
	mkdir -p "$CACHE_DIR"
	cache_get bench "$(hash_words "$(. /etc/os-release && echo "${VERSION_CODENAME:-}")" \
		"$(hash_files "$bench/workloads" "$bench/Makefile" \
			"$DIEAWARE_TOP/nvmevirt-backend/core" "$DIEAWARE_TOP/include")")" bench_programs_build
	MPLBACKEND=Agg PYTHONDONTWRITEBYTECODE=1 "$BENCH_PYTHON" "$bench/run.py" \
		--programs "$CACHE_ENTRY/programs" "$@"
}
