#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# dracut asks again and again whether it has waited for long enough: not before all devices of
# dietab(5) are there, which are made on that occasion, for those that their sources allow.

[ ! -s /etc/dietab ] || dieaware boot >/dev/null 2>/run/dieaware-boot.log
