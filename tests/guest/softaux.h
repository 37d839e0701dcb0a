/* SPDX-License-Identifier: GPL-2.0 */
/* What PMUs that write an AUX area have in common: the area, and the samples of it. */
#ifndef SOFTAUX_H
#define SOFTAUX_H

#include <linux/kprobes.h>
#include <linux/perf_event.h>

/* An AUX area as the perf core gave it. */
struct area {
	void **page;
	u64 size;
	bool snapshot;	/* written round and round */
};

/* False: AUX samples are of areas that are written round and round. */
static inline bool area_init(struct area *a, struct perf_event *event, void **pages, int n,
			     bool snapshot)
{
	*a = (struct area){ .page = pages, .size = (u64)n << PAGE_SHIFT, .snapshot = snapshot };
	return n && (snapshot || !event->attr.aux_sample_size);
}

/* Where byte @pos of the stream goes. */
static inline void *area_at(const struct area *a, u64 pos)
{
	u64 at = pos & (a->size - 1);

	return a->page[at >> PAGE_SHIFT] + (at & ~PAGE_MASK);
}

/* What was written from @begin to @pos goes to the reader. */
static inline void area_end(const struct area *a, struct perf_output_handle *handle, u64 begin,
			    u64 pos)
{
	u64 size = pos - begin;

	if (a->snapshot) {	/* perf takes the position, and the size of it all */
		handle->head = pos & (a->size - 1);
		size = a->size;
	}
	perf_aux_output_end(handle, size);
}

/* The perf core's way to copy trace into a sample, which has no name for modules. */
static long (*copy_aux)(struct perf_output_handle *from, struct perf_output_handle *to,
			unsigned long first, unsigned long end);

static inline int find_copy_aux(void)
{
	struct kprobe probe = { .symbol_name = "perf_output_copy_aux" };
	int err = register_kprobe(&probe);

	if (err)
		return err;
	copy_aux = (void *)probe.addr;
	unregister_kprobe(&probe);
	return 0;
}

/* As pt_event_snapshot_aux(): the @size bytes in front of @pos. */
static inline long copy_newest(const struct area *a, struct perf_output_handle *from,
			       struct perf_output_handle *to, u64 pos, u64 size)
{
	u64 end = pos & (a->size - 1);

	if (!a->snapshot)
		return 0;
	return copy_aux(from, to, end + (end < size ? a->size : 0) - size, end);
}

#endif
