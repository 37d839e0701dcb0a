/* SPDX-License-Identifier: MIT */
/*
 * The meaning of each kind of ptrace stop for a single-stepped thread (x86-64, PTRACE_SEIZE).
 * Sources: ptrace(2); kernel/signal.c, kernel/entry/common.c,
 * arch/x86/kernel/{traps,signal,ptrace}.c. tests/e2e checks it against tests/support/refstep.c,
 * which is independent code.
 *
 *  SIGTRAP, TRAP_TRACE     the instruction retired
 *  SIGTRAP, TRAP_BRKPT     the system call returned (report_single_step)
 *  SIGTRAP | 0x80          entry or exit of a system call that was not stepped (sigtrap.h)
 *  SIGTRAP, si_code 5      a signal handler was entered, nothing ran (ptrace_notify)
 *  SIGTRAP, SI_KERNEL      int3 retired; the signal is the program's
 *  EVENT_EXEC              inside execve; a TRAP_BRKPT stop follows, nothing ran
 *  another signal          before the instruction at rip: a fault, or asynchronous
 *
 * A task may have lost the CPU while it slept in a system call. The call was listed then, and its
 * trace is off. Such a task stops at any later time.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/err.h"
#include "capture/host/target_memory.h"
#include "capture/step/fatal_signal.h"
#include "capture/step/target_maps.h"
#include "capture/step/tracer.h"
#include "capture/step/trapflag.h"

enum {
	/* -ERESTARTSYS .. -ERESTART_RESTARTBLOCK: include/linux/errno.h; programs never see them */
	RESTART_FIRST = 512,
	RESTART_LAST = 516,
};

bool ptc_stop_is_group(int status)
{
	const int sig = WSTOPSIG(status);

	return status >> 16 == PTRACE_EVENT_STOP &&
	       (sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU);
}

/*
 * PTRACE_INTERRUPT and job control stop the target before it takes pending signals (get_signal() in
 * kernel/signal.c). If the step's SIGTRAP is among them, it is still to come. It would kill a
 * target that is detached before.
 */
bool ptc_stop_trap_is_due(const struct ptc_task *k, int status)
{
	struct __ptrace_peeksiginfo_args args = { .off = 0, .flags = 0, .nr = 1 };
	siginfo_t si;

	if (status >> 16 != PTRACE_EVENT_STOP)
		return false;
	for (; ptrace(PTRACE_PEEKSIGINFO, k->tid, &args, &si) == 1; args.off++)
		if (si.si_signo == SIGTRAP && si.si_code > 0)
			return true;
	return false;
}

static bool changes_maps(const struct ptc_task *k)
{
	if (k->insn.kind != PTC_KIND_SYSCALL) /* int 0x80 has other call numbers */
		return true;
	switch (k->before.rax) {
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

/* A system call returned: records its effects on the address space before the task continues. */
static int after_syscall(struct ptc_tracer *t, struct ptc_task *k, struct ptc_err *err)
{
	const long long ret = (long long)k->regs.rax;
	int rc = 0;

	if (ptc_affinity_visible(k->before.rax))
		ptc_affinity_hide(&k->affinity, k->tid, t->cpu);
	if (k->before.rax != SYS_rt_sigreturn && ret <= -RESTART_FIRST && ret >= -RESTART_LAST)
		k->restart_ip = k->regs.rip - k->insn.len;
	ptc_sigtrap_returned(k, k->before.rax);
	if (k->before.rax == SYS_prctl && k->before.rdi == PR_SET_NAME && !ret)
		rc = ptc_program_renamed(t, k, err);
	ptc_program_after_syscall(t, k);
	if (!rc && changes_maps(k))
		rc = ptc_program_update_maps(t, k, err);
	return rc;
}

/* --- stops --- */

enum trap { TRAP_RETIRED, TRAP_HANDLER, TRAP_SIGNAL };

/* Classifies a plain SIGTRAP stop. */
static enum trap trap_of(const struct ptc_task *k)
{
	siginfo_t si;

	if (!k->injected && !k->exec_pending && !ptc_stop_enters_kernel(&k->insn) &&
	    k->regs.rip != k->ip)
		return TRAP_RETIRED; /* fast path: the other cases need the siginfo */
	if (ptrace(PTRACE_GETSIGINFO, k->tid, NULL, &si))
		return TRAP_RETIRED;
	if (si.si_code == SIGTRAP)
		return TRAP_HANDLER;
	if (si.si_code == TRAP_TRACE || si.si_code == TRAP_BRKPT)
		return TRAP_RETIRED;
	return TRAP_SIGNAL;
}

/*
 * Returns true for int3, int1 and int 3: the instruction retired, and its SIGTRAP is the program's.
 */
static bool is_breakpoint(const struct ptc_task *k, enum trap trap)
{
	/* Under some hypervisors int1 retires without moving rip. */
	if (k->insn.kind == PTC_KIND_INT && k->insn.len == 1 && k->regs.rip == k->ip)
		return trap == TRAP_RETIRED;
	if (k->insn.kind != PTC_KIND_INT || k->regs.rip != k->ip + k->insn.len)
		return false;
	return k->insn.len == 1 || trap == TRAP_SIGNAL;
}

/* Handles a step of the program itself: it has set TF, and gets its SIGTRAP. */
static void own_trap(struct ptc_tracer *t, struct ptc_task *k, bool attempted)
{
	ptc_stop_async(t, k, attempted);
	k->inject = SIGTRAP;
}

static int on_retired(struct ptc_tracer *t, struct ptc_task *k, struct ptc_err *err)
{
	const bool own_tf = k->own_tf;
	bool entered;

	if (k->restart_ip) {
		ptc_stop_restart(k);
	} else if (k->insn.rep && k->regs.rip == k->ip) { /* one iteration of several */
		k->rounds = true;
		if (own_tf)
			own_trap(t, k, true);
		return 0;
	}
	k->rounds = false;
	entered = ptc_stop_enters_kernel(&k->insn);
	ptc_stop_retire(t, k, k->regs.rip);
	k->in_kernel = false;
	k->ip = k->regs.rip;
	ptc_trapflag_retired(k);
	if (entered)
		return after_syscall(t, k, err);
	if (own_tf)
		own_trap(t, k, false);
	return 0;
}

static int on_sigtrap(struct ptc_tracer *t, struct ptc_task *k, struct ptc_err *err)
{
	const enum trap trap = trap_of(k);

	if (trap == TRAP_HANDLER) {
		ptc_trapflag_in_handler(k);
		ptc_sigtrap_in_handler(k);
		k->restart_ip = 0;
		k->ip = k->regs.rip;
		return 0;
	}
	if (k->exec_pending) { /* the end of execve: next is the new program's first instruction */
		k->exec_pending = false;
		k->ip = k->regs.rip;
		return 0;
	}
	if (is_breakpoint(k, trap)) {
		ptc_stop_retire(t, k, k->regs.rip);
		k->ip = k->regs.rip;
		k->inject = SIGTRAP;
		return 0;
	}
	if (trap == TRAP_SIGNAL) { /* a SIGTRAP sent by a process */
		ptc_stop_async(t, k, false);
		k->inject = ptc_sigtrap_sent(k);
		return 0;
	}
	return on_retired(t, k, err);
}

/* Handles a system call that was not stepped. */
static int on_call(struct ptc_tracer *t, struct ptc_task *k, struct ptc_err *err)
{
	if (!ptc_sigtrap_at_entry(k))
		return on_retired(t, k, err);
	k->mid_call = true;
	return 0;
}

static bool in_vsyscall(uint64_t ip)
{
	return ip >> 12 == 0xffffffffff600; /* arch/x86/include/uapi/asm/vsyscall.h */
}

/* A signal is about to be delivered. The instruction at rip did not run, or it faulted. */
static void on_signal(struct ptc_tracer *t, struct ptc_task *k, int sig)
{
	siginfo_t si;
	bool fault = false;

	if (k->insn.kind == PTC_KIND_SYSCALL && k->regs.rip != k->ip &&
	    k->regs.rip == k->ip + k->insn.len) { /* seccomp: SIGSYS instead of the call */
		ptc_stop_retire(t, k, k->regs.rip);
		k->in_kernel = false;
		k->ip = k->regs.rip;
	} else if (!ptrace(PTRACE_GETSIGINFO, k->tid, NULL, &si)) {
		fault = si.si_code > 0 &&
			(sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL);
	}
	ptc_stop_async(t, k, fault);
	k->inject = sig;
}

/*
 * The kernel emulates a vsyscall in the fault of its instruction fetch, including the return. The
 * step then belongs to the instruction after the return. A processor's trace also ends at the
 * fault.
 */
static void skip_vsyscall(struct ptc_tracer *t, struct ptc_task *k)
{
	uint64_t to;

	if (!in_vsyscall(k->ip) || in_vsyscall(k->regs.rip) || k->exec_pending ||
	    (k->injected && trap_of(k) == TRAP_HANDLER) ||
	    !ptc_memory_read(k->tid, k->before.rsp, &to, sizeof(to)))
		return;
	ptc_stop_async(t, k, true);
	k->ip = to;
	k->insn = *ptc_code_at(&k->mm->code, k->tid, k->ip);
	k->before.rax = k->regs.orig_rax; /* needed if that is a system call */
}

/*
 * Returns whether the next instruction has run as well. A load of SS delays the trap until then. So
 * do hypervisors that execute CPUID without regard to TF.
 */
static bool is_late(const struct ptc_task *k)
{
	if (k->regs.rip == k->ip || k->exec_pending)
		return false;
	return k->insn.shadow ||
	       (k->insn.exits && !k->injected && k->regs.rip != k->ip + k->insn.len);
}

/* A late stop belongs to the second instruction. */
static void skip_late(struct ptc_tracer *t, struct ptc_task *k)
{
	if (!is_late(k))
		return;
	ptc_stop_retire(t, k, k->ip + k->insn.len);
	k->ip += k->insn.len;
	k->insn = *ptc_code_at(&k->mm->code, k->tid, k->ip);
}

/* --- new tasks, execs and ends --- */

/* Code that is not 64-bit cannot be stepped: the whole process is left. */
static void give_up(struct ptc_tracer *t, struct ptc_task *k)
{
	size_t i;

	if (k->mm->leave)
		return;
	k->mm->leave = true;
	t->untraced++;
	for (i = 0; i < t->tasks.n; i++) {
		const struct ptc_task *other = t->tasks.items[i];

		if (other->mm == k->mm && other->state != PTC_TASK_READY)
			(void)ptrace(PTRACE_INTERRUPT, other->tid, NULL, NULL);
	}
}

/* @k has created a thread or process. It is traced from its first instruction. */
static int on_birth(struct ptc_tracer *t, struct ptc_task *k, struct ptc_err *err)
{
	struct ptc_task *born;
	unsigned long tid;
	int rc = 0;

	if (ptrace(PTRACE_GETEVENTMSG, k->tid, NULL, &tid))
		return 0; /* killed in the meantime */
	born = ptc_tasks_find(&t->tasks, (pid_t)tid);
	if (!born)
		born = ptc_tasks_add(&t->tasks, (pid_t)tid);
	if (!born)
		return ptc_fail_mem(err);
	born->pid = ptc_task_process(born->tid);
	if (born->pid < 0)
		born->pid = born->tid;
	if (born->pid == k->pid) {
		born->mm = ptc_mm_get(k->mm);
	} else {
		born->mm = ptc_mm_new();
		if (!born->mm)
			return ptc_fail_mem(err);
		born->mm->from = k->mm->from;
		born->mm->to = k->mm->to;
		memcpy(born->mm->at, k->mm->at, sizeof(born->mm->at));
		rc = ptc_program_forked(born, k->mm, err);
	}
	ptc_sigtrap_born(k, born);
	born->own_tf = k->own_tf;
	if (born->state == PTC_TASK_READY)
		ptc_trapflag_settle(born);
	k->mid_call = true;
	ptc_tracer_speak_of(t, born);
	ptc_records_fork(t->rec, k->pid, k->tid);
	return rc;
}

/* An exec ends the other threads of its process. The thread that made it gets the leader's tid. */
static int on_exec(struct ptc_tracer *t, struct ptc_task *k, struct ptc_err *err)
{
	struct ptc_mm *mm = ptc_mm_new();

	if (!mm)
		return ptc_fail_mem(err);
	mm->trap_ignored = k->mm->trap_ignored;
	k->own_tf = false;
	ptc_stop_retire(t, k, k->regs.rip);
	k->in_kernel = false;
	ptc_mm_put(k->mm);
	k->mm = mm;
	k->exec_pending = true;
	if (ptc_task_runs_32bit(k->tid))
		give_up(t, k);
	return ptc_program_begin(t, k, err);
}

/* In exit or at a fatal signal: the current instruction is the last. */
static void on_exit_stop(struct ptc_tracer *t, struct ptc_task *k)
{
	if (ptc_stop_enters_kernel(&k->insn) && k->regs.rip == k->ip + k->insn.len)
		ptc_stop_retire(t, k, k->regs.rip);
	else
		ptc_stop_async(t, k, false);
	k->state = PTC_TASK_ENDING;
}

int ptc_stop_take(struct ptc_tracer *t, struct ptc_task *k, int status, struct ptc_err *err)
{
	int rc = 0;

	skip_vsyscall(t, k);
	skip_late(t, k);
	switch (status >> 16) {
	case 0:
		break;
	case PTRACE_EVENT_EXEC: /* rip already belongs to the new program */
		ptc_handled_forget(&t->faults, k->pid);
		return on_exec(t, k, err);
	case PTRACE_EVENT_CLONE:
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
		return on_birth(t, k, err);
	case PTRACE_EVENT_EXIT:
		on_exit_stop(t, k);
		return ptc_fatal_exit(t, k, err);
	default:
		return 0;
	}
	if (WSTOPSIG(status) == SIGTRAP)
		rc = on_sigtrap(t, k, err);
	else if (WSTOPSIG(status) == (SIGTRAP | 0x80))
		rc = on_call(t, k, err);
	else
		on_signal(t, k, WSTOPSIG(status));
	if (k->regs.cs != PTC_USER_CS) /* a far jump */
		give_up(t, k);
	return rc ? rc : ptc_fatal_look(t, k, err);
}
