# SPDX-License-Identifier: GPL-2.0-only
# Each target calls one script; the scripts also run where make is not installed.

.PHONY: all modules tools unit fuzz kunit fio lab-tests style check demo bench drives install install-modules uninstall deb clean help

all: modules tools

modules:	## both modules, for the lab's default kernel (K=6.1|6.12|newest|all)
	scripts/modules --kernel $(or $(K),6.12)

tools:		## the dieaware command
	scripts/tools

unit:		## KUnit suites of core/ as programs, under ASan and UBSan
	scripts/unit

fuzz:		## fuzzers, TIME seconds each
	scripts/fuzz $(TIME)

kunit:		## KUnit suites in a debug UML kernel, KTAP
	scripts/kunit

fio:		## fio suites: verify and performance, four filesystems
	scripts/fio

lab-tests:	## everything in tests/lab
	scripts/lab-tests

style:		## checkpatch, purity, shellcheck, ruff, licences
	scripts/check-style

check:		## all tests; the last line is "N passed, N failed"
	scripts/check

demo:		## the main job in one table and one picture
	scripts/demo

bench:		## figures (T=place, T=place.append_worst, ...)
	scripts/bench $(T)

drives:		## what the virtual SSD's profiles reach, and docs/drives.md
	scripts/drives

install:	## the tool, its boot files and manual pages (DESTDIR=)
	scripts/install "$(DESTDIR)"

install-modules:	## both modules, for the running kernel
	scripts/install-modules

uninstall:	## what these two have installed, for all kernels (DESTDIR=)
	$(if $(DESTDIR),,scripts/install-modules --remove)
	scripts/install --remove "$(DESTDIR)"

deb:		## Debian packages, in out/deb
	scripts/deb

clean:
	rm -rf out

help:
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1	/p' Makefile
