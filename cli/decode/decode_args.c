/* SPDX-License-Identifier: MIT */
#include "cli/decode/decode_args.h"

#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/cli.h"
#include "cli/common/max_memory.h"

void ptc_decode_args_release(struct ptc_decode_args *a)
{
	size_t i;

	for (i = 0; i < a->nraw; i++)
		free((char *)(uintptr_t)a->raw[i].path);
	free(a->raw);
	ptc_id_list_release(&a->tids);
	ptc_id_list_release(&a->cpus);
}

void ptc_decode_help(void)
{
	fputs("usage: ptcap decode [OPTIONS] [FILE]\n"
	      "       ptcap decode --pt=FILE --raw=FILE@ADDR[:OFFSET[:LENGTH]]... [OPTIONS]\n"
	      "Decode a recording: print every branch that was taken, and every gap.\n\n"
	      "What to print (default: a line for each branch):\n"
	      "      --calls           Print functions when a thread enters and leaves them,\n"
	      "                        indented by depth.\n"
	      "      --insn            Print every instruction, disassembled, with its source\n"
	      "                        line.\n"
	      "      --stats           Print only totals: branches by kind, gaps by cause,\n"
	      "                        bytes, time.\n"
	      "      --counts=WHAT[:N] Print how often each place ran, the N most executed\n"
	      "                        first (default: all). WHAT: edges (branches), calls\n"
	      "                        (between functions), blocks (of code), lines (of\n"
	      "                        source), or coverage (lines that did not run).\n"
	      "      --events          Also print other events of the trace: tracing on and\n"
	      "                        off, overflows, frequency, PTWRITE, power states,\n"
	      "                        transactions.\n"
	      "  -F, --fields=LIST     Print these fields, for programs: pid tid cpu time from\n"
	      "                        to kind sym tosym insn insn-ip disasm srcline.\n"
	      "                        insn-ip prints a line for each instruction.\n"
	      "      --format=FORMAT   Print text (default), json (an object a line, see\n"
	      "                        doc/json.md) or bin (16 bytes a branch, see\n"
	      "                        doc/format.md).\n\n"
	      "Which part of the recording (default: all):\n"
	      "  -i, --input=FILE      Read FILE (default: perf.data), the same as the argument\n"
	      "                        FILE. -: read standard input.\n"
	      "      --tid=LIST        Print only these threads, for example 12,15-17.\n"
	      "      --cpu=LIST        Print only these CPUs. With --pt: the CPU that\n"
	      "                        recorded, for example 6/94/3.\n"
	      "      --time=FROM,TO    Print only branches from FROM up to TO, in seconds.\n"
	      "                        Omit either, or give a part of the trace: 10%-20%.\n"
	      "      --last=N          Print only the last N branches of each thread.\n"
	      "      --sym=NAME        Print only branches from or to this function.\n\n"
	      "Where to find the code:\n"
	      "      --symfs=DIR       Find the recorded files below DIR (default: /).\n"
	      "      --debuginfod=URLS Fetch missing files and debug files from these servers\n"
	      "                        (default: DEBUGINFOD_URLS, else none).\n"
	      "      --core=FILE       Read code from a core dump of a process. Default: none.\n"
	      "      --kcore=PATH      Read the kernel's code from a copy of /proc/kcore, or\n"
	      "                        from a folder with kcore and kallsyms. Default: the\n"
	      "                        recording's own copy.\n"
	      "      --vmlinux=FILE    Read the kernel's code as it was built. Default: found\n"
	      "                        by its build-id.\n\n"
	      "Terminal:\n"
	      "      --no-demangle     Print the linker's names of C++, Rust and D functions.\n"
	      "                        Default: demangled names.\n"
	      "      --color=WHEN      Use colours: auto (on a terminal, default), always or\n"
	      "                        never.\n"
	      "      --no-pager        Print to the terminal without $PAGER.\n\n"
	      "Speed and limits:\n"
	      "  -j, --jobs=N          Decode with N threads (default: one for each CPU, up to\n"
	      "                        16). The output is the same.\n",
	      stdout);
	fputs(PTC_HELP_MAX_MEMORY PTC_SANDBOX_HELP "\n", stdout);
	fputs("Decoder:\n"
	      "      --resync=HOW      Continue after an error at the next psb, or at the next\n"
	      "                        packet with a full IP (default: packet; with --pt:\n"
	      "                        psb).\n"
	      "      --engine=ENGINE   Choose the engine: fast (default; libipt decodes the\n"
	      "                        rest), libipt, or verify (compare both).\n\n"
	      "Raw packets instead of a recording:\n"
	      "      --pt=FILE         Decode this raw stream of packets. Default: decode a\n"
	      "                        recording.\n"
	      "      --raw=FILE@ADDR[:OFFSET[:LENGTH]]\n"
	      "                        Use these bytes of FILE as the code at ADDR. May be\n"
	      "                        given again.\n\n"
	      "Exit status:\n"
	      "      --strict          Exit with 3 if there was a gap or a loss. Default: gaps\n"
	      "                        do not change the exit status.\n"
	      "  -h, --help            Print this text.\n\n"
	      "For tests:\n"
	      "  -j, --jobs=N:BYTES    Give each thread about BYTES of trace at a time.\n",
	      stdout);
}

/* Cut off and parse the number before @sep (or the end). *s advances behind it. */
static bool next_number(char **s, char sep, uint64_t *ret)
{
	char *word = *s, *end = strchr(word, sep);

	if (end)
		*end++ = '\0';
	*s = end;
	return ptc_parse_u64(word, ret);
}

/* Parse FILE@ADDR[:OFFSET[:LENGTH]]. */
static bool parse_raw(struct ptc_decode_args *a, const char *arg)
{
	struct ptc_raw_code c = { .len = 0 }, *raw;
	char *path = strdup(arg), *at = path ? strrchr(path, '@') : NULL;

	if (!at || at == path)
		goto bad;
	*at++ = '\0';
	if (!next_number(&at, ':', &c.addr) || (at && !next_number(&at, ':', &c.off)) ||
	    (at && (!next_number(&at, ':', &c.len) || !c.len || at)))
		goto bad;
	c.path = path;
	raw = reallocarray(a->raw, a->nraw + 1, sizeof(*raw));
	if (!raw)
		goto bad;
	a->raw = raw;
	a->raw[a->nraw++] = c;
	return true;
bad:
	free(path);
	return false;
}

/* Parse family/model/stepping. */
static bool parse_cpu_id(const char *arg, struct ptc_decode_opts *opts)
{
	char *copy = strdup(arg), *s = copy;
	uint64_t f, m, st;
	bool ok;

	ok = copy && next_number(&s, '/', &f) && s && next_number(&s, '/', &m) && s &&
	     next_number(&s, '/', &st) && !s && f <= UINT16_MAX && m <= UINT8_MAX &&
	     st <= UINT8_MAX;
	free(copy);
	if (!ok)
		return false;
	opts->cpu_id_set = true;
	opts->cpu_id = (struct ptc_cpu_id){ (uint16_t)f, (uint8_t)m, (uint8_t)st };
	return true;
}

static int parse_fields(struct ptc_decode_args *a, const char *arg)
{
	const char *what, *word;
	int len;

	what = ptc_fields_parse(arg, &a->out.form.fields, &word, &len);
	return what ? ptc_usage_error("decode", "%s '%.*s'", what, len, word) : 0;
}

/* Larger values are typing errors. */
enum { MAX_JOBS = 4096, MAX_SLICE = 1 << 30 };

enum {
	OPT_FORMAT = 256,
	OPT_TID,
	OPT_CPU,
	OPT_PT,
	OPT_RAW,
	OPT_RESYNC,
	OPT_STRICT,
	OPT_CALLS,
	OPT_INSN,
	OPT_SYMFS,
	OPT_CORE,
	OPT_KCORE,
	OPT_VMLINUX,
	OPT_TIME,
	OPT_LAST,
	OPT_SYM,
	OPT_STATS,
	OPT_COUNTS,
	OPT_EVENTS,
	OPT_COLOR,
	OPT_NO_PAGER,
	OPT_NO_SANDBOX,
	OPT_NO_DEMANGLE,
	OPT_DEBUGINFOD,
	OPT_ENGINE
};

/* Handle the options for code sources. Returns false if @c is another option. */
static bool take_code_option(struct ptc_decode_args *a, int c)
{
	const char **const where = c == OPT_SYMFS      ? &a->code.symfs :
				   c == OPT_CORE       ? &a->code.core :
				   c == OPT_KCORE      ? &a->code.kcore :
				   c == OPT_VMLINUX    ? &a->code.vmlinux :
				   c == OPT_DEBUGINFOD ? &a->debuginfod :
							 NULL;

	if (where)
		*where = optarg;
	return where;
}

/* Handle the options that select a part of the recording. */
static int take_choice(struct ptc_decode_args *a, int c)
{
	switch (c) {
	case OPT_TID:
		if (!ptc_id_list_parse(&a->tids, optarg))
			return ptc_value_error("decode", "--tid", optarg,
					       "thread IDs, for example 12,14-16");
		return 0;
	case OPT_TIME:
		a->has_time = true;
		if (!ptc_time_choice_parse(optarg, &a->time))
			return ptc_value_error("decode", "--time", optarg,
					       "FROM,TO in seconds, or N%%-M%%");
		return 0;
	case OPT_LAST:
		if (!ptc_parse_u64(optarg, &a->opts.last) || !a->opts.last)
			return ptc_value_error("decode", "--last", optarg, "a number of branches");
		return 0;
	default:
		a->opts.sym = optarg;
		return 0;
	}
}

/*
 * Returns one thread per available CPU, with a limit because each thread needs memory. Includes the
 * printing thread.
 */
static unsigned int default_jobs(void)
{
	enum { JOBS_MAX = 16 };
	cpu_set_t set;
	int n = JOBS_MAX; /* default: there are more CPUs than a set can hold */

	if (!sched_getaffinity(0, sizeof(set), &set))
		n = CPU_COUNT(&set);
	return n < JOBS_MAX ? (unsigned int)n : JOBS_MAX;
}

/* Parse N[:BYTES]. */
static int take_jobs(struct ptc_decode_args *a, const char *arg)
{
	char *copy = strdup(arg), *s = copy;
	uint64_t n = 0, bytes = 1;
	const bool ok = copy && next_number(&s, ':', &n) && n && n <= MAX_JOBS &&
			(!s || next_number(&s, ':', &bytes)) && !s && bytes && bytes <= MAX_SLICE;

	if (ok && strchr(arg, ':'))
		a->opts.slice = (size_t)bytes;
	a->opts.jobs = (unsigned int)n;
	free(copy);
	return ok ? 0 :
		    ptc_value_error("decode", "--jobs", arg, "a number of threads from 1 to %d",
				    MAX_JOBS);
}

static int take_engine(struct ptc_decode_args *a, const char *arg)
{
	static const char *const names[] = { [PTC_ENGINE_LIBIPT] = "libipt",
					     [PTC_ENGINE_FAST] = "fast",
					     [PTC_ENGINE_VERIFY] = "verify" };
	int i;

	for (i = PTC_ENGINE_LIBIPT; i <= PTC_ENGINE_VERIFY; i++) {
		if (!strcmp(arg, names[i])) {
			a->opts.engine = (enum ptc_engine_choice)i;
			return 0;
		}
	}
	return ptc_value_error("decode", "--engine", arg, "libipt, fast or verify");
}

/* Parse WHAT[:N]. */
static int take_counts(struct ptc_decoded_form *f, const char *arg)
{
	static const char *const names[] = { [PTC_COUNTS_EDGES] = "edges",
					     [PTC_COUNTS_CALLS] = "calls",
					     [PTC_COUNTS_BLOCKS] = "blocks",
					     [PTC_COUNTS_LINES] = "lines",
					     [PTC_COUNTS_COVERAGE] = "coverage" };
	const size_t len = strcspn(arg, ":");
	bool good = !arg[len];
	int i;

	f->counts = PTC_COUNTS_NOTHING;
	for (i = PTC_COUNTS_EDGES; i < PTC_COUNTS_ALL; i++)
		if (strlen(names[i]) == len && !strncmp(arg, names[i], len))
			f->counts = (enum ptc_counts_of)i;
	f->most = 0;
	if (arg[len])
		good = ptc_parse_u64(arg + len + 1, &f->most) && f->most;
	if (f->counts && good)
		return 0;
	return ptc_value_error("decode", "--counts", arg,
			       "edges, calls, blocks, lines or coverage, and :N for the first N");
}

static int parse_decode_option(struct ptc_decode_args *a, int c, char *const *argv)
{
	switch (c) {
	case OPT_COUNTS:
		return take_counts(&a->out.form, optarg);
	case OPT_ENGINE:
		return take_engine(a, optarg);
	case 'j':
		return take_jobs(a, optarg);
	case 'i':
		a->input = optarg;
		return 0;
	case 'F':
		return parse_fields(a, optarg);
	case OPT_FORMAT:
		a->out.form.json = !strcmp(optarg, "json");
		a->out.form.bin = !strcmp(optarg, "bin");
		if (!a->out.form.json && !a->out.form.bin && strcmp(optarg, "text") != 0)
			return ptc_value_error("decode", "--format", optarg, "text, json or bin");
		return 0;
	case OPT_TID:
	case OPT_TIME:
	case OPT_LAST:
	case OPT_SYM:
		return take_choice(a, c);
	case OPT_CPU:
		a->cpu = optarg;
		return 0;
	case OPT_PT:
		a->pt = optarg;
		return 0;
	case OPT_RAW:
		if (!parse_raw(a, optarg))
			return ptc_value_error("decode", "--raw", optarg,
					       "FILE@ADDR[:OFFSET[:LENGTH]]");
		return 0;
	case OPT_RESYNC:
		if (strcmp(optarg, "psb") != 0 && strcmp(optarg, "packet") != 0)
			return ptc_value_error("decode", "--resync", optarg, "psb or packet");
		a->opts.resync = optarg[1] == 's' ? PTC_RESYNC_PSB : PTC_RESYNC_PACKET;
		return 0;
	case OPT_INSN:
		a->out.form.insn = true;
		return 0;
	case OPT_CALLS:
		a->out.form.calls = true;
		return 0;
	case OPT_COLOR:
		a->color = optarg;
		if (strcmp(optarg, "auto") != 0 && strcmp(optarg, "always") != 0 &&
		    strcmp(optarg, "never") != 0)
			return ptc_value_error("decode", "--color", optarg,
					       "auto, always or never");
		return 0;
	case OPT_NO_SANDBOX:
		a->sandbox.off = true;
		return 0;
	case OPT_NO_PAGER:
		a->no_pager = true;
		return 0;
	case OPT_NO_DEMANGLE:
		a->opts.mangled = true;
		return 0;
	case OPT_EVENTS:
		a->opts.events = true;
		return 0;
	case OPT_STATS:
		a->out.form.stats = true;
		return 0;
	case OPT_STRICT:
		a->strict = true;
		return 0;
	case PTC_OPT_MAX_MEMORY:
		return ptc_max_memory("decode", optarg);
	case 'h':
		a->help = true;
		return 0;
	default:
		return take_code_option(a, c) ? 0 : ptc_option_error("decode", argv, c);
	}
}

/* Check that the options can be combined. */
static int check_args(struct ptc_decode_args *a)
{
	const struct ptc_decoded_form *f = &a->out.form;

	if (f->json && f->fields.n)
		return ptc_usage_error("decode", "-F cannot be combined with --format json");
	if (f->stats && (f->bin || f->insn || f->calls || f->fields.n))
		return ptc_usage_error("decode", "--stats cannot be combined with -F, --calls, "
						 "--insn or --format bin");
	if (f->counts &&
	    (f->bin || f->insn || f->calls || f->stats || a->opts.events || f->fields.n))
		return ptc_usage_error("decode", "--counts cannot be combined with -F, --calls, "
						 "--insn, --stats, --events or --format bin");
	if (f->bin && (f->insn || f->calls || f->fields.n))
		return ptc_usage_error("decode", "--format bin cannot be combined with -F, "
						 "--calls or --insn");
	if (f->insn && (f->json || f->calls || f->fields.n))
		return ptc_usage_error("decode", "--insn cannot be combined with -F, --calls or "
						 "--format json");
	if (f->calls && (f->fields.n || a->pt))
		return ptc_usage_error("decode", "--calls cannot be combined with -F or --pt");
	if (a->pt && a->input)
		return ptc_usage_error("decode", "a recording ('%s') cannot be combined with --pt",
				       a->input);
	if (a->nraw && !a->pt)
		return ptc_usage_error("decode", "--raw needs --pt");
	if (a->pt && (a->code.symfs || a->code.core || a->code.kcore || a->code.vmlinux))
		return ptc_usage_error("decode", "--pt cannot be combined with --symfs, --core, "
						 "--kcore or --vmlinux; --raw names the code");
	if (a->code.kcore && a->code.vmlinux)
		return ptc_usage_error("decode", "--kcore cannot be combined with --vmlinux");
	if (a->pt && (a->tids.n || a->has_time))
		return ptc_usage_error("decode", "--pt cannot be combined with --tid or --time: "
						 "a raw trace has no threads and no clock");
	if (a->has_time && a->opts.last)
		return ptc_usage_error("decode", "--time cannot be combined with --last");
	if (a->opts.events && (f->calls || f->stats))
		return ptc_usage_error("decode", "--events cannot be combined with --calls or "
						 "--stats");
	if (f->calls && a->opts.sym)
		return ptc_usage_error("decode",
				       "--calls cannot be combined with --sym: it needs all "
				       "branches");
	if (f->counts >= PTC_COUNTS_BLOCKS && (a->opts.sym || (a->cpu && !a->pt)))
		return ptc_usage_error("decode", "--counts of blocks, lines and coverage cannot be "
						 "combined with --sym or --cpu: it needs all "
						 "branches of a thread");
	if (a->cpu && a->pt && !parse_cpu_id(a->cpu, &a->opts))
		return ptc_value_error("decode", "--cpu", a->cpu,
				       "FAMILY/MODEL/STEPPING with --pt, for example 6/158/9");
	if (a->cpu && !a->pt && !ptc_id_list_parse(&a->cpus, a->cpu))
		return ptc_value_error("decode", "--cpu", a->cpu, "CPU numbers, for example 0,2-4");
	a->opts.tids = (struct ptc_ids){ a->tids.ranges, a->tids.n };
	a->opts.cpus = (struct ptc_ids){ a->cpus.ranges, a->cpus.n };
	a->opts.sums = f->stats ? &a->sums : NULL;
	a->opts.runs = f->bin || f->counts;
	a->opts.insns = f->insn || ptc_fields_have(&f->fields, PTC_FIELD_INSN_IP);
	if (a->opts.engine == PTC_ENGINE_VERIFY && (a->opts.insns || a->opts.events))
		return ptc_usage_error("decode",
				       "--engine verify cannot be combined with --insn, --events "
				       "or the field insn-ip");
	a->opts.bytes = f->calls || f->insn || ptc_fields_have(&f->fields, PTC_FIELD_DISASM) ||
			ptc_fields_have(&f->fields, PTC_FIELD_INSN);
	return 0;
}

int ptc_decode_args_parse(struct ptc_decode_args *a, int argc, char **argv)
{
	static const struct option options[] = {
		{ "input", required_argument, NULL, 'i' },
		{ "fields", required_argument, NULL, 'F' },
		{ "format", required_argument, NULL, OPT_FORMAT },
		{ "tid", required_argument, NULL, OPT_TID },
		{ "cpu", required_argument, NULL, OPT_CPU },
		{ "pt", required_argument, NULL, OPT_PT },
		{ "raw", required_argument, NULL, OPT_RAW },
		{ "jobs", required_argument, NULL, 'j' },
		{ "engine", required_argument, NULL, OPT_ENGINE },
		{ "resync", required_argument, NULL, OPT_RESYNC },
		{ "time", required_argument, NULL, OPT_TIME },
		{ "last", required_argument, NULL, OPT_LAST },
		{ "sym", required_argument, NULL, OPT_SYM },
		{ "insn", no_argument, NULL, OPT_INSN },
		{ "calls", no_argument, NULL, OPT_CALLS },
		{ "color", required_argument, NULL, OPT_COLOR },
		{ "no-sandbox", no_argument, NULL, OPT_NO_SANDBOX },
		{ "no-pager", no_argument, NULL, OPT_NO_PAGER },
		{ "events", no_argument, NULL, OPT_EVENTS },
		{ "debuginfod", required_argument, NULL, OPT_DEBUGINFOD },
		{ "no-demangle", no_argument, NULL, OPT_NO_DEMANGLE },
		{ "stats", no_argument, NULL, OPT_STATS },
		{ "counts", required_argument, NULL, OPT_COUNTS },
		{ "strict", no_argument, NULL, OPT_STRICT },
		{ "symfs", required_argument, NULL, OPT_SYMFS },
		{ "core", required_argument, NULL, OPT_CORE },
		{ "kcore", required_argument, NULL, OPT_KCORE },
		{ "vmlinux", required_argument, NULL, OPT_VMLINUX },
		{ "max-memory", required_argument, NULL, PTC_OPT_MAX_MEMORY },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c, code;

	*a = (struct ptc_decode_args){ .opts = PTC_DECODE_OPTS_INIT,
				       .code = PTC_CODE_OPTS_INIT,
				       .out = { .totals = PTC_TOTALS_INIT } };
	a->opts.code = &a->code;
	a->sums = (struct ptc_sums_sink){ ptc_decoded_sums, &a->out };
	a->opts.jobs = default_jobs();
	ptc_options_begin(options);
	while ((c = getopt_long(argc, argv, ":i:F:j:h", options, NULL)) != -1) {
		code = parse_decode_option(a, c, argv);
		if (code || a->help)
			return code;
	}
	if (ptc_take_input("decode", argc, argv, &a->input))
		return PTC_EXIT_USAGE;
	return check_args(a);
}
