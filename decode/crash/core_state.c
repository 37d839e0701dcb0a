/* SPDX-License-Identifier: MIT */
#include "decode/crash/core_state.h"

#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "arch/sigframe.h"
#include "base/err.h"
#include "base/grow.h"
#include "decode/crash/runtime_message.h"
#include "decode/image/core.h"

enum { STACK_MAX = 256 << 10, RED_ZONE = 256, AROUND_IP = 256 };

/* Returns the signal. The note has the layout of siginfo_t (asm-generic/siginfo.h). */
static struct ptc_crash_signal signal_of(const struct ptc_core *c)
{
	struct ptc_crash_signal s = { .pid = (uint64_t)c->pid,
				      .tid = c->threads[0].tid,
				      .signo = c->threads[0].signo,
				      .time_ns = PTC_CRASH_STATE_NO_TIME };
	siginfo_t info;

	static_assert(sizeof(siginfo_t) == PTC_CORE_SIGINFO, "the note has the kernel's structure");
	if (!c->siginfo)
		return s;
	memcpy(&info, c->siginfo, sizeof(info));
	s.signo = (uint64_t)info.si_signo;
	s.code = info.si_code;
	s.error = (uint64_t)info.si_errno;
	if (info.si_code > 0)
		s.addr = (uint64_t)info.si_addr;
	else
		s.sender = (uint64_t)info.si_pid;
	return s;
}

static bool take_thread(struct ptc_crash_state *d, const struct ptc_core_thread *t)
{
	struct ptc_crash_state_thread *to;

	if (!ptc_grow(&d->threads, &d->threads_cap, d->nthreads + 1, sizeof(*to)))
		return false;
	to = &d->threads[d->nthreads++];
	*to = (struct ptc_crash_state_thread){ .state = { .pid = d->signal.pid, .tid = t->tid } };
	memcpy(to->state.regs, t->regs, sizeof(t->regs));
	return true;
}

static bool take_area(struct ptc_crash_state *d, const struct ptc_core *c,
		      const struct ptc_core_area *a)
{
	const struct ptc_core_map *m = ptc_core_map_at(c, a->start);
	char *name = strdup(m ? m->name : "");
	struct ptc_crash_state_map *to;

	if (!name || !ptc_grow(&d->maps, &d->maps_cap, d->nmaps + 1, sizeof(*to))) {
		free(name);
		return false;
	}
	to = &d->maps[d->nmaps++];
	*to = (struct ptc_crash_state_map){ .name = name };
	to->map = (struct ptc_crash_map){ .pid = d->signal.pid,
					  .start = a->start,
					  .end = a->end,
					  .off = m ? m->off + (a->start - m->start) : 0,
					  .prot = a->prot };
	return true;
}

static bool take_memory(struct ptc_crash_state *d, const struct ptc_core *c, uint64_t addr,
			size_t len)
{
	struct ptc_crash_state_piece *to;
	uint8_t *bytes, *fit;
	size_t n;

	if (!ptc_grow(&d->pieces, &d->pieces_cap, d->npieces + 1, sizeof(*to)))
		return false;
	bytes = malloc(len);
	if (!bytes)
		return false;
	n = ptc_core_read(c, addr, bytes, len);
	fit = realloc(bytes, n ? n : 1);
	bytes = fit ? fit : bytes;
	d->pieces[d->npieces++] =
		(struct ptc_crash_state_piece){ addr, ptc_cur_init(bytes, n), bytes };
	return true;
}

/*
 * Take the memory from @back below @addr on. If there is none, from @addr on, or from the next
 * segment on.
 */
static bool take_around(struct ptc_crash_state *d, const struct ptc_core *c, uint64_t addr,
			uint64_t back, size_t len)
{
	uint64_t from = addr - back;
	uint8_t byte;

	if (!ptc_core_read(c, from, &byte, 1))
		from = addr;
	if (!ptc_core_read(c, from, &byte, 1))
		from = ptc_core_next(c, addr); /* beginning of an exhausted stack */
	if (from > addr && from - addr > STACK_MAX)
		return true; /* the segment belongs to something else */
	return take_memory(d, c, from, len);
}

/*
 * Take the stack at @sp. If that is a handler's alternate stack, also take the stack that the
 * signal interrupted.
 */
static bool take_stacks(struct ptc_crash_state *d, const struct ptc_core *c, uint64_t sp)
{
	const struct ptc_crash_state_piece *taken;
	const size_t n = d->npieces;

	if (!take_around(d, c, sp, RED_ZONE, STACK_MAX))
		return false;
	taken = d->npieces > n ? &d->pieces[n] : NULL;
	if (!taken ||
	    !ptc_sigframe_find(taken->copy, ptc_cur_left(&taken->bytes), taken->addr, sp, &sp))
		return true;
	return take_around(d, c, sp, RED_ZONE, STACK_MAX);
}

static size_t read_core_memory(void *ctx, uint64_t addr, void *to, size_t len)
{
	return ptc_core_read(ctx, addr, to, len);
}

/* A core without a note of the signal's sender may have messages, too. */
static bool take_messages(struct ptc_crash_state *d, const struct ptc_core *c)
{
	return ptc_runtime_message_find(d, read_core_memory, (void *)(uintptr_t)c,
					&d->threads[0].state);
}

int ptc_crash_state_of_core(struct ptc_crash_state *d, const struct ptc_core *c,
			    struct ptc_err *err)
{
	bool ok = true;
	size_t i;

	if (c->pid < 0 || !c->nthreads)
		return ptc_fail(err, PTC_E_FORMAT, "'%s' has no threads (no NT_PRSTATUS note)",
				c->path);
	d->signal = signal_of(c);
	d->states = 1;
	for (i = 0; ok && i < c->nareas; i++)
		ok = take_area(d, c, &c->areas[i]);
	for (i = 0; ok && i < c->nthreads; i++)
		ok = take_thread(d, &c->threads[i]) &&
		     take_stacks(d, c, c->threads[i].regs[PTC_REG_RSP]) &&
		     take_around(d, c, c->threads[i].regs[PTC_REG_RIP], AROUND_IP,
				 (size_t)2 * AROUND_IP);
	ok = ok && take_messages(d, c);
	return ok ? 0 : ptc_fail_mem(err);
}
