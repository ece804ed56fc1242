# SPDX-License-Identifier: GPL-2.0-only
# The suites, a module each, for kernels that have KUnit. Included by ../Kbuild.

ifneq ($(CONFIG_KUNIT),)
dmda_suites := announced bitset block checkpoint classify close commit config damage draft extents fdp free grown heat journal lanes lifetime lookup message namespace \
	opened patience plan ranks rates s3fifo start super unreadable update victim volume where writer
obj-m += $(dmda_suites:%=dm_dieaware_%_kunit.o)
$(foreach suite,$(dmda_suites),$(eval dm_dieaware_$(suite)_kunit-y := tests/$(suite)_kunit.o))
# Where each variable has a red zone, a frame is larger than it would be anywhere else.
ifneq ($(CONFIG_KASAN),)
$(foreach suite,$(dmda_suites),$(eval CFLAGS_tests/$(suite)_kunit.o := -Wno-frame-larger-than))
endif
endif
