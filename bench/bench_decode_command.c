/* SPDX-License-Identifier: MIT */
/* The command `ptcap decode`, beside `perf script`. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_decode.h"

enum { MAX_ARGS = 64, LAST = 1000 };

/* Each command gets the values of FILE, PTCAP and ENGINE. */
static const char *const decode_text[] = {
	"PTCAP",    "decode", "-i", "FILE",    "-j",	     "1",
	"--engine", "ENGINE", "-F", "from,to", "--no-pager", NULL
};
static const char *const decode_last[] = { "PTCAP",    "decode",  "-i",		"FILE",
					   "--engine", "ENGINE",  "--last",	"1000",
					   "-F",       "from,to", "--no-pager", NULL };
static const char *const perf_text[] = { "perf",    "script", "--itrace=b", "-F",
					 "ip,addr", "-i",     "FILE",	    NULL };

static const char *const callgrind[] = {
	"PTCAP", "decode", "-i", "FILE", "-j", "1", "--format=callgrind", NULL
};
static const char *const folded[] = { "PTCAP", "decode",	  "-i", "FILE", "-j",
				      "1",     "--format=folded", NULL };
static const char *const pprof[] = { "PTCAP", "decode",		"-i", "FILE", "-j",
				     "1",     "--format=pprof", NULL };
static const char *const chains[] = { "PTCAP", "convert", "--callchains=10000", "-i", "FILE", "-o",
				      "-",     NULL };
static const char *const perf_chains[] = { "perf",	"inject", "--itrace=i10000ig127",
					   "-i",	"FILE",	  "-o",
					   "/dev/null", NULL };
struct run {
	double cpu, wall; /* seconds */
	uint64_t lines;	  /* if counted */
};

static const char *ptcap(void)
{
	static char path[4096];
	const ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - sizeof("ptcap"));
	char *slash;

	if (n <= 0)
		bd_die("cannot tell where ptcap is");
	path[n] = '\0';
	slash = strrchr(path, '/');
	memcpy(slash + 1, "ptcap", sizeof("ptcap"));
	return path;
}

static uint64_t count_lines(int fd)
{
	static char buf[1 << 20];
	uint64_t lines = 0;
	ssize_t n, i;

	while ((n = read(fd, buf, sizeof(buf))) > 0)
		for (i = 0; i < n; i++)
			lines += buf[i] == '\n';
	return lines;
}

/* @count: count the lines, through a pipe. Otherwise the output goes to /dev/null. */
static bool run_command(const char *const *line, const char *file, bool count, struct run *ret)
{
	char *argv[MAX_ARGS] = { NULL };
	int fd[2] = { -1, -1 }, status, null = open("/dev/null", O_RDWR | O_CLOEXEC), i;
	struct rusage ru;
	double t;
	pid_t pid;

	for (i = 0; line[i] && i + 1 < MAX_ARGS; i++)
		argv[i] = (char *)(uintptr_t)(!strcmp(line[i], "FILE")	 ? file :
					      !strcmp(line[i], "ENGINE") ? bd_engine :
					      !strcmp(line[i], "PTCAP")	 ? ptcap() :
									   line[i]);
	if (count && pipe2(fd, O_CLOEXEC))
		bd_die("cannot make a pipe");
	t = bd_wall_now();
	pid = fork();
	if (!pid) {
		(void)dup2(count ? fd[1] : null, STDOUT_FILENO);
		(void)dup2(null, STDERR_FILENO);
		(void)execvp(argv[0], argv);
		_exit(127);
	}
	(void)close(fd[1]);
	ret->lines = count ? count_lines(fd[0]) : 0;
	if (count)
		(void)close(fd[0]);
	(void)close(null);
	if (pid < 0 || wait4(pid, &status, 0, &ru) != pid || status)
		return false;
	ret->wall = bd_wall_now() - t;
	ret->cpu = (double)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) +
		   (double)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) / 1e6;
	return true;
}

static struct run must_run(const char *const *line, const char *file, bool count)
{
	struct run r;

	if (!run_command(line, file, count, &r))
		bd_die("ptcap decode failed");
	return r;
}

void bench_text(const char *path, size_t pairs)
{
	double a[MAX_PAIRS], b[MAX_PAIRS], ratio[MAX_PAIRS], mid, begin;
	struct run perf, us = must_run(decode_text, path, true);
	uint64_t lines;
	size_t i;

	if (!run_command(perf_text, path, true, &perf)) {
		fprintf(stderr, "  text    perf script did not work\n");
		return;
	}
	lines = us.lines;
	if (lines != perf.lines) {
		fprintf(stderr, "  text    we print %" PRIu64 " transfers, perf %" PRIu64 "\n",
			lines, perf.lines);
		exit(1);
	}
	begin = bd_wall_now();
	for (i = 0; bd_goes_on(i, pairs, begin); i++) {
		(void)run_command(perf_text, path, false, &perf);
		us = must_run(decode_text, path, false);
		a[i] = perf.cpu;
		b[i] = us.cpu;
		ratio[i] = a[i] / b[i];
	}
	pairs = i;
	mid = bd_median(ratio, pairs);
	fprintf(stderr,
		"  text    %.2f times the speed of perf script (%.2f to %.2f); %" PRIu64
		" transfers each; perf %.2f s, ours %.2f s\n",
		mid, ratio[0], ratio[pairs - 1], lines, bd_median(a, pairs), bd_median(b, pairs));
}

void bench_last(const char *path, size_t pairs)
{
	double cpu[MAX_PAIRS], wall[MAX_PAIRS];
	const uint64_t lines = must_run(decode_last, path, true).lines;
	struct run r;
	size_t i;

	for (i = 0; i < pairs; i++) {
		r = must_run(decode_last, path, false);
		cpu[i] = r.cpu * 1e3;
		wall[i] = r.wall * 1e3;
	}
	r = must_run(decode_text, path, false);
	fprintf(stderr,
		"  last    --last %d: %" PRIu64
		" lines in %.1f ms, CPU time %.1f ms; all of it takes %.0f times that\n",
		LAST, lines, bd_median(wall, pairs), bd_median(cpu, pairs),
		r.cpu * 1e3 / bd_median(cpu, pairs));
}

/* Returns the number of branches that `decode --stats` prints. */
static double branches_of(const char *path)
{
	char line[256], command[8192];
	unsigned long long n = 0;
	FILE *p;

	(void)snprintf(command, sizeof(command), "'%s' decode --stats -i '%s' 2>/dev/null", ptcap(),
		       path);
	p = popen(command, "re");
	while (p && !n && fgets(line, sizeof(line), p))
		(void)sscanf(line, "branches %llu", &n);
	if (!p || !n)
		bd_die("ptcap decode --stats failed");
	(void)pclose(p);
	return (double)n;
}

void bench_profiles(const char *path, size_t pairs)
{
	static const struct {
		const char *name;
		const char *const *line;
	} ours[] = { { "callgrind", callgrind },
		     { "folded", folded },
		     { "pprof", pprof },
		     { "callchains", chains } };
	const double all = branches_of(path);
	double cpu[MAX_PAIRS], ratio[MAX_PAIRS];
	struct run perf = { 0 }, us;
	size_t i, k;

	for (k = 0; k < sizeof(ours) / sizeof(ours[0]); k++) {
		for (i = 0; i < pairs; i++) {
			if (!run_command(perf_chains, path, false, &perf))
				bd_die("perf inject did not work");
			us = must_run(ours[k].line, path, false);
			cpu[i] = us.cpu;
			ratio[i] = perf.cpu / us.cpu;
		}
		fprintf(stderr,
			"  %-10s %.2f s for 1e8 branches, %.2f times the speed of perf inject "
			"--itrace=i (%.0f branches)\n",
			ours[k].name, bd_median(cpu, pairs) * 1e8 / all, bd_median(ratio, pairs),
			all);
	}
}
