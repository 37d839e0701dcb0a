/* SPDX-License-Identifier: MIT */
/*
 * Cost of draining, in two parts.
 *
 * "drain": read the trace of an always full ring into a recording. Compared with write(2) of the
 * same bytes from the same memory to the same file system. Shows the fraction of the speed, and
 * whether memory grows. Nothing is produced: the ring's head moves over existing bytes. The two
 * alternate; medians.
 *
 * "record": `ptcap record` and `perf record` attached to a process with page faults, each a sample
 * in a data ring, or without faults. Measured: CPU time from the first sample on, minus the time
 * without faults, and memory. All recorders must have the same samples with the same fields.
 *
 * perf is measured twice. By default perf reads all records again at the end, for the names of the
 * files that were hit; ptcap reads them while recording. With -B perf reads no record at all. The
 * cost of a trace: tests/guest/cost.sh.
 *
 *	bench_drain PTCAP PERF [FOLDER [MB [PAIRS]]]	(default: . 512 5; perf "": skip)
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
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/session/drain.h"
#include "ptcap/file.h"

enum {
	PAGE = 4096,
	DATA = 512 << 10,
	AUX = 4 << 20,
	WAKEUP = AUX / 4, /* as requested from the kernel */
	MAX_PAIRS = 64,
	FAULTS = 400, /* pages that are touched and released in each round */
	ROUNDS = 2000,
	SETTLE_MS = 500, /* time for a recorder to attach */
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

/* Fill with bytes that look like trace to the drain code: a PSB every 2 KiB. */
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
	drain(&f, AUX); /* warm-up */
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
	       "of CPU a byte; %ld KiB in memory at most after 4 MB, %ld after %" PRIu64 " MB\n",
	       median(ours, pairs), median(theirs, pairs), median(ratio, pairs), median(cpu, pairs),
	       first, peak_kib(), bytes / 1000000 * pairs);
}

/* --- record --- */

/* Start a process that waits for a byte, makes its faults @rounds times, and exits. */
static pid_t victim(int rounds, int *ret_go)
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
		for (i = 0; i < rounds; i++) {
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

static uint64_t samples_of(const char *file)
{
	struct ptc_file *f;
	struct ptc_rec rec;
	struct ptc_err err;
	uint64_t pos = 0, n = 0;

	must_do(ptc_file_open(file, &f, &err), &err);
	while (ptc_file_next(f, &pos, &rec, &err) == 1)
		n += rec.type == PERF_RECORD_SAMPLE;
	ptc_file_free(f);
	return n;
}

struct cost {
	double ms, start_ms; /* ms: after the first sample; start_ms: before */
	uint64_t samples;
	long kib;
};

/* Returns the CPU time in ms that process @pid has used so far. */
static double cpu_ms(pid_t pid)
{
	clockid_t clock;

	must(clock_getcpuclockid(pid, &clock) == 0, "the clock of a process");
	return seconds(clock) * 1e3;
}

/* @argv ends with "-p" and the buffer @pid_text for the process. */
static struct cost record(char **argv, char *pid_text, size_t size, const char *file, int rounds)
{
	const struct timespec settle = { .tv_nsec = SETTLE_MS * 1000000L };
	struct rusage u;
	pid_t target, pid;
	int go, status;
	double start;
	uint64_t n;

	(void)unlink(file);
	target = victim(rounds, &go);
	(void)snprintf(pid_text, size, "%d", (int)target);
	pid = fork();
	must(pid >= 0, "fork");
	if (!pid) {
		(void)close(go);
		(void)execvp(argv[0], argv);
		_exit(127);
	}
	(void)nanosleep(&settle, NULL);
	start = cpu_ms(pid);
	must(write(go, "", 1) == 1, "write");
	(void)close(go);
	must(waitpid(target, &status, 0) == target && !status, "the process that is recorded");
	must(wait4(pid, &status, 0, &u) == pid && !status, argv[0]);
	n = samples_of(file);
	(void)unlink(file);
	return (struct cost){
		.ms = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
		      (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3 - start,
		.start_ms = start,
		.samples = n,
		.kib = u.ru_maxrss,
	};
}

/* Cost of the samples, and of everything else. */
struct side {
	char **argv;
	const char *file;
	double ms[MAX_PAIRS], rest_ms[MAX_PAIRS];
	struct cost last;
};

static void record_pair(struct side *s, char *pid_text, size_t size, size_t i)
{
	struct cost none = record(s->argv, pid_text, size, s->file, 0);

	s->rest_ms[i] = none.ms + none.start_ms;
	s->last = record(s->argv, pid_text, size, s->file, ROUNDS);
	s->ms[i] = s->last.ms - none.ms;
}

static void print_side(const char *name, struct side *s, size_t pairs)
{
	const double ms = median(s->ms, pairs);

	printf("\t%s %.1f ms of CPU for %" PRIu64 " samples, %.1f ns each; start and end %.0f ms; "
	       "%ld KiB in memory\n",
	       name, ms, s->last.samples, ms * 1e6 / (double)s->last.samples,
	       median(s->rest_ms, pairs), s->last.kib);
}

static void bench_record(char *ptcap, char *perf, size_t pairs)
{
	char pid[16], event[] = "page-faults:u", both[] = "page-faults:u,dummy:u", ring[] = "4M";
	char words[][4] = { "-q", "-e", "-m", "-o", "-p", "-c", "-B" }, name[] = "record";
	char cpu[] = "--sample-cpu", id[] = "--sample-identifier", one[] = "1";
	char *our_argv[] = { ptcap, name,     words[0], words[1], event, words[2],
			     ring,  words[3], path,	words[4], pid,	 NULL };
	char *their_argv[] = { perf, name,     words[0], words[1], both,  words[5], one, cpu,
			       id,   words[2], ring,	 words[3], other, words[4], pid, NULL };
	char *bare_argv[] = { perf,	name,  words[0], words[6], words[1], both,
			      words[5], one,   cpu,	 id,	   words[2], ring,
			      words[3], other, words[4], pid,	   NULL };
	static struct side ours, theirs, bare;
	double ratio[MAX_PAIRS], bare_ratio[MAX_PAIRS];
	size_t i;

	ours = (struct side){ .argv = our_argv, .file = path };
	theirs = (struct side){ .argv = their_argv, .file = other };
	bare = (struct side){ .argv = bare_argv, .file = other };
	for (i = 0; i < pairs; i++) {
		record_pair(&ours, pid, sizeof(pid), i);
		record_pair(&theirs, pid, sizeof(pid), i);
		record_pair(&bare, pid, sizeof(pid), i);
		ratio[i] = ours.ms[i] / theirs.ms[i];
		bare_ratio[i] = ours.ms[i] / bare.ms[i];
	}
	printf("record\tratio to perf %.2f (at most 1 wanted), to perf -B %.2f\n",
	       median(ratio, pairs), median(bare_ratio, pairs));
	print_side("ptcap", &ours, pairs);
	print_side("perf", &theirs, pairs);
	print_side("perf -B", &bare, pairs);
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
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	bench_drain(mb << 20, pairs);
	if (*argv[2])
		bench_record(argv[1], argv[2], pairs);
	return 0;
}
