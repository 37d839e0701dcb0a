/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"
#include "cli/common/cli.h"
#include "cli/common/option_table.h"
#include "cli/common/sandbox.h"
#include "cli/dump/dump.h"
#include "cli/dump/dump_verify.h"
#include "ptcap/file.h"

struct dump_args {
	const char *path;
	bool json, stored, verify;
	struct ptc_sandbox sandbox;
	struct ptc_dump_filter filter;
};

static bool take_type(const char *s, void *filter)
{
	return ptc_dump_filter_type(filter, s);
}

static bool take_tid(const char *s, void *filter)
{
	struct ptc_dump_filter *d = filter;

	d->by_tid = ptc_parse_u64(s, &d->tid) && d->tid <= INT32_MAX;
	return d->by_tid;
}

static bool take_cpu(const char *s, void *filter)
{
	struct ptc_dump_filter *d = filter;

	d->by_cpu = ptc_parse_u64(s, &d->cpu) && d->cpu <= INT32_MAX;
	return d->by_cpu;
}

static bool take_time(const char *s, void *filter)
{
	return ptc_dump_filter_time(filter, s);
}

static const struct ptc_option options[] = {
	PTC_HEADING("What to print (default: all records):"),
	PTC_OPTION_INPUT(struct dump_args, path),
	{ "type", 0, "NAME,...",
	  "Print only records of these types, for example MMAP2, aux, 68, unknown. event and "
	  "feature name the lines before the records.",
	  PTC_PARSED(struct dump_args, filter, take_type,
		     "names of record types, for example MMAP2,aux") },
	{ "tid", 0, "TID", "Print only records of this thread.",
	  PTC_PARSED(struct dump_args, filter, take_tid, "a thread ID") },
	{ "cpu", 0, "CPU", "Print only records of this CPU.",
	  PTC_PARSED(struct dump_args, filter, take_cpu, "a CPU number") },
	{ "time", 0, "FROM,TO",
	  "Print only records from FROM up to TO, in seconds. Either may be omitted.",
	  PTC_PARSED(struct dump_args, filter, take_time, "FROM,TO in seconds") },
	{ "stored", 0, NULL,
	  "Print compressed records as stored. Default: print the records in them.",
	  PTC_FLAG(struct dump_args, stored) },
	PTC_OPTION_FORMAT(struct dump_args, json,
			  "Print text (default) or json (an object a line, see doc/json.md)."),
	PTC_HEADING("Check:"),
	{ "verify", 0, NULL,
	  "Print only contradictions in the file, and exit with 3 if there are any. Default: "
	  "print records.",
	  PTC_FLAG(struct dump_args, verify) },
	PTC_HEADING("Limits:"),
	PTC_OPTION_MAX_MEMORY_WHOLE,
	PTC_OPTION_NO_SANDBOX(struct dump_args, sandbox.off),
	PTC_OPTION_HELP,
	PTC_OPTIONS_END,
};

static const struct ptc_option_table option_table = {
	.command = "dump",
	.usage = "usage: ptcap dump [OPTIONS] [FILE]\n"
		 "       ptcap dump --verify [--format=text|json] [FILE]\n"
		 "Print every record of a recording in file order, one a line: its offset in the\n"
		 "file, its type, its size and its fields. Braces have the sample id: the thread,\n"
		 "the time, the CPU and the event. The events and the features of the header come\n"
		 "first, after a #.\n",
	.options = options,
	.notes = "ptcap prints a damaged file up to the damage, reports the damage, and exits\n"
		 "with 1.\n",
};

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

int ptc_cmd_dump(int argc, char **argv)
{
	struct dump_args a = { .path = NULL };
	const struct ptc_dump_filter *d = &a.filter;
	int code = ptc_options_parse(&option_table, argc, argv, &a);

	if (code >= 0)
		return code;
	if (ptc_take_input("dump", argc, argv, &a.path))
		return PTC_EXIT_USAGE;
	if (!a.path)
		a.path = PTC_INPUT_DEFAULT;
	if (a.verify && (a.stored || d->by_type || d->by_tid || d->by_cpu || d->by_time))
		return ptc_usage_error("dump",
				       "--verify checks the whole file: it cannot be combined with "
				       "--stored, --type, --tid, --cpu or --time");
	code = ptc_sandbox_enter(&a.sandbox);
	if (code)
		return code;
	return a.verify ? ptc_verify_file(a.path, a.json) : dump(&a);
}
