/* SPDX-License-Identifier: MIT */
#include "arch/message_collect.h"

#include <sys/mman.h>

#include "arch/abort_msg.h"
#include "arch/asan_report.h"
#include "arch/cxx_exception.h"
#include "arch/go_panic.h"
#include "arch/python_stack.h"
#include "arch/rust_panic.h"
#include "ptcap/crash.h"

enum {
	AREA_MAX = 1 << 20,   /* bytes of a library's variables that are searched */
	PYTHON_MAX = 8 << 20, /* same, for CPython's variables; of all mappings together */
	TEXT_MAX = 4096,
};

void ptc_message_add_map(struct ptc_message_search *s, uint64_t start, uint64_t end, uint64_t prot,
			 const char *name)
{
	struct ptc_message_area *last = s->nareas ? &s->areas[s->nareas - 1] : NULL;

	if (!(prot & PROT_WRITE) || !(prot & PROT_READ))
		return;
	if (!name[0] && last && last->end == start) { /* its zeroed variables */
		last->end = end;
		return;
	}
	if (name[0] == '/' && s->nareas < PTC_MESSAGE_AREAS)
		s->areas[s->nareas++] =
			(struct ptc_message_area){ start, end, ptc_python_version(name) };
}

/* --- keeping --- */

struct keeper {
	const struct ptc_memory_view *view;
	struct ptc_message_found *found;
	size_t limit; /* of found->bytes */
};

static bool is_kept(const struct ptc_message_found *f, uint64_t addr, size_t len)
{
	size_t i;

	for (i = 0; i < f->nranges; i++)
		if (addr >= f->ranges[i].addr && addr - f->ranges[i].addr <= f->ranges[i].len &&
		    f->ranges[i].len - (addr - f->ranges[i].addr) >= len)
			return true;
	return false;
}

/* Reads memory, and keeps the bytes. Fails for memory beyond the limits. */
static size_t read_and_keep(void *ctx, uint64_t addr, void *to, size_t len)
{
	const struct keeper *k = ctx;
	struct ptc_message_found *f = k->found;
	const size_t n = k->view->read(k->view->ctx, addr, to, len);

	if (!n || is_kept(f, addr, n))
		return n;
	if (f->nranges == PTC_MESSAGE_RANGES || n > k->limit - f->bytes)
		return 0;
	f->ranges[f->nranges++] = (struct ptc_message_range){ addr, n };
	f->bytes += n;
	return n;
}

static void add_root(struct ptc_message_found *f, uint64_t kind, uint64_t addr)
{
	if (f->nroots < PTC_MESSAGE_ROOTS)
		f->roots[f->nroots++] = (struct ptc_message_root){ kind, addr };
}

/* --- the messages --- */

static void collect_abort(const struct ptc_message_search *s, const struct ptc_memory_view *keep,
			  struct ptc_message_found *f)
{
	char text[TEXT_MAX];
	uint64_t addr;
	size_t i;
	bool cut;

	for (i = 0; i < s->nareas; i++) {
		const struct ptc_message_area *a = &s->areas[i];
		const uint64_t size = a->end - a->start;

		if (!ptc_abort_msg_find(&s->view, a->start,
					a->start + (size < AREA_MAX ? size : AREA_MAX), &addr))
			continue;
		if (ptc_abort_msg_read(keep, addr, text, sizeof(text), &cut))
			add_root(f, PTC_CRASH_ABORT_MSG, addr);
		return;
	}
}

static void collect_exception(const struct ptc_message_search *s,
			      const struct ptc_memory_view *keep, struct ptc_message_found *f)
{
	struct ptc_cxx_exception e;
	uint64_t addr;

	if (ptc_cxx_exception_find(&s->view, s->fs_base, &addr) &&
	    ptc_cxx_exception_read(keep, addr, &e))
		add_root(f, PTC_CRASH_CXX_EXCEPTION, addr);
}

static void collect_panic(const struct ptc_message_search *s, const struct ptc_memory_view *keep,
			  struct ptc_message_found *f)
{
	struct ptc_rust_panic p;
	uint64_t addr;

	if (ptc_rust_panic_find(&s->view, s->sp, &addr) && ptc_rust_panic_read(keep, addr, &p))
		add_root(f, PTC_CRASH_RUST_PANIC, addr);
}

static void collect_go(const struct ptc_message_search *s, const struct ptc_memory_view *keep,
		       struct ptc_message_found *f)
{
	uint64_t g;

	if (!ptc_go_panic_find(&s->view, s->r14, s->fs_base, &g))
		return;
	ptc_go_panic_touch(keep, g);
	add_root(f, PTC_CRASH_GO_PANIC, g);
}

static void collect_asan(const struct ptc_message_search *s, const struct ptc_memory_view *keep,
			 struct ptc_message_found *f)
{
	struct ptc_asan_report r;
	uint64_t addr;

	if (ptc_asan_report_find(&s->view, s->sp, &addr) && ptc_asan_report_read(keep, addr, &r))
		add_root(f, PTC_CRASH_ASAN_REPORT, addr);
}

/* --- Python --- */

bool ptc_message_find_python(const struct ptc_message_search *s, struct ptc_message_python *ret)
{
	uint64_t left = PYTHON_MAX, size;
	size_t i;

	for (i = 0; i < s->nareas; i++) {
		const struct ptc_message_area *a = &s->areas[i];

		if (!a->python)
			continue;
		size = a->end - a->start < left ? a->end - a->start : left;
		left -= size;
		if (!ptc_python_find_runtime(&s->view, a->python, a->start, a->start + size,
					     &ret->runtime))
			continue;
		ret->minor = a->python;
		return true;
	}
	return false;
}

/* Adds the frames of the thread of @s to @f. */
static void add_python(const struct ptc_message_search *s, const struct ptc_message_python *p,
		       struct ptc_message_found *f)
{
	static const uint64_t kinds[] = { PTC_CRASH_PYTHON_3_11, PTC_CRASH_PYTHON_3_12,
					  PTC_CRASH_PYTHON_3_13 };
	struct keeper k = { &s->view, f, f->bytes + PTC_MESSAGE_BYTES };
	const struct ptc_memory_view keep = { &k, read_and_keep };
	struct ptc_python_layout layout;
	struct ptc_python_stack stack;
	struct ptc_python_frame frame;
	uint64_t thread;

	if (!ptc_python_layout(&keep, p->minor, p->runtime, &layout) ||
	    !ptc_python_find_thread(&s->view, &layout, p->runtime, s->fs_base, &thread))
		return;
	ptc_python_stack_start(&stack, &keep, &layout, thread);
	if (!stack.next && !stack.cut)
		return;
	if (p->minor == PTC_PYTHON_DESCRIBED)
		add_root(f, PTC_CRASH_PYTHON_RUNTIME, p->runtime);
	add_root(f, kinds[p->minor - PTC_PYTHON_OLDEST], thread);
	while (ptc_python_stack_next(&stack, &frame))
		;
}

void ptc_message_collect_python(const struct ptc_message_search *s,
				const struct ptc_message_python *p, struct ptc_message_found *ret)
{
	ret->nroots = ret->nranges = ret->bytes = 0;
	add_python(s, p, ret);
}

/* --- all --- */

static void collect_messages(const struct ptc_message_search *s, struct ptc_message_found *ret)
{
	struct keeper k = { &s->view, ret, PTC_MESSAGE_BYTES };
	const struct ptc_memory_view keep = { &k, read_and_keep };

	collect_abort(s, &keep, ret);
	collect_exception(s, &keep, ret);
	collect_panic(s, &keep, ret);
	collect_go(s, &keep, ret);
	collect_asan(s, &keep, ret);
}

void ptc_message_collect(const struct ptc_message_search *s, struct ptc_message_found *ret)
{
	struct ptc_message_python python;

	ret->nroots = ret->nranges = ret->bytes = 0;
	if (s->aborts)
		collect_messages(s, ret);
	if (ptc_message_find_python(s, &python))
		add_python(s, &python, ret);
}
