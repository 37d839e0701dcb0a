// SPDX-License-Identifier: GPL-2.0
/* softpt: address filters. */
#include "softpt.h"
#include <linux/module.h>
#include <linux/slab.h>

/* The address ranges that the driver would write into the registers. */
struct filters {
	unsigned int n;
	struct {
		u64 first, last;
		bool stop; /* TraceStop; else FilterEn */
	} range[RANGES];
};

static bool within(const struct filters *f, u64 ip, bool stop, bool *any)
{
	unsigned int i;

	for (i = 0; i < f->n; i++) {
		if (f->range[i].stop != stop)
			continue;
		*any = true;
		if (ip >= f->range[i].first && ip <= f->range[i].last)
			return true;
	}
	return false;
}

bool stops_at(struct unit *u, u64 ip)
{
	bool any;

	return within(u->handle.event->hw.addr_filters, ip, true, &any);
}

/* Returns true if code at @ip is traced: FilterEn, and not stopped. */
bool traces_at(struct unit *u, u64 ip)
{
	bool any = false;

	return !u->halted && !stops_at(u, ip) &&
	       (within(u->handle.event->hw.addr_filters, ip, false, &any) || !any);
}

/* As pt_event_addr_filters_validate(). */
int addr_filters_validate(struct list_head *filters)
{
	struct perf_addr_filter *filter;
	int n = 0;

	list_for_each_entry(filter, filters,
			    entry) if (!filter->size ||
				       filter->action == PERF_ADDR_FILTER_ACTION_START ||
				       ++n > RANGES) return -EOPNOTSUPP;
	return 0;
}

/* As pt_event_addr_filters_sync(): a file that is not mapped becomes an empty range. */
void addr_filters_sync(struct perf_event *event)
{
	struct perf_addr_filters_head *head = perf_event_addr_filters(event);
	struct perf_addr_filter_range *fr = event->addr_filter_ranges;
	struct filters *f = event->hw.addr_filters;
	struct perf_addr_filter *filter;

	f->n = 0;
	list_for_each_entry(filter, &head->list, entry)
	{
		bool absent = filter->path.dentry && !fr[f->n].start;

		f->range[f->n].first = absent ? 0 : fr[f->n].start;
		f->range[f->n].last = absent ? 0 : fr[f->n].start + fr[f->n].size - 1;
		f->range[f->n].stop = filter->action != PERF_ADDR_FILTER_ACTION_FILTER;
		f->n++;
	}
}

static void destroy(struct perf_event *event)
{
	kfree(event->hw.addr_filters);
}

int make_filters(struct perf_event *event)
{
	struct filters *f = kzalloc(sizeof(*f), GFP_KERNEL);

	if (!f)
		return -ENOMEM;
	if (event->parent)
		*f = *(struct filters *)event->parent->hw.addr_filters;
	event->hw.addr_filters = f;
	event->destroy = destroy;
	return 0;
}
