/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints of log mode: where writes go, and what is done with metadata and segments.
 * dev is the target's; pages are of 4 KiB, sectors of 512 bytes.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM dieaware

#if !defined(DMDA_LOG_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define DMDA_LOG_TRACE_H

#include <linux/kdev_t.h>
#include <linux/tracepoint.h>

#include "../core/units.h"

/* A write has got its places; file is 0 if it is not known */
TRACE_EVENT(dmda_log_write,
	TP_PROTO(dev_t dev, u64 lpn, dpn_t dpn, u32 nr_pages, u64 file),
	TP_ARGS(dev, lpn, dpn, nr_pages, file),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u32, nr_pages)
		__field(u64, lpn)
		__field(u64, dpn)
		__field(u64, file)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->nr_pages = nr_pages;
		__entry->lpn = lpn;
		__entry->dpn = from_dpn(dpn);
		__entry->file = file;
	),
	TP_printk("dev=%d:%d lpn=%llu dpn=%llu nr=%u file=%016llx", MAJOR(__entry->dev),
		  MINOR(__entry->dev), __entry->lpn, __entry->dpn, __entry->nr_pages,
		  __entry->file)
);

/* A batch of the journal was written, or could not be; seq is its last operation */
TRACE_EVENT(dmda_log_commit,
	TP_PROTO(dev_t dev, u64 sector, u32 nr_sectors, u64 seq, int ret),
	TP_ARGS(dev, sector, nr_sectors, seq, ret),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u32, nr_sectors)
		__field(u64, sector)
		__field(u64, seq)
		__field(int, ret)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->nr_sectors = nr_sectors;
		__entry->sector = sector;
		__entry->seq = seq;
		__entry->ret = ret;
	),
	TP_printk("dev=%d:%d sector=%llu nr=%u seq=%llu ret=%d", MAJOR(__entry->dev),
		  MINOR(__entry->dev), __entry->sector, __entry->nr_sectors, __entry->seq,
		  __entry->ret)
);

/* A root was written, or the checkpoint has failed; sector is where replay begins */
TRACE_EVENT(dmda_log_checkpoint,
	TP_PROTO(dev_t dev, u64 epoch, u64 sector, int ret),
	TP_ARGS(dev, epoch, sector, ret),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(int, ret)
		__field(u64, epoch)
		__field(u64, sector)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->ret = ret;
		__entry->epoch = epoch;
		__entry->sector = sector;
	),
	TP_printk("dev=%d:%d epoch=%llu sector=%llu ret=%d", MAJOR(__entry->dev),
		  MINOR(__entry->dev), __entry->epoch, __entry->sector, __entry->ret)
);

/* A page of the map is fetched; dpn is 0 if it was never written */
TRACE_EVENT(dmda_log_map_fetch,
	TP_PROTO(dev_t dev, u64 index, u64 dpn),
	TP_ARGS(dev, index, dpn),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, index)
		__field(u64, dpn)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->index = index;
		__entry->dpn = dpn;
	),
	TP_printk("dev=%d:%d index=%llu dpn=%llu", MAJOR(__entry->dev), MINOR(__entry->dev),
		  __entry->index, __entry->dpn)
);

#define show_dmda_segment(kind)				\
	__print_symbolic(kind,				\
			 { DMDA_RECORD_OPEN, "open" },	\
			 { DMDA_RECORD_CLOSE, "close" },	\
			 { DMDA_RECORD_FREE, "free" })

/* A segment is opened, closed or freed */
TRACE_EVENT(dmda_log_segment,
	TP_PROTO(dev_t dev, seg_t seg, u8 kind),
	TP_ARGS(dev, seg, kind),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u32, seg)
		__field(u8, kind)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->seg = from_seg(seg);
		__entry->kind = kind;
	),
	TP_printk("dev=%d:%d seg=%u %s", MAJOR(__entry->dev), MINOR(__entry->dev), __entry->seg,
		  show_dmda_segment(__entry->kind))
);

/* A segment is going to be cleaned */
TRACE_EVENT(dmda_log_clean,
	TP_PROTO(dev_t dev, seg_t seg, u32 nr_valid),
	TP_ARGS(dev, seg, nr_valid),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u32, seg)
		__field(u32, nr_valid)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->seg = from_seg(seg);
		__entry->nr_valid = nr_valid;
	),
	TP_printk("dev=%d:%d seg=%u valid=%u", MAJOR(__entry->dev), MINOR(__entry->dev),
		  __entry->seg, __entry->nr_valid)
);

#endif /* DMDA_LOG_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH log
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
