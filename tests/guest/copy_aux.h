/* SPDX-License-Identifier: GPL-2.0 */
/* The perf core's way to copy trace into a sample, which has no name for modules. */
#ifndef COPY_AUX_H
#define COPY_AUX_H

#include <linux/kprobes.h>
#include <linux/perf_event.h>

static long (*copy_aux)(struct perf_output_handle *from, struct perf_output_handle *to,
			unsigned long first, unsigned long end);

static int find_copy_aux(void)
{
	struct kprobe probe = { .symbol_name = "perf_output_copy_aux" };
	int err = register_kprobe(&probe);

	if (err)
		return err;
	copy_aux = (void *)probe.addr;
	unregister_kprobe(&probe);
	return 0;
}

/* As pt_event_snapshot_aux(): the @size bytes in front of @pos in a buffer of @buffer bytes. */
static long copy_newest(struct perf_output_handle *from, struct perf_output_handle *to, u64 pos,
			u64 size, u64 buffer)
{
	u64 end = pos & (buffer - 1);

	return copy_aux(from, to, end + (end < size ? buffer : 0) - size, end);
}

#endif
