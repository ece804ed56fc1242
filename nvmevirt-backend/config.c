// SPDX-License-Identifier: GPL-2.0-only
/*
 * configfs: one directory for each virtual SSD, one file for each property, and
 * `power`, which makes the SSD of them. Most properties cannot be changed while it is on. The
 * SSD stays, with its data, when it is switched off.
 */
#include <linux/configfs.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "config.h"
#include "nvmev.h"
#include "precondition.h"
#include "profile.h"
#include "property.h"
#include "state-file.h"
#include "watch.h"

/**
 * struct item - a directory under /sys/kernel/config/nvmev
 * @item: for configfs
 * @power_lock: protects what is below
 * @config: what the SSD is to be
 * @nvmev: the SSD, NULL until it is switched on; then it stays
 * @reason: why the last write to a file was refused, empty if it was not
 * @failure_work: switches it off when its power fails
 */
struct item {
	struct config_item item;

	struct mutex power_lock; /* protects what is below */
	struct nvmev_config config;
	struct nvmev *nvmev;
	char reason[NVMEV_REASON_BYTES];

	struct work_struct failure_work;
};

static bool is_on(const struct item *item)
{
	return item->nvmev && item->nvmev->is_on;
}

static struct item *to_item(struct config_item *item)
{
	return container_of(item, struct item, item);
}

static void refuse(struct item *item, const char *reason)
{
	if (reason != item->reason)
		strscpy(item->reason, reason, sizeof(item->reason));
	pr_err("nvmev: %s: %s\n", config_item_name(&item->item), item->reason);
}

/* What a write to a file returns; @ret is 0, or an error that refuse() was told of. */
static ssize_t finished(struct item *item, int ret, size_t bytes)
{
	if (ret)
		return ret;
	item->reason[0] = '\0';
	return bytes;
}

/* Report a change of a property; @ret is what parsing it gave. */
static ssize_t changed(struct item *item, int ret, size_t bytes)
{
	if (ret)
		refuse(item, "The value is malformed or out of the range of this property.");
	return finished(item, ret, bytes);
}

static int refuse_busy(struct item *item)
{
	refuse(item, "This can be changed only while the SSD is switched off.");
	return -EBUSY;
}

static ssize_t store_property(struct config_item *config_item, const char *text, size_t bytes,
			      const struct prop *property)
{
	struct item *item = to_item(config_item);

	guard(mutex)(&item->power_lock);
	if (is_on(item))
		return refuse_busy(item);
	return changed(item, nvmev_property_parse(&item->config, text, property), bytes);
}

/* configfs does not tell its callbacks which file they are for. */
#define NVMEV_ATTR(name, member, member_kind)						\
static const struct prop name##_property = {					\
	.offset = offsetof(struct nvmev_config, member),				\
	.kind = member_kind,								\
};											\
											\
static ssize_t nvmev_##name##_show(struct config_item *item, char *page)		\
{											\
	return nvmev_property_show(&to_item(item)->config, page, &name##_property);	\
}											\
											\
static ssize_t nvmev_##name##_store(struct config_item *item, const char *text,	\
				    size_t bytes)					\
{											\
	return store_property(item, text, bytes, &name##_property);			\
}											\
											\
CONFIGFS_ATTR(nvmev_, name)

NVMEV_ATTR(capacity_mib, capacity_bytes, PROPERTY_MIB);
NVMEV_ATTR(channels, ftl.nr_channels, PROPERTY_U32);
NVMEV_ATTR(dies_per_channel, ftl.dies_per_channel, PROPERTY_U32);
NVMEV_ATTR(planes_per_die, ftl.planes_per_die, PROPERTY_U32);
NVMEV_ATTR(unit_kib, ftl.unit_pages, PROPERTY_KIB);
NVMEV_ATTR(units_per_eblk, ftl.units_per_eblk, PROPERTY_U32);
NVMEV_ATTR(reserve_permille, ftl.reserve_permille, PROPERTY_U32);
NVMEV_ATTR(program_ns, ftl.program_ns, PROPERTY_U32);
NVMEV_ATTR(erase_ns, ftl.erase_ns, PROPERTY_U32);
NVMEV_ATTR(suspend_program, ftl.suspend_program, PROPERTY_U32);
NVMEV_ATTR(suspend_erase, ftl.suspend_erase, PROPERTY_U32);
NVMEV_ATTR(suspend_ns, ftl.suspend_ns, PROPERTY_U32);
NVMEV_ATTR(channel_mbps, ftl.channel_mbps, PROPERTY_U32);
NVMEV_ATTR(link_mbps, ftl.link_mbps, PROPERTY_U32);
NVMEV_ATTR(cmd_ns, ftl.cmd_ns, PROPERTY_U32);
NVMEV_ATTR(write_ns, ftl.write_ns, PROPERTY_U32);
NVMEV_ATTR(cmd_gap_ns, ftl.cmd_gap_ns, PROPERTY_U32);
NVMEV_ATTR(page_ns, ftl.page_ns, PROPERTY_U32);
NVMEV_ATTR(wbuf_kib, ftl.wbuf_pages, PROPERTY_KIB);
NVMEV_ATTR(run_units, ftl.run_units, PROPERTY_U32);
NVMEV_ATTR(hold_ns, ftl.hold_ns, PROPERTY_U32);
NVMEV_ATTR(time_scale, ftl.time_scale, PROPERTY_U32);
NVMEV_ATTR(plp, ftl.plp, PROPERTY_BOOL);
NVMEV_ATTR(register_hits, ftl.register_hits, PROPERTY_BOOL);
NVMEV_ATTR(cache_read, ftl.cache_read, PROPERTY_BOOL);
NVMEV_ATTR(plane_read, ftl.plane_read, PROPERTY_BOOL);
NVMEV_ATTR(bg_eblks, ftl.bg_eblks, PROPERTY_U32);
NVMEV_ATTR(bg_mend, ftl.bg_mend, PROPERTY_BOOL);
NVMEV_ATTR(wear_permille, ftl.wear_permille, PROPERTY_U32);
NVMEV_ATTR(spare_eblks, ftl.spare_eblks, PROPERTY_U32);
NVMEV_ATTR(factory_bad_permille, ftl.factory_bad_permille, PROPERTY_U32);
NVMEV_ATTR(seed_die, ftl.seed_die, PROPERTY_U32);
NVMEV_ATTR(share_pages, ftl.share_pages, PROPERTY_U32);
NVMEV_ATTR(share_log_kib, ftl.share_log_kib, PROPERTY_U32);
NVMEV_ATTR(map_cache_mib, ftl.map_cache_pages, PROPERTY_MIB_PAGES);
NVMEV_ATTR(read_ahead_kib, ftl.read_ahead_pages, PROPERTY_KIB);
NVMEV_ATTR(slc_mib, ftl.slc_pages, PROPERTY_MIB_PAGES);
NVMEV_ATTR(cell_bits, ftl.cell_bits, PROPERTY_U32);
NVMEV_ATTR(slc_program_ns, ftl.slc_program_ns, PROPERTY_U32);
NVMEV_ATTR(slc_read_ns, ftl.slc_read_ns, PROPERTY_U32);
NVMEV_ATTR(stripe_lead, ftl.stripe_lead, PROPERTY_U32);
NVMEV_ATTR(parity, ftl.parity, PROPERTY_BOOL);
NVMEV_ATTR(in_place, ftl.in_place, PROPERTY_BOOL);
NVMEV_ATTR(lba_bytes, lba_bytes, PROPERTY_U32);
NVMEV_ATTR(queues, queues, PROPERTY_U32);
NVMEV_ATTR(queue_depth, queue_depth, PROPERTY_U32);
NVMEV_ATTR(mdts, mdts, PROPERTY_U32);
NVMEV_ATTR(atomic_kib, atomic_pages, PROPERTY_KIB);
NVMEV_ATTR(hints, hints, PROPERTY_BOOL);
NVMEV_ATTR(fdp, fdp, PROPERTY_BOOL);
NVMEV_ATTR(fdp_groups, fdp_groups, PROPERTY_BOOL);
NVMEV_ATTR(fdp_handles, ftl.nr_handles, PROPERTY_U32);

/* Numbers separated by commas or blanks. Returns how many, or a negative errno. */
static int parse_list(const char *text, u64 *numbers, u32 most)
{
	char *copy __free(kfree) = kstrdup(text, GFP_KERNEL);
	char *word, *rest = copy;
	u32 nr = 0;
	int ret;

	if (!copy)
		return -ENOMEM;
	while ((word = strsep(&rest, ",\n "))) {
		if (!*word)
			continue;
		if (nr == most)
			return -EINVAL;
		ret = kstrtou64(word, 0, &numbers[nr++]);
		if (ret)
			return ret;
	}
	return nr ?: -EINVAL;
}

/* The page kinds' latencies. */
static int parse_read_ns(struct nvmev_config *config, const char *text)
{
	u64 read_ns[FTL_MAX_PAGE_KINDS];
	int nr = parse_list(text, read_ns, ARRAY_SIZE(read_ns));
	int i;

	if (nr < 0)
		return nr;
	for (i = 0; i < nr; i++)
		if (read_ns[i] > U32_MAX)
			return -ERANGE;
	config->ftl.nr_page_kinds = nr;
	for (i = 0; i < nr; i++)
		config->ftl.read_ns[i] = read_ns[i];
	return 0;
}

/* The namespaces' sizes; a single 0 is one namespace with all of the capacity. */
static int parse_namespace_mib(struct nvmev_config *config, const char *text)
{
	u64 mib[NVMEV_MAX_NAMESPACES];
	int nr = parse_list(text, mib, ARRAY_SIZE(mib));
	int i;

	if (nr < 0)
		return nr;
	for (i = 0; i < nr; i++)
		if (mib[i] > U64_MAX >> 20)
			return -ERANGE;
	config->nr_namespaces = nr == 1 && !mib[0] ? 0 : nr;
	for (i = 0; i < nr; i++)
		config->namespace_bytes[i] = mib[i] << 20;
	return 0;
}

typedef int (*parse_fn)(struct nvmev_config *config, const char *text);

static ssize_t store_list(struct config_item *config_item, const char *text, size_t bytes,
			  parse_fn parse)
{
	struct item *item = to_item(config_item);

	guard(mutex)(&item->power_lock);
	if (is_on(item))
		return refuse_busy(item);
	return changed(item, parse(&item->config, text), bytes);
}

static ssize_t nvmev_read_ns_show(struct config_item *item, char *page)
{
	const struct ftl_params *params = &to_item(item)->config.ftl;
	int len = 0;
	u32 i;

	for (i = 0; i < params->nr_page_kinds; i++)
		len += sysfs_emit_at(page, len, "%s%u", i ? "," : "", params->read_ns[i]);
	return len + sysfs_emit_at(page, len, "\n");
}

static ssize_t nvmev_read_ns_store(struct config_item *item, const char *text, size_t bytes)
{
	return store_list(item, text, bytes, parse_read_ns);
}

CONFIGFS_ATTR(nvmev_, read_ns);

static ssize_t nvmev_namespace_mib_show(struct config_item *item, char *page)
{
	const struct nvmev_config *config = &to_item(item)->config;
	int len = 0;
	u32 i;

	for (i = 0; i < config->nr_namespaces; i++)
		len += sysfs_emit_at(page, len, "%s%llu", i ? "," : "",
				     config->namespace_bytes[i] >> 20);
	return len + sysfs_emit_at(page, len, len ? "\n" : "0\n");
}

static ssize_t nvmev_namespace_mib_store(struct config_item *item, const char *text, size_t bytes)
{
	return store_list(item, text, bytes, parse_namespace_mib);
}

CONFIGFS_ATTR(nvmev_, namespace_mib);

static ssize_t nvmev_profile_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%s\n", to_item(item)->config.profile);
}

static ssize_t nvmev_profile_store(struct config_item *config_item, const char *text, size_t bytes)
{
	struct item *item = to_item(config_item);
	char reason[NVMEV_REASON_BYTES];
	int len;

	guard(mutex)(&item->power_lock);
	if (is_on(item))
		return refuse_busy(item);
	if (nvmev_profile_load(&item->config, text)) {
		len = scnprintf(reason, sizeof(reason), "There is no such profile; there are:");
		len += nvmev_profile_names(reason + len, sizeof(reason) - len);
		scnprintf(reason + len, sizeof(reason) - len, ".");
		refuse(item, reason);
		return -EINVAL;
	}
	return finished(item, 0, bytes);
}

CONFIGFS_ATTR(nvmev_, profile);

static ssize_t nvmev_reject_hints_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%u\n", to_item(item)->config.reject_hints);
}

/* For tests that turn it on under I/O: it can change at any time. */
static ssize_t nvmev_reject_hints_store(struct config_item *config_item, const char *text,
					size_t bytes)
{
	struct item *item = to_item(config_item);
	u32 every;
	int ret = kstrtou32(text, 0, &every);

	guard(mutex)(&item->power_lock);
	if (ret)
		return changed(item, ret, bytes);
	item->config.reject_hints = every;
	if (is_on(item))
		WRITE_ONCE(item->nvmev->config.reject_hints, every);
	return finished(item, 0, bytes);
}

CONFIGFS_ATTR(nvmev_, reject_hints);

static ssize_t nvmev_poll_us_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%u\n", to_item(item)->config.poll_us);
}

/* So that who takes the SSD to a driver in user space need not switch it off: at any time, too */
static ssize_t nvmev_poll_us_store(struct config_item *config_item, const char *text,
				   size_t bytes)
{
	struct item *item = to_item(config_item);
	u32 poll_us;
	int ret = kstrtou32(text, 0, &poll_us);

	guard(mutex)(&item->power_lock);
	if (!ret && poll_us && (poll_us < NVMEV_MIN_POLL_US || poll_us > NVMEV_MAX_POLL_US))
		ret = -EINVAL;
	if (ret)
		return changed(item, ret, bytes);
	item->config.poll_us = poll_us;
	if (is_on(item)) {
		WRITE_ONCE(item->nvmev->config.poll_us, poll_us);
		/* Its next look may be far away. */
		nvmev_wake(item->nvmev);
	}
	return finished(item, 0, bytes);
}

CONFIGFS_ATTR(nvmev_, poll_us);

static void discard(struct item *item)
{
	if (item->nvmev)
		nvmev_free(item->nvmev);
	item->nvmev = NULL;
}

static const char other_drive[] =
	"The SSD has data and had other properties: set them back, or write 1 to discard.";

static const char *unusable_reason(const struct item *item)
{
	if (!item->nvmev)
		return NULL;
	if (item->nvmev->damage)
		return item->nvmev->damage;
	if (!nvmev_adopt(item->nvmev, &item->config))
		return other_drive;
	return NULL;
}

static int create(struct item *item)
{
	struct nvmev *nvmev = nvmev_create(config_item_name(&item->item), &item->config,
					   item->reason);

	if (IS_ERR(nvmev))
		return PTR_ERR(nvmev);
	nvmev->failure_work = &item->failure_work;
	item->nvmev = nvmev;
	/* Who asked for it once need not mean it the next time. */
	item->config.backing_recover = false;
	return 0;
}

static ssize_t nvmev_backing_file_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%s\n", to_item(item)->config.backing_file);
}

static ssize_t nvmev_backing_file_store(struct config_item *config_item, const char *text,
					size_t bytes)
{
	struct item *item = to_item(config_item);
	size_t length = strcspn(text, "\n");

	guard(mutex)(&item->power_lock);
	if (is_on(item))
		return refuse_busy(item);
	if (length >= NVMEV_PATH_BYTES)
		return changed(item, -ENAMETOOLONG, bytes);
	/* No rest of a longer path: configurations are compared as a whole. */
	memset(item->config.backing_file, 0, NVMEV_PATH_BYTES);
	memcpy(item->config.backing_file, text, length);
	return finished(item, 0, bytes);
}

CONFIGFS_ATTR(nvmev_, backing_file);
NVMEV_ATTR(backing_recover, backing_recover, PROPERTY_BOOL);

/* Have the SSD, switched off, that the properties ask for. */
static int prepare(struct item *item)
{
	const char *reason;
	int ret;

	item->reason[0] = '\0';
	/* What nothing was ever written to can become another drive. */
	if (item->nvmev && nvmev_is_new(item->nvmev) && unusable_reason(item))
		discard(item);
	reason = unusable_reason(item);
	if (reason) {
		refuse(item, reason);
		return -ENOTEMPTY;
	}
	if (item->nvmev)
		return 0;
	ret = create(item);
	if (ret)
		refuse(item, item->reason);
	return ret;
}

static int power_on(struct item *item)
{
	int ret;

	if (is_on(item))
		return 0;
	ret = prepare(item);
	if (ret)
		return ret;
	ret = nvmev_power_on(item->nvmev, item->reason);
	if (ret)
		refuse(item, item->reason);
	return ret;
}

/* One that is off is brought to its file, if there was no room for it before. */
static int power_off(struct item *item, bool failure)
{
	int ret = 0;

	if (is_on(item))
		ret = nvmev_power_off(item->nvmev, failure, item->reason);
	else if (item->nvmev)
		ret = nvmev_backing_catch_up(item->nvmev, item->reason);
	if (ret)
		refuse(item, item->reason);
	return ret;
}

static void fail_power(struct work_struct *work)
{
	struct item *item = container_of(work, struct item, failure_work);

	guard(mutex)(&item->power_lock);
	if (is_on(item) && item->nvmev->power_failed)
		power_off(item, true);
}

static ssize_t nvmev_power_show(struct config_item *config_item, char *page)
{
	struct item *item = to_item(config_item);

	/* What is asked may be freed meanwhile, by whoever has it discarded. */
	guard(mutex)(&item->power_lock);
	return sysfs_emit(page, "%u\n", is_on(item));
}

static ssize_t nvmev_power_store(struct config_item *config_item, const char *text, size_t bytes)
{
	struct item *item = to_item(config_item);
	bool on;
	int ret = kstrtobool(text, &on);

	guard(mutex)(&item->power_lock);
	if (ret)
		return changed(item, ret, bytes);
	if (on)
		ret = power_on(item);
	else
		ret = power_off(item, false);
	return finished(item, ret, bytes);
}

CONFIGFS_ATTR(nvmev_, power);

static ssize_t nvmev_power_cut_store(struct config_item *config_item, const char *text,
				     size_t bytes)
{
	struct item *item = to_item(config_item);
	bool fail;
	int ret = kstrtobool(text, &fail);

	guard(mutex)(&item->power_lock);
	if (ret)
		return changed(item, ret, bytes);
	if (fail)
		ret = power_off(item, true);
	return finished(item, ret, bytes);
}

CONFIGFS_ATTR_WO(nvmev_, power_cut);

static ssize_t nvmev_power_cut_after_store(struct config_item *config_item, const char *text,
					   size_t bytes)
{
	struct item *item = to_item(config_item);
	u64 nr_ops;
	int ret = kstrtou64(text, 0, &nr_ops);

	guard(mutex)(&item->power_lock);
	if (ret)
		return changed(item, ret, bytes);
	if (!is_on(item)) {
		refuse(item, "The power of an SSD that is switched off cannot fail.");
		return -ENODEV;
	}
	ret = nvmev_power_cut_after(item->nvmev, nr_ops);
	if (ret)
		refuse(item, "Only an SSD without power-loss protection can do that (plp).");
	return finished(item, ret, bytes);
}

CONFIGFS_ATTR_WO(nvmev_, power_cut_after);

static ssize_t nvmev_discard_store(struct config_item *config_item, const char *text, size_t bytes)
{
	struct item *item = to_item(config_item);
	bool yes;
	int ret = kstrtobool(text, &yes);

	guard(mutex)(&item->power_lock);
	if (is_on(item))
		return refuse_busy(item);
	if (!ret && yes)
		discard(item);
	return changed(item, ret, bytes);
}

CONFIGFS_ATTR_WO(nvmev_, discard);

/**
 * enum precondition_number - what is written to the file, in this order
 * @PRECONDITION_FILL: share of the LBAs to fill, in percent
 * @PRECONDITION_RANDOM: what is overwritten, in percent of that
 * @PRECONDITION_SEED: seed; 0 if it is not there
 * @PRECONDITION_NUMBERS: number of the others
 */
enum precondition_number {
	PRECONDITION_FILL,
	PRECONDITION_RANDOM,
	PRECONDITION_SEED,
	PRECONDITION_NUMBERS,
};

static int precondition(struct item *item, const u64 *numbers)
{
	const char *reason = ftl_precondition_check(numbers[PRECONDITION_FILL],
						    numbers[PRECONDITION_RANDOM]);
	int ret;

	if (reason) {
		refuse(item, reason);
		return -ERANGE;
	}
	ret = prepare(item);
	if (ret)
		return ret;
	ret = nvmev_precondition(item->nvmev, numbers[PRECONDITION_FILL],
				 numbers[PRECONDITION_RANDOM], numbers[PRECONDITION_SEED],
				 item->reason);
	if (ret)
		refuse(item, item->reason);
	return ret;
}

static ssize_t nvmev_precondition_store(struct config_item *config_item, const char *text,
					size_t bytes)
{
	struct item *item = to_item(config_item);
	u64 numbers[PRECONDITION_NUMBERS] = {};
	int ret = parse_list(text, numbers, ARRAY_SIZE(numbers));

	guard(mutex)(&item->power_lock);
	if (is_on(item)) {
		refuse(item, "An SSD can be preconditioned only while it is switched off.");
		return -EBUSY;
	}
	if (ret <= PRECONDITION_RANDOM) {
		refuse(item,
		       "Preconditioning takes the percentage of LBAs to fill, that of those to overwrite, and perhaps a seed.");
		return ret < 0 ? ret : -EINVAL;
	}
	ret = precondition(item, numbers);
	return finished(item, ret, bytes);
}

CONFIGFS_ATTR_WO(nvmev_, precondition);

/* The SSD becomes another one, and is what it was if that one cannot be had. */
static int load(struct item *item, const char *path)
{
	struct nvmev *nvmev;
	int ret;

	/* One that has nothing need not be kept meanwhile: it can be made again. */
	if (nvmev_is_new(item->nvmev) && !nvmev_is_formatted(item->nvmev) &&
	    !item->config.backing_file[0])
		discard(item);
	nvmev = nvmev_create_apart(config_item_name(&item->item), &item->config, item->reason);
	if (IS_ERR(nvmev))
		return PTR_ERR(nvmev);
	ret = nvmev_state_load(nvmev, path, item->reason);
	if (ret) {
		nvmev_free(nvmev);
		return ret;
	}
	nvmev->failure_work = &item->failure_work;
	if (item->nvmev)
		nvmev_backing_take(nvmev, item->nvmev);
	discard(item);
	item->nvmev = nvmev;
	return nvmev_backing_end(nvmev, item->reason);
}

static int save(struct item *item, const char *path)
{
	return nvmev_state_save(item->nvmev, path, true, item->reason);
}

static int save_no_data(struct item *item, const char *path)
{
	return nvmev_state_save(item->nvmev, path, false, item->reason);
}

typedef int (*state_fn)(struct item *item, const char *path);

static ssize_t store_state(struct config_item *config_item, const char *text, size_t bytes,
			   state_fn move)
{
	char *path __free(kfree) = kstrndup(text, strcspn(text, "\n"), GFP_KERNEL);
	struct item *item = to_item(config_item);
	int ret;

	if (!path)
		return -ENOMEM;
	guard(mutex)(&item->power_lock);
	if (is_on(item)) {
		refuse(item, "An SSD can be saved and loaded only while it is switched off.");
		return -EBUSY;
	}
	ret = prepare(item);
	if (ret)
		return ret;
	ret = move(item, path);
	if (ret)
		refuse(item, item->reason);
	return finished(item, ret, bytes);
}

static ssize_t nvmev_save_store(struct config_item *item, const char *text, size_t bytes)
{
	return store_state(item, text, bytes, save);
}

CONFIGFS_ATTR_WO(nvmev_, save);

static ssize_t nvmev_save_no_data_store(struct config_item *item, const char *text, size_t bytes)
{
	return store_state(item, text, bytes, save_no_data);
}

CONFIGFS_ATTR_WO(nvmev_, save_no_data);

static ssize_t nvmev_load_store(struct config_item *item, const char *text, size_t bytes)
{
	return store_state(item, text, bytes, load);
}

CONFIGFS_ATTR_WO(nvmev_, load);

/* Pulling it out of its slot takes the power from it as well. */
static ssize_t nvmev_surprise_store(struct config_item *config_item, const char *text, size_t bytes)
{
	return nvmev_power_cut_store(config_item, text, bytes);
}

CONFIGFS_ATTR_WO(nvmev_, surprise);

static ssize_t nvmev_error_show(struct config_item *config_item, char *page)
{
	struct item *item = to_item(config_item);

	guard(mutex)(&item->power_lock);
	return sysfs_emit(page, "%s\n", item->reason);
}

CONFIGFS_ATTR_RO(nvmev_, error);

/* Of a device's children, the one whose name begins like this. */
static int is_nvme(struct device *device, void *data)
{
	struct device **found = data;

	if (strncmp(dev_name(device), "nvme", 4) || *found)
		return 0;
	*found = get_device(device);
	return 1;
}

static struct device *find_child(struct device *parent)
{
	struct device *found = NULL;

	if (parent)
		device_for_each_child(parent, &found, is_nvme);
	return found;
}

static struct device *find_controller(struct item *item)
{
	struct device *found = NULL;
	struct pci_dev *pdev;

	if (!is_on(item))
		return NULL;
	pdev = nvmev_pci_get_function(&item->nvmev->pci);
	if (pdev)
		found = find_child(&pdev->dev);
	pci_dev_put(pdev);
	return found;
}

static ssize_t nvmev_nvme_show(struct config_item *config_item, char *page)
{
	struct item *item = to_item(config_item);
	struct device *controller;
	ssize_t len;

	guard(mutex)(&item->power_lock);
	controller = find_controller(item);
	len = sysfs_emit(page, "%s\n", controller ? dev_name(controller) : "");
	put_device(controller);
	return len;
}

CONFIGFS_ATTR_RO(nvmev_, nvme);

/**
 * struct text - what was written to a page of sysfs
 * @page: the page
 * @len: bytes so far
 */
struct text {
	char *page;
	int len;
};

static int add_disk_name(struct device *device, void *data)
{
	struct text *text = data;

	if (!strncmp(dev_name(device), "nvme", 4))
		text->len += sysfs_emit_at(text->page, text->len, "%s%s", text->len ? " " : "",
					   dev_name(device));
	return 0;
}

static ssize_t nvmev_block_device_show(struct config_item *config_item, char *page)
{
	struct item *item = to_item(config_item);
	struct text text = { .page = page };
	struct device *controller;

	guard(mutex)(&item->power_lock);
	controller = find_controller(item);
	if (controller)
		device_for_each_child(controller, &text, add_disk_name);
	put_device(controller);
	return text.len + sysfs_emit_at(page, text.len, "\n");
}

CONFIGFS_ATTR_RO(nvmev_, block_device);

static ssize_t nvmev_pci_address_show(struct config_item *config_item, char *page)
{
	struct item *item = to_item(config_item);
	struct pci_dev *pdev;
	ssize_t len;

	guard(mutex)(&item->power_lock);
	if (!is_on(item))
		return sysfs_emit(page, "\n");
	pdev = nvmev_pci_get_function(&item->nvmev->pci);
	len = sysfs_emit(page, "%s\n", pdev ? pci_name(pdev) : "");
	pci_dev_put(pdev);
	return len;
}

CONFIGFS_ATTR_RO(nvmev_, pci_address);

static struct configfs_attribute *item_attrs[] = {
	&nvmev_attr_profile,
	&nvmev_attr_capacity_mib,
	&nvmev_attr_namespace_mib,
	&nvmev_attr_channels,
	&nvmev_attr_dies_per_channel,
	&nvmev_attr_planes_per_die,
	&nvmev_attr_unit_kib,
	&nvmev_attr_units_per_eblk,
	&nvmev_attr_reserve_permille,
	&nvmev_attr_read_ns,
	&nvmev_attr_program_ns,
	&nvmev_attr_erase_ns,
	&nvmev_attr_suspend_program,
	&nvmev_attr_suspend_erase,
	&nvmev_attr_suspend_ns,
	&nvmev_attr_channel_mbps,
	&nvmev_attr_link_mbps,
	&nvmev_attr_cmd_ns,
	&nvmev_attr_cmd_gap_ns,
	&nvmev_attr_write_ns,
	&nvmev_attr_page_ns,
	&nvmev_attr_wbuf_kib,
	&nvmev_attr_run_units,
	&nvmev_attr_hold_ns,
	&nvmev_attr_time_scale,
	&nvmev_attr_plp,
	&nvmev_attr_register_hits,
	&nvmev_attr_cache_read,
	&nvmev_attr_plane_read,
	&nvmev_attr_bg_eblks,
	&nvmev_attr_bg_mend,
	&nvmev_attr_wear_permille,
	&nvmev_attr_spare_eblks,
	&nvmev_attr_factory_bad_permille,
	&nvmev_attr_seed_die,
	&nvmev_attr_share_pages,
	&nvmev_attr_share_log_kib,
	&nvmev_attr_map_cache_mib,
	&nvmev_attr_read_ahead_kib,
	&nvmev_attr_slc_mib,
	&nvmev_attr_cell_bits,
	&nvmev_attr_slc_program_ns,
	&nvmev_attr_slc_read_ns,
	&nvmev_attr_stripe_lead,
	&nvmev_attr_parity,
	&nvmev_attr_in_place,
	&nvmev_attr_lba_bytes,
	&nvmev_attr_queues,
	&nvmev_attr_queue_depth,
	&nvmev_attr_mdts,
	&nvmev_attr_atomic_kib,
	&nvmev_attr_hints,
	&nvmev_attr_fdp,
	&nvmev_attr_fdp_groups,
	&nvmev_attr_fdp_handles,
	&nvmev_attr_poll_us,
	&nvmev_attr_reject_hints,
	&nvmev_attr_backing_file,
	&nvmev_attr_backing_recover,
	&nvmev_attr_power,
	&nvmev_attr_power_cut,
	&nvmev_attr_power_cut_after,
	&nvmev_attr_discard,
	&nvmev_attr_precondition,
	&nvmev_attr_save,
	&nvmev_attr_save_no_data,
	&nvmev_attr_load,
	&nvmev_attr_surprise,
	&nvmev_attr_error,
	&nvmev_attr_nvme,
	&nvmev_attr_block_device,
	&nvmev_attr_pci_address,
	NULL,
};

static void release_item(struct config_item *config_item)
{
	struct item *item = to_item(config_item);

	mutex_destroy(&item->power_lock);
	kfree(item);
}

static struct configfs_item_operations item_ops = {
	.release = release_item,
};

static const struct config_item_type item_type = {
	.ct_item_ops = &item_ops,
	.ct_attrs = item_attrs,
	.ct_owner = THIS_MODULE,
};

static struct config_item *make_item(struct config_group *group, const char *name)
{
	struct item *item;
	int ret;

	if (strlen(name) >= NVMEV_NAME_BYTES)
		return ERR_PTR(-ENAMETOOLONG);
	item = kzalloc(sizeof(*item), GFP_KERNEL);
	if (!item)
		return ERR_PTR(-ENOMEM);
	ret = nvmev_profile_load(&item->config, "fast24");
	if (ret) {
		kfree(item);
		return ERR_PTR(ret);
	}
	mutex_init(&item->power_lock);
	INIT_WORK(&item->failure_work, fail_power);
	config_item_init_type_name(&item->item, name, &item_type);
	return &item->item;
}

static void drop_item(struct config_group *group, struct config_item *config_item)
{
	struct item *item = to_item(config_item);

	mutex_lock(&item->power_lock);
	/* configfs asks nobody whether a directory may go. */
	if (power_off(item, false))
		pr_err("nvmev: %s: it was removed all the same, and is lost\n",
		       config_item_name(config_item));
	mutex_unlock(&item->power_lock);
	/* The device is gone, so nothing schedules it again. */
	cancel_work_sync(&item->failure_work);
	discard(item);
	config_item_put(config_item);
}

static struct configfs_group_operations group_ops = {
	.make_item = make_item,
	.drop_item = drop_item,
};

static const struct config_item_type group_type = {
	.ct_group_ops = &group_ops,
	.ct_owner = THIS_MODULE,
};

static struct configfs_subsystem subsystem = {
	.su_group = {
		.cg_item = {
			.ci_namebuf = "nvmev",
			.ci_type = &group_type,
		},
	},
};

int nvmev_config_register(void)
{
	config_group_init(&subsystem.su_group);
	mutex_init(&subsystem.su_mutex);
	return configfs_register_subsystem(&subsystem);
}

void nvmev_config_unregister(void)
{
	configfs_unregister_subsystem(&subsystem);
}
