/* SPDX-License-Identifier: MIT */
#include "capture/step/sigtrap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"
#include "capture/host/target_memory.h"
#include "capture/step/task.h"

enum {
	STATUS_MAX = 65536,
	UC_SIGMASK = 296, /* offset in struct ucontext: arch/x86/include/uapi/asm/ucontext.h */
};

static const uint64_t trap_bit = 1ull << (SIGTRAP - 1);

/* --- the kernel's state --- */

static bool get_mask(pid_t tid, uint64_t *ret)
{
	return !ptrace(PTRACE_GETSIGMASK, tid, (void *)sizeof(*ret), ret);
}

static void set_mask(pid_t tid, uint64_t mask)
{
	(void)ptrace(PTRACE_SETSIGMASK, tid, (void *)sizeof(mask), &mask);
}

/* Returns a set of signals from the text of /proc/TID/status; 0 if the task is gone. */
static uint64_t status_set(const struct ptc_buf *status, const char *key)
{
	const char *p = strstr((const char *)status->bytes, key);

	return p ? strtoull(p + strlen(key), NULL, 16) : 0;
}

static void read_status(pid_t tid, struct ptc_buf *out)
{
	struct ptc_err ignored;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	if (ptc_read_file(path, STATUS_MAX, out, &ignored))
		ptc_buf_release(out);
}

static uint64_t one_set(pid_t tid, const char *key)
{
	struct ptc_buf status = PTC_BUF_INIT;
	uint64_t set;

	read_status(tid, &status);
	set = status.bytes ? status_set(&status, key) : 0;
	ptc_buf_release(&status);
	return set;
}

static bool caught(pid_t tid, int sig)
{
	return sig && one_set(tid, "\nSigCgt:") >> (sig - 1) & 1;
}

/* Returns true if the kernel will deliver a signal before it returns to user mode. */
static bool signal_due(pid_t tid)
{
	struct ptc_buf status = PTC_BUF_INIT;
	uint64_t due = 0;

	read_status(tid, &status);
	if (status.bytes)
		due = (status_set(&status, "\nSigPnd:") | status_set(&status, "\nShdPnd:")) &
		      ~status_set(&status, "\nSigBlk:");
	ptc_buf_release(&status);
	return due != 0;
}

/* --- the two masks --- */

/*
 * Takes the program's mask from the kernel, and removes SIGTRAP from the kernel's mask for
 * stepping.
 */
static void hide(struct ptc_task *k)
{
	uint64_t mask;

	k->trap.shown = false;
	if (!get_mask(k->tid, &mask))
		return;
	k->trap.blocked = (mask & trap_bit) != 0;
	if (k->trap.blocked)
		set_mask(k->tid, mask & ~trap_bit);
	if (k->trap.requeued && !(one_set(k->tid, "\nSigPnd:") & trap_bit))
		k->trap.held = k->trap.requeued = false; /* sigtimedwait has consumed it */
}

/*
 * Gives the kernel the program's mask. PTRACE_SETSIGMASK would end sigsuspend's temporary mask (and
 * similar ones), so a mask that is already right is left alone.
 */
static void restore_program_mask(struct ptc_task *k)
{
	uint64_t mask;

	if (!k->trap.blocked || !get_mask(k->tid, &mask))
		return;
	if (!(mask & trap_bit))
		set_mask(k->tid, mask | trap_bit);
	k->trap.shown = true;
	if (k->trap.held && !k->trap.requeued)
		k->trap.requeued = !syscall(SYS_tgkill, k->pid, k->tid, SIGTRAP);
}

void ptc_sigtrap_attach(struct ptc_task *k)
{
	hide(k);
	k->mm->trap_ignored = (one_set(k->tid, "\nSigIgn:") & trap_bit) != 0;
}

void ptc_sigtrap_detach(struct ptc_task *k)
{
	restore_program_mask(k);
}

void ptc_sigtrap_born(const struct ptc_task *k, struct ptc_task *child)
{
	child->trap.blocked = k->trap.blocked;
	child->mm->trap_ignored = k->mm->trap_ignored;
}

/* --- system calls --- */

static bool on_mask(uint64_t nr)
{
	switch (nr) {
	case SYS_rt_sigprocmask:
	case SYS_rt_sigreturn:
	case SYS_rt_sigpending:
	case SYS_rt_sigtimedwait:
	case SYS_rt_sigsuspend:
	case SYS_pselect6:
	case SYS_ppoll:
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
	case SYS_io_pgetevents:
		return true;
	default:
		return false;
	}
}

static bool before_syscall(const struct ptc_task *k)
{
	return k->insn.kind == PTC_KIND_SYSCALL && !k->exec_pending && k->regs.rip == k->ip;
}

static bool before_call_on_mask(const struct ptc_task *k)
{
	return k->restart_ip ? on_mask(k->regs.orig_rax) :
			       before_syscall(k) && on_mask(k->regs.rax);
}

/*
 * Returns true for int3, int1, and instructions under the program's own TF: their SIGTRAP belongs
 * to the program.
 */
static bool traps_itself(const struct ptc_task *k)
{
	return !k->restart_ip && !k->exec_pending && k->regs.rip == k->ip &&
	       ((k->insn.kind == PTC_KIND_INT && k->insn.len == 1) ||
		(k->own_tf && k->insn.kind != PTC_KIND_SYSCALL));
}

/*
 * Handles sigaction(SIGTRAP, act, ...). Reads act before the call, since the old action may be
 * written over it.
 */
static void look_at_sigaction(struct ptc_task *k)
{
	uint64_t handler;

	k->trap.sets = false;
	if (k->restart_ip || !before_syscall(k) || k->regs.rax != SYS_rt_sigaction ||
	    k->regs.rdi != SIGTRAP || !k->regs.rsi)
		return;
	k->trap.sets = ptc_memory_read(k->tid, k->regs.rsi, &handler, sizeof(handler));
	k->trap.ignores = k->trap.sets && handler == (uint64_t)SIG_IGN;
}

int ptc_sigtrap_request(struct ptc_task *k, int sig)
{
	struct ptc_sigtrap *s = &k->trap;

	if (s->call && s->entered)
		return PTRACE_SYSCALL;
	if ((s->call || before_call_on_mask(k)) && !caught(k->tid, sig)) {
		if (!s->call)
			restore_program_mask(k);
		s->call = true;
		return PTRACE_SYSCALL;
	}
	s->call = false; /* a handler runs first */
	if (s->shown && !caught(k->tid, sig) && !signal_due(k->tid))
		hide(k);
	if (s->blocked && !sig && traps_itself(k)) /* fatal: the kernel does the rest */
		restore_program_mask(k);
	look_at_sigaction(k);
	return PTRACE_SINGLESTEP;
}

bool ptc_sigtrap_at_entry(struct ptc_task *k)
{
	k->trap.entered = k->trap.call && !k->trap.entered;
	if (!k->trap.entered)
		k->trap.call = false;
	return k->trap.entered;
}

static void sigaction_returned(struct ptc_task *k)
{
	const uint64_t ignore = (uint64_t)SIG_IGN;

	if (k->before.rdi != SIGTRAP || k->regs.rax)
		return;
	if (k->before.rdx && k->mm->trap_ignored)
		(void)ptc_memory_write(k->tid, k->before.rdx, &ignore, sizeof(ignore));
	if (k->trap.sets)
		k->mm->trap_ignored = k->trap.ignores;
	k->trap.sets = false;
}

/* An interrupted call with a mask of its own keeps that mask until the signal is delivered. */
void ptc_sigtrap_returned(struct ptc_task *k, uint64_t nr)
{
	if (nr == SYS_rt_sigaction)
		sigaction_returned(k);
	if (!on_mask(nr))
		return;
	if (nr != SYS_rt_sigreturn && (k->restart_ip || (long long)k->regs.rax == -EINTR) &&
	    signal_due(k->tid))
		k->trap.shown = true;
	else
		hide(k);
}

/* --- signals --- */

void ptc_sigtrap_in_handler(struct ptc_task *k)
{
	/* rdx: the handler's third argument, always set */
	const uint64_t at = k->regs.rdx + UC_SIGMASK;
	/* entering a handler only adds to the mask */
	const bool kept = k->trap.blocked && !k->trap.shown;
	uint64_t saved;

	if (k->trap.blocked && ptc_memory_read(k->tid, at, &saved, sizeof(saved))) {
		saved |= trap_bit;
		(void)ptc_memory_write(k->tid, at, &saved, sizeof(saved));
	}
	hide(k);
	k->trap.blocked |= kept;
}

int ptc_sigtrap_sent(struct ptc_task *k)
{
	struct ptc_sigtrap *s = &k->trap;
	/* with shown the kernel has applied the mask */
	const bool blocked = s->blocked && !s->shown;
	siginfo_t si;

	if (ptrace(PTRACE_GETSIGINFO, k->tid, NULL, &si))
		return SIGTRAP;
	if (s->requeued && si.si_code == SI_TKILL && si.si_pid == getpid()) {
		s->requeued = false;
		si = s->info;
		(void)ptrace(PTRACE_SETSIGINFO, k->tid, NULL, &si);
	}
	s->held = blocked;
	if (blocked)
		s->info = si;
	return blocked || k->mm->trap_ignored ? 0 : SIGTRAP;
}
