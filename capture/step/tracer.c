/* SPDX-License-Identifier: MIT */
/*
 * What each kind of ptrace stop means for a single-stepped thread (x86-64,
 * PTRACE_SEIZE). Sources: ptrace(2); kernel/signal.c, kernel/entry/common.c,
 * arch/x86/kernel/{traps,signal,ptrace}.c; checked by tests/e2e against
 * tests/support/refstep.c, which shares nothing with this.
 *
 *  SIGTRAP, TRAP_TRACE     the instruction retired
 *  SIGTRAP, TRAP_BRKPT     the system call returned (report_single_step)
 *  SIGTRAP, si_code 5      a signal handler was entered, nothing ran (ptrace_notify)
 *  SIGTRAP, SI_KERNEL      int3 retired; the signal is the program's
 *  EVENT_EXEC              inside execve; a TRAP_BRKPT stop follows, nothing ran
 *  another signal          before the instruction at rip: a fault, or asynchronous
 */
#include "capture/step/tracer.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "capture/step/program.h"

enum {
	/* -ERESTARTSYS .. -ERESTART_RESTARTBLOCK: include/linux/errno.h, never seen by programs */
	RESTART_FIRST = 512,
	RESTART_LAST = 516,
};

int ptc_tracer_init(struct ptc_tracer *t, struct ptc_err *err)
{
	t->maps = (struct ptc_maps)PTC_MAPS_INIT;
	t->maps_new = (struct ptc_maps)PTC_MAPS_INIT;
	return ptc_code_init(&t->code) ? 0 : ptc_fail_mem(err);
}

void ptc_tracer_release(struct ptc_tracer *t)
{
	size_t i;

	for (i = 0; i < t->nsaved; i++)
		free(t->saved[i].bytes);
	free(t->saved);
	t->saved = NULL;
	t->nsaved = 0;
	ptc_code_release(&t->code);
	ptc_maps_release(&t->maps);
	ptc_maps_release(&t->maps_new);
}

/* --- what the kernel's part writes --- */

/* An AUX piece ends here: its record, then its head, then a wakeup, as the kernel does it. */
static void publish(struct ptc_tracer *t)
{
	struct ptc_softring *ring = t->rec->ring;
	uint64_t from, to;

	ptc_enc_flush(t->flow->enc);
	from = ptc_softring_aux_published(ring);
	to = ptc_softring_aux_head(ring);
	t->published = ptc_enc_pos(t->flow->enc);
	if (from == to)
		return;
	ptc_records_aux(t->rec, from, to, 0);
	ptc_softring_aux_publish(ring);
}

/* --- the instruction that ran --- */

static bool changes_maps(const struct ptc_tracer *t, uint64_t nr)
{
	if (t->insn.kind != PTC_KIND_SYSCALL) /* int 0x80 has numbers of its own */
		return true;
	switch (nr) {
	case SYS_mmap:
	case SYS_mprotect:
	case SYS_pkey_mprotect:
	case SYS_munmap:
	case SYS_mremap:
	case SYS_remap_file_pages:
	case SYS_shmat:
	case SYS_shmdt:
		return true;
	default:
		return false;
	}
}

static bool enters_kernel(const struct ptc_insn *insn)
{
	return insn->kind == PTC_KIND_SYSCALL || insn->kind == PTC_KIND_INT;
}

/* @before: the registers the instruction started with. */
static void retire(struct ptc_tracer *t, const struct user_regs_struct *before, uint64_t to)
{
	bool taken = false;

	if (t->insn.kind == PTC_KIND_JCC && t->insn.target == t->ip + t->insn.len)
		taken = ptc_insn_taken(&t->insn, before->eflags, before->rcx);
	ptc_flow_retire(t->flow, &t->insn, t->ip, to, taken, t->tsc);
}

/* A system call returned: what it did to the address space must be recorded before we go on. */
static int after_syscall(struct ptc_tracer *t, const struct user_regs_struct *before,
			 struct ptc_err *err)
{
	const long long ret = (long long)t->regs.rax;

	if (ptc_affinity_visible(before->rax))
		ptc_affinity_hide(&t->affinity, t->pid);
	if (before->rax != SYS_rt_sigreturn && ret <= -RESTART_FIRST && ret >= -RESTART_LAST)
		t->restart_ip = t->regs.rip - t->insn.len;
	if (before->rax == SYS_prctl && before->rdi == PR_SET_NAME && !ret) {
		int rc = ptc_program_renamed(t, err);

		if (rc)
			return rc;
	}
	return changes_maps(t, before->rax) ? ptc_program_update_maps(t, false, err) : 0;
}

/* --- stops --- */

enum trap { TRAP_RETIRED, TRAP_HANDLER, TRAP_SIGNAL };

/* What does a plain SIGTRAP stop mean? */
static enum trap trap_of(const struct ptc_tracer *t)
{
	siginfo_t si;

	if (!t->injected && !t->exec_pending && !enters_kernel(&t->insn) && t->regs.rip != t->ip)
		return TRAP_RETIRED; /* nearly always; the rest need the siginfo */
	if (ptrace(PTRACE_GETSIGINFO, t->pid, NULL, &si))
		return TRAP_RETIRED;
	if (si.si_code == SIGTRAP)
		return TRAP_HANDLER;
	if (si.si_code == TRAP_TRACE || si.si_code == TRAP_BRKPT)
		return TRAP_RETIRED;
	return TRAP_SIGNAL;
}

/* int3, int1, int 3: the instruction retired and its SIGTRAP is the program's. */
static bool is_breakpoint(const struct ptc_tracer *t, enum trap trap)
{
	/* Under some hypervisors int1 retires without moving rip. */
	if (t->insn.kind == PTC_KIND_INT && t->insn.len == 1 && t->regs.rip == t->ip)
		return trap == TRAP_RETIRED;
	if (t->insn.kind != PTC_KIND_INT || t->regs.rip != t->ip + t->insn.len)
		return false;
	return t->insn.len == 1 || trap == TRAP_SIGNAL;
}

static int on_sigtrap(struct ptc_tracer *t, const struct user_regs_struct *before,
		      struct ptc_err *err)
{
	const enum trap trap = trap_of(t);

	if (trap == TRAP_HANDLER) {
		t->restart_ip = 0;
		t->ip = t->regs.rip;
		return 0;
	}
	if (t->exec_pending) { /* the end of execve: next is the new program's first instruction */
		t->exec_pending = false;
		t->ip = t->regs.rip;
		return 0;
	}
	if (is_breakpoint(t, trap)) {
		retire(t, before, t->regs.rip);
		t->ip = t->regs.rip;
		t->inject = SIGTRAP;
		return 0;
	}
	if (trap == TRAP_SIGNAL) { /* somebody sent it */
		ptc_flow_async(t->flow, t->ip, false, t->tsc);
		t->inject = SIGTRAP;
		return 0;
	}
	if (t->restart_ip) { /* what ran was the interrupted system call, again */
		t->ip = t->restart_ip;
		t->restart_ip = 0;
		t->insn = *ptc_code_at(&t->code, &t->maps, t->pid, t->ip);
		retire(t, before, t->regs.rip);
		t->ip = t->regs.rip;
		return after_syscall(t, before, err);
	}
	if (t->insn.rep && t->regs.rip == t->ip) /* one iteration of many */
		return 0;
	retire(t, before, t->regs.rip);
	t->ip = t->regs.rip;
	return enters_kernel(&t->insn) ? after_syscall(t, before, err) : 0;
}

/* A signal is about to be delivered; the instruction at rip did not run, or faulted. */
static void on_signal(struct ptc_tracer *t, const struct user_regs_struct *before, int sig)
{
	siginfo_t si;
	bool fault = false;

	if (t->insn.kind == PTC_KIND_SYSCALL && t->regs.rip != t->ip &&
	    t->regs.rip == t->ip + t->insn.len) { /* seccomp: SIGSYS instead of the call */
		retire(t, before, t->regs.rip);
		t->ip = t->regs.rip;
	} else if (!ptrace(PTRACE_GETSIGINFO, t->pid, NULL, &si)) {
		fault = si.si_code > 0 &&
			(sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL);
	}
	ptc_flow_async(t->flow, t->ip, fault, t->tsc);
	t->inject = sig;
}

/* Born while we looked: not traced in this version, but counted, and let go at once. */
static void let_go(struct ptc_tracer *t)
{
	unsigned long born;
	int status;

	t->untraced++;
	if (ptrace(PTRACE_GETEVENTMSG, t->pid, NULL, &born))
		return;
	while (waitpid((pid_t)born, &status, __WALL) < 0)
		if (errno != EINTR)
			return;
	if (WIFSTOPPED(status)) {
		/* PTRACE_EVENT_STOP is its birth; anything else is a signal it got already */
		const int sig = status >> 16 ? 0 : WSTOPSIG(status);

		(void)ptrace(PTRACE_DETACH, (pid_t)born, NULL, (void *)(long)sig);
	}
}

/* Inside execve, exit or a fatal signal: what was about to run, or just did, ends here. */
static void end_flow(struct ptc_tracer *t, const struct user_regs_struct *before)
{
	if (enters_kernel(&t->insn) && t->regs.rip == t->ip + t->insn.len)
		retire(t, before, t->regs.rip);
	else
		ptc_flow_async(t->flow, t->ip, false, t->tsc);
}

static int on_event(struct ptc_tracer *t, const struct user_regs_struct *before, int event,
		    struct ptc_err *err)
{
	switch (event) {
	case PTRACE_EVENT_EXEC: /* rip is the new program's already */
		retire(t, before, t->regs.rip);
		t->exec_pending = true;
		return ptc_program_begin(t, err);
	case PTRACE_EVENT_CLONE:
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
		let_go(t);
		return 0;
	case PTRACE_EVENT_EXIT:
		end_flow(t, before);
		t->gone = true;
		return 0;
	default:
		return 0;
	}
}

/* --- the loop --- */

static bool is_group_stop(int status)
{
	const int sig = WSTOPSIG(status);

	return status >> 16 == PTRACE_EVENT_STOP &&
	       (sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU);
}

/*
 * Wait for the target's next stop. A request to leave interrupts a target that
 * sits in a system call (PTRACE_INTERRUPT): the loop then sees a normal stop.
 */
static int wait_stop(struct ptc_tracer *t, int *ret_status, struct ptc_err *err)
{
	bool interrupted = false;

	for (;;) {
		const pid_t got = waitpid(t->pid, ret_status, __WALL);

		if (got == t->pid && WIFSTOPPED(*ret_status) && is_group_stop(*ret_status) &&
		    !*t->leave) {
			(void)ptrace(PTRACE_LISTEN, t->pid, NULL, NULL);
			continue;
		}
		if (got == t->pid)
			return 0;
		if (errno != EINTR)
			return ptc_fail_sys(err, errno, "cannot wait for process %d", (int)t->pid);
		if (*t->leave && !interrupted) {
			(void)ptrace(PTRACE_INTERRUPT, t->pid, NULL, NULL);
			interrupted = true;
		}
	}
}

/* Waiting for a target that is on its way out, or was left. */
static int wait_end(struct ptc_tracer *t, struct ptc_err *err)
{
	for (;;) {
		int status;
		const pid_t got = waitpid(t->pid, &status, __WALL);

		if (got < 0 && errno == EINTR) {
			if (*t->leave) {
				t->left = true;
				return 0;
			}
			continue;
		}
		if (got < 0)
			return ptc_fail_sys(err, errno, "cannot wait for process %d", (int)t->pid);
		if (WIFEXITED(status) || WIFSIGNALED(status)) {
			t->status = status;
			t->reaped = true;
			return 0;
		}
		(void)ptrace(PTRACE_CONT, t->pid, NULL, NULL);
	}
}

static void detach(struct ptc_tracer *t, int sig)
{
	ptc_affinity_unpin(&t->affinity, t->pid);
	(void)ptrace(PTRACE_DETACH, t->pid, NULL, (void *)(long)sig);
}

/*
 * A load of SS holds the trap back until the next instruction has run, too: the
 * stop is about that one.
 */
static void skip_shadow(struct ptc_tracer *t, const struct user_regs_struct *before)
{
	if (!t->insn.shadow || t->regs.rip == t->ip || t->exec_pending)
		return;
	retire(t, before, t->ip + t->insn.len);
	t->ip += t->insn.len;
	t->insn = *ptc_code_at(&t->code, &t->maps, t->pid, t->ip);
}

/*
 * Our own PTRACE_INTERRUPT stops the target before it takes its signals. If the
 * step's SIGTRAP is among them, it is still to come, and would kill a target
 * that was left before it.
 */
static bool trap_is_due(const struct ptc_tracer *t, int status)
{
	struct __ptrace_peeksiginfo_args args = { .off = 0, .flags = 0, .nr = 1 };
	siginfo_t si;

	if (status >> 16 != PTRACE_EVENT_STOP || is_group_stop(status))
		return false;
	for (; ptrace(PTRACE_PEEKSIGINFO, t->pid, &args, &si) == 1; args.off++)
		if (si.si_signo == SIGTRAP && si.si_code > 0)
			return true;
	return false;
}

static int resume(struct ptc_tracer *t, int sig, struct ptc_err *err)
{
	if (!ptrace(PTRACE_SINGLESTEP, t->pid, NULL, (void *)(long)sig) || errno == ESRCH)
		return 0; /* gone: the next wait says how */
	return ptc_fail_sys(err, errno, "cannot step process %d", (int)t->pid);
}

/* Resume, wait, and read the registers of the stop. */
static int run_to_stop(struct ptc_tracer *t, int *ret_status, struct ptc_err *err)
{
	int sig = t->inject;
	int rc;

	t->inject = 0;
	do {
		rc = resume(t, sig, err);
		if (!rc)
			rc = wait_stop(t, ret_status, err);
		if (rc || !WIFSTOPPED(*ret_status))
			return rc;
		if (ptrace(PTRACE_GETREGS, t->pid, NULL, &t->regs) && errno != ESRCH)
			return ptc_fail_sys(err, errno, "cannot read registers of process %d",
					    (int)t->pid);
		sig = 0;
	} while (trap_is_due(t, *ret_status));
	return 0;
}

/* One instruction, or whatever else happens instead. */
static int step(struct ptc_tracer *t, struct ptc_err *err)
{
	const struct user_regs_struct before = t->regs;
	int status, rc, event;

	if (!t->exec_pending)
		t->insn = *ptc_code_at(&t->code, &t->maps, t->pid, t->ip);
	if (!t->exec_pending && enters_kernel(&t->insn) && ptc_affinity_visible(before.rax))
		ptc_affinity_show(&t->affinity, t->pid);
	t->injected = t->inject != 0;
	t->tsc = ptc_rdtsc();
	rc = run_to_stop(t, &status, err);
	if (rc)
		return rc;
	if (!WIFSTOPPED(status)) { /* killed between two instructions, without an exit stop */
		ptc_flow_async(t->flow, t->ip, false, ptc_rdtsc());
		t->status = status;
		t->reaped = true;
		t->gone = true;
		return 0;
	}
	skip_shadow(t, &before);
	event = status >> 16;
	if (event)
		return on_event(t, &before, event, err);
	if (WSTOPSIG(status) == SIGTRAP)
		return on_sigtrap(t, &before, err);
	on_signal(t, &before, WSTOPSIG(status));
	return 0;
}

/* The trace begins: as at a sched-in, then what the new program is. */
static int begin(struct ptc_tracer *t, pid_t pid, struct ptc_err *err)
{
	t->pid = pid;
	if (ptrace(PTRACE_GETREGS, pid, NULL, &t->regs))
		return ptc_fail_sys(err, errno, "cannot read registers of process %d", (int)pid);
	ptc_affinity_pin(&t->affinity, pid);
	t->rec->pid = pid;
	t->rec->tid = pid;
	t->rec->cpu = t->affinity.cpu;
	t->flow->tid = pid;
	t->exec_pending = true;
	t->insn = (struct ptc_insn){ .kind = PTC_KIND_NONE };
	ptc_records_itrace_start(t->rec);
	ptc_records_switch(t->rec, false);
	ptc_enc_begin(t->flow->enc, ptc_rdtsc());
	return ptc_program_begin(t, err);
}

int ptc_tracer_run(struct ptc_tracer *t, pid_t pid, struct ptc_err *err)
{
	int rc = begin(t, pid, err);

	while (!rc && !t->gone && !*t->leave) {
		rc = step(t, err);
		if (!rc && ptc_enc_pos(t->flow->enc) - t->published >= t->watermark)
			publish(t);
		if (!rc && t->rec->no_memory)
			rc = ptc_fail_mem(err);
	}
	if (!t->gone) {
		ptc_flow_async(t->flow, t->ip, false, ptc_rdtsc());
		t->left = true;
	}
	publish(t);
	if (t->gone)
		ptc_records_exit(t->rec, (int)getpid());
	ptc_records_switch(t->rec, true);
	ptc_softring_wake(t->rec->ring);
	if (t->left) {
		detach(t, t->inject);
		return rc;
	}
	ptc_affinity_unpin(&t->affinity, 0);
	if (!rc && !t->reaped) {
		(void)ptrace(PTRACE_CONT, pid, NULL, NULL); /* out of its exit stop */
		rc = wait_end(t, err);
	}
	return rc;
}
