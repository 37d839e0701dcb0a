/* SPDX-License-Identifier: GPL-2.0 */
/* Common parts of PMUs with an AUX area: the area and its samples. */
#ifndef SOFTAUX_H
#define SOFTAUX_H

#include <linux/kprobes.h>
#include <linux/perf_event.h>

/* An AUX area as the perf core allocated it. */
struct area {
	void **page;
	u64 size;
	bool snapshot; /* overwrite mode */
};

/* False: AUX samples need an area in overwrite mode. */
static inline bool area_init(struct area *a, struct perf_event *event, void **pages, int n,
			     bool snapshot)
{
	*a = (struct area){ .page = pages, .size = (u64)n << PAGE_SHIFT, .snapshot = snapshot };
	return n && (snapshot || !event->attr.aux_sample_size);
}

/* Returns the place of byte @pos of the stream. */
static inline void *area_at(const struct area *a, u64 pos)
{
	u64 at = pos & (a->size - 1);

	return a->page[at >> PAGE_SHIFT] + (at & ~PAGE_MASK);
}

/* Hands the bytes from @begin to @pos to the reader. */
static inline void area_end(const struct area *a, struct perf_output_handle *handle, u64 begin,
			    u64 pos)
{
	u64 size = pos - begin;

	if (a->snapshot) { /* perf wants the position and the whole size */
		handle->head = pos & (a->size - 1);
		size = a->size;
	}
	perf_aux_output_end(handle, size);
}

/* The perf core's function that copies trace into a sample. It is not exported to modules. */
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

/* As pt_event_snapshot_aux(): copies the @size bytes before @pos. */
static inline long copy_newest(const struct area *a, struct perf_output_handle *from,
			       struct perf_output_handle *to, u64 pos, u64 size)
{
	u64 end = pos & (a->size - 1);

	if (!a->snapshot)
		return 0;
	return copy_aux(from, to, end + (end < size ? a->size : 0) - size, end);
}

#endif
