/* SPDX-License-Identifier: MIT */
/*
 * What draining costs, in two parts.
 *
 * "drain": the trace of a ring that is always full, read into a recording, beside write(2) of the
 *same bytes from the same memory to the same file system: how much of its speed is left. Nothing is
 * produced: the ring's head moves over bytes that are there. The two take turns; medians.
 *
 * "record": `ptcap record` and `perf record` attached to a process that makes page faults, each a
 * sample in a data ring: their CPU time, and what they had in memory. perf is spared its second
 *pass for build-ids (-B).
 *
 *	bench_drain PTCAP PERF [FOLDER [MB [PAIRS]]]	(default: . 512 5; perf "": not there)
 */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/drain.h"

enum {
	PAGE = 4096,
	DATA = 512 << 10,
	AUX = 4 << 20,
	WAKEUP = AUX / 4, /* as the kernel is asked to */
	MAX_PAIRS = 64,
	FAULTS = 400, /* pages that are touched, and given back, again and again */
	ROUNDS = 1000,
	SETTLE_MS = 500, /* for a recorder to be attached */
};

static char path[4096], other[4096];

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static void must_do(int rc, const struct ptc_err *err)
{
	if (!rc)
		return;
	fprintf(stderr, "bench_drain: %s\n", err->msg);
	exit(1);
}

static double seconds(clockid_t clock)
{
	struct timespec ts;

	(void)clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), ascending);
	return v[n / 2];
}

/* --- drain --- */

struct fake {
	struct ptc_source base;
	struct ptc_source_ring ring;
};

static size_t rings(struct ptc_source *s, const struct ptc_source_ring **ret)
{
	*ret = &((struct fake *)s)->ring;
	return 1;
}

static void drained(struct ptc_source *s, size_t i, bool stopped)
{
	(void)s;
	(void)i;
	(void)stopped;
}

static const struct ptc_source_ops fake_ops = { .rings = rings, .drained = drained };

/* Bytes like a trace's, as far as draining looks at them: a PSB every 2 KiB. */
static void fill(uint8_t *area)
{
	static const uint8_t psb[] = { 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
				       0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82 };
	size_t i;

	for (i = 0; i < AUX; i++)
		area[i] = (uint8_t)(i * 2654435761u >> 13) | 1;
	for (i = 0; i < AUX; i += 2048)
		memcpy(area + i, psb, sizeof(psb));
}

static void fake_init(struct fake *f)
{
	uint8_t *map = mmap(NULL, PAGE + DATA + AUX, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	must(map != MAP_FAILED, "mmap");
	memset(f, 0, sizeof(*f));
	f->base.ops = &fake_ops;
	f->ring = (struct ptc_source_ring){
		.page = (struct perf_event_mmap_page *)(void *)map,
		.data_off = PAGE,
		.data_size = DATA,
		.aux = map + PAGE + DATA,
		.aux_size = AUX,
		.fd = -1,
		.tid = -1,
	};
	f->ring.page->data_offset = PAGE;
	f->ring.page->data_size = DATA;
	f->ring.page->aux_offset = PAGE + DATA;
	f->ring.page->aux_size = AUX;
	fill(f->ring.aux);
}

static void drain(struct fake *f, uint64_t bytes)
{
	const struct ptc_record_opts opts = { .size = sizeof(opts) };
	const struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE };
	const uint64_t id = 1;
	struct ptc_writer *w;
	struct ptc_drain d;
	struct ptc_err err;
	uint64_t head = 0;
	bool more;

	f->ring.page->aux_head = f->ring.page->aux_tail = 0;
	must_do(ptc_writer_new(path, &w, &err), &err);
	must_do(ptc_writer_attr(w, &attr, "bench", &id, 1, &err), &err);
	must_do(ptc_drain_init(&d, &f->base, &opts, &err), &err);
	d.writer = w;
	d.whole_packets = true;
	ptc_noted_init(&d.noted, 0);
	while (head < bytes) {
		head += WAKEUP;
		__atomic_store_n(&f->ring.page->aux_head, head, __ATOMIC_RELEASE);
		do
			must_do(ptc_drain_round(&d, head >= bytes, false, &more, &err), &err);
		while (more);
	}
	must(d.aux_bytes == head, "drained");
	ptc_drain_release(&d);
	must_do(ptc_writer_commit(w, &err), &err);
}

static void plain(const struct fake *f, uint64_t bytes)
{
	const int fd = open(other, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	uint64_t at;

	must(fd >= 0, other);
	for (at = 0; at < bytes; at += WAKEUP)
		must(write(fd, (const uint8_t *)f->ring.aux + at % AUX, WAKEUP) == WAKEUP, other);
	must(close(fd) == 0, other);
}

static long peak_kib(void)
{
	struct rusage u;

	(void)getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss;
}

static void bench_drain(uint64_t bytes, size_t pairs)
{
	double ours[MAX_PAIRS], theirs[MAX_PAIRS], ratio[MAX_PAIRS], cpu[MAX_PAIRS];
	struct fake f;
	long first;
	size_t i;

	fake_init(&f);
	drain(&f, AUX); /* once, for nothing */
	first = peak_kib();
	for (i = 0; i < pairs; i++) {
		double t[4];

		(void)unlink(other);
		t[0] = seconds(CLOCK_MONOTONIC);
		plain(&f, bytes);
		t[1] = seconds(CLOCK_MONOTONIC);
		(void)unlink(path);
		t[2] = seconds(CLOCK_PROCESS_CPUTIME_ID);
		t[3] = seconds(CLOCK_MONOTONIC);
		drain(&f, bytes);
		ours[i] = (double)bytes / 1e6 / (seconds(CLOCK_MONOTONIC) - t[3]);
		cpu[i] = (seconds(CLOCK_PROCESS_CPUTIME_ID) - t[2]) * 1e9 / (double)bytes;
		theirs[i] = (double)bytes / 1e6 / (t[1] - t[0]);
		ratio[i] = ours[i] / theirs[i];
	}
	(void)unlink(path);
	(void)unlink(other);
	printf("drain\t%.0f MB/s, write(2) %.0f MB/s, ratio %.2f (at least 0.80 wanted); %.2f ns "
	       "of CPU a "
	       "byte; memory %+ld KiB over %" PRIu64 " MB\n",
	       median(ours, pairs), median(theirs, pairs), median(ratio, pairs), median(cpu, pairs),
	       peak_kib() - first, bytes / 1000000 * pairs);
}

/* --- record --- */

/* Waits for a byte, makes its faults, and ends. */
static pid_t victim(int *ret_go)
{
	int ends[2], i, k;
	pid_t pid;
	char c;

	must(pipe(ends) == 0, "pipe");
	pid = fork();
	must(pid >= 0, "fork");
	if (!pid) {
		char *p = mmap(NULL, (size_t)FAULTS * PAGE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		(void)close(ends[1]);
		(void)madvise(p, (size_t)FAULTS * PAGE, MADV_NOHUGEPAGE);
		if (p == MAP_FAILED || read(ends[0], &c, 1) != 1)
			_exit(1);
		for (i = 0; i < ROUNDS; i++) {
			for (k = 0; k < FAULTS; k++)
				((volatile char *)p)[(size_t)k * PAGE] = 1;
			(void)madvise(p, (size_t)FAULTS * PAGE, MADV_DONTNEED);
		}
		_exit(0);
	}
	(void)close(ends[0]);
	*ret_go = ends[1];
	return pid;
}

struct cost {
	double cpu, mb;
	long kib;
};

/* @argv ends with "-p" and room for the process. */
static struct cost record(char **argv, char *pid_text, size_t size, const char *file)
{
	const struct timespec settle = { .tv_nsec = SETTLE_MS * 1000000L };
	struct rusage u;
	struct stat st;
	pid_t target, pid;
	int go, status;

	(void)unlink(file);
	target = victim(&go);
	(void)snprintf(pid_text, size, "%d", (int)target);
	pid = fork();
	must(pid >= 0, "fork");
	if (!pid) {
		(void)close(go);
		(void)execvp(argv[0], argv);
		_exit(127);
	}
	(void)nanosleep(&settle, NULL);
	must(write(go, "", 1) == 1, "write");
	(void)close(go);
	must(waitpid(target, &status, 0) == target && !status, "the process that is recorded");
	must(wait4(pid, &status, 0, &u) == pid && !status, argv[0]);
	must(stat(file, &st) == 0, file);
	(void)unlink(file);
	return (struct cost){
		.cpu = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
		       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6,
		.mb = (double)st.st_size / 1e6,
		.kib = u.ru_maxrss,
	};
}

static void bench_record(char *ptcap, char *perf, size_t pairs)
{
	char pid[16], event[] = "page-faults:u", ring[] = "4M", one[] = "1";
	char words[][4] = { "-q", "-e", "-m", "-o", "-p", "-c", "-B" }, name[] = "record";
	char *ours[] = { ptcap, name,	  words[0], words[1], event, words[2],
			 ring,	words[3], path,	    words[4], pid,   NULL };
	char *theirs[] = { perf,     name, words[0], words[1], event,	 words[5], one,
			   words[2], ring, words[3], other,    words[4], pid,	   NULL };
	double ratio[MAX_PAIRS], a[MAX_PAIRS], b[MAX_PAIRS];
	struct cost x = { 0, 0, 0 }, y = { 0, 0, 0 };
	size_t i;

	for (i = 0; i < pairs; i++) {
		x = record(ours, pid, sizeof(pid), path);
		y = record(theirs, pid, sizeof(pid), other);
		a[i] = x.cpu * 1e3;
		b[i] = y.cpu * 1e3;
		ratio[i] = a[i] / b[i];
	}
	printf("record\t%.0f ms of CPU (a file of %.0f MB), perf %.0f (%.0f MB), ratio %.2f (at "
	       "most 1 "
	       "wanted); %ld KiB in memory, perf %ld\n",
	       median(a, pairs), x.mb, median(b, pairs), y.mb, median(ratio, pairs), x.kib, y.kib);
}

int main(int argc, char **argv)
{
	const char *folder = argc > 3 ? argv[3] : ".";
	const uint64_t mb = argc > 4 ? strtoull(argv[4], NULL, 10) : 512;
	const size_t pairs = argc > 5 ? strtoul(argv[5], NULL, 10) : 5;

	if (argc < 3 || !mb || !pairs || pairs > MAX_PAIRS) {
		fputs("usage: bench_drain PTCAP PERF [FOLDER [MB [PAIRS]]]\n", stderr);
		return 2;
	}
	(void)snprintf(path, sizeof(path), "%s/bench_drain.ours", folder);
	(void)snprintf(other, sizeof(other), "%s/bench_drain.theirs", folder);
	bench_drain(mb << 20, pairs);
	if (*argv[2])
		bench_record(argv[1], argv[2], pairs);
	return 0;
}
