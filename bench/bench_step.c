/* SPDX-License-Identifier: MIT */
/*
 * Steps per second of the step source, against the minimal cost of stepping: a bare loop of
 * PTRACE_SINGLESTEP, waitpid and PTRACE_GETREGS, with tracer and tracee on one CPU. The two
 * alternate. Prints medians and their ratio, and ptcap's peak memory after a short and after a long
 * recording.
 *
 *	bench_step [PAIRS [COMMAND...]]
 */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ptcap/capture.h"

enum { MAX_PAIRS = 64 };

static double now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void pin(pid_t pid, int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	(void)sched_setaffinity(pid, sizeof(one), &one);
}

/* Returns the steps per second of the bare loop. The command inherits the output. */
static double bare(char *const *argv)
{
	struct user_regs_struct regs;
	unsigned long steps = 0;
	double t;
	cpu_set_t all;
	int status;
	pid_t pid;

	(void)sched_getaffinity(0, sizeof(all), &all);
	pid = fork();
	if (!pid) {
		(void)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		(void)execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return 0;
	pin(0, sched_getcpu());
	pin(pid, sched_getcpu());
	t = now();
	while (!ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL)) {
		if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
			break;
		(void)ptrace(PTRACE_GETREGS, pid, NULL, &regs);
		steps++;
	}
	t = now() - t;
	(void)sched_setaffinity(0, sizeof(all), &all);
	return (double)steps / t;
}

static double ours(char *const *argv, const char *out, uint64_t *ret_insns)
{
	struct ptc_record_opts o = { .size = sizeof(o),
				     .output.path = out,
				     .target.argv = argv,
				     .source.kind = PTC_SOURCE_STEP,
				     .callbacks.wake_fd = -1 };
	struct ptc_record_result r;
	struct ptc_err err;

	if (ptc_record(&o, &r, &err)) {
		fprintf(stderr, "bench_step: %s\n", err.msg);
		exit(1);
	}
	*ret_insns = r.insns;
	return (double)r.insns / ((double)r.duration_ns / 1e9);
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_value);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static long peak_kib(void)
{
	struct rusage ru;

	(void)getrusage(RUSAGE_SELF, &ru);
	return ru.ru_maxrss;
}

int main(int argc, char **argv)
{
	static char *const truth[] = { (char *)"/bin/true", NULL };
	static char *const longer[] = { (char *)"/bin/sh", (char *)"-c",
					(char *)"i=0; while [ $i -lt 90 ]; do i=$((i+1)); done",
					NULL };
	char *const *cmd = argc > 2 ? argv + 2 : truth;
	const size_t pairs = argc > 1 ? strtoul(argv[1], NULL, 10) : 5;
	double a[MAX_PAIRS], b[MAX_PAIRS], ratio[MAX_PAIRS], mid;
	char dir[] = "/tmp/ptcap-bench.XXXXXX", out[64];
	uint64_t insns = 0, long_insns = 0;
	long short_kib;
	size_t i;

	if (!pairs || pairs > MAX_PAIRS || !mkdtemp(dir)) {
		fprintf(stderr, "usage: bench_step [PAIRS [COMMAND...]]\n");
		return 2;
	}
	(void)snprintf(out, sizeof(out), "%s/perf.data", dir);
	for (i = 0; i < pairs; i++) {
		a[i] = bare(cmd);
		b[i] = ours(cmd, out, &insns);
		ratio[i] = b[i] / a[i];
	}
	short_kib = peak_kib();
	(void)ours(longer, out, &long_insns);
	printf("bare loop      %10.0f steps/s (median of %zu)\n", median(a, pairs), pairs);
	printf("ptcap step     %10.0f steps/s, %" PRIu64 " instructions a run\n", median(b, pairs),
	       insns);
	mid = median(ratio, pairs); /* also sorts */
	printf("ratio          %10.2f (pair by pair: %.2f to %.2f)\n", mid, ratio[0],
	       ratio[pairs - 1]);
	printf("peak memory    %10ld KiB after %" PRIu64 " instructions, %ld KiB after %" PRIu64
	       "\n",
	       short_kib, insns, peak_kib(), long_insns);
	(void)unlink(out);
	(void)snprintf(out, sizeof(out), "%s/perf.data.old", dir);
	(void)unlink(out);
	(void)rmdir(dir);
	return 0;
}
