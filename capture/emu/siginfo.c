/* SPDX-License-Identifier: MIT */
/*
 * Why a signal came. QEMU forgets a signal's siginfo before it kills itself. So this file wraps
 * QEMU's signal handlers, which run when the kernel delivers a signal to QEMU. A signal that the
 * guest's processor would cause (such as a division by zero) has no siginfo of the kernel.
 */
#include <signal.h>
#include <string.h>

#include "capture/emu/import_hook.h"
#include "capture/emu/plugin.h"

enum { SIGNALS = 65 };

typedef void handler_fn(int sig, siginfo_t *info, void *context);

static int (*real_sigaction)(int sig, const struct sigaction *act, struct sigaction *old);
static handler_fn *qemus[SIGNALS];

/*
 * The newest signal of each number that a process or a timer sent. All threads of the process write
 * here. Two threads with the same signal at the same time are rare, and only the sender is at
 * stake.
 */
static struct cause {
	int code, error, sender;
	bool is_set;
} causes[SIGNALS];
static int newest; /* the newest of these signals */

static bool has_sender(int code)
{
	return code == SI_USER || code == SI_QUEUE || code == SI_TKILL;
}

static void note(int sig, const siginfo_t *info)
{
	struct ptc_emu_me *m = &ptc_emu_me;

	if ((sig == SIGSEGV || sig == SIGBUS) && info->si_code > 0) {
		m->fault.sig = sig;
		m->fault.code = info->si_code;
		m->fault.addr = (uint64_t)(uintptr_t)info->si_addr;
		return;
	}
	if (m->fault.sig == sig)
		m->fault.sig = 0;
	causes[sig] = (struct cause){ info->si_code, info->si_errno,
				      has_sender(info->si_code) ? (int)info->si_pid : 0, true };
	newest = sig;
}

static void our_handler(int sig, siginfo_t *info, void *context)
{
	note(sig, info);
	qemus[sig](sig, info, context);
}

/* Returns true if the default action of @sig ends a process without a core dump (signal(7)). */
static bool ends_quietly(int sig)
{
	switch (sig) {
	case SIGHUP:
	case SIGINT:
	case SIGPIPE:
	case SIGALRM:
	case SIGTERM:
	case SIGUSR1:
	case SIGUSR2:
	case SIGPROF:
	case SIGVTALRM:
	case SIGIO:
	case SIGPWR:
	case SIGSTKFLT:
		return true;
	default:
		return false;
	}
}

/*
 * Lets QEMU handle @sig, which is fatal for the guest. QEMU then finds that the guest has no
 * handler, and dies. QEMU has one function for all signals.
 */
static int take_default(int sig)
{
	struct sigaction ours = { .sa_sigaction = our_handler, .sa_flags = SA_SIGINFO };

	(void)sigfillset(&ours.sa_mask);
	qemus[sig] = qemus[SIGQUIT];
	return real_sigaction(sig, &ours, NULL);
}

static int our_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	struct sigaction ours;

	/* The guest's default. QEMU itself, when it dies, has no SA_SIGINFO. */
	if (act && act->sa_flags & SA_SIGINFO && act->sa_handler == SIG_DFL && !old &&
	    ends_quietly(sig) && qemus[SIGQUIT])
		return take_default(sig);
	if (!act || sig < 1 || sig >= SIGNALS || !(act->sa_flags & SA_SIGINFO) ||
	    act->sa_handler == SIG_DFL || act->sa_handler == SIG_IGN)
		return real_sigaction(sig, act, old);
	qemus[sig] = act->sa_sigaction;
	ours = *act;
	ours.sa_sigaction = our_handler;
	return real_sigaction(sig, &ours, old);
}

void ptc_emu_watch_signals(void)
{
	void *found;

	/* libc's function is known before QEMU can call ours. */
	real_sigaction = sigaction;
	(void)ptc_emu_hook("sigaction", (void *)(uintptr_t)our_sigaction, &found);
}

void ptc_emu_watch_defaults(void)
{
	struct sigaction now;
	int sig;

	for (sig = 1; sig < SIGRTMIN && qemus[SIGQUIT]; sig++)
		if (ends_quietly(sig) && !real_sigaction(sig, NULL, &now) &&
		    now.sa_handler == SIG_DFL)
			(void)take_default(sig);
}

void ptc_emu_signal_handled(struct ptc_emu_me *m, int sig)
{
	if (m->fault.sig == sig)
		m->fault.sig = 0;
	if (sig > 0 && sig < SIGNALS)
		causes[sig].is_set = false;
}

static bool is_of_insn(int sig)
{
	return sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL || sig == SIGTRAP;
}

void ptc_emu_signal_cause(const struct ptc_emu_me *m, struct ptc_emu_death *ret)
{
	const int sig = ret->signo;
	/* From version 9 on, QEMU sends the guest's SIGABRT to itself under another number. */
	const struct cause *c = &causes[causes[sig].is_set || sig != SIGABRT ? sig : newest];

	if (m->fault.sig == sig) {
		ret->code = m->fault.code;
		ret->addr = m->fault.addr ? m->fault.addr - ptc_emu_proc.base : 0;
	} else if (c->is_set) {
		ret->code = c->code;
		ret->error = c->error;
		ret->sender = c->sender;
	} else {
		ret->code = is_of_insn(sig) ? PTC_EMU_BY_INSN : SI_USER;
	}
}
