/* SPDX-License-Identifier: MIT */
/*
 * Description: a recording that is refused anything releases all its resources, and reports what is
 * missing.
 *
 * Uses the kernel's events in separate processes: with each limit of descriptors from the lowest to
 * the one that suffices; with events refused for one CPU in the middle; on success. After a failure
 * no descriptor, child or file may remain.
 */
#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ptcap/capture.h"

enum { GOOD = 0, REFUSED = 1, BAD = 2, SKIP = 77, LIMIT_MAX = 256 };

struct job {
	const char *event;
	bool attach; /* to a child, instead of a command */
};

static char folder[] = "/tmp/ptcap-leaks.XXXXXX", output[64];

static unsigned int descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned int n = 0;

	if (!d) {
		perror("/proc/self/fd");
		exit(BAD);
	}
	while (readdir(d))
		n++;
	(void)closedir(d);
	return n;
}

/* Starts a child that ends when @fd, its input, is closed. */
static pid_t victim(int *ret_fd)
{
	int ends[2];
	pid_t pid;
	char c;

	if (pipe(ends))
		return -1;
	pid = fork();
	if (!pid) {
		(void)close(ends[1]);
		_exit(read(ends[0], &c, 1) != 0);
	}
	(void)close(ends[0]);
	*ret_fd = ends[1];
	return pid;
}

static enum ptc_wake_action leave(void *ctx, pid_t cmd)
{
	(void)ctx;
	(void)cmd;
	return PTC_WAKE_LEAVE;
}

/* Returns true if no resource is left. */
static bool clean(const struct job *job, int rc, unsigned int before, const struct ptc_err *err)
{
	const unsigned int after = descriptors();
	const bool file = access(output, F_OK) == 0;

	if (after != before)
		fprintf(stderr, "%s: %u descriptors before, %u after: %s\n", job->event, before,
			after, rc ? err->msg : "");
	else if (file != !rc)
		fprintf(stderr, "%s: %d, and the file is%s there\n", job->event, rc,
			file ? "" : " not");
	else if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD)
		fprintf(stderr, "%s: a child is left\n", job->event);
	else
		return true;
	return false;
}

/* Runs in a process of its own and returns its result as exit status. */
static int once(const struct job *job, struct ptc_err *err)
{
	char program[] = "/bin/true";
	char *const argv[] = { program, NULL };
	struct ptc_record_opts o = {
		.size = sizeof(o),
		.output.path = output,
		.source.event = job->event,
		.callbacks.wake_fd = -1,
	};
	struct ptc_record_result result;
	unsigned int before;
	pid_t pid = 0;
	int fd = -1, ready[2], rc;
	bool good;

	if (job->attach) {
		pid = victim(&fd);
		if (pid < 0 || pipe(ready) || write(ready[1], "", 1) != 1)
			return BAD;
		o.target.pids = &pid;
		o.target.npids = 1;
		o.callbacks.wake_fd = ready[0]; /* stop at once */
		o.callbacks.on_wake = leave;
	} else {
		o.target.argv = argv;
	}
	before = descriptors();
	rc = ptc_record(&o, &result, err);
	if (job->attach) {
		int status = -1;

		good = descriptors() == before;
		(void)close(fd);
		if (!good || waitpid(pid, &status, 0) != pid || status) {
			fprintf(stderr, "%s: the process it was attached to: %x\n", job->event,
				(unsigned int)status);
			return BAD;
		}
		before--;
	}
	good = clean(job, rc, before, err);
	(void)unlink(output);
	return !good ? BAD : rc ? REFUSED : GOOD;
}

/* --- limits --- */

static int limited(const struct job *job, rlim_t limit)
{
	const struct rlimit r = { limit, limit };
	struct ptc_err err = { .msg = "" };
	int rc;

	/* The test's own descriptors are already open here: see once(). */
	if (setrlimit(RLIMIT_NOFILE, &r))
		return BAD;
	rc = once(job, &err);
	if (rc == REFUSED && err.sys != EMFILE && err.sys != ENFILE) {
		fprintf(stderr, "%s: limit %d: errno %d: %s\n", job->event, (int)limit, err.sys,
			err.msg);
		return BAD;
	}
	return rc;
}

/* --- a refusal in the middle --- */

/* Makes perf_event_open fail with EBUSY if its argument @arg is @value. */
static bool refuse(unsigned int arg, uint32_t value)
{
	const uint32_t at =
		(uint32_t)(offsetof(struct seccomp_data, args) + arg * sizeof(uint64_t));
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EBUSY),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

static int refused(const struct job *job, uint32_t cpu)
{
	struct ptc_err err = { .msg = "" };
	int rc;

	if (!refuse(2, cpu))
		return BAD;
	rc = once(job, &err);
	if (rc != REFUSED || err.sys != EBUSY || !strstr(err.msg, "in use")) {
		fprintf(stderr, "%s: CPU %d refused: %d %s\n", job->event, (int)cpu, rc, err.msg);
		return BAD;
	}
	return GOOD;
}

/* --- all cases --- */

static int forked(int (*f)(const struct job *, rlim_t), const struct job *job, rlim_t arg)
{
	const pid_t pid = fork();
	int status;

	if (!pid)
		exit(f(job, arg));
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return BAD;
	return WEXITSTATUS(status);
}

static int unlimited(const struct job *job, rlim_t unused)
{
	struct ptc_err err = { .msg = "" };
	const int rc = once(job, &err);

	(void)unused;
	if (rc)
		fprintf(stderr, "%s: %s\n", job->event, err.msg);
	return rc;
}

static int refused_at(const struct job *job, rlim_t cpu)
{
	return refused(job, (uint32_t)cpu);
}

static bool check(const struct job *job)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned int refusals = 0;
	/* Starts at a limit that just suffices for the descriptors of once(). */
	rlim_t limit = descriptors() + (job->attach ? 3 : 0) - 2;
	int rc = REFUSED;

	for (; rc == REFUSED && limit < LIMIT_MAX; limit++, refusals++)
		rc = forked(limited, job, limit);
	if (rc != GOOD || refusals < 5) {
		fprintf(stderr, "%s: status %d after %u limits\n", job->event, rc, refusals);
		return false;
	}
	return forked(refused_at, job, (rlim_t)cpus - 1) == GOOD;
}

int main(void)
{
	static const struct job jobs[] = {
		{ "dummy:u", false },
		{ "page-faults:u", false },
		{ "dummy:u", true },
		{ "page-faults:u", true },
	};
	size_t i;
	int rc;

	if (!mkdtemp(folder))
		return BAD;
	(void)snprintf(output, sizeof(output), "%s/f", folder);
	rc = forked(unlimited, &jobs[0], 0) == GOOD ? 0 : SKIP;
	for (i = 0; !rc && i < sizeof(jobs) / sizeof(jobs[0]); i++)
		rc = !check(&jobs[i]);
	(void)rmdir(folder);
	return rc;
}
