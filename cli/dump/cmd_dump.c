/* SPDX-License-Identifier: MIT */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"
#include "cli/common/cli.h"
#include "cli/common/max_memory.h"
#include "cli/common/sandbox.h"
#include "cli/dump/dump.h"
#include "cli/dump/dump_verify.h"
#include "ptcap/file.h"

enum {
	OPT_FORMAT = 256,
	OPT_STORED,
	OPT_TYPE,
	OPT_TID,
	OPT_CPU,
	OPT_TIME,
	OPT_VERIFY,
	OPT_NO_SANDBOX,
};

struct dump_args {
	const char *path;
	bool json, stored, verify, help;
	struct ptc_sandbox sandbox;
	struct ptc_dump_filter filter;
};

static void help_dump(void)
{
	fputs("usage: ptcap dump [OPTIONS] [FILE]\n"
	      "       ptcap dump --verify [--format=text|json] [FILE]\n"
	      "Print every record of a recording in file order, one a line: its offset in the\n"
	      "file, its type, its size and its fields. Braces have the sample id: the thread,\n"
	      "the time, the CPU and the event. The events and the features of the header come\n"
	      "first, after a #.\n\n"
	      "What to print (default: all records):\n"
	      "  -i, --input=FILE      Read FILE (default: perf.data), the same as the argument\n"
	      "                        FILE. -: read standard input.\n"
	      "      --type=NAME,...   Print only records of these types, for example MMAP2,\n"
	      "                        aux, 68, unknown. event and feature name the lines\n"
	      "                        before the records.\n"
	      "      --tid=TID         Print only records of this thread.\n"
	      "      --cpu=CPU         Print only records of this CPU.\n"
	      "      --time=FROM,TO    Print only records from FROM up to TO, in seconds.\n"
	      "                        Either may be omitted.\n"
	      "      --stored          Print compressed records as stored. Default: print the\n"
	      "                        records in them.\n"
	      "      --format=FORMAT   Print text (default) or json (an object a line, see\n"
	      "                        doc/json.md).\n\n"
	      "Check:\n"
	      "      --verify          Print only contradictions in the file, and exit with 3\n"
	      "                        if there are any. Default: print records.\n\n"
	      "Limits:\n",
	      stdout);
	fputs(PTC_HELP_MAX_MEMORY_WHOLE PTC_SANDBOX_HELP, stdout);
	fputs("  -h, --help            Print this text.\n\n"
	      "ptcap prints a damaged file up to the damage, reports the damage, and exits\n"
	      "with 1.\n",
	      stdout);
}

/* Keep the first damage: later ones are often its consequence. */
static void keep_first_damage(struct ptc_err *first, const struct ptc_err *err)
{
	if (!first->code)
		*first = *err;
}

static void tell_end(struct ptc_emit *e, uint64_t shown, uint64_t records, uint64_t unknown)
{
	if (!e->json) {
		printf("# ");
		if (shown != records)
			printf("%" PRIu64 " of ", shown);
		printf("%" PRIu64 " record%s, %" PRIu64 " of unknown type\n", records,
		       ptc_plural(records), unknown);
		return;
	}
	ptc_emit_object(e, NULL);
	ptc_emit_word(e, "type", "end");
	ptc_emit_u64(e, "records", records);
	ptc_emit_u64(e, "shown", shown);
	ptc_emit_u64(e, "unknown", unknown);
	ptc_emit_end(e);
	printf("\n");
}

static void dump_records(struct ptc_emit *e, const struct ptc_file *f, const struct dump_args *a,
			 struct ptc_err *damage)
{
	int (*const next)(const struct ptc_file *, uint64_t *, struct ptc_rec *, struct ptc_err *) =
		a->stored ? ptc_file_next_stored : ptc_file_next;
	uint64_t pos = 0, shown = 0, records = 0, unknown = 0;
	struct ptc_err err;
	struct ptc_rec rec;
	int rc;

	while ((rc = next(f, &pos, &rec, &err)) > 0) {
		records++;
		unknown += ptc_rec_name(rec.type) == NULL;
		if (!ptc_dump_wants(&a->filter, f, &rec))
			continue;
		shown++;
		if (ptc_dump_record(e, f, &rec, &err)) {
			(void)ptc_file_err_name(f, &err);
			keep_first_damage(damage, &err);
		}
	}
	if (rc)
		keep_first_damage(damage, &err);
	tell_end(e, shown, records, unknown);
}

static int dump(const struct dump_args *a)
{
	struct ptc_emit e = { .json = a->json };
	struct ptc_err err, damage = { .code = PTC_OK };
	struct ptc_file *f;

	if (ptc_file_open_damaged(a->path, &f, &err))
		return ptc_say_err(&err);
	if (ptc_file_damage(f))
		keep_first_damage(&damage, ptc_file_damage(f));
	if (ptc_dump_front(&e, f, &a->filter, &err)) {
		(void)ptc_file_err_name(f, &err);
		keep_first_damage(&damage, &err);
	}
	dump_records(&e, f, a, &damage);
	ptc_file_free(f);
	if (e.failed) {
		return ptc_say_no_memory();
	}
	if (!damage.code)
		return PTC_EXIT_OK;
	(void)fflush(stdout); /* main checks the result */
	return ptc_say_err(&damage);
}

static int take_filter(struct ptc_dump_filter *d, int c, const char *arg)
{
	bool ok = false;

	switch (c) {
	case OPT_TYPE:
		ok = ptc_dump_filter_type(d, arg);
		break;
	case OPT_TID:
		d->by_tid = ok = ptc_parse_u64(arg, &d->tid) && d->tid <= INT32_MAX;
		break;
	case OPT_CPU:
		d->by_cpu = ok = ptc_parse_u64(arg, &d->cpu) && d->cpu <= INT32_MAX;
		break;
	default:
		ok = ptc_dump_filter_time(d, arg);
		break;
	}
	if (ok)
		return 0;
	if (c == OPT_TYPE)
		return ptc_value_error("dump", "--type", arg,
				       "names of record types, for example MMAP2,aux");
	if (c == OPT_TID)
		return ptc_value_error("dump", "--tid", arg, "a thread ID");
	if (c == OPT_CPU)
		return ptc_value_error("dump", "--cpu", arg, "a CPU number");
	return ptc_value_error("dump", "--time", arg, "FROM,TO in seconds");
}

static int parse_dump_option(struct dump_args *a, int c, char **argv)
{
	switch (c) {
	case 'i':
		a->path = optarg;
		return 0;
	case OPT_FORMAT:
		a->json = !strcmp(optarg, "json");
		if (!a->json && strcmp(optarg, "text") != 0)
			return ptc_value_error("dump", "--format", optarg, "text or json");
		return 0;
	case OPT_STORED:
		a->stored = true;
		return 0;
	case OPT_VERIFY:
		a->verify = true;
		return 0;
	case PTC_OPT_MAX_MEMORY:
		return ptc_max_memory("dump", optarg);
	case OPT_NO_SANDBOX:
		a->sandbox.off = true;
		return 0;
	case 'h':
		a->help = true;
		return 0;
	case OPT_TYPE:
	case OPT_TID:
	case OPT_CPU:
	case OPT_TIME:
		return take_filter(&a->filter, c, optarg);
	default:
		return ptc_option_error("dump", argv, c);
	}
}

int ptc_cmd_dump(int argc, char **argv)
{
	static const struct option options[] = {
		{ "input", required_argument, NULL, 'i' },
		{ "format", required_argument, NULL, OPT_FORMAT },
		{ "stored", no_argument, NULL, OPT_STORED },
		{ "type", required_argument, NULL, OPT_TYPE },
		{ "tid", required_argument, NULL, OPT_TID },
		{ "cpu", required_argument, NULL, OPT_CPU },
		{ "time", required_argument, NULL, OPT_TIME },
		{ "verify", no_argument, NULL, OPT_VERIFY },
		{ "max-memory", required_argument, NULL, PTC_OPT_MAX_MEMORY },
		{ "no-sandbox", no_argument, NULL, OPT_NO_SANDBOX },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct dump_args a = { .path = NULL };
	const struct ptc_dump_filter *d = &a.filter;
	int c;

	ptc_options_begin(options);
	while ((c = getopt_long(argc, argv, ":i:h", options, NULL)) != -1) {
		const int rc = parse_dump_option(&a, c, argv);

		if (rc)
			return rc;
		if (a.help) {
			help_dump();
			return PTC_EXIT_OK;
		}
	}
	if (ptc_take_input("dump", argc, argv, &a.path))
		return PTC_EXIT_USAGE;
	if (!a.path)
		a.path = PTC_INPUT_DEFAULT;
	if (a.verify && (a.stored || d->by_type || d->by_tid || d->by_cpu || d->by_time))
		return ptc_usage_error("dump",
				       "--verify checks the whole file: it cannot be combined with "
				       "--stored, --type, --tid, --cpu or --time");
	c = ptc_sandbox_enter(&a.sandbox);
	if (c)
		return c;
	return a.verify ? ptc_verify_file(a.path, a.json) : dump(&a);
}
