/* SPDX-License-Identifier: MIT */
/*
 * Joins the calls of all shards of a recording (`decode` and `report` with --shard). A part that is
 * next is joined at once. Others are kept as text until the parts before them are joined.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/plural.h"
#include "cli/common/cli.h"
#include "cli/sum/joined_output.h"
#include "cli/sum/missing_table.h"
#include "cli/sum/part_item.h"
#include "cli/sum/part_join.h"
#include "cli/sum/sum.h"
#include "cli/sum/sum_json.h"

enum { SHARDS_MAX = 1 << 20 };

/* What all parts of a recording have in common. */
struct part_head {
	const char *of;	   /* borrowed from the head */
	json_t *options;   /* borrowed from the head */
	uint64_t trace[3]; /* bytes, first and last time */
	uint64_t shards;
};

struct kept_part {
	struct ptc_buf text; /* its lines behind the head; each ends with NUL */
	char *file;	     /* owned; NULL: this part is not there yet */
};

struct state {
	struct ptc_part_join join;
	struct ptc_joined_output out;
	struct ptc_missing_table missing;
	json_t *first; /* owned: the head of the first file */
	struct part_head head;
	uint64_t next;		/* the shard to join, from 1 */
	uint64_t current;	/* of the current file */
	struct kept_part *kept; /* owned; by shard - 1 */
	bool begun;
};

/* --- heads --- */

static int get_part_head(const struct ptc_sum_line *l, struct part_head *h, uint64_t *ret_shard,
			 struct ptc_err *err)
{
	int rc = ptc_sum_json_version(l, err);

	if (!rc)
		rc = ptc_sum_json_text(l, l->json, "of", &h->of, err);
	if (!rc)
		rc = ptc_sum_json_count(l, l->json, "shard", ret_shard, err);
	if (!rc)
		rc = ptc_sum_json_count(l, l->json, "shards", &h->shards, err);
	if (!rc)
		rc = ptc_part_row_get(l, json_object_get(l->json, "trace"), 3, h->trace, err);
	if (rc)
		return rc;
	h->options = json_object_get(l->json, "options");
	if (h->shards > SHARDS_MAX || !*ret_shard || *ret_shard > h->shards)
		return ptc_sum_fail(err, l,
				    "shard %llu of %llu; the file is damaged, write it again",
				    (unsigned long long)*ret_shard, (unsigned long long)h->shards);
	return 0;
}

/* Begins the output that the head of the first file names. */
static int begin_joining(struct state *s, const struct ptc_sum_line *l, struct ptc_err *err)
{
	struct ptc_join_sink sink;
	uint64_t shard;
	int rc;

	s->first = json_incref(l->json);
	rc = get_part_head(l, &s->head, &shard, err);
	if (!rc)
		rc = ptc_joined_output_init(&s->out, s->head.of, s->head.options, &s->join, &sink,
					    l, err);
	if (rc)
		return rc;
	s->next = 1;
	s->kept = ptc_budget_allows(s->head.shards * sizeof(*s->kept)) ?
			  calloc(s->head.shards, sizeof(*s->kept)) :
			  NULL;
	s->begun = s->kept && !ptc_part_join_init(&s->join, &sink);
	return s->begun ? 0 : ptc_fail_mem(err);
}

static int add_part_head(struct state *s, const struct ptc_sum_line *l, struct ptc_err *err)
{
	struct part_head h = { .of = NULL };
	int rc = s->first ? 0 : begin_joining(s, l, err);

	if (!rc)
		rc = get_part_head(l, &h, &s->current, err);
	if (rc)
		return rc;
	if (strcmp(h.of, s->head.of) != 0 || h.shards != s->head.shards ||
	    memcmp(h.trace, s->head.trace, sizeof(h.trace)) != 0 ||
	    !json_equal(h.options, s->head.options))
		return ptc_sum_fail(err, l,
				    "a shard of another recording, or with other options, "
				    "than the files before; give all shards of one "
				    "recording");
	if (s->kept[s->current - 1].file || s->current < s->next)
		return ptc_sum_fail(err, l, "shard %llu is there twice",
				    (unsigned long long)s->current);
	s->kept[s->current - 1].file = strdup(l->file);
	if (!s->kept[s->current - 1].file)
		return ptc_fail_mem(err);
	if (s->current == s->next)
		ptc_part_join_begin(&s->join);
	return 0;
}

/* --- lines --- */

static int join_line(struct state *s, const struct ptc_sum_line *l, struct ptc_err *err)
{
	bool other;
	const int rc = ptc_part_join_line(&s->join, l, &other, err);

	if (rc || !other)
		return rc;
	if (!strcmp(ptc_sum_json_word(l->json, "type"), "missing"))
		return ptc_missing_table_add(&s->missing, l, err);
	return ptc_joined_output_line(&s->out, l, err);
}

static int add_part_line(void *state, const struct ptc_sum_line *l, struct ptc_err *err)
{
	struct state *s = state;
	struct ptc_buf *text;

	if (l->number == 1)
		return add_part_head(s, l, err);
	if (s->current == s->next)
		return join_line(s, l, err);
	text = &s->kept[s->current - 1].text;
	ptc_buf_put(text, l->text, l->len + 1);
	return ptc_buf_failed(text) ? ptc_fail_mem(err) : 0;
}

/* Joins a part that was kept, and drops its text. */
static int join_kept(struct state *s, struct kept_part *part, struct ptc_err *err)
{
	struct ptc_sum_line l = { .file = part->file, .number = 1 };
	size_t at;
	int rc = 0;

	ptc_part_join_begin(&s->join);
	for (at = 0; !rc && at < part->text.len; at += l.len + 1) {
		l.text = (char *)part->text.bytes + at;
		l.len = strlen(l.text);
		l.number++;
		l.json = json_loadb(l.text, l.len, JSON_REJECT_DUPLICATES, NULL);
		rc = l.json ? join_line(s, &l, err) : ptc_fail_mem(err);
		json_decref(l.json);
	}
	ptc_buf_release(&part->text);
	return rc;
}

static int end_part_file(void *state, const struct ptc_sum_line *l, struct ptc_err *err)
{
	struct state *s = state;
	int rc = 0;

	if (!l->number)
		return ptc_sum_fail(err, l, "the file is empty; write it again");
	if (s->current != s->next)
		return 0;
	for (;;) {
		if (!s->join.ended)
			return ptc_sum_fail(err, l, "shard %llu has no end; write its file again",
					    (unsigned long long)s->next);
		if (++s->next > s->head.shards || !s->kept[s->next - 1].file)
			return 0;
		rc = join_kept(s, &s->kept[s->next - 1], err);
		if (rc)
			return rc;
	}
}

static int finish_parts(void *state, struct ptc_err *err)
{
	struct state *s = state;
	uint64_t missing = 0, i;
	char others[48] = "";

	for (i = s->next; i <= s->head.shards; i++)
		missing += !s->kept[i - 1].file;
	if (missing > 1)
		(void)snprintf(others, sizeof(others), ", and %llu other%s",
			       (unsigned long long)missing - 1, ptc_plural(missing - 1));
	if (missing)
		return ptc_fail(err, PTC_E_FORMAT,
				"shard %llu of %llu is missing%s; give the files of all shards",
				(unsigned long long)s->next, (unsigned long long)s->head.shards,
				others);
	if (ptc_part_join_finish(&s->join))
		return ptc_fail_mem(err);
	if (s->join.unclear)
		ptc_say("functions that were open at borders of shards were jumped into: the sums "
			"may differ from those without --shard");
	return 0;
}

static bool is_binary_whole(const void *state)
{
	const struct state *s = state;

	return !strcmp(s->head.of, "pprof");
}

static bool print_parts(void *state, const struct ptc_sum_how *how)
{
	struct state *s = state;

	return ptc_joined_output_print(&s->out, how, &s->missing);
}

static void release_parts(void *state)
{
	struct state *s = state;
	uint64_t i;

	for (i = 0; s->kept && i < s->head.shards; i++) {
		ptc_buf_release(&s->kept[i].text);
		free(s->kept[i].file);
	}
	free(s->kept);
	ptc_missing_table_release(&s->missing);
	ptc_joined_output_release(&s->out);
	if (s->begun)
		ptc_part_join_release(&s->join);
	json_decref(s->first);
}

const struct ptc_sum_format ptc_sum_parts_format = {
	.name = "calls of a shard (decode or report with --shard)",
	.is_json = true,
	.size = sizeof(struct state),
	.add_line = add_part_line,
	.end_file = end_part_file,
	.finish = finish_parts,
	.is_binary = is_binary_whole,
	.print = print_parts,
	.release = release_parts,
};
