// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who knows when work of a die ends: the write buffer, which has room then; what is booked, of
 * which a power failure takes what has not ended; and the ends of programs that flushes wait for.
 */
#include "oob-booked.h"
#include "sense.h"

void ftl_sense_tell_delay(struct ftl *ftl)
{
	const struct ftl_nand_delay *delay = &ftl->nand.delay;

	ftl_wbuf_delay(&ftl->wbuf, delay->die, delay->from_ns, delay->ns);
	if (!ftl->params.oob)
		return;
	ftl->programmed_ns = max(ftl->programmed_ns,
				 ftl_oob_delay(&ftl->oob, to_die(delay->die), delay->from_ns,
					       delay->ns));
	/* A write command may have map pages sensed between its programs, which puts these off. */
	if (ftl->command_programmed_ns > delay->from_ns)
		ftl->command_programmed_ns += delay->ns;
}
