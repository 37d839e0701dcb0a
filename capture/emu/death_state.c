/* SPDX-License-Identifier: MIT */
#include "capture/emu/death_state.h"

#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "auxtrace/record/crash_record.h"
#include "capture/crash/handled_fault.h"
#include "capture/crash/state_capture.h"
#include "capture/emu/guest_view.h"

/* Selectors of the kernel's user mode (arch/x86/include/asm/segment.h). */
enum { USER_CS = 0x33, USER_SS = 0x2b };

enum {
	FROM_KERNEL = 0x80, /* SI_KERNEL */
	RSP = 4,
	/* in eflags: processors set it when an instruction faults, and QEMU does not */
	RESUME_FLAG = 1 << 16,
};

static_assert((int)PTC_EMU_FAULTS == (int)PTC_HANDLED_FAULTS, "all sources have the same limit");

void ptc_emu_death_registers(struct ptc_emu_unit *u, struct ptc_emu_task *k, const uint8_t *payload)
{
	ptc_buf_put(&k->dying, payload, sizeof(struct ptc_emu_regs));
	u->no_memory |= ptc_buf_failed(&k->dying);
}

struct user_regs_struct ptc_emu_kernel_regs(const struct ptc_emu_regs *r,
					    const struct ptc_emu_death *d)
{
	const bool faults =
		d && ptc_handled_is_fault(&(siginfo_t){ .si_signo = d->signo, .si_code = d->code });
	const struct user_regs_struct ret = {
		.rax = r->gpr[0],
		.rcx = r->gpr[1],
		.rdx = r->gpr[2],
		.rbx = r->gpr[3],
		.rsp = r->gpr[4],
		.rbp = r->gpr[5],
		.rsi = r->gpr[6],
		.rdi = r->gpr[7],
		.r8 = r->gpr[8],
		.r9 = r->gpr[9],
		.r10 = r->gpr[10],
		.r11 = r->gpr[11],
		.r12 = r->gpr[12],
		.r13 = r->gpr[13],
		.r14 = r->gpr[14],
		.r15 = r->gpr[15],
		.rip = r->rip,
		.eflags = r->rflags | (faults ? RESUME_FLAG : 0),
		.orig_rax = r->in_call ? r->gpr[0] : UINT64_MAX,
		.fs_base = r->fs_base,
		.gs_base = r->gs_base,
		.cs = USER_CS,
		.ss = USER_SS,
	};

	return ret;
}

/* Fills in what the kernel says about a signal that an instruction causes
 * (arch/x86/kernel/traps.c). */
static void explain_insn(siginfo_t *info, const struct ptc_maps *maps, uint64_t ip)
{
	const struct ptc_map *code = ptc_maps_find(maps, ip);

	info->si_code = FROM_KERNEL;
	switch (info->si_signo) {
	case SIGFPE:
		info->si_code = FPE_INTDIV;
		info->si_addr = (void *)ip;
		break;
	case SIGILL:
		info->si_code = ILL_ILLOPN;
		info->si_addr = (void *)ip;
		break;
	case SIGSEGV: /* with executable code: a general protection fault, which has no address */
		if (code && code->prot & PROT_EXEC)
			break;
		info->si_code = code ? SEGV_ACCERR : SEGV_MAPERR;
		info->si_addr = (void *)ip;
		break;
	default:
		break;
	}
}

/* @bad_branch: the branch at @ip has caused the signal. */
static siginfo_t info_of(const struct ptc_emu_death *d, const struct ptc_maps *maps, uint64_t ip,
			 bool bad_branch)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_signo = d->signo;
	info.si_errno = d->error;
	info.si_code = d->code;
	if (d->code == PTC_EMU_BY_INSN || bad_branch)
		explain_insn(&info, maps, ip);
	else if (d->code > 0)
		info.si_addr = (void *)d->addr;
	else
		info.si_pid = d->sender;
	return info;
}

void ptc_emu_state_maps(struct ptc_emu_unit *u, const struct ptc_emu_process *p, pid_t tid,
			struct ptc_maps *ret)
{
	struct ptc_maps host = PTC_MAPS_INIT;
	struct ptc_err err;

	if (!ptc_maps_read(&host, "/proc", tid, &err) &&
	    !ptc_emu_guest_view(&host, &p->maps, p->base, ret))
		u->no_memory = true;
	ptc_maps_release(&host);
}

/*
 * Converts the reported registers; the thread that got the signal comes first. Returns the number
 * of threads.
 */
static size_t take_threads(const struct ptc_emu_unit *u, const struct ptc_emu_task *k,
			   const struct ptc_emu_death *d, struct user_regs_struct *regs,
			   struct ptc_state_thread *ret)
{
	const size_t n = k->dying.len / sizeof(struct ptc_emu_regs);
	size_t i, taken = 1;

	for (i = 0; i < n; i++) {
		const struct ptc_emu_task *of;
		struct ptc_emu_regs r;
		size_t to;

		memcpy(&r, k->dying.bytes + i * sizeof(r), sizeof(r));
		of = r.slot < PTC_EMU_SLOTS ? u->by_slot[r.slot] : NULL;
		if (!of || of->proc != k->proc)
			continue;
		to = of == k ? 0 : taken++;
		regs[to] = ptc_emu_kernel_regs(&r, of == k ? d : NULL);
		ret[to] = (struct ptc_state_thread){ of->tid, r.in_call, &regs[to] };
	}
	if (ret[0].regs && k->bad_branch) {
		regs[0].rip = k->bad_branch;
		regs[0].rsp -= (uint64_t)k->bad_branch_sp;
	}
	return ret[0].regs ? taken : 0;
}

/*
 * Appends to @b the state @part, completed by the plugin's report @d and by the mappings. Reads
 * memory through @k. @bad_branch: the branch of the first thread has caused the signal.
 */
static void put_state(struct ptc_emu_unit *u, const struct ptc_emu_task *k,
		      const struct ptc_state *part, const struct ptc_emu_death *d, bool bad_branch,
		      struct ptc_buf *b)
{
	struct ptc_maps maps = PTC_MAPS_INIT;
	struct ptc_state s = *part;
	siginfo_t info;

	ptc_emu_state_maps(u, k->proc, k->tid, &maps);
	info = info_of(d, &maps, s.threads[0].regs->rip, bad_branch);
	s.pid = k->proc->pid;
	s.reader = k->tid;
	s.info = &info;
	s.no_memory = u->no_state_memory;
	s.maps = &maps;
	s.base = k->proc->base;
	s.auxv = d->auxv;
	ptc_state_put(b, &s);
	u->no_memory |= ptc_buf_failed(b);
	ptc_maps_release(&maps);
}

void ptc_emu_death_save(struct ptc_emu_unit *u, struct ptc_emu_task *k, const uint8_t *payload)
{
	const size_t n = k->dying.len / sizeof(struct ptc_emu_regs) + 1;
	struct ptc_state_thread *threads = calloc(n, sizeof(*threads));
	struct user_regs_struct *regs = calloc(n, sizeof(*regs));
	struct ptc_state s = { .tid = k->tid, .threads = threads };
	struct ptc_emu_death d;

	memcpy(&d, payload, sizeof(d));
	if (k->proc)
		k->proc->dies = true;
	if (threads && regs && k->proc) {
		s.time_ns = ptc_clock_ns(k->cpu->rec.clock);
		s.nthreads = take_threads(u, k, &d, regs, threads);
		if (s.nthreads)
			put_state(u, k, &s, &d, k->bad_branch != 0, &u->states);
		u->crashes += s.nthreads != 0;
	} else if (k->proc) {
		u->no_memory = true;
	}
	ptc_buf_reset(&k->dying);
	free(regs);
	free(threads);
}

/* --- faults that a process handles --- */

void ptc_emu_fault_keep(struct ptc_emu_task *k, const uint8_t *payload)
{
	struct ptc_emu_fault f;

	memcpy(&f, payload, sizeof(f));
	/* The threads of a process are read in any order. */
	if (!k->proc || f.number <= k->proc->handled.fault.number)
		return;
	if (k->bad_branch) {
		f.regs.rip = k->bad_branch;
		f.regs.gpr[RSP] -= (uint64_t)k->bad_branch_sp;
	}
	k->proc->handled = (struct ptc_emu_handled){
		.fault = f, .tid = k->tid, .time_ns = k->signal_ns, .bad_branch = k->bad_branch != 0
	};
}

void ptc_emu_fault_save(struct ptc_emu_unit *u, struct ptc_emu_task *k, const uint8_t *payload)
{
	const struct ptc_emu_handled *h = k->proc ? &k->proc->handled : NULL;
	struct ptc_buf records = PTC_BUF_INIT;
	struct user_regs_struct regs;
	struct ptc_state_thread thread = { .regs = &regs };
	struct ptc_state s = { .threads = &thread, .nthreads = 1 };
	struct ptc_emu_failed f;

	memcpy(&f, payload, sizeof(f));
	if (!h || !f.number || f.number != h->fault.number)
		return;
	regs = ptc_emu_kernel_regs(&h->fault.regs, &h->fault.cause);
	thread.tid = h->tid;
	s.tid = h->tid;
	s.time_ns = h->time_ns;
	s.copy.from = f.stack;
	s.copy.len = f.len;
	s.copy.at = f.copy;
	put_state(u, k, &s, &h->fault.cause, h->bad_branch, &records);
	if (!ptc_buf_failed(&records)) {
		ptc_crash_set_exit_status(&records, f.status);
		ptc_buf_put(&u->states, records.bytes, records.len);
	}
	u->no_memory |= ptc_buf_failed(&u->states);
	u->handled++;
	ptc_buf_release(&records);
}
