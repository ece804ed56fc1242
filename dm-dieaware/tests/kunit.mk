# SPDX-License-Identifier: GPL-2.0-only
# The suites, a module each, for kernels that have KUnit. Included by ../Kbuild.

ifneq ($(CONFIG_KUNIT),)
dmda_suites := classify config extents journal message patience s3fifo super victim volume writer
obj-m += $(dmda_suites:%=dm_dieaware_%_kunit.o)
$(foreach suite,$(dmda_suites),$(eval dm_dieaware_$(suite)_kunit-y := tests/$(suite)_kunit.o))
endif
