/* SPDX-License-Identifier: MIT */
#include "capture/live/live_state.h"

#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "arch/sigframe.h"
#include "auxtrace/record/crash_record.h"
#include "base/err.h"
#include "base/io.h"
#include "base/vec.h"
#include "capture/crash/state_capture.h"
#include "capture/host/maps.h"
#include "capture/live/live_python.h"
#include "capture/live/thread_hold.h"
#include "capture/live/thread_status.h"
#include "capture/step/task.h"

enum {
	PAGE = 4096,
	/* bytes kept around the address of a futex: a mutex or rwlock of the C library fits */
	AROUND_FUTEX = 64,
	STACK_MIN = 16 << 10, /* of each thread, however many threads there are */
	COPY_MAX = 128 << 20, /* of all threads */
	FILES_MAX = 4096,     /* names of files that are looked up while the process stands still */
};

/* Memory of the process, copied while it stood still. */
struct piece {
	uint64_t addr, cut;
	size_t off, len; /* in the copy */
};

struct live {
	struct ptc_state state;
	struct ptc_hold hold;
	struct ptc_maps maps;
	struct ptc_buf copy;  /* bytes of the pieces */
	struct piece *pieces; /* owned */
	size_t npieces, pieces_cap;
	struct ptc_live_python *python;	  /* owned; NULL: no Python */
	struct ptc_thread_status *status; /* owned; of hold.items, in the same order */
	bool no_memory;			  /* out of memory */
};

/* --- while the process stands still --- */

/* Copies up to @len bytes at @addr, up to the first unreadable page. Returns the bytes. */
static const uint8_t *copy_memory(struct live *v, uint64_t addr, size_t len, uint64_t cut,
				  size_t *ret_len)
{
	uint8_t *to = ptc_buf_grow(&v->copy, len);
	const struct iovec local = { .iov_base = to, .iov_len = len };
	const struct iovec remote = { .iov_base = (void *)addr, .iov_len = len };
	ssize_t n;

	*ret_len = 0;
	if (!to || !ptc_vec_reserve((void **)&v->pieces, &v->pieces_cap, v->npieces + 1,
				    sizeof(*v->pieces))) {
		v->no_memory = true;
		return NULL;
	}
	n = process_vm_readv(v->state.pid, &local, 1, &remote, 1, 0);
	*ret_len = n < 0 ? 0 : (size_t)n;
	v->copy.len -= len - *ret_len;
	v->pieces[v->npieces++] = (struct piece){
		.addr = addr, .cut = cut, .off = v->copy.len - *ret_len, .len = *ret_len
	};
	return to;
}

/* Returns how many bytes of one stack are kept: fewer if there are many threads. */
static size_t stack_share(const struct live *v)
{
	const size_t share = COPY_MAX / (v->hold.n + 1);

	return share < STACK_MIN ? STACK_MIN : share;
}

/*
 * Copies the stack at @sp. Returns true if this is the alternate stack of a signal handler.
 * *@ret_sp is then the stack pointer of the interrupted code.
 */
static bool copy_stack(struct live *v, uint64_t sp, uint64_t *ret_sp)
{
	const size_t share = stack_share(v);
	struct ptc_state_span span;
	const uint8_t *bytes;
	size_t kept, len;

	if (!ptc_state_stack(&v->maps, sp, &span))
		return false;
	kept = span.kept < share ? (size_t)span.kept : share;
	bytes = copy_memory(v, span.from, kept, span.size - kept, &len);
	return bytes && ptc_sigframe_find(bytes, len, span.from, sp, ret_sp);
}

/* Copies the memory around the futex on which the thread may wait. */
static void copy_futex(struct live *v, const struct ptc_held_thread *k)
{
	const uint64_t at = k->regs.rdi, page = at & ~(uint64_t)(PAGE - 1);
	const uint64_t from = at - page < AROUND_FUTEX ? page : at - AROUND_FUTEX;
	size_t len;

	if (!k->in_call || at < PAGE ||
	    (k->regs.orig_rax != SYS_futex && k->regs.orig_rax != SYS_restart_syscall))
		return;
	(void)copy_memory(v, from, (size_t)(at - from) + AROUND_FUTEX, 0, &len);
}

static void copy_thread(struct live *v, const struct ptc_held_thread *k)
{
	uint64_t sp = k->regs.rsp;

	copy_futex(v, k); /* before the stacks, which may use up the space */
	if (copy_stack(v, sp, &sp))
		(void)copy_stack(v, sp, &sp);
	if (v->python && k->regs.fs_base)
		ptc_live_python_copy(v->python, k->tid, k->regs.fs_base);
}

/* A thread in state D: the kernel tells its call without a stop. */
static void look_at_unstopped(struct ptc_held_thread *k)
{
	struct ptc_thread_call c;

	if (!ptc_thread_status_call(k->tid, &c))
		return;
	k->in_call = true;
	k->regs.orig_rax = k->regs.rax = c.nr;
	k->regs.rdi = c.args[0];
	k->regs.rsi = c.args[1];
	k->regs.rdx = c.args[2];
	k->regs.r10 = c.args[3];
	k->regs.r8 = c.args[4];
	k->regs.r9 = c.args[5];
	k->regs.rsp = c.sp;
	k->regs.rip = c.ip - PTC_SYSCALL_LEN;
}

static bool has_registers(const struct ptc_held_thread *k)
{
	return !k->ended && k->regs.rip;
}

/* A stack that is younger than the list of mappings: read the list again. */
static void refresh_maps(struct live *v)
{
	struct ptc_err ignored;
	size_t i;

	for (i = 0; i < v->hold.n; i++) {
		const struct ptc_held_thread *k = &v->hold.items[i];

		if (has_registers(k) && (!ptc_maps_find(&v->maps, k->regs.rsp) ||
					 !ptc_maps_find(&v->maps, k->regs.rip))) {
			(void)ptc_maps_read(&v->maps, "/proc", v->state.pid, &ignored);
			return;
		}
	}
}

static void copy_all(struct live *v)
{
	size_t i, files = 0;

	for (i = 0; i < v->hold.n; i++)
		if (!v->hold.items[i].stopped && !v->hold.items[i].ended)
			look_at_unstopped(&v->hold.items[i]);
	refresh_maps(v);
	v->status = calloc(v->hold.n + 1, sizeof(*v->status));
	v->no_memory |= !v->status;
	for (i = 0; i < v->hold.n && !v->no_memory; i++) {
		const struct ptc_held_thread *k = &v->hold.items[i];

		if (!has_registers(k))
			continue;
		if (!v->state.no_memory)
			copy_thread(v, k);
		if (k->in_call && files < FILES_MAX)
			files += ptc_thread_status_file(&v->status[i], k->tid, &k->regs);
	}
}

/* --- afterwards --- */

static void put_task(struct ptc_buf *b, const struct live *v, size_t i)
{
	const struct ptc_held_thread *k = &v->hold.items[i];
	const struct ptc_thread_status *t = &v->status[i];
	struct ptc_crash c = { .kind = PTC_CRASH_TASK };

	c.bytes = ptc_cur_init(t->file, strlen(t->file));
	c.u.task = (struct ptc_crash_task){
		.pid = (uint64_t)v->state.pid,
		.tid = (uint64_t)k->tid,
		.own_tid = t->own_tid,
		.stop_signal = (uint64_t)k->stop_signal,
		.unstopped = !k->stopped,
		.cpu_ns = t->cpu_ns,
	};
	ptc_crash_put(b, &c);
}

static void put_threads(struct ptc_buf *b, struct live *v)
{
	size_t i;

	for (i = 0; i < v->hold.n; i++) {
		const struct ptc_held_thread *k = &v->hold.items[i];
		const struct ptc_state_thread t = { k->tid, k->in_call, &k->regs };

		if (k->ended)
			continue;
		ptc_thread_status_read(&v->status[i], k->tid);
		ptc_state_put_thread(b, &v->state, &t);
		put_task(b, v, i);
	}
}

static void put_live(struct ptc_buf *b, const struct live *v, uint64_t stopped_ns)
{
	struct ptc_crash c = { .kind = PTC_CRASH_LIVE };

	c.u.live = (struct ptc_crash_live){ .pid = (uint64_t)v->state.pid,
					    .stopped_ns = stopped_ns,
					    .restarted = v->hold.restarted };
	ptc_crash_put(b, &c);
}

static void put_all(struct ptc_buf *b, struct live *v, uint64_t stopped_ns)
{
	size_t i;

	ptc_state_put_signal(b, &v->state);
	put_live(b, v, stopped_ns);
	put_threads(b, v);
	ptc_state_put_auxv(b, &v->state);
	ptc_state_put_maps(b, &v->state, &v->maps);
	for (i = 0; i < v->npieces; i++) {
		const struct piece *p = &v->pieces[i];

		ptc_state_put_bytes(b, &v->state, p->addr, v->copy.bytes + p->off, p->len, p->cut);
	}
	if (!v->state.no_memory)
		ptc_state_put_code(b, &v->state, &v->maps);
	if (v->python)
		ptc_live_python_put(v->python, &v->state, b);
}

/* Touches the memory of the copy, so that page faults do not delay the process. */
static void prepare_copy(struct live *v)
{
	ptc_buf_zero(&v->copy, 1 << 20);
	ptc_buf_reset(&v->copy);
}

int ptc_live_put(struct ptc_buf *b, const struct ptc_live *l, struct ptc_err *err)
{
	const siginfo_t none = { .si_signo = 0 };
	struct live v = { .state = { .pid = l->pid,
				     .tid = l->pid,
				     .info = &none,
				     .time_ns = l->time_ns,
				     .no_memory = l->no_memory },
			  .maps = PTC_MAPS_INIT };
	uint64_t stopped_ns;
	int rc;

	if (ptc_task_runs_32bit(l->pid))
		return ptc_fail(
			err, PTC_E_UNSUPPORTED,
			"process %d is a 32-bit process; only 64-bit processes are supported",
			(int)l->pid);
	rc = ptc_maps_read(&v.maps, "/proc", l->pid, err);
	prepare_copy(&v);
	if (!rc && !v.state.no_memory && !ptc_live_python_new(l->pid, &v.maps, &v.python))
		rc = ptc_fail_mem(err);
	if (!rc)
		rc = ptc_hold_seize(&v.hold, l->pid, err);
	if (!rc)
		rc = ptc_hold_stop(&v.hold, err);
	if (!rc)
		copy_all(&v);
	stopped_ns = ptc_hold_resume(&v.hold);
	if (!rc && v.no_memory)
		rc = ptc_fail_mem(err);
	if (!rc)
		put_all(b, &v, stopped_ns);
	if (!rc && ptc_buf_failed(b))
		rc = ptc_fail_mem(err);
	ptc_hold_release(&v.hold);
	ptc_maps_release(&v.maps);
	ptc_buf_release(&v.copy);
	ptc_live_python_free(v.python);
	free(v.pieces);
	free(v.status);
	return rc;
}
