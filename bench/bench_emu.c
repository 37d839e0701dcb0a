/* SPDX-License-Identifier: MIT */
/*
 * Speed of the emulated source in guest instructions and trace bytes per second: the whole of ptcap
 * record, with a file on tmpfs. Compared with qemu-x86_64 without a plugin. The two alternate;
 * medians are printed. Then: losses if the program never waits (--lossy), and whether four times
 * the work uses more memory.
 *
 *	bench_emu [-z] [PAIRS [COMMAND...]]	(default: xz and python3; -z: compress the sideband
 *						records)
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ptcap/capture.h"

enum { MAX_PAIRS = 64, MAX_ARGS = 64, LOSSY_RING = 64 << 10 };

static unsigned int compression;

struct result {
	double insns_s[MAX_PAIRS]; /* instructions per second */
	double aux_s[MAX_PAIRS];   /* bytes of trace per second */
	double ratio[MAX_PAIRS];   /* relative to the time of bare QEMU */
	uint64_t insns;
};

static double now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Returns the seconds in QEMU alone; 0: it did not run. */
static double bare(char *const *argv)
{
	char *line[MAX_ARGS + 4] = { (char *)"qemu-x86_64", (char *)"-cpu", (char *)"max" };
	double t = now();
	int status, i;
	pid_t pid;

	for (i = 0; argv[i] && i < MAX_ARGS; i++)
		line[3 + i] = argv[i];
	pid = fork();
	if (!pid) {
		(void)execvp(line[0], line);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
	    WEXITSTATUS(status) == 127)
		return 0;
	t = now() - t;
	return t;
}

static double ours(char *const *argv, const char *out, bool lossy, struct ptc_record_result *r)
{
	struct ptc_record_opts o = { .size = sizeof(o),
				     .output.path = out,
				     .target.argv = argv,
				     .source.kind = PTC_SOURCE_EMU,
				     .rings.lossy = lossy,
				     .rings.aux_size = lossy ? LOSSY_RING : 0,
				     .output.compression = compression,
				     .callbacks.wake_fd = -1 };
	struct ptc_err err;
	const double t = now();

	if (ptc_record(&o, r, &err)) {
		fprintf(stderr, "bench_emu: %s\n", err.msg);
		exit(1);
	}
	return now() - t;
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

static const char *name_of(char *const *argv)
{
	const char *slash = strrchr(argv[0], '/');

	return slash ? slash + 1 : argv[0];
}

static void lose(char *const *argv, const char *out)
{
	struct ptc_record_result r;
	const double t = ours(argv, out, true, &r);

	fprintf(stderr,
		"  --lossy  %6.1f M instructions/s with an AUX ring of %d KiB; of %" PRIu64
		" bytes of trace %" PRIu64 " stored, %" PRIu64 " lost\n",
		(double)r.insns / t / 1e6, LOSSY_RING >> 10, r.made_aux, r.aux_bytes, r.lost_aux);
}

static void measure(char *const *argv, size_t pairs, const char *out)
{
	static struct result res;
	struct ptc_record_result r = { .insns = 0 };
	size_t i;

	for (i = 0; i < pairs; i++) {
		const double qemu = bare(argv), t = ours(argv, out, false, &r);

		res.insns_s[i] = (double)r.insns / t;
		res.aux_s[i] = (double)r.aux_bytes / t;
		res.ratio[i] = t / qemu;
	}
	fprintf(stderr,
		"%-10s %6.1f M instructions/s, %6.1f MB/s of trace, %5.2f times the time of bare "
		"qemu-x86_64; %" PRIu64 " M instructions\n",
		name_of(argv), median(res.insns_s, pairs) / 1e6, median(res.aux_s, pairs) / 1e6,
		median(res.ratio, pairs), r.insns / 1000000);
	lose(argv, out);
}

/* Returns the peak memory in KiB of a process that only records. QEMU's memory is not included. */
static long peak_kib(char *const *argv, const char *out, uint64_t *ret_insns)
{
	struct {
		uint64_t insns;
		long kib;
	} told = { 0, 0 };
	struct ptc_record_result r;
	struct rusage ru;
	int fd[2];
	pid_t pid;

	if (pipe(fd))
		exit(1);
	pid = fork();
	if (!pid) {
		(void)ours(argv, out, false, &r);
		(void)getrusage(RUSAGE_SELF, &ru);
		told.insns = r.insns;
		told.kib = ru.ru_maxrss;
		_exit(write(fd[1], &told, sizeof(told)) != (ssize_t)sizeof(told));
	}
	(void)close(fd[1]);
	if (pid < 0 || read(fd[0], &told, sizeof(told)) != (ssize_t)sizeof(told))
		exit(1);
	(void)close(fd[0]);
	(void)waitpid(pid, NULL, 0);
	*ret_insns = told.insns;
	return told.kib;
}

static void remember(char *const *once, char *const *four, const char *out)
{
	uint64_t a_insns, b_insns;
	const long a = peak_kib(once, out, &a_insns), b = peak_kib(four, out, &b_insns);

	fprintf(stderr,
		"memory     %ld KiB for %" PRIu64 " M instructions, %ld KiB for %" PRIu64
		" M: %.2f times the memory for %.2f times the work\n",
		a, a_insns / 1000000, b, b_insns / 1000000, (double)b / (double)a,
		(double)b_insns / (double)a_insns);
}

int main(int argc, char **argv)
{
	static char *const xz[] = {
		(char *)"/usr/bin/xz",		(char *)"-k", (char *)"-c", (char *)"-1",
		(char *)"/usr/bin/qemu-x86_64", NULL
	};
	static char *const shorter[] = { (char *)"/usr/bin/python3", (char *)"-c",
					 (char *)"print(sum(i * i for i in range(500000)))", NULL };
	static char *const python[] = { (char *)"/usr/bin/python3", (char *)"-c",
					(char *)"print(sum(i * i for i in range(2000000)))", NULL };
	char dir[] = "/dev/shm/ptcap-bench.XXXXXX", out[64];
	size_t pairs;
	int null;

	if (argc > 1 && !strcmp(argv[1], "-z")) {
		compression = 1;
		argc--;
		argv++;
	}
	pairs = argc > 1 ? strtoul(argv[1], NULL, 10) : 3;
	if (!pairs || pairs > MAX_PAIRS || !mkdtemp(dir)) {
		fprintf(stderr, "usage: bench_emu [-z] [PAIRS [COMMAND...]]\n");
		return 2;
	}
	(void)snprintf(out, sizeof(out), "%s/perf.data", dir);
	null = open("/dev/null", O_WRONLY); /* the commands' output; results go to stderr */
	(void)dup2(null, STDOUT_FILENO);
	if (argc > 2) {
		measure(argv + 2, pairs, out);
	} else {
		measure(xz, pairs, out);
		measure(shorter, pairs, out);
		measure(python, pairs, out);
		remember(shorter, python, out);
	}
	(void)unlink(out);
	(void)snprintf(out, sizeof(out), "%s/perf.data.old", dir);
	(void)unlink(out);
	(void)rmdir(dir);
	return 0;
}
