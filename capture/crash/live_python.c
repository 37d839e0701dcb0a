/* SPDX-License-Identifier: MIT */
#include "capture/crash/live_python.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/message_collect.h"
#include "auxtrace/record/crash_record.h"
#include "base/vec.h"
#include "capture/crash/state_capture.h"
#include "capture/host/maps.h"
#include "capture/host/target_memory.h"

enum {
	PAGE = 4096,
	SLOTS = 512, /* pages that are kept: threads share code, and frames share pages */
	NO_PAGE = 1, /* no page has this address */
	/* limits for all threads */
	RANGES_MAX = 256 << 10,
	BYTES_MAX = 8 << 20,
};

struct slot {
	uint64_t addr;
	bool readable;
	uint8_t bytes[PAGE];
};

/* Memory of the process. */
struct range {
	uint64_t addr;
	size_t off, len; /* in the copy */
};

struct ptc_live_python {
	pid_t pid;
	int memory; /* of the process; -1: it cannot be opened */
	struct ptc_message_search search;
	struct ptc_message_python python;
	struct ptc_message_found found;
	struct slot slots[SLOTS];
	struct ptc_message_root *roots; /* owned, as all arrays */
	pid_t *tids;			/* of the roots */
	size_t nroots, roots_cap, tids_cap;
	struct range *ranges;
	size_t nranges, ranges_cap;
	struct ptc_buf copy; /* bytes of the ranges */
	bool no_memory;	     /* out of memory */
};

/* --- reading --- */

static size_t up_to_page_end(uint64_t addr, size_t len)
{
	const size_t left = PAGE - (size_t)(addr % PAGE);

	return left < len ? left : len;
}

static size_t read_running(void *ctx, uint64_t addr, void *to, size_t len)
{
	const struct ptc_live_python *p = ctx;
	size_t done = 0, n;

	for (; done < len; done += n) {
		n = up_to_page_end(addr + done, len - done);
		if (ptc_memory_peek_by(p->memory, p->pid, addr + done, (uint8_t *)to + done, n) !=
		    n)
			break;
	}
	return done;
}

static const struct slot *slot_of(struct ptc_live_python *p, uint64_t addr)
{
	const uint64_t page = addr - addr % PAGE;
	struct slot *s = &p->slots[page / PAGE % SLOTS];

	if (s->addr != page) {
		s->readable = ptc_memory_peek_by(p->memory, p->pid, page, s->bytes, PAGE) == PAGE;
		s->addr = page;
	}
	return s;
}

/* Reads a process that stands still: each page once, while its slot is not needed for another. */
static size_t read_still(void *ctx, uint64_t addr, void *to, size_t len)
{
	const struct slot *s;
	size_t done = 0, n;

	for (; done < len; done += n) {
		n = up_to_page_end(addr + done, len - done);
		s = slot_of(ctx, addr + done);
		if (!s->readable)
			break;
		memcpy((uint8_t *)to + done, s->bytes + (addr + done) % PAGE, n);
	}
	return done;
}

bool ptc_live_python_new(pid_t pid, const struct ptc_maps *maps, struct ptc_live_python **ret)
{
	struct ptc_live_python *p = calloc(1, sizeof(*p));
	size_t i;

	*ret = p;
	if (!p)
		return false;
	p->pid = pid;
	p->memory = ptc_memory_open(pid);
	p->search.view = (struct ptc_memory_view){ p, read_running };
	for (i = 0; i < maps->n; i++)
		ptc_message_add_map(&p->search, maps->items[i].start, maps->items[i].end,
				    maps->items[i].prot, ptc_map_name(maps, &maps->items[i]));
	if (!ptc_message_find_python(&p->search, &p->python)) {
		ptc_live_python_free(p);
		*ret = NULL;
		return true;
	}
	p->search.view.read = read_still;
	for (i = 0; i < SLOTS; i++)
		p->slots[i].addr = NO_PAGE;
	return true;
}

void ptc_live_python_free(struct ptc_live_python *p)
{
	if (!p)
		return;
	if (p->memory >= 0)
		(void)close(p->memory);
	free(p->roots);
	free(p->tids);
	free(p->ranges);
	ptc_buf_release(&p->copy);
	free(p);
}

/* --- copying --- */

static bool add_root(struct ptc_live_python *p, pid_t tid, const struct ptc_message_root *root)
{
	if (!ptc_vec_reserve((void **)&p->roots, &p->roots_cap, p->nroots + 1, sizeof(*root)) ||
	    !ptc_vec_reserve((void **)&p->tids, &p->tids_cap, p->nroots + 1, sizeof(tid)))
		return false;
	p->roots[p->nroots] = *root;
	p->tids[p->nroots++] = tid;
	return true;
}

static bool copy_range(struct ptc_live_python *p, const struct ptc_message_range *r)
{
	uint8_t *to = ptc_buf_grow(&p->copy, r->len);
	size_t n;

	if (!to || !ptc_vec_reserve((void **)&p->ranges, &p->ranges_cap, p->nranges + 1,
				    sizeof(*p->ranges)))
		return false;
	n = read_still(p, r->addr, to, r->len);
	p->copy.len -= r->len - n;
	p->ranges[p->nranges++] = (struct range){ r->addr, p->copy.len - n, n };
	return true;
}

/*
 * Beyond the limits the records name the thread, without its memory. A reader then tells that
 * frames are missing.
 */
void ptc_live_python_copy(struct ptc_live_python *p, pid_t tid, uint64_t fs_base)
{
	const struct ptc_message_found *f = &p->found;
	bool ok = true;
	size_t i;

	p->search.fs_base = fs_base;
	ptc_message_collect_python(&p->search, &p->python, &p->found);
	for (i = 0; i < f->nroots && ok; i++)
		ok = add_root(p, tid, &f->roots[i]);
	if (f->nroots && f->bytes <= BYTES_MAX - p->copy.len &&
	    f->nranges <= RANGES_MAX - p->nranges)
		for (i = 0; i < f->nranges && ok; i++)
			ok = copy_range(p, &f->ranges[i]);
	p->no_memory |= !ok;
}

/* --- afterwards --- */

static void put_roots(const struct ptc_live_python *p, struct ptc_buf *b)
{
	struct ptc_crash c = { .kind = PTC_CRASH_MESSAGE };
	size_t i;

	for (i = 0; i < p->nroots; i++) {
		if (i && p->roots[i].kind == PTC_CRASH_PYTHON_RUNTIME)
			continue; /* all threads have the same */
		c.u.message = (struct ptc_crash_message){ .pid = (uint64_t)p->pid,
							  .tid = (uint64_t)p->tids[i],
							  .what = p->roots[i].kind,
							  .addr = p->roots[i].addr };
		ptc_crash_put(b, &c);
	}
}

static int by_address(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return (x->len < y->len) - (x->len > y->len);
}

/* Puts memory once that several threads need, such as code objects. */
static void put_ranges(struct ptc_live_python *p, const struct ptc_state *s, struct ptc_buf *b)
{
	uint64_t end = 0;
	size_t i;

	if (p->nranges)
		qsort(p->ranges, p->nranges, sizeof(*p->ranges), by_address);
	for (i = 0; i < p->nranges; i++) {
		const struct range *r = &p->ranges[i];

		if (r->addr + r->len <= end)
			continue;
		ptc_state_put_bytes(b, s, r->addr, p->copy.bytes + r->off, r->len, 0);
		end = r->addr + r->len;
	}
}

void ptc_live_python_put(struct ptc_live_python *p, const struct ptc_state *s, struct ptc_buf *b)
{
	b->failed |= p->no_memory;
	put_roots(p, b);
	put_ranges(p, s, b);
}
