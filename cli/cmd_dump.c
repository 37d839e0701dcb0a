/* SPDX-License-Identifier: MIT */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "dump.h"
#include "ptcap/file.h"

static void help(void)
{
	printf("usage: ptcap dump [-i FILE] [--format text|json] [--stored]\n"
	       "Print every record of a recording, one a line, in file order: the offset in the\n"
	       "file, the type, the size, the fields; in braces the sample id. In front of them,\n"
	       "behind a #, the events and the features of the header.\n\n"
	       "  -i, --input=FILE      the recording (default: perf.data); - is standard input\n"
	       "      --format=FORMAT   text (default) or json: an object a line, see doc/json.md\n"
	       "      --stored          compressed records themselves, not the records in them\n"
	       "  -h, --help            this text\n\n"
	       "A damaged file is printed as far as it can be read; then the damage is reported\n"
	       "and the exit code is 1.\n");
}

/* The first damage counts: what follows is often its consequence. */
static void note(struct ptc_err *first, const struct ptc_err *err)
{
	if (!first->code)
		*first = *err;
}

static void tell_end(struct ptc_emit *e, uint64_t records, uint64_t unknown)
{
	if (!e->json) {
		printf("# %" PRIu64 " records, %" PRIu64 " of unknown type\n", records, unknown);
		return;
	}
	ptc_emit_object(e, NULL);
	ptc_emit_word(e, "type", "end");
	ptc_emit_u64(e, "records", records);
	ptc_emit_u64(e, "unknown", unknown);
	ptc_emit_end(e);
	printf("\n");
}

static void dump_records(struct ptc_emit *e, const struct ptc_file *f, bool stored,
			 struct ptc_err *damage)
{
	int (*const next)(const struct ptc_file *, uint64_t *, struct ptc_rec *, struct ptc_err *) =
		stored ? ptc_file_next_stored : ptc_file_next;
	uint64_t pos = 0, records = 0, unknown = 0;
	struct ptc_err err;
	struct ptc_rec rec;
	int rc;

	while ((rc = next(f, &pos, &rec, &err)) > 0) {
		records++;
		unknown += ptc_rec_name(rec.type) == NULL;
		if (ptc_dump_record(e, f, &rec, &err)) {
			(void)ptc_file_err_name(f, &err);
			note(damage, &err);
		}
	}
	if (rc)
		note(damage, &err);
	tell_end(e, records, unknown);
}

static int dump(const char *path, bool json, bool stored)
{
	struct ptc_emit e = { .json = json };
	struct ptc_err err, damage = { .code = PTC_OK };
	struct ptc_file *f;

	if (ptc_file_open_damaged(path, &f, &err))
		return ptc_say_err(&err);
	if (ptc_file_damage(f))
		note(&damage, ptc_file_damage(f));
	if (ptc_dump_front(&e, f, &err)) {
		(void)ptc_file_err_name(f, &err);
		note(&damage, &err);
	}
	dump_records(&e, f, stored, &damage);
	ptc_file_free(f);
	if (e.failed) {
		ptc_say("out of memory");
		return PTC_EXIT_FAIL;
	}
	if (!damage.code)
		return PTC_EXIT_OK;
	(void)fflush(stdout); /* main looks at the result */
	return ptc_say_err(&damage);
}

int ptc_cmd_dump(int argc, char **argv)
{
	static const struct option options[] = {
		{ "input", required_argument, NULL, 'i' },
		{ "format", required_argument, NULL, 'f' },
		{ "stored", no_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const char *path = "perf.data";
	bool json = false, stored = false;
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":i:h", options, NULL)) != -1) {
		switch (c) {
		case 'i':
			path = optarg;
			break;
		case 'f':
			json = !strcmp(optarg, "json");
			if (!json && strcmp(optarg, "text") != 0)
				return ptc_usage_error("dump", "no format '%s': text or json",
						       optarg);
			break;
		case 's':
			stored = true;
			break;
		case 'h':
			help();
			return PTC_EXIT_OK;
		default:
			return ptc_option_error("dump", argv, c);
		}
	}
	if (optind < argc)
		return ptc_usage_error("dump", "what is '%s'? a recording is named with -i",
				       argv[optind]);
	return dump(path, json, stored);
}
