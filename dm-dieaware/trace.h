/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints of the target: what it thought of each write. Tests compare them with
 * FIEMAP and with the commands that the device got.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM dieaware

#if !defined(DMDA_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define DMDA_TRACE_H

#include <linux/kdev_t.h>
#include <linux/tracepoint.h>

#include "dieaware.h"

#define show_dmda_source(source)				\
	__print_symbolic(source,				\
			 { DMDA_SOURCE_PAGE, "page" },		\
			 { DMDA_SOURCE_IOMAP, "iomap" },	\
			 { DMDA_SOURCE_ADJACENCY, "adjacency" }, \
			 { DMDA_SOURCE_METADATA, "metadata" },	\
			 { DMDA_SOURCE_UNKNOWN, "unknown" })

#define show_dmda_hint(hint)					\
	__print_symbolic(hint,					\
			 { DMDA_HINT_NONE, "none" },		\
			 { DMDA_HINT_APPEND, "append" },	\
			 { DMDA_HINT_OVERWRITE, "overwrite" })

/* One write, after cutting; pred is -1 unless it is an append */
TRACE_EVENT(dmda_hint,
	TP_PROTO(dev_t dev, const struct dmda_run *run, const struct dmda_verdict *verdict,
		 const struct dmda_identity *identity),
	TP_ARGS(dev, run, verdict, identity),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u32, nr_pages)
		__field(u64, dpn)
		__field(u64, ino)
		__field(u64, fpage)
		__field(u64, pred)
		__field(u8, hint)
		__field(u8, source)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->nr_pages = run->nr_pages;
		__entry->dpn = from_dpn(run->dpn);
		__entry->ino = identity->ino;
		__entry->fpage = run->fpage;
		__entry->pred = from_dpn(verdict->pred);
		__entry->hint = verdict->hint;
		__entry->source = identity->source;
	),
	TP_printk("dev=%d:%d dpn=%llu nr=%u ino=%llu fpage=%llu hint=%s pred=%lld source=%s",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->dpn, __entry->nr_pages,
		  __entry->ino, __entry->fpage, show_dmda_hint(__entry->hint),
		  (long long)__entry->pred, show_dmda_source(__entry->source))
);

#endif /* DMDA_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
