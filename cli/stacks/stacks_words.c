/* SPDX-License-Identifier: MIT */
/* What a thread waits for, in words. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "arch/syscall_name.h"
#include "cli/stacks/stacks_out.h"

enum { FILE_SHOWN = 256 }; /* bytes */

struct sentence {
	char *at;
	size_t left;
};

__attribute__((format(printf, 2, 3))) static void add(struct sentence *s, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(s->at, s->left, fmt, ap);
	va_end(ap);
	if (n <= 0)
		return;
	if ((size_t)n >= s->left)
		n = (int)s->left - 1; /* cut off */
	s->at += n;
	s->left -= (size_t)n;
}

void ptc_stacks_thread_name(const struct ptc_crash_state_thread *t, char *ret, size_t size)
{
	(void)snprintf(ret, size, "thread %" PRIu64 " (%s)", ptc_crash_state_registers(t)->tid,
		       ptc_crash_state_thread_name(t));
}

static const struct ptc_crash_state_thread *thread_of(const struct ptc_stack_process *p,
						      uint64_t tid)
{
	const struct ptc_crash_state *s = ptc_stack_process_state(p);
	const struct ptc_crash_state_thread *t;
	size_t i;

	for (i = 0; (t = ptc_crash_state_get_thread(s, i)) != NULL; i++)
		if (ptc_crash_state_registers(t)->tid == tid)
			return t;
	return NULL;
}

static void add_thread(struct sentence *s, const struct ptc_stack_process *p, uint64_t tid)
{
	const struct ptc_crash_state_thread *t = thread_of(p, tid);
	char name[64];

	if (t)
		ptc_stacks_thread_name(t, name, sizeof(name));
	else
		(void)snprintf(name, sizeof(name), "thread %" PRIu64, tid);
	add(s, "%s", name);
}

/* --- system calls --- */

/* Arguments of calls that often wait: d a number, x an address or flags, u a size. */
static const struct {
	uint64_t nr;
	const char *args;
} calls[] = {
	{ SYS_read, "dxu" },
	{ SYS_write, "dxu" },
	{ SYS_pread64, "dxud" },
	{ SYS_pwrite64, "dxud" },
	{ SYS_readv, "dxd" },
	{ SYS_writev, "dxd" },
	{ SYS_poll, "xud" },
	{ SYS_ppoll, "xuxx" },
	{ SYS_select, "dxxxx" },
	{ SYS_pselect6, "dxxxxx" },
	{ SYS_epoll_wait, "dxdd" },
	{ SYS_epoll_pwait, "dxddx" },
	{ SYS_accept, "dxx" },
	{ SYS_accept4, "dxxx" },
	{ SYS_connect, "dxu" },
	{ SYS_recvfrom, "dxuxxx" },
	{ SYS_recvmsg, "dxx" },
	{ SYS_sendto, "dxuxxu" },
	{ SYS_sendmsg, "dxx" },
	{ SYS_wait4, "dxxx" },
	{ SYS_waitid, "ddxxx" },
	{ SYS_nanosleep, "xx" },
	{ SYS_clock_nanosleep, "dxxx" },
	{ SYS_pause, "" },
	{ SYS_rt_sigtimedwait, "xxxu" },
	{ SYS_rt_sigsuspend, "xu" },
	{ SYS_flock, "dd" },
	{ SYS_fcntl, "ddx" },
	{ SYS_ioctl, "dxx" },
	{ SYS_futex, "xdux" },
	{ SYS_semop, "dxu" },
	{ SYS_semtimedop, "dxux" },
	{ SYS_msgrcv, "dxudx" },
	{ SYS_msgsnd, "dxux" },
	{ SYS_fsync, "d" },
	{ SYS_fdatasync, "d" },
	{ SYS_vfork, "" },
	{ SYS_sched_yield, "" },
};

static void add_arguments(struct sentence *s, const struct ptc_wait *w, const char *kinds)
{
	size_t i;

	for (i = 0; kinds[i]; i++) {
		if (i)
			add(s, ", ");
		if (kinds[i] == 'd')
			add(s, "%" PRId32, (int32_t)(uint32_t)w->args[i]);
		else if (kinds[i] == 'u')
			add(s, "%" PRIu64, w->args[i]);
		else
			add(s, "0x%" PRIx64, w->args[i]);
	}
}

static void add_call(struct sentence *s, const struct ptc_stack_thread *t)
{
	const struct ptc_cur path = ptc_crash_state_call_file(t->state);
	const char *name = ptc_syscall_name(t->wait->nr);
	const size_t file = ptc_cur_left(&path);
	size_t i;

	if (name)
		add(s, "in %s(", name);
	else
		add(s, "in system call %" PRIu64 "(", t->wait->nr);
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]) && calls[i].nr != t->wait->nr; i++)
		;
	if (i < sizeof(calls) / sizeof(calls[0]))
		add_arguments(s, t->wait, calls[i].args);
	else
		add(s, "...");
	add(s, ")");
	if (file)
		add(s, ", fd %" PRId32 " -> %.*s", (int32_t)(uint32_t)t->wait->args[0],
		    (int)(file < FILE_SHOWN ? file : FILE_SHOWN), path.pos);
}

/* --- locks --- */

/* Adds "mutex 0x4040a0 (lock_a)". */
static void add_object(struct sentence *s, const struct ptc_stack_thread *t, const char *what)
{
	add(s, "waits for %s 0x%" PRIx64, what, t->wait->addr);
	if (t->object && t->object_off)
		add(s, " (%s+0x%" PRIx64 ")", t->object, t->object_off);
	else if (t->object)
		add(s, " (%s)", t->object);
}

static void add_owner(struct sentence *s, const struct ptc_stack_process *p,
		      const struct ptc_stack_thread *t, const char *how)
{
	if (!t->wait->owner) {
		add(s, ", owner not known");
	} else if (t->wait->owner_is_gone) {
		add(s, ", %s by thread %" PRIu64 ", which is not in this process", how,
		    t->wait->owner);
	} else if (t->wait->owner == ptc_crash_state_registers(t->state)->tid) {
		add(s, ", %s by this thread itself", how);
	} else {
		add(s, ", %s by ", how);
		add_thread(s, p, t->wait->owner);
	}
}

static void add_wait(struct sentence *s, const struct ptc_stack_process *p,
		     const struct ptc_stack_thread *t)
{
	switch (t->wait->kind) {
	case PTC_WAIT_MUTEX:
		add_object(s, t, "mutex");
		add_owner(s, p, t, "owned");
		break;
	case PTC_WAIT_RWLOCK:
		add_object(s, t, "rwlock");
		if (t->wait->owner)
			add_owner(s, p, t, "owned");
		else
			add(s, ", owned by readers, or owner not known");
		break;
	case PTC_WAIT_STREAM:
		add_object(s, t, "the lock of a stdio stream");
		add_owner(s, p, t, "owned");
		break;
	case PTC_WAIT_LOCK:
		add_object(s, t, "a lock of the C library");
		break;
	case PTC_WAIT_COND:
		add_object(s, t, "a condition variable, futex");
		break;
	case PTC_WAIT_SEM:
		add_object(s, t, "a semaphore, futex");
		break;
	case PTC_WAIT_BARRIER:
		add_object(s, t, "a barrier, futex");
		break;
	case PTC_WAIT_ONCE:
		add_object(s, t, "pthread_once in another thread, futex");
		break;
	case PTC_WAIT_JOIN:
		add(s, "waits for the end of ");
		if (t->wait->owner)
			add_thread(s, p, t->wait->owner);
		else
			add(s, "a thread");
		break;
	case PTC_WAIT_FUTEX:
		add_object(s, t, "futex");
		break;
	case PTC_WAIT_CALL:
		add_call(s, t);
		break;
	default:
		add(s, "running");
		break;
	}
}

static void add_signal(struct sentence *s, const char *what, uint64_t signo)
{
	const char *name = signo < 65 ? sigabbrev_np((int)signo) : NULL;

	if (name)
		add(s, "%s SIG%s", what, name);
	else
		add(s, "%s signal %" PRIu64, what, signo);
}

void ptc_stacks_sentence(const struct ptc_stack_process *p, const struct ptc_stack_thread *t,
			 char ret[PTC_STACKS_SENTENCE])
{
	const struct ptc_crash_signal *signal = ptc_crash_state_signal(ptc_stack_process_state(p));
	const struct ptc_crash_thread *regs = ptc_crash_state_registers(t->state);
	const struct ptc_crash_task *task = ptc_crash_state_task(t->state);
	const uint64_t sig = task->stop_signal;
	struct sentence s = { ret, PTC_STACKS_SENTENCE };

	ret[0] = '\0';
	if (signal->signo && regs->tid == signal->tid)
		add_signal(&s, "killed by", signal->signo);
	if (s.at > ret)
		add(&s, "; ");
	if (sig)
		add_signal(&s, "stopped by", sig);
	if (sig && t->wait->kind == PTC_WAIT_NONE)
		return;
	if (sig)
		add(&s, ", ");
	if (task->unstopped && !regs->regs[PTC_REG_RIP]) {
		add(&s, "did not stop, so its registers are not known");
		return;
	}
	if (task->unstopped)
		add(&s, "in state D (uninterruptible), ");
	add_wait(&s, p, t);
}
