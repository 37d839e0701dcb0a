/* SPDX-License-Identifier: MIT */
#include "decode/lbr/code_changes.h"

#include <linux/perf_event.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/grow.h"
#include "decode/session/decode_input.h"

enum { OLD_RANGES = 16 }; /* ranges of a process that a new mapping replaces */

void ptc_code_changes_release(struct ptc_code_changes *c)
{
	ptc_idmap_release(&c->pids);
	free(c->mixed);
	*c = (struct ptc_code_changes){ .n = 0 };
}

static void add_change(struct ptc_code_changes *c, uint64_t start, uint64_t end)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		if (c->ranges[i].start <= start && end <= c->ranges[i].end)
			return;
	if (c->n == PTC_CODE_CHANGES) {
		c->many = true;
		return;
	}
	c->ranges[c->n].start = start;
	c->ranges[c->n++].end = end;
}

static bool set_mixed(struct ptc_code_changes *c, int32_t pid)
{
	size_t at = ptc_idmap_find(&c->pids, pid);

	if (at == SIZE_MAX) {
		if (!ptc_grow(&c->mixed, &c->cap, c->npids + 1, sizeof(*c->mixed)) ||
		    !ptc_idmap_add(&c->pids, pid, c->npids))
			return false;
		at = c->npids++;
	}
	c->mixed[at] = true;
	return true;
}

/* Applies a mapping of [start, end), and notes which ranges have other code now. */
static int apply_mapping(struct ptc_code_changes *c, struct ptc_decode_input *in, int32_t pid,
			 uint64_t start, uint64_t end, struct ptc_err *err)
{
	const struct ptc_proc *p = ptc_procs_find(&in->procs, pid);
	const struct ptc_range *r = p ? ptc_ranges_from(&p->as.ranges, start) : NULL;
	struct ptc_range old[OLD_RANGES];
	size_t n = 0, i;
	int rc;

	for (; r && r->start < end && n < OLD_RANGES; r = ptc_ranges_next(&p->as.ranges, r))
		old[n++] = *r;
	rc = ptc_sideband_apply(&in->sideband, &in->procs, err);
	if (n == OLD_RANGES)
		add_change(c, start, end);
	for (i = 0; i < n; i++) {
		const uint64_t at = old[i].start > start ? old[i].start : start;

		r = ptc_addrspace_find(&p->as, at);
		if (!r || r->file != old[i].file ||
		    at - r->start + r->off != at - old[i].start + old[i].off)
			add_change(c, at, old[i].end < end ? old[i].end : end);
	}
	return rc;
}

static int apply_next(struct ptc_code_changes *c, struct ptc_decode_input *in,
		      const struct ptc_sb *sb, struct ptc_err *err)
{
	const struct ptc_proc *p;
	uint64_t end;

	if (sb->type == PERF_RECORD_MMAP || sb->type == PERF_RECORD_MMAP2) {
		if (__builtin_add_overflow(sb->u.mmap.addr, sb->u.mmap.len, &end))
			end = UINT64_MAX;
		return apply_mapping(c, in, sb->u.mmap.pid, sb->u.mmap.addr, end, err);
	}
	p = sb->type == PERF_RECORD_COMM && sb->misc & PERF_RECORD_MISC_COMM_EXEC ?
		    ptc_procs_find(&in->procs, sb->u.comm.pid) :
		    NULL;
	if (p && p->as.ranges.root && !set_mixed(c, p->pid))
		return ptc_fail_mem(err);
	return ptc_sideband_apply(&in->sideband, &in->procs, err);
}

int ptc_code_changes_apply(struct ptc_code_changes *c, struct ptc_decode_input *in, uint64_t time,
			   struct ptc_err *err)
{
	const struct ptc_event *ev;
	int rc = 0;

	while (!rc && (ev = ptc_sideband_peek(&in->sideband, time)) != NULL)
		rc = apply_next(c, in, &ev->sb, err);
	return rc;
}

bool ptc_code_changed(const struct ptc_code_changes *c, uint64_t ip)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		if (c->ranges[i].start <= ip && ip < c->ranges[i].end)
			return true;
	return c->many;
}

bool ptc_code_is_mixed(const struct ptc_code_changes *c, int32_t pid)
{
	const size_t at = ptc_idmap_find(&c->pids, pid);

	return at != SIZE_MAX && c->mixed[at];
}

void ptc_code_set_pure(struct ptc_code_changes *c, int32_t pid)
{
	const size_t at = ptc_idmap_find(&c->pids, pid);

	if (at != SIZE_MAX)
		c->mixed[at] = false;
}
