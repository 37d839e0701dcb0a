/* SPDX-License-Identifier: MIT */
#include "capture/crash/process_copy.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/sigframe.h"
#include "auxtrace/record/crash_record.h"
#include "base/err.h"
#include "base/vec.h"
#include "capture/crash/live_python.h"
#include "capture/crash/thread_status.h"
#include "capture/host/maps.h"
#include "capture/host/target_memory.h"

enum {
	STACK_MIN = 16 << 10,  /* of each thread, while the budget lasts */
	STACK_LEAST = 4 << 10, /* afterwards, however many threads there are */
	FILES_MAX = 4096, /* names of files that are looked up while the process stands still */
};

/* Memory of the process, copied while it stood still. */
struct piece {
	uint64_t addr, cut;
	size_t off, len; /* in the copy */
};

struct ptc_process_copy {
	struct ptc_state state;
	const struct ptc_copy_thread *threads; /* borrowed */
	size_t nthreads;
	struct ptc_maps own_maps;      /* without state.maps */
	struct ptc_copy_budget budget; /* before this copy */
	int memory;		       /* of the process, while it stands still; -1 */
	struct ptc_buf copy;	       /* bytes of the pieces */
	struct piece *pieces;	       /* owned */
	size_t npieces, pieces_cap;
	struct ptc_live_python *python;	  /* owned; NULL: no Python */
	struct ptc_thread_status *status; /* owned; of threads, in the same order */
	bool no_memory;			  /* out of memory */
};

static const struct ptc_maps *maps_of(const struct ptc_process_copy *c)
{
	return c->state.maps ? c->state.maps : &c->own_maps;
}

/* --- while the process stands still --- */

static pid_t reader_of(const struct ptc_process_copy *c)
{
	return c->state.reader ? c->state.reader : c->state.pid;
}

/* Copies up to @len bytes at @addr, up to the first unreadable page. Returns the bytes. */
static const uint8_t *copy_memory(struct ptc_process_copy *c, uint64_t addr, size_t len,
				  uint64_t cut, size_t *ret_len)
{
	uint8_t *to = ptc_buf_grow(&c->copy, len);
	const pid_t reader = reader_of(c);

	*ret_len = 0;
	if (!to || !ptc_vec_reserve((void **)&c->pieces, &c->pieces_cap, c->npieces + 1,
				    sizeof(*c->pieces))) {
		c->no_memory = true;
		return NULL;
	}
	*ret_len = ptc_memory_peek_by(c->memory, reader, addr + c->state.base, to, len);
	c->copy.len -= len - *ret_len;
	c->pieces[c->npieces++] = (struct piece){
		.addr = addr, .cut = cut, .off = c->copy.len - *ret_len, .len = *ret_len
	};
	return to;
}

/* Returns how many bytes of one stack are kept: fewer if there are many threads. */
static size_t stack_share(const struct ptc_process_copy *c)
{
	const struct ptc_copy_budget *g = &c->budget;
	const size_t own = g->left / (g->processes ? g->processes : 1);
	const size_t share = own / (c->nthreads + 1);

	if (share >= STACK_MIN)
		return share;
	return c->copy.len + STACK_MIN <= g->left ? STACK_MIN : STACK_LEAST;
}

/*
 * Copies the stack at @sp. Returns true if this is the alternate stack of a signal handler.
 * *@ret_sp is then the stack pointer of the interrupted code.
 */
static bool copy_stack(struct ptc_process_copy *c, uint64_t sp, uint64_t *ret_sp)
{
	const size_t share = stack_share(c);
	struct ptc_state_span span;
	const uint8_t *bytes;
	size_t kept, len;

	if (!ptc_state_stack(maps_of(c), sp, &span))
		return false;
	kept = span.kept < share ? (size_t)span.kept : share;
	bytes = copy_memory(c, span.from, kept, span.size - kept, &len);
	return bytes && ptc_sigframe_find(bytes, len, span.from, sp, ret_sp);
}

/* Copies the memory around the futex on which the thread may wait. */
static void copy_futex(struct ptc_process_copy *c, const struct ptc_copy_thread *k)
{
	const struct ptc_state_thread t = { k->tid, k->in_call, &k->regs };
	struct ptc_state_span span;
	size_t len;

	if (ptc_state_futex(&t, &span))
		(void)copy_memory(c, span.from, (size_t)span.kept, 0, &len);
}

static void copy_thread(struct ptc_process_copy *c, const struct ptc_copy_thread *k)
{
	uint64_t sp = k->regs.rsp;

	copy_futex(c, k); /* before the stacks, which may use up the space */
	if (copy_stack(c, sp, &sp))
		(void)copy_stack(c, sp, &sp);
	if (c->python && k->regs.fs_base)
		ptc_live_python_copy(c->python, k->tid, k->regs.fs_base);
}

static bool has_registers(const struct ptc_copy_thread *k)
{
	return k->regs.rip != 0;
}

/* A stack that is younger than the list of mappings: read the list again. */
static void refresh_maps(struct ptc_process_copy *c)
{
	struct ptc_err ignored;
	size_t i;

	for (i = 0; i < c->nthreads && !c->state.maps; i++) {
		const struct ptc_copy_thread *k = &c->threads[i];

		if (has_registers(k) && (!ptc_maps_find(maps_of(c), k->regs.rsp) ||
					 !ptc_maps_find(maps_of(c), k->regs.rip))) {
			(void)ptc_maps_read(&c->own_maps, "/proc", c->state.pid, &ignored);
			return;
		}
	}
}

static void spend(const struct ptc_process_copy *c)
{
	struct ptc_copy_budget *g = c->state.budget;

	if (!g)
		return;
	g->left -= c->copy.len < g->left ? c->copy.len : g->left;
	g->processes -= g->processes > 0;
}

void ptc_process_copy_take(struct ptc_process_copy *c, const struct ptc_copy_thread *threads,
			   size_t n)
{
	size_t i, files = 0;

	c->threads = threads;
	c->nthreads = n;
	if (c->state.budget)
		c->budget = *c->state.budget;
	refresh_maps(c);
	c->memory = ptc_memory_open(reader_of(c));
	c->status = calloc(c->nthreads + 1, sizeof(*c->status));
	c->no_memory |= !c->status;
	for (i = 0; i < c->nthreads && !c->no_memory; i++) {
		const struct ptc_copy_thread *k = &c->threads[i];

		if (!has_registers(k))
			continue;
		if (!c->state.no_memory)
			copy_thread(c, k);
		if (k->in_call && files < FILES_MAX)
			files += ptc_thread_status_file(&c->status[i], k->tid, &k->regs);
	}
	if (c->memory >= 0)
		(void)close(c->memory);
	c->memory = -1;
	spend(c);
}

/* --- afterwards --- */

static void put_threads(struct ptc_buf *b, struct ptc_process_copy *c)
{
	size_t i;

	for (i = 0; i < c->nthreads; i++) {
		const struct ptc_copy_thread *k = &c->threads[i];
		const struct ptc_state_thread t = { k->tid, k->in_call, &k->regs };

		ptc_thread_status_read(&c->status[i], k->tid);
		ptc_state_put_thread(b, &c->state, &t);
		ptc_state_put_task(b, &c->state, k->tid, &c->status[i], k->stop_signal,
				   !k->stopped);
	}
}

static void put_live(struct ptc_buf *b, const struct ptc_process_copy *c,
		     const struct ptc_copy_stop *stop)
{
	struct ptc_crash live = { .kind = PTC_CRASH_LIVE };

	live.u.live = (struct ptc_crash_live){ .pid = (uint64_t)c->state.pid,
					       .stopped_ns = stop->ns,
					       .restarted = stop->restarted };
	ptc_crash_put(b, &live);
}

int ptc_process_copy_put(struct ptc_process_copy *c, const struct ptc_copy_stop *stop,
			 struct ptc_buf *b, struct ptc_err *err)
{
	size_t i;

	if (c->no_memory)
		return ptc_fail_mem(err);
	ptc_state_put_signal(b, &c->state);
	put_live(b, c, stop);
	put_threads(b, c);
	ptc_state_put_auxv(b, &c->state);
	ptc_state_put_maps(b, &c->state, maps_of(c));
	for (i = 0; i < c->npieces; i++) {
		const struct piece *p = &c->pieces[i];

		ptc_state_put_bytes(b, &c->state, p->addr, c->copy.bytes + p->off, p->len, p->cut);
	}
	if (!c->state.no_memory)
		ptc_state_put_code(b, &c->state, maps_of(c));
	if (c->python)
		ptc_live_python_put(c->python, &c->state, b);
	return ptc_buf_failed(b) ? ptc_fail_mem(err) : 0;
}

/* --- before --- */

/* Touches the memory of the copy, so that page faults do not delay the process. */
static void prepare_copy(struct ptc_process_copy *c)
{
	ptc_buf_zero(&c->copy, 1 << 20);
	ptc_buf_reset(&c->copy);
}

int ptc_process_copy_new(const struct ptc_state *s, struct ptc_process_copy **ret,
			 struct ptc_err *err)
{
	static const siginfo_t none = { .si_signo = 0 };
	struct ptc_process_copy *c = calloc(1, sizeof(*c));
	int rc = 0;

	if (!c)
		return ptc_fail_mem(err);
	c->state = *s;
	c->state.tid = s->pid;
	c->memory = -1;
	c->budget = (struct ptc_copy_budget){ PTC_COPY_MAX, 1 };
	c->state.info = &none;
	c->own_maps = (struct ptc_maps)PTC_MAPS_INIT;
	if (!s->maps)
		rc = ptc_maps_read(&c->own_maps, "/proc", s->pid, err);
	prepare_copy(c);
	if (!rc && !s->no_memory && !s->base &&
	    !ptc_live_python_new(s->pid, maps_of(c), &c->python))
		rc = ptc_fail_mem(err);
	if (rc)
		ptc_process_copy_free(c);
	else
		*ret = c;
	return rc;
}

void ptc_process_copy_free(struct ptc_process_copy *c)
{
	if (!c)
		return;
	ptc_maps_release(&c->own_maps);
	ptc_buf_release(&c->copy);
	ptc_live_python_free(c->python);
	free(c->pieces);
	free(c->status);
	free(c);
}
