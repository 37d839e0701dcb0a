/* SPDX-License-Identifier: MIT */
/*
 * Threads that wait for something: prog_stacks MODE [N]. It ends when its input ends, with exit
 * status 0. Each thread has the name of what it waits for.
 *
 * deadlock  "left" and "right" wait for each other's mutex, "alone" for its own
 * waits     one thread for each thing that a thread can wait for
 * pool      N threads in the same call, from the same place
 * calls     calls that a stop can end with EINTR; exit status 1 if a call has returned
 * rounds    threads that work and answer: a line of input gives a line of output
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { LONG_S = 100000, STACK = 64 << 10, SMALL = 16 };

pthread_mutex_t left_lock = PTHREAD_MUTEX_INITIALIZER, right_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t own_lock = PTHREAD_MUTEX_INITIALIZER, main_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t gone_lock = PTHREAD_MUTEX_INITIALIZER, cond_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t pi_lock;
pthread_rwlock_t main_rwlock = PTHREAD_RWLOCK_INITIALIZER;
pthread_cond_t never = PTHREAD_COND_INITIALIZER;
sem_t never_posted;
static pthread_barrier_t both, all;
static int quiet[2];	  /* a pipe that nothing is written to */
static int sockets[2];	  /* the same, as sockets with a receive timeout */
static pthread_t sleeper; /* does not end */
static FILE *stream;
static atomic_int spins, returned;

static void start(pthread_t *ret, const char *name, void *(*run)(void *), void *arg)
{
	pthread_attr_t attr;
	pthread_t t;

	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setstacksize(&attr, STACK);
	if (pthread_create(&t, &attr, run, arg)) {
		perror("pthread_create");
		_exit(2);
	}
	(void)pthread_attr_destroy(&attr);
	(void)pthread_setname_np(t, name);
	if (ret)
		*ret = t;
}

/* Waits for the end of the input. */
static void wait_for_end(void)
{
	char c;

	(void)!write(STDOUT_FILENO, "ready\n", 6);
	while (read(STDIN_FILENO, &c, 1) == 1)
		;
}

/* --- deadlock --- */

static void *go_left(void *arg)
{
	(void)arg;
	(void)pthread_mutex_lock(&left_lock);
	(void)pthread_barrier_wait(&both);
	(void)pthread_mutex_lock(&right_lock);
	return NULL;
}

static void *go_right(void *arg)
{
	(void)arg;
	(void)pthread_mutex_lock(&right_lock);
	(void)pthread_barrier_wait(&both);
	(void)pthread_mutex_lock(&left_lock);
	return NULL;
}

static void *lock_twice(void *arg)
{
	(void)arg;
	(void)pthread_mutex_lock(&own_lock);
	(void)pthread_mutex_lock(&own_lock);
	return NULL;
}

static int deadlock(void)
{
	(void)pthread_barrier_init(&both, NULL, 2);
	start(NULL, "left", go_left, NULL);
	start(NULL, "right", go_right, NULL);
	start(NULL, "alone", lock_twice, NULL);
	wait_for_end();
	return 0;
}

/* --- waits --- */

static void *read_quiet(void *arg)
{
	char c;

	(void)arg;
	(void)!read(quiet[0], &c, 1);
	return NULL;
}

static void *spin(void *arg)
{
	(void)arg;
	for (;;)
		atomic_fetch_add_explicit(&spins, 1, memory_order_relaxed);
	return NULL;
}

static void *lock_main(void *arg)
{
	(void)arg;
	(void)pthread_mutex_lock(&main_lock);
	return NULL;
}

static void *lock_until(void *arg)
{
	struct timespec end;

	(void)arg;
	(void)clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += LONG_S;
	(void)pthread_mutex_timedlock(&main_lock, &end);
	return NULL;
}

static void *lock_pi(void *arg)
{
	(void)arg;
	(void)pthread_mutex_lock(&pi_lock);
	return NULL;
}

static void *lock_gone(void *arg)
{
	(void)arg;
	(void)pthread_mutex_lock(&gone_lock);
	return NULL;
}

static void *read_lock(void *arg)
{
	(void)arg;
	(void)pthread_rwlock_rdlock(&main_rwlock);
	return NULL;
}

static void *write_lock(void *arg)
{
	(void)arg;
	(void)pthread_rwlock_wrlock(&main_rwlock);
	return NULL;
}

static void *wait_cond(void *arg)
{
	(void)arg;
	(void)pthread_mutex_lock(&cond_lock);
	for (;;)
		(void)pthread_cond_wait(&never, &cond_lock);
	return NULL;
}

static void *wait_sem(void *arg)
{
	(void)arg;
	(void)sem_wait(&never_posted);
	return NULL;
}

static void *wait_barrier(void *arg)
{
	(void)arg;
	(void)pthread_barrier_wait(&all);
	return NULL;
}

static void *join_sleeper(void *arg)
{
	(void)arg;
	(void)pthread_join(sleeper, NULL);
	return NULL;
}

static void *print_line(void *arg)
{
	(void)arg;
	(void)fputs("a line\n", stream);
	return NULL;
}

static void *sleep_long(void *arg)
{
	const struct timespec t = { .tv_sec = LONG_S };

	(void)arg;
	(void)nanosleep(&t, NULL);
	return NULL;
}

static void *poll_quiet(void *arg)
{
	struct pollfd fd = { .fd = quiet[0], .events = POLLIN };

	(void)arg;
	(void)poll(&fd, 1, -1);
	return NULL;
}

static void hold_locks(void)
{
	pthread_mutexattr_t attr;
	pthread_t t;

	(void)pthread_mutexattr_init(&attr);
	(void)pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	(void)pthread_mutex_init(&pi_lock, &attr);
	(void)pthread_mutexattr_destroy(&attr);
	(void)pthread_mutex_lock(&main_lock);
	(void)pthread_mutex_lock(&pi_lock);
	(void)pthread_rwlock_wrlock(&main_rwlock);
	(void)sem_init(&never_posted, 0, 0);
	(void)pthread_barrier_init(&all, NULL, 2);
	stream = tmpfile();
	if (!stream)
		_exit(2);
	flockfile(stream);
	start(&t, "gone", lock_gone, NULL); /* ends with the mutex */
	(void)pthread_join(t, NULL);
}

static int waits(void)
{
	hold_locks();
	start(&sleeper, "sleep", sleep_long, NULL);
	start(NULL, "read", read_quiet, NULL);
	start(NULL, "spin", spin, NULL);
	start(NULL, "mutex", lock_main, NULL);
	start(NULL, "timed", lock_until, NULL);
	start(NULL, "pi", lock_pi, NULL);
	start(NULL, "orphan", lock_gone, NULL);
	start(NULL, "rdlock", read_lock, NULL);
	start(NULL, "wrlock", write_lock, NULL);
	start(NULL, "cond", wait_cond, NULL);
	start(NULL, "sem", wait_sem, NULL);
	start(NULL, "barrier", wait_barrier, NULL);
	start(NULL, "join", join_sleeper, NULL);
	start(NULL, "stream", print_line, NULL);
	start(NULL, "poll", poll_quiet, NULL);
	wait_for_end();
	return 0;
}

/* --- pool --- */

static int pool(long n)
{
	long i;

	for (i = 0; i < n; i++)
		start(NULL, "worker", wait_cond, NULL);
	wait_for_end();
	return 0;
}

/* --- calls: none may return --- */

/* Ends the wait for a call that returned, and says so at the end of the program. */
static void note(const char *call, long ret)
{
	(void)fprintf(stderr, "%s returned %ld, errno %d\n", call, ret, errno);
	(void)atomic_fetch_add(&returned, 1);
}

static void *call_epoll(void *arg)
{
	struct epoll_event e = { .events = EPOLLIN };
	const int fd = epoll_create1(0);

	(void)arg;
	(void)epoll_ctl(fd, EPOLL_CTL_ADD, quiet[0], &e);
	note("epoll_wait", epoll_wait(fd, &e, 1, -1));
	return NULL;
}

static void *call_sigwait(void *arg)
{
	const struct timespec t = { .tv_sec = LONG_S };
	sigset_t set;

	(void)arg;
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGUSR1);
	note("sigtimedwait", sigtimedwait(&set, NULL, &t));
	return NULL;
}

static void *call_semop(void *arg)
{
	struct sembuf op = { .sem_num = 0, .sem_op = -1 };
	const int *id = arg;

	note("semop", semop(*id, &op, 1));
	return NULL;
}

static void *call_recv(void *arg)
{
	char c;

	(void)arg;
	note("recv", recv(sockets[0], &c, 1, 0));
	return NULL;
}

static void *call_select(void *arg)
{
	fd_set set;

	(void)arg;
	FD_ZERO(&set);
	FD_SET(quiet[0], &set);
	note("select", select(quiet[0] + 1, &set, NULL, NULL, NULL));
	return NULL;
}

static void *call_sleep(void *arg)
{
	(void)sleep_long(arg);
	note("nanosleep", 0);
	return NULL;
}

static void *call_read(void *arg)
{
	(void)read_quiet(arg);
	note("read", 0);
	return NULL;
}

static void *call_poll(void *arg)
{
	(void)poll_quiet(arg);
	note("poll", 0);
	return NULL;
}

static void *call_sem(void *arg)
{
	(void)wait_sem(arg);
	note("sem_wait", 0);
	return NULL;
}

static int calls(void)
{
	const struct timeval t = { .tv_sec = LONG_S };
	int id = semget(IPC_PRIVATE, 1, 0600), status;

	(void)sem_init(&never_posted, 0, 0);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) ||
	    setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t)))
		return 2;
	start(NULL, "epoll_wait", call_epoll, NULL);
	start(NULL, "sigtimedwait", call_sigwait, NULL);
	if (id >= 0)
		start(NULL, "semop", call_semop, &id);
	start(NULL, "recv", call_recv, NULL);
	start(NULL, "select", call_select, NULL);
	start(NULL, "sleep", call_sleep, NULL);
	start(NULL, "read", call_read, NULL);
	start(NULL, "poll", call_poll, NULL);
	start(NULL, "sem_wait", call_sem, NULL);
	wait_for_end();
	status = atomic_load(&returned) ? 1 : 0;
	if (id >= 0)
		(void)semctl(id, 0, IPC_RMID); /* semop() returns now */
	_exit(status);
}

/* --- rounds: everything moves --- */

static int ring[2][2]; /* two pipes between "ping" and "pong" */

/* Sends back each byte, which tells its own value: none may be lost or doubled. */
static void *echo(void *arg)
{
	const int *from = arg;
	unsigned char c;

	while (read(from[0], &c, 1) == 1) {
		c++;
		if (write(from[1], &c, 1) != 1)
			break;
	}
	return NULL;
}

static void *take_turns(void *arg)
{
	(void)arg;
	for (;;) {
		(void)pthread_mutex_lock(&left_lock);
		(void)atomic_fetch_add(&spins, 1);
		(void)pthread_mutex_unlock(&left_lock);
	}
	return NULL;
}

static int rounds(void)
{
	static int ends[2];
	char line[SMALL];
	unsigned char sent = 0, got;

	if (pipe(ring[0]) || pipe(ring[1]))
		return 2;
	ends[0] = ring[0][0];
	ends[1] = ring[1][1];
	start(NULL, "echo", echo, ends);
	start(NULL, "turns", take_turns, NULL);
	start(NULL, "turns", take_turns, NULL);
	(void)!write(STDOUT_FILENO, "ready\n", 6);
	while (fgets(line, sizeof(line), stdin)) {
		const int before = atomic_load(&spins);

		if (write(ring[0][1], &sent, 1) != 1 || read(ring[1][0], &got, 1) != 1 ||
		    got != (unsigned char)(sent + 1))
			return 1;
		sent = got;
		while (atomic_load(&spins) == before)
			(void)sched_yield();
		(void)!write(STDOUT_FILENO, "round\n", 6);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int status = 2;

	if (pipe(quiet))
		return 2;
	if (!strcmp(mode, "deadlock"))
		status = deadlock();
	else if (!strcmp(mode, "waits"))
		status = waits();
	else if (!strcmp(mode, "pool") && argc > 2)
		status = pool(strtol(argv[2], NULL, 10));
	else if (!strcmp(mode, "calls"))
		status = calls();
	else if (!strcmp(mode, "rounds"))
		status = rounds();
	_exit(status);
}
