/* SPDX-License-Identifier: MIT */
#include "capture/step/full_speed.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/err.h"
#include "capture/step/debugreg.h"
#include "capture/step/target_maps.h"
#include "capture/step/trapflag.h"

enum {
	SYSCALL_STOP = SIGTRAP | 0x80, /* PTRACE_O_TRACESYSGOOD */
	/* PTRACE_EVENTMSG_SYSCALL_EXIT of linux/ptrace.h, which conflicts with glibc's header. */
	SYSCALL_EXIT = 2,
};

static int arm(struct ptc_task *k, struct ptc_err *err)
{
	if (ptc_debugreg_watch(k, k->mm->from) || errno == ESRCH)
		return 0;
	return ptc_fail_sys(err, errno, "cannot set a hardware breakpoint at 0x%llx",
			    (unsigned long long)k->mm->from);
}

void ptc_zone_tighten(struct ptc_tracer *t, struct ptc_task *k)
{
	(void)ptc_debugreg_watch(k, 0);
	ptc_affinity_pin(&k->affinity, k->tid, t->cpu);
	ptc_sigtrap_attach(k);
	k->own_tf = ptc_trapflag_is_set(k);
	k->loose = false;
}

/* Gives the program back all that stepping has hidden or kept. */
static void loosen(struct ptc_task *k)
{
	ptc_affinity_unpin(&k->affinity, k->tid);
	ptc_sigtrap_detach(k);
	ptc_trapflag_settle(k);
	k->trap = (struct ptc_sigtrap){ .blocked = false };
	k->loose = true;
}

int ptc_zone_run(struct ptc_tracer *t, struct ptc_task *k, struct ptc_err *err)
{
	const long sig = k->inject;
	enum __ptrace_request how;
	int rc;

	(void)t;
	if (!k->loose)
		loosen(k);
	rc = arm(k, err);
	if (rc)
		return rc;
	/* State of a stepped task is no longer valid. */
	k->insn = (struct ptc_insn){ .kind = PTC_KIND_NONE };
	k->inject = 0;
	k->exec_pending = k->mid_call = k->in_kernel = false;
	k->restart_ip = 0;
	k->state = PTC_TASK_RUNNING;
	/* While the place's file is not mapped, system calls must be checked for the mapping. */
	how = k->mm->from ? PTRACE_CONT : PTRACE_SYSCALL;
	if (!ptrace(how, k->tid, NULL, (void *)sig) || errno == ESRCH)
		return 0;
	return ptc_fail_sys(err, errno, "cannot resume thread %d", (int)k->tid);
}

static bool is_begin(const struct ptc_task *k, int status)
{
	siginfo_t si;

	return status >> 8 == SIGTRAP && k->mm && k->regs.rip == k->mm->from &&
	       !ptrace(PTRACE_GETSIGINFO, k->tid, NULL, &si) && si.si_code == TRAP_HWBKPT;
}

/* Records all mappings that were made at full speed, and starts stepping. */
static int begin_zone(struct ptc_tracer *t, struct ptc_task *begins, struct ptc_err *err)
{
	size_t i, n;
	int rc = 0;

	t->zone.outside = false;
	t->zone.reached = true;
	for (i = 0; !rc && i < t->tasks.n; i++) {
		struct ptc_task *k = t->tasks.items[i];

		for (n = 0; n < i && t->tasks.items[n]->mm != k->mm; n++)
			;
		if (n == i && k->mm) { /* once for each address space */
			ptc_tracer_speak_of(t, k);
			rc = ptc_program_update_maps(t, k, err);
		}
		if (k != begins && k->state == PTC_TASK_RUNNING)
			(void)ptrace(PTRACE_INTERRUPT, k->tid, NULL, NULL);
	}
	return rc;
}

/* Handles the entry or exit of a system call. At the exit it may have mapped a file. */
static int at_call(struct ptc_tracer *t, struct ptc_task *k, struct ptc_err *err)
{
	unsigned long which;

	if (ptrace(PTRACE_GETEVENTMSG, k->tid, NULL, &which))
		return 0; /* killed in the meantime */
	if (which != SYSCALL_EXIT) {
		k->exec_pending = true; /* if stepped, the call's end stops first */
		return 0;
	}
	switch (k->regs.orig_rax) {
	case SYS_mmap:
	case SYS_mprotect:
	case SYS_pkey_mprotect:
		return ptc_program_update_maps(t, k, err);
	default:
		return 0;
	}
}

int ptc_zone_take(struct ptc_tracer *t, struct ptc_task *k, int status, struct ptc_err *err)
{
	const int event = status >> 16;

	k->state = PTC_TASK_READY;
	k->ip = k->regs.rip;
	k->restart_ip = ptc_task_restarts(&k->regs);
	ptc_tracer_speak_of(t, k);
	if (is_begin(k, status)) /* another task may be first: step this one here too */
		return t->zone.outside && !t->left ? begin_zone(t, k, err) : 0;
	if (!event && WSTOPSIG(status) == SYSCALL_STOP)
		return at_call(t, k, err);
	if (!event) {
		k->inject = WSTOPSIG(status);
		return 0;
	}
	if (event == PTRACE_EVENT_STOP)
		return 0;
	if (event == PTRACE_EVENT_EXEC)
		k->armed = 0; /* cleared by the kernel */
	if (event != PTRACE_EVENT_EXIT)
		k->exec_pending = true; /* inside a system call: see at_call */
	return ptc_stop_take(t, k, status, err);
}
