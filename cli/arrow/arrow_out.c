/* SPDX-License-Identifier: MIT */
#include "cli/arrow/arrow_out.h"

#include <string.h>

#include "base/err.h"
#include "cli/arrow/branch_table.h"
#include "cli/arrow/crash_table.h"
#include "cli/arrow/gap_table.h"
#include "ptcap/lookup.h"

enum { AHEAD = 8 /* the entry of a branch is fetched so many items before it is used */ };

static const struct {
	const char *name;
	const struct ptc_ipc_column *columns;
	size_t n;
} kinds[PTC_ARROW_TABLES] = {
	[PTC_ARROW_BRANCHES] = { "branches", ptc_branch_columns, PTC_BRANCH_COLUMNS },
	[PTC_ARROW_CALLS] = { "calls", ptc_call_columns, PTC_CALL_COLUMNS },
	[PTC_ARROW_GAPS] = { "gaps", ptc_gap_columns, PTC_GAP_COLUMNS },
	[PTC_ARROW_CRASHES] = { "crashes", ptc_crash_columns, PTC_CRASH_COLUMNS },
};

bool ptc_arrow_parse_tables(const char *list, uint32_t *ret)
{
	uint32_t found = 0;

	for (;;) {
		const size_t len = strcspn(list, ",");
		int i;

		for (i = 0; i < PTC_ARROW_TABLES; i++)
			if (strlen(kinds[i].name) == len && !strncmp(list, kinds[i].name, len))
				break;
		if (i == PTC_ARROW_TABLES)
			return false;
		found |= UINT32_C(1) << i;
		if (!list[len])
			break;
		list += len + 1;
	}
	*ret = found;
	return true;
}

static struct ptc_arrow_table *wanted(struct ptc_arrow *a, enum ptc_arrow_which which)
{
	struct ptc_arrow_table *t = &a->tables[which];

	return ptc_arrow_table_wanted(t) ? t : NULL;
}

static int on_arrow_call(void *ctx, const struct ptc_call_event *event)
{
	struct ptc_arrow *a = ctx;
	const int rc = ptc_call_table_event(&a->calls, &a->stream, event, &a->err);

	a->failed |= rc != 0;
	return rc;
}

static int open_tables(struct ptc_arrow *a, uint32_t tables, struct ptc_err *err)
{
	const char *folder = a->to_stdout ? NULL : a->out.tmp;
	int i, rc = 0;

	for (i = 0; i < PTC_ARROW_TABLES && !rc; i++)
		if (tables >> i & 1)
			rc = ptc_arrow_table_open(&a->tables[i], folder, kinds[i].name,
						  kinds[i].columns, kinds[i].n, err);
	return rc;
}

/*
 * Explanations need memory of their own. So they come before the decode, which needs most of its
 * memory later.
 */
static int fill_crashes(struct ptc_arrow *a, const struct ptc_arrow_opts *opts, struct ptc_err *err)
{
	const struct ptc_crash_source from = { ptc_decode_recording(a->d), opts->input,
					       opts->code };
	struct ptc_arrow_table *crashes = wanted(a, PTC_ARROW_CRASHES);

	return crashes ? ptc_crash_table_fill(crashes, &a->names, &from, err) : 0;
}

int ptc_arrow_open(struct ptc_arrow *a, struct ptc_decode *d, const struct ptc_arrow_opts *opts,
		   struct ptc_err *err)
{
	const struct ptc_call_stream_opts stream = {
		.d = d, .inlines = opts->inlines, .on_event = on_arrow_call, .ctx = a
	};
	int i, rc;

	*a = (struct ptc_arrow){ .d = d, .out = PTC_FOLDER_OUT_INIT, .is_shard = opts->is_shard };
	for (i = 0; i < PTC_ARROW_TABLES; i++)
		a->tables[i] = (struct ptc_arrow_table)PTC_ARROW_TABLE_INIT;
	a->to_stdout = !opts->path || !strcmp(opts->path, "-");
	a->places = (struct ptc_arrow_places){ .d = d, .names = &a->names };
	a->calls =
		(struct ptc_call_table){ .table = &a->tables[PTC_ARROW_CALLS], .names = &a->names };
	rc = ptc_arrow_names_init(&a->names, err);
	if (rc)
		return rc;
	if (ptc_arrow_name(&a->names, PTC_ARROW_RECORDING, opts->recording))
		rc = ptc_fail_mem(err);
	if (!rc && !a->to_stdout)
		rc = ptc_folder_out_open(&a->out, opts->path, err);
	if (!rc)
		rc = open_tables(a, opts->tables, err);
	if (!rc && wanted(a, PTC_ARROW_CALLS) && ptc_call_stream_init(&a->stream, &stream))
		rc = ptc_fail_mem(err);
	if (!rc && !opts->no_crashes)
		rc = fill_crashes(a, opts, err);
	if (rc)
		ptc_arrow_close(a);
	return rc;
}

void ptc_arrow_close(struct ptc_arrow *a)
{
	int i;

	for (i = 0; i < PTC_ARROW_TABLES; i++)
		ptc_arrow_table_release(&a->tables[i]);
	if (a->stream.calls)
		ptc_call_stream_release(&a->stream);
	ptc_call_table_release(&a->calls);
	ptc_arrow_places_release(&a->places);
	ptc_arrow_names_release(&a->names);
	ptc_tid_counter_release(&a->icounts);
	ptc_folder_out_release(&a->out);
}

/* Counts the instructions of @it. Gets the sum for its thread. Returns false if out of memory. */
static bool count_instructions(struct ptc_arrow *a, const struct ptc_item *it, uint64_t *ret)
{
	uint64_t *icount;

	*ret = PTC_ARROW_NULL64;
	if (a->is_shard)
		return true;
	icount = ptc_tid_counter_of(&a->icounts, it->tid);
	if (!icount)
		return false;
	*icount += it->insns;
	*ret = *icount;
	return true;
}

static int take_item(struct ptc_arrow *a, struct ptc_arrow_table *branches,
		     struct ptc_arrow_table *gaps, const struct ptc_item *it)
{
	uint64_t icount;
	int rc = 0;

	if (branches && !count_instructions(a, it, &icount))
		return ptc_fail_mem(&a->err);
	if (branches && it->type == PTC_ITEM_BRANCH)
		rc = ptc_branch_table_add(branches, &a->places, it, icount, &a->err);
	if (!rc && gaps && it->type == PTC_ITEM_GAP)
		rc = ptc_gap_table_add(gaps, it, &a->err);
	return rc;
}

int ptc_arrow_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct ptc_arrow *a = ctx;
	struct ptc_arrow_table *branches = wanted(a, PTC_ARROW_BRANCHES);
	struct ptc_arrow_table *gaps = wanted(a, PTC_ARROW_GAPS);
	const bool calls = wanted(a, PTC_ARROW_CALLS) != NULL;
	size_t i;
	int rc = 0;

	if (branches && !ptc_arrow_places_begin(&a->places))
		rc = ptc_fail_mem(&a->err);
	for (i = 0; i < n && !rc; i++) {
		if (branches && i + AHEAD < n)
			ptc_arrow_places_fetch(&a->places, &items[i + AHEAD]);
		rc = take_item(a, branches, gaps, &items[i]);
	}
	if (!rc && calls) {
		rc = ptc_call_stream_items(&a->stream, items, n);
		if (rc && !a->failed)
			(void)ptc_fail_mem(&a->err);
	}
	a->failed |= rc != 0;
	return rc;
}

int ptc_arrow_finish(struct ptc_arrow *a, struct ptc_err *err)
{
	int i, rc = 0;

	if (wanted(a, PTC_ARROW_CALLS) && ptc_call_stream_finish(&a->stream)) {
		*err = a->err;
		return a->failed ? err->code : ptc_fail_mem(err);
	}
	for (i = 0; i < PTC_ARROW_TABLES && !rc; i++)
		if (wanted(a, (enum ptc_arrow_which)i))
			rc = ptc_arrow_table_finish(&a->tables[i], &a->names, err);
	if (!rc && !a->to_stdout)
		rc = ptc_folder_out_commit(&a->out, err);
	return rc;
}
