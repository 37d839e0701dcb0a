/* SPDX-License-Identifier: MIT */
#include "decode/crash/python_frames.h"

#include <string.h>

#include "base/err.h"
#include "base/grow.h"

/* Reads a state within the limits. */
struct reader {
	const struct ptc_crash_state *state;
	struct ptc_python_limits *limits;
};

/* Each read looks at all pieces of memory. */
static size_t read_state(void *ctx, uint64_t addr, void *to, size_t len)
{
	const struct reader *r = ctx;

	if (r->limits->looks < r->state->npieces)
		return 0;
	r->limits->looks -= r->state->npieces;
	return ptc_crash_state_memory(r->state, addr, to, len);
}

static unsigned int version_of(const struct ptc_crash_message *m)
{
	return (unsigned int)(m->what - PTC_CRASH_PYTHON_3_11) + PTC_PYTHON_OLDEST;
}

static const struct ptc_crash_message *find_thread(const struct ptc_crash_state *d, uint64_t tid)
{
	size_t i;

	for (i = 0; i < d->npython; i++)
		if (d->python[i].tid == tid)
			return &d->python[i];
	return NULL;
}

int ptc_python_frames_read(const struct ptc_crash_state *d, uint64_t tid,
			   struct ptc_python_limits *limits, struct ptc_python_frames *ret,
			   struct ptc_err *err)
{
	const struct ptc_crash_message *m = find_thread(d, tid);
	struct reader r = { d, limits };
	const struct ptc_memory_view v = { &r, read_state };
	struct ptc_python_layout layout;
	struct ptc_python_frame frame;
	struct ptc_python_stack s;

	if (!m)
		return 0;
	ret->cut = !ptc_python_layout(&v, version_of(m), d->python_runtime, &layout);
	if (ret->cut)
		return 0;
	ptc_python_stack_start(&s, &v, &layout, m->addr);
	while (limits->frames && ptc_python_stack_next(&s, &frame)) {
		if (!ptc_grow(&ret->items, &ret->cap, ret->n + 1, sizeof(*ret->items)))
			return ptc_fail_mem(err);
		ret->items[ret->n++] = frame;
		limits->frames--;
	}
	ret->cut = s.cut || s.next;
	return 0;
}

static bool is_same_frame(const struct ptc_python_frame *a, const struct ptc_python_frame *b)
{
	return a->line == b->line && !strcmp(a->function, b->function) && !strcmp(a->file, b->file);
}

bool ptc_python_frames_are_same(const struct ptc_python_frames *a,
				const struct ptc_python_frames *b)
{
	size_t i;

	if (a->n != b->n || a->cut != b->cut)
		return false;
	for (i = 0; i < a->n; i++)
		if (!is_same_frame(&a->items[i], &b->items[i]))
			return false;
	return true;
}

size_t ptc_python_frames_count(const struct ptc_python_frames *f)
{
	return f->n;
}

bool ptc_python_frames_are_cut(const struct ptc_python_frames *f)
{
	return f->cut;
}

const char *ptc_python_frames_function(const struct ptc_python_frames *f, size_t i)
{
	return f->items[i].function;
}

const char *ptc_python_frames_file(const struct ptc_python_frames *f, size_t i)
{
	return f->items[i].file;
}

uint32_t ptc_python_frames_line(const struct ptc_python_frames *f, size_t i)
{
	return f->items[i].line;
}
