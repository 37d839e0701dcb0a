/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/tmpfile.h"
#include "cli.h"
#include "ptcap/capture.h"

static const char help[] =
	"usage: ptcap record [OPTIONS] [--] CMD [ARG...]\n"
	"       ptcap record [OPTIONS] -p PID[,PID...] | -t TID[,TID...]\n"
	"Run CMD and record its control flow into a perf.data, which ptcap decode and\n"
	"perf script read.\n\n"
	"  -o, --output FILE     the recording (default perf.data); an older one becomes FILE.old\n"
	"      --source SOURCE   auto: Intel PT if the machine has it, else step (default)\n"
	"                        pt: Intel PT, through the kernel\n"
	"                        step: a software PMU that single-steps CMD (works anywhere, "
	"slow)\n"
	"  -p, --pid PID[,PID...]\n"
	"                        processes that run already, every thread of them, until ^C; they "
	"are\n"
	"                        stepped only if --source step asks for it\n"
	"  -t, --tid TID[,TID...]\n"
	"                        the same for single threads\n"
	"  -m, --mmap-pages DATA[,AUX]\n"
	"                        sizes of the rings: pages, or bytes with a suffix B, K, M, G\n"
	"      --no-retcomp      a packet for every return (RET compression off)\n"
	"      --psb-period SIZE bytes of trace between two sync points: 2K, 4K, ... 64M (default "
	"2K)\n"
	"      --truth FILE      what the step source saw, as `decode -F tid,from,to,kind` prints "
	"it\n"
	"      --strict          exit 3 if CMD succeeded but anything was lost\n"
	"  -q, --quiet           no summary\n"
	"  -h, --help            this text\n";

/*
 * Who wakes us: SIGINT, SIGQUIT and SIGHUP reach CMD by themselves (one terminal),
 * SIGTERM does not. All must be taken: a tracer that just dies takes CMD with it.
 */
struct waker {
	int fd;
	unsigned int count;
	int sig;      /* the newest */
	bool command; /* there is one that has to end first */
};

struct truth {
	struct ptc_tmpfile file;
	FILE *out;
};

enum { MAX_TARGETS = 256 };

struct args {
	struct ptc_record_opts opts;
	pid_t pids[MAX_TARGETS], tids[MAX_TARGETS];
	const char *truth_path;
	bool strict, quiet;
};

static enum ptc_wake_action on_wake(void *ctx, pid_t cmd)
{
	struct waker *w = ctx;
	struct signalfd_siginfo si;

	if (read(w->fd, &si, sizeof(si)) != (ssize_t)sizeof(si))
		return PTC_WAKE_GO_ON;
	w->sig = (int)si.ssi_signo;
	if (++w->count > 1 || !w->command)
		return PTC_WAKE_LEAVE;
	if (w->sig == SIGTERM)
		(void)kill(cmd, SIGTERM);
	return PTC_WAKE_GO_ON;
}

static void on_start(void *ctx, enum ptc_source_kind chosen, const char *why)
{
	const struct args *a = ctx;

	if (chosen == PTC_SOURCE_STEP)
		ptc_say("source: step, a software PMU (%s)", why);
	else
		ptc_say("source: Intel PT (%s)", why);
	if (!a->opts.argv)
		ptc_say("attached; ^C ends the recording and leaves everything running");
}

static void on_truth(void *ctx, int tid, uint64_t from, uint64_t to, enum ptc_kind kind)
{
	struct truth *t = ctx;

	fprintf(t->out, "%d %" PRIx64 " %" PRIx64 " %s\n", tid, from, to, ptc_kind_name(kind));
}

static int truth_open(struct truth *t, const char *path, struct ptc_err *err)
{
	int rc = ptc_tmpfile_open(&t->file, path, err);
	int fd;

	if (rc)
		return rc;
	fd = fcntl(t->file.fd, F_DUPFD_CLOEXEC, 0);
	t->out = fd < 0 ? NULL : fdopen(fd, "w");
	if (t->out)
		return 0;
	ptc_tmpfile_release(&t->file);
	err->code = PTC_E_IO;
	(void)snprintf(err->msg, sizeof(err->msg), "cannot open '%s': %s", path, strerror(errno));
	return PTC_E_IO;
}

/* Keep the truth (@keep), or remove what there is of it. */
static int truth_close(struct truth *t, const char *path, bool keep, struct ptc_err *err)
{
	int rc = 0;

	if (!t->out)
		return 0;
	if (fclose(t->out) && keep) {
		err->code = PTC_E_IO;
		(void)snprintf(err->msg, sizeof(err->msg), "cannot write '%s': %s", path,
			       strerror(errno));
		rc = PTC_E_IO;
	}
	if (!rc && keep)
		rc = ptc_tmpfile_commit(&t->file, err);
	ptc_tmpfile_release(&t->file);
	t->out = NULL;
	return rc;
}

/* perf's -m: pages, or a size with a suffix. */
static bool parse_mmap_one(const char *s, size_t len, uint64_t *ret)
{
	char text[32];
	uint64_t v;

	if (!len || len >= sizeof(text))
		return false;
	memcpy(text, s, len);
	text[len] = '\0';
	if (ptc_parse_u64(text, &v))
		return !__builtin_mul_overflow(v, (uint64_t)sysconf(_SC_PAGESIZE), ret);
	if (text[len - 1] == 'B' || text[len - 1] == 'b')
		text[len - 1] = '\0';
	return ptc_parse_size(text, ret);
}

static bool parse_mmap(const char *s, struct ptc_record_opts *o)
{
	const char *comma = strchr(s, ',');
	const size_t len = comma ? (size_t)(comma - s) : strlen(s);

	return (comma && !len ? true : parse_mmap_one(s, len, &o->data_size)) &&
	       (!comma || parse_mmap_one(comma + 1, strlen(comma + 1), &o->aux_size));
}

static bool parse_source(const char *s, enum ptc_source_kind *ret)
{
	if (!strcmp(s, "auto"))
		*ret = PTC_SOURCE_AUTO;
	else if (!strcmp(s, "pt"))
		*ret = PTC_SOURCE_PT;
	else if (!strcmp(s, "step"))
		*ret = PTC_SOURCE_STEP;
	else
		return false;
	return true;
}

static bool parse_psb(const char *s, uint32_t *ret)
{
	uint64_t v;

	if (!ptc_parse_size(s, &v) || v < 2048 || v > 2048u << 15 || v & (v - 1))
		return false;
	*ret = (uint32_t)v;
	return true;
}

/* "1,2,3" behind what is in @list already. */
static bool parse_ids(const char *s, pid_t *list, size_t *n)
{
	while (*s) {
		const size_t len = strcspn(s, ",");
		char text[16];
		uint64_t v;

		if (!len || len >= sizeof(text) || *n == MAX_TARGETS)
			return false;
		memcpy(text, s, len);
		text[len] = '\0';
		if (!ptc_parse_u64(text, &v) || !v || v > INT32_MAX)
			return false;
		list[(*n)++] = (pid_t)v;
		s += len;
		if (*s == ',' && !*++s)
			return false;
	}
	return *n != 0;
}

/* Returns -1 to go on, or an exit code. */
static int parse_args(int argc, char **argv, struct args *a)
{
	enum { OPT_SOURCE = 256, OPT_NO_RETCOMP, OPT_PSB, OPT_TRUTH, OPT_STRICT };
	static const struct option longs[] = { { "output", required_argument, NULL, 'o' },
					       { "source", required_argument, NULL, OPT_SOURCE },
					       { "mmap-pages", required_argument, NULL, 'm' },
					       { "no-retcomp", no_argument, NULL, OPT_NO_RETCOMP },
					       { "psb-period", required_argument, NULL, OPT_PSB },
					       { "truth", required_argument, NULL, OPT_TRUTH },
					       { "strict", no_argument, NULL, OPT_STRICT },
					       { "quiet", no_argument, NULL, 'q' },
					       { "help", no_argument, NULL, 'h' },
					       { NULL, 0, NULL, 0 } };
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "+:o:p:t:m:qh", longs, NULL)) != -1) {
		switch (c) {
		case 'o':
			a->opts.output = optarg;
			break;
		case 'm':
			if (!parse_mmap(optarg, &a->opts))
				return ptc_usage_error("record", "'%s' is no ring size", optarg);
			break;
		case 'p':
			if (!parse_ids(optarg, a->pids, &a->opts.npids))
				return ptc_usage_error("record", "'%s' is no list of pids", optarg);
			break;
		case 't':
			if (!parse_ids(optarg, a->tids, &a->opts.ntids))
				return ptc_usage_error("record", "'%s' is no list of tids", optarg);
			break;
		case 'q':
			a->quiet = true;
			break;
		case OPT_SOURCE:
			if (!parse_source(optarg, &a->opts.source))
				return ptc_usage_error("record", "there is no source '%s'", optarg);
			break;
		case OPT_NO_RETCOMP:
			a->opts.no_retcomp = true;
			break;
		case OPT_PSB:
			if (!parse_psb(optarg, &a->opts.psb_period))
				return ptc_usage_error("record", "'%s' is no PSB period", optarg);
			break;
		case OPT_TRUTH:
			a->truth_path = optarg;
			break;
		case OPT_STRICT:
			a->strict = true;
			break;
		case 'h':
			fputs(help, stdout);
			return PTC_EXIT_OK;
		default:
			return ptc_option_error("record", argv, c);
		}
	}
	if (a->opts.npids || a->opts.ntids) {
		if (argv[optind])
			return ptc_usage_error("record",
					       "a command to run, and something to attach to");
		a->opts.pids = a->pids;
		a->opts.tids = a->tids;
		return -1;
	}
	if (!argv[optind])
		return ptc_usage_error("record", "no command to run");
	a->opts.argv = argv + optind;
	return -1;
}

static bool lost_anything(const struct ptc_record_result *r)
{
	return r->lost_records || r->lost_aux || r->truncated || r->partial || r->untraced;
}

static void summary(const struct args *a, const struct ptc_record_result *r)
{
	if (r->source == PTC_SOURCE_STEP)
		ptc_say("%" PRIu64 " instructions, %" PRIu64 " transfers in %.3f s", r->insns,
			r->transfers, (double)r->duration_ns / 1e9);
	ptc_say("wrote '%s': %" PRIu64 " bytes, %" PRIu64 " of them trace", a->opts.output,
		r->file_bytes, r->aux_bytes);
	if (r->left_running && a->opts.argv)
		ptc_say("the command runs on, untraced");
	if (r->left_behind)
		ptc_say("%" PRIu64
			" processes or threads that the command left behind run on, untraced",
			r->left_behind);
	if (r->untraced && r->source == PTC_SOURCE_STEP)
		ptc_say("%" PRIu64
			" processes turned to 32-bit code, which cannot be stepped: from there on "
			"they were not recorded",
			r->untraced);
	else if (r->untraced)
		ptc_say("%" PRIu64
			" threads or processes that the command started were not recorded",
			r->untraced);
	if (r->odd)
		ptc_say("%" PRIu64
			" times the kernel moved the program in a way that was not understood",
			r->odd);
	if (r->lost_records || r->lost_aux || r->truncated || r->partial)
		ptc_say("LOST: %" PRIu64 " side records, %" PRIu64 " trace bytes; %" PRIu64
			" truncated and %" PRIu64 " partial pieces (larger rings: -m)",
			r->lost_records, r->lost_aux, r->truncated, r->partial);
}

static int exit_code(const struct args *a, const struct ptc_record_result *r, int sig)
{
	if (!a->opts.argv)
		return a->strict && lost_anything(r) ? PTC_EXIT_FINDINGS : PTC_EXIT_OK;
	if (r->left_running)
		return 128 + sig;
	if (WIFSIGNALED(r->status))
		return 128 + WTERMSIG(r->status);
	if (!WEXITSTATUS(r->status) && a->strict && lost_anything(r))
		return PTC_EXIT_FINDINGS;
	return WEXITSTATUS(r->status);
}

static int failure_code(const struct args *a, const struct ptc_err *err)
{
	if (!a->opts.argv)
		return err->code == PTC_E_USAGE ? PTC_EXIT_USAGE : PTC_EXIT_FAIL;
	switch (err->code) {
	case PTC_E_NO_COMMAND:
		return PTC_EXIT_NOT_FOUND;
	case PTC_E_BAD_COMMAND:
		return PTC_EXIT_CANNOT_RUN;
	case PTC_E_USAGE:
		return PTC_EXIT_USAGE;
	default:
		return PTC_EXIT_PTCAP;
	}
}

/*
 * SIGINT and its like come through a descriptor; SIGXFSZ and SIGPIPE are held
 * back, so that a full disk is an error of write(2). The command starts with
 * the mask we were given.
 */
static int take_signals(struct waker *w, sigset_t *ret_old)
{
	sigset_t wake, block;

	(void)sigemptyset(&wake);
	(void)sigaddset(&wake, SIGINT);
	(void)sigaddset(&wake, SIGTERM);
	(void)sigaddset(&wake, SIGHUP);
	(void)sigaddset(&wake, SIGQUIT);
	block = wake;
	(void)sigaddset(&block, SIGXFSZ);
	(void)sigaddset(&block, SIGPIPE);
	(void)pthread_sigmask(SIG_BLOCK, &block, ret_old);
	w->fd = signalfd(-1, &wake, SFD_CLOEXEC | SFD_NONBLOCK);
	return w->fd < 0 ? -1 : 0;
}

int ptc_cmd_record(int argc, char **argv)
{
	struct args a = { .opts = {
				  .size = sizeof(a.opts), .output = "perf.data", .wake_fd = -1 } };
	struct ptc_record_result result;
	struct waker waker = { .fd = -1 };
	struct truth truth = { .file = PTC_TMPFILE_INIT };
	struct ptc_err err = { 0 };
	sigset_t mask;
	int code = parse_args(argc, argv, &a);
	int rc;

	if (code >= 0)
		return code;
	if (take_signals(&waker, &mask)) {
		ptc_say("cannot make a signalfd: %s", strerror(errno));
		return PTC_EXIT_PTCAP;
	}
	a.opts.cmd_sigmask = &mask;
	a.opts.cmdline =
		(const char *const *)argv - 1; /* argv[0] of main is just before: "ptcap" */
	a.opts.wake_fd = waker.fd;
	a.opts.on_wake = on_wake;
	a.opts.wake_ctx = &waker;
	waker.command = a.opts.argv != NULL;
	if (!a.quiet)
		a.opts.on_start = on_start;
	a.opts.start_ctx = &a;
	rc = a.truth_path ? truth_open(&truth, a.truth_path, &err) : 0;
	if (a.truth_path) {
		a.opts.truth = on_truth;
		a.opts.truth_ctx = &truth;
	}
	if (!rc)
		rc = ptc_record(&a.opts, &result, &err);
	if (rc) {
		struct ptc_err ignored;

		(void)truth_close(&truth, a.truth_path, false, &ignored);
		(void)ptc_say_err(&err);
		code = failure_code(&a, &err);
	} else if (truth_close(&truth, a.truth_path, true, &err)) {
		(void)ptc_say_err(&err);
		code = a.opts.argv ? PTC_EXIT_PTCAP : PTC_EXIT_FAIL;
	} else {
		if (!a.quiet || lost_anything(&result))
			summary(&a, &result);
		code = exit_code(&a, &result, waker.sig);
	}
	(void)close(waker.fd);
	return code;
}
