/* SPDX-License-Identifier: MIT */
#include "capture/crash/runtime_message.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/user.h>

#include "arch/message_collect.h"
#include "auxtrace/record/crash_record.h"
#include "capture/crash/state_capture.h"
#include "capture/host/maps.h"
#include "capture/host/target_memory.h"

enum { PAGE = 4096 };

struct collecting {
	struct ptc_message_search search;
	struct ptc_message_found found;
};

/* Reads page by page, since a read across an unreadable page fails. */
static size_t read_target(void *ctx, uint64_t addr, void *to, size_t len)
{
	const struct ptc_state *s = ctx;
	size_t done = 0, n;

	while (done < len) {
		n = PAGE - (size_t)((addr + done) % PAGE);
		n = len - done < n ? len - done : n;
		if (ptc_memory_peek(s->tid, addr + s->base + done, (uint8_t *)to + done, n) != n)
			break;
		done += n;
	}
	return done;
}

static void put_range(struct ptc_buf *b, const struct ptc_state *s,
		      const struct ptc_message_range *r)
{
	struct ptc_crash c = { .kind = PTC_CRASH_MEMORY };
	uint8_t bytes[PAGE];

	if (r->len > sizeof(bytes) ||
	    ptc_memory_peek(s->tid, r->addr + s->base, bytes, r->len) != r->len)
		return;
	c.u.memory = (struct ptc_crash_memory){ .pid = (uint64_t)s->pid, .addr = r->addr };
	c.bytes = ptc_cur_init(bytes, r->len);
	ptc_crash_put(b, &c);
}

void ptc_state_put_messages(struct ptc_buf *b, const struct ptc_state *s,
			    const struct user_regs_struct *regs, const struct ptc_maps *maps)
{
	struct collecting *c = calloc(1, sizeof(*c));
	struct ptc_crash put = { .kind = PTC_CRASH_MESSAGE };
	size_t i;

	b->failed |= !c;
	if (!c)
		return;
	c->search.view = (struct ptc_memory_view){ (void *)(uintptr_t)s, read_target };
	c->search.aborts = s->info->si_signo == SIGABRT;
	c->search.fs_base = regs->fs_base;
	c->search.sp = regs->rsp;
	c->search.r14 = regs->r14;
	for (i = 0; i < maps->n; i++)
		ptc_message_add_map(&c->search, maps->items[i].start, maps->items[i].end,
				    maps->items[i].prot, ptc_map_name(maps, &maps->items[i]));
	ptc_message_collect(&c->search, &c->found);
	for (i = 0; i < c->found.nroots; i++) {
		put.u.message = (struct ptc_crash_message){ .pid = (uint64_t)s->pid,
							    .tid = (uint64_t)s->tid,
							    .what = c->found.roots[i].kind,
							    .addr = c->found.roots[i].addr };
		ptc_crash_put(b, &put);
	}
	for (i = 0; i < c->found.nranges; i++)
		put_range(b, s, &c->found.ranges[i]);
	free(c);
}
