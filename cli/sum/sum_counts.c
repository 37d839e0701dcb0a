/* SPDX-License-Identifier: MIT */
/* Adds the JSON of `ptcap decode --counts` for edges, calls, blocks and lines. */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "cli/sum/count_table.h"
#include "cli/sum/missing_table.h"
#include "cli/sum/sum.h"
#include "cli/sum/sum_json.h"

struct state {
	struct ptc_count_table table;
	struct ptc_missing_table missing;
	/* Of the current file: what its head promises, and what its lines have. */
	uint64_t want_times, want_entries, times, entries;
};

static const struct what {
	const char *name, *from, *to; /* from NULL: source lines */
	enum ptc_counts_of of;
} whats[] = {
	{ "edges", "from", "to", PTC_COUNTS_EDGES },
	{ "calls", "from", "to", PTC_COUNTS_CALLS },
	{ "blocks", "first", "last", PTC_COUNTS_BLOCKS },
	{ "lines", NULL, NULL, PTC_COUNTS_LINES },
};

enum { NWHATS = sizeof(whats) / sizeof(whats[0]) };

static const struct what *what_of(enum ptc_counts_of of)
{
	size_t i;

	for (i = 0; i < NWHATS; i++)
		if (whats[i].of == of)
			return &whats[i];
	return NULL;
}

static const struct what *what_named(const char *name)
{
	size_t i;

	for (i = 0; i < NWHATS; i++)
		if (!strcmp(whats[i].name, name))
			return &whats[i];
	return NULL;
}

/* Adds the member @key of the head to *@sum. */
static int add_member(const struct ptc_sum_line *l, const char *key, uint64_t *sum,
		      struct ptc_err *err)
{
	uint64_t n;
	const int rc = ptc_sum_json_count(l, l->json, key, &n, err);

	if (!rc)
		ptc_sum_add(sum, n);
	return rc;
}

static int add_counts_head(struct state *s, const struct ptc_sum_line *l, struct ptc_err *err)
{
	struct ptc_counts *c = &s->table.counts;
	const struct what *what;
	const char *of;
	int rc = ptc_sum_json_version(l, err);

	if (!rc)
		rc = ptc_sum_json_text(l, l->json, "of", &of, err);
	if (rc)
		return rc;
	what = what_named(of);
	if (!what)
		return ptc_sum_fail(err, l, "cannot add counts of '%s'", of);
	if (c->of && c->of != what->of)
		return ptc_sum_fail(err, l,
				    "counts of %s, but the files before have counts of %s; add "
				    "counts of one kind",
				    of, what_of(c->of)->name);
	c->of = what->of;
	s->times = s->entries = 0;
	rc = ptc_sum_json_count(l, l->json, "times", &s->want_times, err);
	if (!rc)
		rc = ptc_sum_json_count(l, l->json, "different", &s->want_entries, err);
	if (!rc)
		rc = add_member(l, "gaps", &c->gaps, err);
	if (!rc && c->of == PTC_COUNTS_LINES)
		rc = add_member(l, "blocks", &c->blocks, err);
	if (!rc && c->of == PTC_COUNTS_LINES)
		rc = add_member(l, "lineless", &c->lineless, err);
	return rc;
}

/* Gets the text "KEY_PART" of a place as a number of a name; 0: there is none. */
static int get_name(struct state *s, const struct ptc_sum_line *l, const char *key,
		    const char *part, uint32_t *ret, struct ptc_err *err)
{
	char name[48];
	const char *text;
	int rc;

	(void)snprintf(name, sizeof(name), "%s%s", key, part);
	rc = ptc_sum_json_maybe_text(l, l->json, name, &text, err);
	if (rc)
		return rc;
	*ret = ptc_names_get(&s->table.counts.names, text);
	return *ret == UINT32_MAX ? ptc_fail_mem(err) : 0;
}

static int get_place(struct state *s, const struct ptc_sum_line *l, const char *key,
		     struct ptc_counts_place *ret, struct ptc_err *err)
{
	char name[48];
	int rc = ptc_sum_json_hex(l, l->json, key, &ret->ip, err);

	if (!rc)
		rc = get_name(s, l, key, "_function", &ret->symbol, err);
	if (!rc)
		rc = get_name(s, l, key, "_file", &ret->file, err);
	if (!rc)
		rc = get_name(s, l, key, "_build_id", &ret->id, err);
	if (!ret->file) /* a build-id alone is not printed with its offset */
		ret->id = 0;
	ret->off = ret->ip;
	(void)snprintf(name, sizeof(name), "%s_file_offset", key);
	if (!rc && ret->file)
		rc = ptc_sum_json_hex(l, l->json, name, &ret->off, err);
	(void)snprintf(name, sizeof(name), "%s_function_offset", key);
	if (!rc && ret->symbol)
		rc = ptc_sum_json_count(l, l->json, name, &ret->symbol_off, err);
	return rc;
}

static int get_kind(const struct ptc_sum_line *l, enum ptc_kind *ret, struct ptc_err *err)
{
	const char *name;
	int i, rc = ptc_sum_json_text(l, l->json, "kind", &name, err);

	if (rc)
		return rc;
	for (i = 0; i < PTC_KIND_COUNT; i++)
		if (!strcmp(ptc_kind_name((enum ptc_kind)i), name)) {
			*ret = (enum ptc_kind)i;
			return 0;
		}
	return ptc_sum_fail(err, l, "unknown kind of branch '%s'", name);
}

static int add_count(struct state *s, const struct ptc_sum_line *l, struct ptc_err *err)
{
	const struct what *what = what_of(s->table.counts.of);
	struct ptc_counts_entry e = { .times = 0 };
	int rc = ptc_sum_json_count(l, l->json, "times", &e.times, err);

	if (!rc && !what->from) {
		rc = get_name(s, l, "file", "", &e.from.file, err);
		if (!rc)
			rc = ptc_sum_json_count(l, l->json, "line", &e.from.off, err);
	} else if (!rc) {
		rc = get_kind(l, &e.kind, err);
		if (!rc)
			rc = get_place(s, l, what->from, &e.from, err);
		if (!rc)
			rc = get_place(s, l, what->to, &e.to, err);
	}
	if (rc)
		return rc;
	if (!what->from && !e.from.file)
		return ptc_sum_fail(err, l, "the member \"file\" is missing");
	if (!ptc_count_table_add(&s->table, &e))
		return ptc_fail_mem(err);
	ptc_sum_add(&s->table.counts.times, e.times);
	ptc_sum_add(&s->times, e.times);
	s->entries++;
	return 0;
}

static int add_counts_line(void *state, const struct ptc_sum_line *l, struct ptc_err *err)
{
	struct state *s = state;
	const char *type = ptc_sum_json_word(l->json, "type");

	if (l->number == 1)
		return add_counts_head(s, l, err);
	if (*ptc_sum_json_word(l->json, "schema"))
		return ptc_sum_fail(err, l, "a second output begins; give each output as a file");
	if (!strcmp(type, "count"))
		return add_count(s, l, err);
	return strcmp(type, "missing") != 0 ? 0 : ptc_missing_table_add(&s->missing, l, err);
}

static int end_counts_file(void *state, const struct ptc_sum_line *l, struct ptc_err *err)
{
	const struct state *s = state;

	if (l->number && s->times == s->want_times && s->entries == s->want_entries)
		return 0;
	return ptc_sum_fail(
		err, l, "only %llu of %llu entries; write all entries (--counts without a number)",
		(unsigned long long)s->entries, (unsigned long long)s->want_entries);
}

static bool print_counts_sum(void *state, const struct ptc_sum_how *how)
{
	struct state *s = state;

	ptc_counts_order(&s->table.counts);
	return ptc_counts_print(&s->table.counts, how->line, (size_t)how->most, how->width,
				!how->text) &&
	       (how->text || ptc_missing_table_print(&s->missing, how->line));
}

static void release_counts_sum(void *state)
{
	struct state *s = state;

	ptc_count_table_release(&s->table);
	ptc_missing_table_release(&s->missing);
}

const struct ptc_sum_format ptc_sum_counts_format = {
	.name = "counts (decode --counts)",
	.is_json = true,
	.has_table = true,
	.size = sizeof(struct state),
	.add_line = add_counts_line,
	.end_file = end_counts_file,
	.print = print_counts_sum,
	.release = release_counts_sum,
};
