/* SPDX-License-Identifier: MIT */
#include "capture/step/tracer_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/monotonic.h"

enum { ASK_AGAIN_MS = 10, LOOK_MS = 400, REAP_MS = 500 };

/* Time from the leave request to a kill: for a tracer that cannot answer, and for any other. */
static const uint64_t LEAVE_NS = 700000000, NEVER_NS = 10000000000;
enum { STUCK_LOOKS = 50 };

/* Used in the tracer process only: its signal handler has no other access to these. */
static struct {
	const struct ptc_step_process *process;
	const struct ptc_step_body *body;
	pid_t ptcap;
	/*
	 * before ptcap's end: checks whether ptcap is stopped; afterwards: repeats kicks, which can
	 * miss a wait
	 */
	timer_t again;
	bool have_again;
} own;

int ptc_step_process_kick(void)
{
	return SIGRTMIN + 5;
}

int ptc_step_process_init(struct ptc_step_process *p, struct ptc_err *err)
{
	void *map = mmap(NULL, sizeof(*p->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		return ptc_fail_sys(err, errno, "cannot share memory with the tracer");
	p->shared = map;
	return 0;
}

static bool hung_up(int fd, int timeout_ms)
{
	struct pollfd pfd = { .fd = fd, .events = 0 };

	return poll(&pfd, 1, timeout_ms) == 1 && pfd.revents & POLLHUP;
}

/* Returns the number after @key in the text of /proc/PID/status; 0: no such key. */
static uint64_t number_of(const char *status, const char *key, int base)
{
	const char *p = strstr(status, key);

	return p ? strtoull(p + strlen(key), NULL, base) : 0;
}

enum { STATUS_SIZE = 4096 };

/* Async-signal-safe. Returns false if there is no such process. */
static bool read_status(pid_t pid, char text[STATUS_SIZE])
{
	char *p = text + sizeof("/proc/") - 1;
	int fd, scale = 1;
	ssize_t n;

	(void)memcpy(text, "/proc/", sizeof("/proc/"));
	while (scale <= pid / 10)
		scale *= 10;
	for (; scale; scale /= 10)
		*p++ = (char)('0' + pid / scale % 10);
	(void)memcpy(p, "/status", sizeof("/status"));
	fd = open(text, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, STATUS_SIZE - 1);
	if (fd >= 0)
		(void)close(fd);
	text[n < 0 ? 0 : n] = '\0';
	return n > 0;
}

/*
 * A recorded program can stop ptcap, which then receives no signal. If a terminating signal is
 * pending, this continues ptcap. If one of our targets traces ptcap, that target is killed: there
 * is no other way to continue ptcap.
 */
static void free_ptcap(pid_t pid)
{
	const uint64_t to_end = 1u << (SIGINT - 1) | 1u << (SIGTERM - 1) | 1u << (SIGHUP - 1) |
				1u << (SIGQUIT - 1);
	static uint64_t looked_ns;
	const uint64_t now = ptc_monotonic_ns();
	char text[STATUS_SIZE];
	pid_t tracer;

	if (pid <= 0 || now - looked_ns < LOOK_MS * UINT64_C(500000))
		return;
	looked_ns = now;
	if (!read_status(pid, text) ||
	    !((number_of(text, "\nShdPnd:", 16) | number_of(text, "\nSigPnd:", 16)) & to_end))
		return;
	tracer = (pid_t)number_of(text, "\nTracerPid:", 10);
	if (strstr(text, "\nState:\tT"))
		(void)kill(pid, SIGCONT);
	else if (tracer && strstr(text, "\nState:\tt") && read_status(tracer, text) &&
		 number_of(text, "\nTracerPid:", 10) == (uint64_t)getpid())
		(void)kill(tracer, SIGKILL);
}

/*
 * Signal handler that interrupts waits. The sender is ptcap with a request, the timer, or the
 * kernel at ptcap's end.
 */
static void on_kick(int sig)
{
	const struct timespec ms = { .tv_nsec = ASK_AGAIN_MS * 1000000L };
	const struct itimerspec again = { .it_interval = ms, .it_value = ms };
	const int saved = errno;

	(void)sig;
	if (hung_up(own.process->life_fd, 0)) {
		if (own.have_again)
			(void)timer_settime(own.again, 0, &again, NULL);
		atomic_store(&own.process->shared->want, PTC_WANT_LEAVE);
		own.body->orphan(own.body->ctx);
	} else {
		free_ptcap(own.ptcap);
	}
	errno = saved;
}

static void close_pair(int fd[2])
{
	(void)close(fd[0]);
	(void)close(fd[1]);
}

static _Noreturn void child(struct ptc_step_process *p, const struct ptc_step_body *body,
			    const int end[2], const int life[2])
{
	(void)prctl(PR_SET_NAME, body->name);
	(void)close(end[0]);
	(void)close(life[1]);
	p->end_fd = end[1];
	p->life_fd = life[0];
	own.process = p;
	own.body = body;
	own.ptcap = getppid();
	body->run(body->ctx);
	_exit(0); /* without the exit handlers of the caller's process */
}

int ptc_step_process_start(struct ptc_step_process *p, const struct ptc_step_body *body,
			   struct ptc_err *err)
{
	int end[2], life[2], sys;
	sigset_t all, old;

	if (pipe2(end, O_CLOEXEC))
		return ptc_fail_sys(err, errno, "cannot create a pipe");
	if (pipe2(life, O_CLOEXEC)) {
		sys = errno;
		close_pair(end);
		return ptc_fail_sys(err, sys, "cannot create a pipe");
	}
	(void)sigfillset(&all);
	/* signals for ptcap must never kill the tracer */
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	p->pid = fork();
	if (!p->pid)
		child(p, body, end, life);
	sys = errno;
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (p->pid < 0) {
		p->pid = 0;
		close_pair(end);
		close_pair(life);
		return ptc_fail_sys(err, sys, "cannot start the tracer");
	}
	(void)close(end[1]);
	(void)close(life[0]);
	p->end_fd = end[0];
	p->life_fd = life[1];
	return 0;
}

static void kick(struct ptc_step_process *p)
{
	if (p->pid)
		(void)kill(p->pid, ptc_step_process_kick());
}

/*
 * Returns true if another process traces @pid, or if it is in state D, for example waiting for
 * memory.
 */
static bool cannot_answer(pid_t pid)
{
	char text[STATUS_SIZE];

	return read_status(pid, text) &&
	       (strstr(text, "\nState:\tt") || strstr(text, "\nState:\tD"));
}

/*
 * Kills a tracer that is late. SIGKILL also ends a process that a signal or another tracer has
 * stopped. Watched programs survive that. Stepped programs may die from their trap flag
 * (doc/adr/0007). So a tracer that is merely slow on a busy machine gets more time: state D at one
 * look may be a moment of a machine that swaps.
 */
static void end_if_late(struct ptc_step_process *p)
{
	const uint64_t now = ptc_monotonic_ns();
	uint64_t late;

	if (!p->leave_ns)
		p->leave_ns = now;
	late = now - p->leave_ns;
	if (p->killed || !p->pid)
		return;
	p->stuck = cannot_answer(p->pid) ? p->stuck + 1 : 0;
	if (late < LEAVE_NS || (late < NEVER_NS && p->stuck < STUCK_LOOKS))
		return;
	p->killed = true;
	(void)kill(p->pid, SIGKILL);
}

void ptc_step_process_ask(struct ptc_step_process *p, enum ptc_want want)
{
	if (atomic_load(&p->shared->want) < (int)want)
		atomic_store(&p->shared->want, (int)want);
	kick(p);
	if (want != PTC_WANT_LEAVE || !p->pid)
		return;
	(void)kill(p->pid, SIGCONT);
	end_if_late(p);
}

void ptc_step_process_tend(const struct ptc_step_process *p)
{
	siginfo_t si = { .si_pid = 0 };

	if (p->pid && !waitid(P_PID, (id_t)p->pid, &si, WSTOPPED | WNOHANG | WNOWAIT) && si.si_pid)
		(void)kill(p->pid, SIGCONT);
}

/* Calls on_wake. Requests other than an end are kept for later. */
static bool is_to_end(struct ptc_step_process *p, const struct ptc_record_opts *o)
{
	const enum ptc_wake_action a = o->callbacks.on_wake(o->callbacks.wake_ctx, 0);

	p->early_snapshots += a == PTC_WAKE_SNAPSHOT;
	p->early_last |= a == PTC_WAKE_LAST;
	return a == PTC_WAKE_LEAVE;
}

int ptc_step_process_started(struct ptc_step_process *p, const struct ptc_record_opts *opts,
			     struct ptc_err *err)
{
	struct pollfd fds[2] = { { .fd = p->end_fd, .events = POLLIN },
				 { .fd = opts ? opts->callbacks.wake_fd : -1, .events = POLLIN } };
	bool left = false;
	char told;
	ssize_t n;

	do {
		if (poll(fds, 2, left ? ASK_AGAIN_MS : -1) < 0)
			fds[0].revents = fds[1].revents = 0;
		left |= opts && fds[1].revents & POLLIN && is_to_end(p, opts);
		if (left)
			ptc_step_process_ask(p, PTC_WANT_LEAVE);
	} while (!(fds[0].revents & (POLLIN | POLLHUP)));
	do
		n = read(p->end_fd, &told, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1 && left) {
		(void)ptc_step_process_reap(p, err);
		return ptc_fail(err, PTC_E_IO,
				"stopped before the recording began: a thread does not stop (see "
				"`ps -L` for state D)");
	}
	return n == 1 ? 0 : ptc_step_process_reap(p, err);
}

bool ptc_step_process_pause(struct ptc_step_process *p)
{
	int was = PTC_STEP_GOES_ON;

	(void)atomic_compare_exchange_strong(&p->shared->pause, &was, PTC_STEP_ASKED);
	if (was == PTC_STEP_PAUSED)
		return true;
	kick(p);
	return false;
}

void ptc_step_process_resume(struct ptc_step_process *p)
{
	atomic_store(&p->shared->pause, PTC_STEP_GOES_ON);
	kick(p);
}

/*
 * Reaps the tracer, with a time limit: another process that traces it must reap it first, and may
 * never do so. The caller's process may also reap all its children itself. shared->done then tells
 * that the tracer ended well.
 */
static void reap(struct ptc_step_process *p)
{
	int tries;

	for (tries = REAP_MS; p->pid && tries && !atomic_load(&p->shared->lingers); tries--) {
		const pid_t got = waitpid(p->pid, &p->status, WNOHANG);

		if (got == p->pid || (got < 0 && errno != EINTR))
			break;
		(void)poll(NULL, 0, 1);
	}
	if (!tries && p->killed)
		p->status = SIGKILL;
	p->pid = 0;
}

int ptc_step_process_reap(struct ptc_step_process *p, struct ptc_err *err)
{
	reap(p);
	if (p->shared->done)
		return 0;
	if (!WIFSIGNALED(p->status))
		(void)ptc_fail(err, PTC_E_IO, "the tracer ended unexpectedly");
	else if (WTERMSIG(p->status) == SIGSYS)
		(void)ptc_fail(err, PTC_E_IO,
			       "cannot trace: a seccomp filter kills processes that call ptrace");
	else
		(void)ptc_fail(
			err, PTC_E_IO,
			"signal %d (%s) killed the tracer; the stepped processes may have died",
			WTERMSIG(p->status), strsignal(WTERMSIG(p->status)));
	return PTC_E_IO;
}

int ptc_step_process_end(struct ptc_step_process *p, struct ptc_err *err)
{
	while (!hung_up(p->end_fd, ASK_AGAIN_MS))
		ptc_step_process_ask(p, PTC_WANT_LEAVE);
	return ptc_step_process_reap(p, err);
}

void ptc_step_process_release(struct ptc_step_process *p)
{
	struct ptc_err ignored;

	if (p->pid)
		(void)ptc_step_process_end(p, &ignored);
	if (p->end_fd >= 0)
		(void)close(p->end_fd);
	if (p->life_fd >= 0)
		(void)close(p->life_fd);
	if (p->shared)
		(void)munmap(p->shared, sizeof(*p->shared));
	*p = (struct ptc_step_process)PTC_STEP_PROCESS_INIT;
}

/* --- in the tracer process --- */

void ptc_step_process_settle(const struct ptc_step_process *p)
{
	const struct sigaction kick = { .sa_handler = on_kick }; /* no SA_RESTART */
	const struct sigaction dfl = { .sa_handler = SIG_DFL };
	const struct f_owner_ex owner = { .type = F_OWNER_TID, .pid = (pid_t)syscall(SYS_gettid) };
	const struct timespec ms = { .tv_nsec = LOOK_MS * 1000000L };
	const struct itimerspec look = { .it_interval = ms, .it_value = ms };
	struct sigevent sev = { .sigev_notify = SIGEV_THREAD_ID,
				.sigev_signo = ptc_step_process_kick() };
	sigset_t mask;

	sev._sigev_un._tid = owner.pid;
	own.have_again = !timer_create(CLOCK_MONOTONIC, &sev, &own.again);
	/*
	 * A new session: signals from the terminal, or to ptcap's process group, do not reach the
	 * tracer. A new group alone is not enough. The command's parent would be in its session but
	 * not in its group. If the command's group is already orphaned, the command's end would
	 * then count as orphaning it again. The kernel would send SIGHUP to the whole group if a
	 * member is stopped (kill_orphaned_pgrp in kernel/exit.c).
	 */
	(void)setsid();
	(void)sigaction(SIGCHLD, &dfl, NULL); /* ignoring SIGCHLD would discard exit statuses */
	(void)sigaction(ptc_step_process_kick(), &kick, NULL);
	(void)sigfillset(&mask);
	(void)sigdelset(&mask, ptc_step_process_kick());
	(void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
	/*
	 * Prevents processes of our user, above all our targets, from tracing and so stopping us.
	 * Root's still can.
	 */
	(void)prctl(PR_SET_DUMPABLE, 0);
	if (own.have_again)
		(void)timer_settime(own.again, 0, &look, NULL);
	/*
	 * When a pipe loses its last writer, the kernel signals readers that set O_ASYNC
	 * (pipe_release in fs/pipe.c).
	 */
	(void)fcntl(p->life_fd, F_SETSIG, ptc_step_process_kick());
	(void)fcntl(p->life_fd, F_SETOWN_EX, &owner);
	(void)fcntl(p->life_fd, F_SETFL, O_ASYNC);
	(void)raise(ptc_step_process_kick()); /* ptcap may have ended before */
}

void ptc_step_process_stand_still(struct ptc_step_shared *sh, void (*tell)(void *ctx), void *ctx)
{
	sigset_t kicks, old;

	(void)sigemptyset(&kicks);
	(void)sigaddset(&kicks, ptc_step_process_kick());
	(void)pthread_sigmask(SIG_BLOCK, &kicks, &old); /* a kick before sigsuspend stays pending */
	atomic_store(&sh->pause, PTC_STEP_PAUSED);
	tell(ctx);
	while (atomic_load(&sh->pause) == PTC_STEP_PAUSED &&
	       atomic_load(&sh->want) == PTC_WANT_TRACE)
		(void)sigsuspend(&old);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void ptc_step_process_tell(const struct ptc_step_process *p)
{
	(void)!write(p->end_fd, "", 1);
}

void ptc_step_process_linger(const struct ptc_step_process *p)
{
	own.ptcap = 0;
	atomic_store(&p->shared->lingers, true);
	(void)close_range(0, ~0U, 0);
}
