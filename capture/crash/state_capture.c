/* SPDX-License-Identifier: MIT */
#include "capture/crash/state_capture.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "arch/sigframe.h"
#include "auxtrace/record/crash_record.h"
#include "base/io.h"
#include "capture/crash/loader_pages.h"
#include "capture/crash/runtime_message.h"
#include "capture/crash/thread_status.h"
#include "capture/host/target_memory.h"

enum {
	PAGE = 4096,
	/* bytes kept below a stack pointer; the ABI uses 128 (System V ABI 3.2.2) */
	RED_ZONE = 256,
	STACK_MAX = 256 << 10,
	AROUND_IP = 256,
	/* bytes kept around the address of a futex: a mutex or rwlock of the C library fits */
	AROUND_FUTEX = 64,
	CODE_MAX = 4 << 20, /* limit for the sum of all mappings without a file */
	STATUS_MAX = 64 << 10,
	AUXV_MAX = 4096,
};

static_assert(sizeof(struct user_regs_struct) == PTC_REG_COUNT * sizeof(uint64_t),
	      "registers are recorded in the kernel's order");

/* --- does the signal end the process? --- */

/* Parses the mask after @field in the text of /proc/PID/status. */
static bool mask_of(const char *status, const char *field, uint64_t *ret)
{
	const char *at = strstr(status, field);

	return at && sscanf(at + strlen(field), " %lx", ret) == 1;
}

/* Default actions of signal(7). SIGKILL does not matter: it is never seen in advance. */
static bool ends_processes(int sig)
{
	switch (sig) {
	case SIGCHLD:
	case SIGCONT:
	case SIGURG:
	case SIGWINCH:
	case SIGSTOP:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
		return false;
	default:
		return true;
	}
}

bool ptc_state_is_fatal(const char *proc, pid_t tid, int sig)
{
	struct ptc_buf status = PTC_BUF_INIT;
	uint64_t ignored, caught;
	struct ptc_err err;
	char path[64];
	bool fatal;

	if (sig < 1 || sig > 64 || !ends_processes(sig))
		return false;
	(void)snprintf(path, sizeof(path), "%s/%d/status", proc, (int)tid);
	fatal = !ptc_read_file(path, STATUS_MAX, &status, &err) &&
		mask_of((const char *)status.bytes, "\nSigIgn:", &ignored) &&
		mask_of((const char *)status.bytes, "\nSigCgt:", &caught) &&
		!ptc_signals_have(ignored | caught, sig);
	ptc_buf_release(&status);
	return fatal;
}

/* --- signal and threads --- */

static bool has_sender(int code)
{
	return code == SI_USER || code == SI_QUEUE || code == SI_TKILL;
}

void ptc_state_put_signal(struct ptc_buf *b, const struct ptc_state *s)
{
	struct ptc_crash c = { .kind = PTC_CRASH_SIGNAL,
			       .bytes = ptc_cur_init(s->info, sizeof(*s->info)) };

	c.u.signal = (struct ptc_crash_signal){
		.pid = (uint64_t)s->pid,
		.tid = (uint64_t)s->tid,
		.signo = (uint64_t)s->info->si_signo,
		.code = s->info->si_code,
		.error = (uint64_t)s->info->si_errno,
		.addr = s->info->si_code > 0 ? (uint64_t)s->info->si_addr : 0,
		.sender = has_sender(s->info->si_code) ? (uint64_t)s->info->si_pid : 0,
		.time_ns = s->time_ns,
		.no_memory = s->no_memory,
	};
	ptc_crash_put(b, &c);
}

void ptc_state_put_thread(struct ptc_buf *b, const struct ptc_state *s,
			  const struct ptc_state_thread *t)
{
	struct ptc_crash c = { .kind = PTC_CRASH_THREAD };
	struct ptc_buf comm = PTC_BUF_INIT;
	struct ptc_err err;
	char path[64];

	c.u.thread.pid = (uint64_t)s->pid;
	c.u.thread.tid = (uint64_t)t->tid;
	c.u.thread.in_call = t->in_call;
	memcpy(c.u.thread.regs, t->regs, sizeof(c.u.thread.regs));
	(void)snprintf(path, sizeof(path), "/proc/%d/comm", (int)t->tid);
	if (!ptc_read_file(path, PAGE, &comm, &err) && comm.len)
		c.bytes = ptc_cur_init(comm.bytes, comm.len - 1); /* without the newline */
	ptc_crash_put(b, &c);
	ptc_buf_release(&comm);
}

void ptc_state_put_task(struct ptc_buf *b, const struct ptc_state *s, pid_t tid,
			const struct ptc_thread_status *status, int stop_signal, bool unstopped)
{
	struct ptc_crash c = { .kind = PTC_CRASH_TASK,
			       .bytes = ptc_cur_init(status->file, strlen(status->file)) };

	c.u.task = (struct ptc_crash_task){
		.pid = (uint64_t)s->pid,
		.tid = (uint64_t)tid,
		.own_tid = status->own_tid,
		.stop_signal = (uint64_t)stop_signal,
		.unstopped = unstopped,
		.cpu_ns = status->cpu_ns,
	};
	ptc_crash_put(b, &c);
}

/* Puts a thread that has stopped, and the file of its system call. */
static void put_stopped_thread(struct ptc_buf *b, const struct ptc_state *s,
			       const struct ptc_state_thread *t)
{
	struct ptc_thread_status status = { .own_tid = 0 };

	ptc_state_put_thread(b, s, t);
	ptc_thread_status_read(&status, t->tid);
	if (t->in_call)
		(void)ptc_thread_status_file(&status, t->tid, t->regs);
	ptc_state_put_task(b, s, t->tid, &status, 0, false);
}

/* --- mappings and memory --- */

void ptc_state_put_maps(struct ptc_buf *b, const struct ptc_state *s, const struct ptc_maps *maps)
{
	size_t i;

	for (i = 0; i < maps->n; i++) {
		const struct ptc_map *m = &maps->items[i];
		const char *name = ptc_map_name(maps, m);
		struct ptc_crash c = { .kind = PTC_CRASH_MAP,
				       .bytes = ptc_cur_init(name, strlen(name)) };

		c.u.map = (struct ptc_crash_map){ .pid = (uint64_t)s->pid,
						  .start = m->start,
						  .end = m->end,
						  .off = m->off,
						  .prot = m->prot };
		ptc_crash_put(b, &c);
	}
}

/* Reads @len bytes of one page. */
static bool read_in_page(const struct ptc_state *s, uint64_t addr, void *to, size_t len)
{
	const uint64_t in_copy = addr - s->copy.from;
	uint64_t at = addr + s->base;

	if (in_copy < s->copy.len && len <= s->copy.len - in_copy)
		at = s->copy.at + in_copy;
	return ptc_memory_peek(s->reader ? s->reader : s->tid, at, to, len) == len;
}

/* Reads [from, to) up to the first unreadable page. */
static void read_memory(struct ptc_buf *bytes, const struct ptc_state *s, uint64_t from,
			uint64_t to)
{
	uint64_t at = from;

	while (at < to) {
		const uint64_t edge = (at | (PAGE - 1)) + 1;
		const size_t n = (size_t)((edge < to ? edge : to) - at);
		uint8_t page[PAGE];

		if (!read_in_page(s, at, page, n))
			break;
		ptc_buf_put(bytes, page, n);
		at += n;
	}
}

/* Reads the auxiliary vector up to its end, AT_NULL. */
static void read_auxv(struct ptc_buf *auxv, const struct ptc_state *s)
{
	const size_t pair = 2 * sizeof(uint64_t);
	size_t len = 0;

	read_memory(auxv, s, s->auxv, s->auxv + AUXV_MAX);
	while (auxv->len - len >= pair && ptc_le64(auxv->bytes + len))
		len += pair;
	auxv->len = auxv->len - len >= pair ? len + pair : 0;
}

/* Caller releases @auxv. It stays empty if the vector cannot be read. */
static void put_auxv(struct ptc_buf *b, const struct ptc_state *s, struct ptc_buf *auxv)
{
	struct ptc_crash c = { .kind = PTC_CRASH_AUXV };
	struct ptc_err err;
	char path[64];

	c.u.auxv.pid = (uint64_t)s->pid;
	(void)snprintf(path, sizeof(path), "/proc/%d/auxv", (int)s->tid);
	if (s->maps && s->auxv)
		read_auxv(auxv, s);
	else if (!s->maps && ptc_read_file(path, AUXV_MAX, auxv, &err))
		ptc_buf_reset(auxv);
	if (auxv->len) {
		c.bytes = ptc_cur_init(auxv->bytes, auxv->len);
		ptc_crash_put(b, &c);
	}
}

static uint64_t page_of(uint64_t addr)
{
	return addr & ~(uint64_t)(PAGE - 1);
}

void ptc_state_put_bytes(struct ptc_buf *b, const struct ptc_state *s, uint64_t addr,
			 const void *bytes, size_t len, uint64_t cut)
{
	struct ptc_crash c = { .kind = PTC_CRASH_MEMORY };

	c.u.memory = (struct ptc_crash_memory){ .pid = (uint64_t)s->pid, .addr = addr, .cut = cut };
	c.bytes = ptc_cur_init(bytes, len);
	if (len || cut)
		ptc_crash_put(b, &c);
}

static void put_memory_record(struct ptc_buf *b, const struct ptc_state *s, uint64_t addr,
			      const struct ptc_buf *bytes, uint64_t cut)
{
	ptc_state_put_bytes(b, s, addr, bytes->bytes, bytes->len, cut);
	b->failed |= ptc_buf_failed(bytes);
}

static void put_memory(struct ptc_buf *b, const struct ptc_state *s, uint64_t from, uint64_t to,
		       uint64_t cut)
{
	struct ptc_buf bytes = PTC_BUF_INIT;

	read_memory(&bytes, s, from, to);
	put_memory_record(b, s, from, &bytes, cut);
	ptc_buf_release(&bytes);
}

/*
 * Returns the mapping of the stack for stack pointer @sp. If the stack has overflowed, that is the
 * mapping above @sp.
 */
static const struct ptc_map *stack_of(const struct ptc_maps *maps, uint64_t sp)
{
	size_t i;

	for (i = 0; i < maps->n; i++)
		if (maps->items[i].end > sp && maps->items[i].prot & PROT_READ)
			return maps->items[i].start < sp + STACK_MAX ? &maps->items[i] : NULL;
	return NULL;
}

bool ptc_state_stack(const struct ptc_maps *maps, uint64_t sp, struct ptc_state_span *ret)
{
	const struct ptc_map *m = stack_of(maps, sp);
	uint64_t from = page_of(sp - RED_ZONE);

	if (!m)
		return false;
	if (from < m->start || from > m->end)
		from = m->start;
	ret->from = from;
	ret->size = m->end - from;
	ret->kept = ret->size < STACK_MAX ? ret->size : STACK_MAX;
	return true;
}

bool ptc_state_futex(const struct ptc_state_thread *t, struct ptc_state_span *ret)
{
	const uint64_t at = t->regs->rdi, page = page_of(at), nr = t->regs->orig_rax;

	if (!t->in_call || at < PAGE || (nr != SYS_futex && nr != SYS_restart_syscall))
		return false;
	ret->from = at - page < AROUND_FUTEX ? page : at - AROUND_FUTEX;
	ret->size = ret->kept = at - ret->from + AROUND_FUTEX;
	return true;
}

static void put_futex(struct ptc_buf *b, const struct ptc_state *s,
		      const struct ptc_state_thread *t)
{
	struct ptc_state_span span;

	if (ptc_state_futex(t, &span))
		put_memory(b, s, span.from, span.from + span.kept, 0);
}

/*
 * Puts the stack at @sp. Returns true if this is the alternate stack of a signal handler. *@ret_sp
 * is then the stack pointer of the interrupted code.
 */
static bool put_stack(struct ptc_buf *b, const struct ptc_state *s, const struct ptc_maps *maps,
		      uint64_t sp, uint64_t *ret_sp)
{
	struct ptc_buf bytes = PTC_BUF_INIT;
	struct ptc_state_span span;
	bool found;

	if (!ptc_state_stack(maps, sp, &span))
		return false;
	read_memory(&bytes, s, span.from, span.from + span.kept);
	put_memory_record(b, s, span.from, &bytes, span.size - span.kept);
	found = ptc_sigframe_find(bytes.bytes, bytes.len, span.from, sp, ret_sp);
	ptc_buf_release(&bytes);
	return found;
}

static void put_stacks(struct ptc_buf *b, const struct ptc_state *s, const struct ptc_maps *maps,
		       uint64_t sp)
{
	if (put_stack(b, s, maps, sp, &sp))
		(void)put_stack(b, s, maps, sp, &sp);
}

static void put_around_ip(struct ptc_buf *b, const struct ptc_state *s, const struct ptc_maps *maps,
			  uint64_t ip)
{
	const struct ptc_map *m = ptc_maps_find(maps, ip);

	if (m)
		put_memory(b, s, ip - m->start < AROUND_IP ? m->start : page_of(ip - AROUND_IP),
			   m->end - ip < AROUND_IP ? m->end : page_of(ip + AROUND_IP - 1) + PAGE,
			   0);
}

/* Puts the memory by which a debugger finds the shared libraries. */
static void put_loader(struct ptc_buf *b, const struct ptc_state *s, const struct ptc_buf *auxv)
{
	uint64_t pages[PTC_LOADER_PAGES];
	const size_t n = ptc_loader_pages(s->tid, ptc_cur_init(auxv->bytes, auxv->len), pages);
	size_t i;

	for (i = 0; i < n; i++)
		put_memory(b, s, pages[i], pages[i] + PAGE, 0);
}

void ptc_state_put_auxv(struct ptc_buf *b, const struct ptc_state *s)
{
	struct ptc_buf auxv = PTC_BUF_INIT;

	put_auxv(b, s, &auxv);
	if (!s->no_memory && !s->base) /* the loader's pages are read at the program's addresses */
		put_loader(b, s, &auxv);
	ptc_buf_release(&auxv);
}

/* Returns true if no file has the code of a mapping with this name. */
static bool is_in_no_file(const char *name)
{
	static const char deleted[] = " (deleted)";
	const size_t len = strlen(name), end = sizeof(deleted) - 1;

	if (name[0] != '/')
		return strcmp(name, "[vsyscall]") != 0;
	return len > end && !strcmp(name + len - end, deleted);
}

void ptc_state_put_code(struct ptc_buf *b, const struct ptc_state *s, const struct ptc_maps *maps)
{
	uint64_t room = CODE_MAX;
	size_t i;

	for (i = 0; i < maps->n; i++) {
		const struct ptc_map *m = &maps->items[i];
		const uint64_t size = m->end - m->start, n = size < room ? size : room;

		if (!(m->prot & PROT_EXEC) || !is_in_no_file(ptc_map_name(maps, m)))
			continue;
		room -= n;
		put_memory(b, s, m->start, m->start + n, size - n);
	}
}

static void put_messages(struct ptc_buf *b, const struct ptc_state *s, const struct ptc_maps *maps)
{
	size_t i;

	for (i = 0; i < s->nthreads; i++)
		if (s->threads[i].tid == s->tid)
			ptc_state_put_messages(b, s, s->threads[i].regs, maps);
}

static void put_spaces(struct ptc_buf *b, const struct ptc_state *s, const struct ptc_maps *maps,
		       const struct ptc_buf *auxv)
{
	size_t i;

	ptc_state_put_maps(b, s, maps);
	for (i = 0; i < s->nthreads && !s->no_memory; i++) {
		put_futex(b, s, &s->threads[i]);
		put_stacks(b, s, maps, s->threads[i].regs->rsp);
		put_around_ip(b, s, maps, s->threads[i].regs->rip);
	}
	if (s->no_memory)
		return;
	ptc_state_put_code(b, s, maps);
	if (!s->base) /* the loader's pages are read at the program's addresses */
		put_loader(b, s, auxv);
	put_messages(b, s, maps);
}

void ptc_state_put(struct ptc_buf *b, const struct ptc_state *s)
{
	struct ptc_maps maps = PTC_MAPS_INIT;
	struct ptc_buf auxv = PTC_BUF_INIT;
	struct ptc_err err;
	size_t i;

	ptc_state_put_signal(b, s);
	for (i = 0; i < s->nthreads; i++)
		put_stopped_thread(b, s, &s->threads[i]);
	put_auxv(b, s, &auxv);
	if (s->maps)
		put_spaces(b, s, s->maps, &auxv);
	else if (!ptc_maps_read(&maps, "/proc", s->tid, &err))
		put_spaces(b, s, &maps, &auxv);
	ptc_maps_release(&maps);
	ptc_buf_release(&auxv);
}
