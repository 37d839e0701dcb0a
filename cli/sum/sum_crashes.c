/* SPDX-License-Identifier: MIT */
/* Counts crashes with the same signature, from the JSON of `ptcap crash show`. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "cli/common/jsontext.h"
#include "cli/common/string_pool.h"
#include "cli/decode/line_buffer.h"
#include "cli/sum/sum.h"
#include "cli/sum/sum_json.h"

/* FRAMES_MAX: more than a signature has. SHOWN: frames in a line of the table. */
enum { FRAMES_MAX = 256, SHOWN = 3 };

/* The crashes with one signature. */
struct bucket {
	uint32_t number; /* of the signature */
	uint64_t times;
	char *key;     /* owned; the texts below as JSON, for a choice that does not depend on the
			* order of files */
	json_t *facts; /* owned; an array: signal, reason, text, signature_frames */
};

enum { SIGNAL, REASON, TEXT, FRAMES };

static const char *const facts[] = { "signal", "reason", "text", "signature_frames" };

struct state {
	struct ptc_names signatures;
	struct bucket *buckets; /* owned; of the signature with the number i + 1 */
	size_t n, cap;
	uint64_t crashes;
	/* Of the current file, if it is a sum itself. */
	bool is_sum;
	uint64_t want_crashes, in_file;
};

/* Copies the frames of @o, at most FRAMES_MAX. */
static int get_frames(const struct ptc_sum_line *l, const json_t *o, json_t **ret,
		      struct ptc_err *err)
{
	const json_t *frames = NULL;
	json_t *copy;
	size_t i;
	int rc = ptc_sum_json_array(l, o, facts[FRAMES], &frames, err);

	if (rc)
		return rc;
	copy = json_array();
	for (i = 0; copy && i < json_array_size(frames) && i < FRAMES_MAX && !rc; i++) {
		if (!json_is_string(json_array_get(frames, i)))
			rc = ptc_sum_fail(err, l,
					  "\"signature_frames\" is not an array of texts; write "
					  "the file again");
		else if (json_array_append(copy, json_array_get(frames, i)))
			rc = ptc_fail_mem(err);
	}
	if (!copy)
		return ptc_fail_mem(err);
	if (rc)
		json_decref(copy);
	else
		*ret = copy;
	return rc;
}

static json_t *text_or_null(const char *s)
{
	return s ? json_string(s) : json_null();
}

/* Gets the facts of the crash @o as an array, which the caller releases. */
static int get_facts(const struct ptc_sum_line *l, const json_t *o, json_t **ret,
		     struct ptc_err *err)
{
	const char *texts[FRAMES];
	json_t *frames = NULL;
	int rc = 0;
	size_t i;

	for (i = 0; i < FRAMES && !rc; i++)
		rc = ptc_sum_json_maybe_text(l, o, facts[i], &texts[i], err);
	if (!rc)
		rc = get_frames(l, o, &frames, err);
	if (rc)
		return rc;
	*ret = json_pack("[o, o, o, o]", text_or_null(texts[SIGNAL]), text_or_null(texts[REASON]),
			 text_or_null(texts[TEXT]), frames);
	return *ret ? 0 : ptc_fail_mem(err);
}

/* Returns the bucket of @signature, which may be new. NULL: out of memory. */
static struct bucket *get_bucket(struct state *s, const char *signature)
{
	const uint32_t number = ptc_names_get(&s->signatures, signature);

	if (number == UINT32_MAX || !ptc_grow(&s->buckets, &s->cap, number, sizeof(*s->buckets)))
		return NULL;
	for (; s->n < number; s->n++)
		s->buckets[s->n] = (struct bucket){ .number = (uint32_t)s->n + 1 };
	return &s->buckets[number - 1];
}

/* Adds @times crashes with the members of @o. */
static int add_crash(struct state *s, const struct ptc_sum_line *l, const json_t *o, uint64_t times,
		     struct ptc_err *err)
{
	const char *signature;
	struct bucket *b;
	json_t *its;
	char *key;
	int rc = ptc_sum_json_text(l, o, "signature", &signature, err);

	if (!rc)
		rc = get_facts(l, o, &its, err);
	if (rc)
		return rc;
	key = json_dumps(its, JSON_COMPACT);
	b = key ? get_bucket(s, signature) : NULL;
	if (!b) {
		free(key);
		json_decref(its);
		return ptc_fail_mem(err);
	}
	ptc_sum_add(&b->times, times);
	ptc_sum_add(&s->crashes, times);
	ptc_sum_add(&s->in_file, times);
	if (!b->key || strcmp(key, b->key) < 0) {
		free(b->key);
		json_decref(b->facts);
		b->key = key;
		b->facts = its;
	} else {
		free(key);
		json_decref(its);
	}
	return 0;
}

static int add_crashes_line(void *state, const struct ptc_sum_line *l, struct ptc_err *err)
{
	const char *schema = ptc_sum_json_word(l->json, "schema");
	struct state *s = state;
	uint64_t times;
	int rc;

	if (l->number == 1) {
		s->in_file = 0;
		s->is_sum = !strcmp(schema, "ptcap-sum-crashes");
		rc = ptc_sum_json_version(l, err);
		if (!rc && s->is_sum)
			return ptc_sum_json_count(l, l->json, "crashes", &s->want_crashes, err);
		if (rc)
			return rc;
	}
	if (!s->is_sum && strcmp(schema, "ptcap-crash") != 0)
		return ptc_sum_fail(err, l, "not a crash (crash show --format json)");
	if (!s->is_sum)
		return add_crash(s, l, l->json, 1, err);
	if (*schema)
		return ptc_sum_fail(err, l, "a second output begins; give each output as a file");
	if (strcmp(ptc_sum_json_word(l->json, "type"), "crash") != 0)
		return 0;
	rc = ptc_sum_json_count(l, l->json, "count", &times, err);
	return rc ? rc : add_crash(s, l, l->json, times, err);
}

static int end_crashes_file(void *state, const struct ptc_sum_line *l, struct ptc_err *err)
{
	const struct state *s = state;

	if (!l->number)
		return ptc_sum_fail(err, l, "the file is empty; write it again");
	if (!s->is_sum || s->in_file == s->want_crashes)
		return 0;
	return ptc_sum_fail(err, l,
			    "only %llu of %llu crashes; write the whole sum (ptcap sum without -n)",
			    (unsigned long long)s->in_file, (unsigned long long)s->want_crashes);
}

/* The last argument is a struct ptc_names. */
static int by_times(const void *a, const void *b, void *names)
{
	const struct bucket *x = a, *y = b;

	if (x->times != y->times)
		return x->times > y->times ? -1 : 1;
	return strcmp(ptc_names_of(names, x->number), ptc_names_of(names, y->number));
}

static bool put_bucket_json(const struct state *s, const struct bucket *b, struct ptc_line *l)
{
	json_t *o = json_pack("{s:s, s:I, s:s}", "type", "crash", "count", (json_int_t)b->times,
			      "signature", ptc_names_of(&s->signatures, b->number));
	int bad = !o;
	size_t i;

	for (i = 0; i <= FRAMES; i++)
		if (!json_is_null(json_array_get(b->facts, i)))
			bad |= json_object_set(o, facts[i], json_array_get(b->facts, i));
	if (bad) {
		json_decref(o);
		o = NULL;
	}
	return ptc_line_json(l, o);
}

static void put_bucket_text(const struct state *s, const struct bucket *b, struct ptc_line *l)
{
	const json_t *frames = json_array_get(b->facts, FRAMES);
	const char *reason = json_string_value(json_array_get(b->facts, REASON));
	const char *signature = ptc_names_of(&s->signatures, b->number);
	size_t i, begin;

	(void)ptc_line_room(l, 64); /* the count and its blanks are together in the buffer */
	begin = l->n;
	ptc_line_dec(l, (int64_t)b->times);
	ptc_line_pad(l, begin, 10);
	ptc_print_label(l, signature);
	ptc_line_str(l, "  ");
	ptc_print_label(l, reason ? reason : "-");
	for (i = 0; i < SHOWN && i < json_array_size(frames); i++) {
		ptc_line_str(l, i ? " < " : "  ");
		ptc_print_label(l, json_string_value(json_array_get(frames, i)));
	}
	ptc_line_char(l, '\n');
}

static void put_text_head(const struct state *s, struct ptc_line *l)
{
	ptc_line_str(l, "# ");
	ptc_line_dec(l, (int64_t)s->crashes);
	ptc_line_str(l, " crashes, ");
	ptc_line_dec(l, (int64_t)s->n);
	ptc_line_str(l, " signatures\n# times   signature  reason  frames, the innermost first\n");
}

static bool print_crashes_sum(void *state, const struct ptc_sum_how *how)
{
	struct state *s = state;
	bool ok = true;
	size_t i;

	if (s->n)
		qsort_r(s->buckets, s->n, sizeof(*s->buckets), by_times, &s->signatures);
	if (how->text)
		put_text_head(s, how->line);
	else
		ok = ptc_line_json(how->line,
				   json_pack("{s:s, s:i, s:I, s:I}", "schema", "ptcap-sum-crashes",
					     "version", 1, "crashes", (json_int_t)s->crashes,
					     "signatures", (json_int_t)s->n));
	for (i = 0; i < s->n && (!how->most || i < how->most) && ok; i++) {
		if (how->text)
			put_bucket_text(s, &s->buckets[i], how->line);
		else
			ok = put_bucket_json(s, &s->buckets[i], how->line);
	}
	return ok;
}

static void release_crashes_sum(void *state)
{
	struct state *s = state;
	size_t i;

	for (i = 0; i < s->n; i++) {
		free(s->buckets[i].key);
		json_decref(s->buckets[i].facts);
	}
	free(s->buckets);
	ptc_names_release(&s->signatures);
}

const struct ptc_sum_format ptc_sum_crashes_format = {
	.name = "crashes (crash show)",
	.is_json = true,
	.has_table = true,
	.size = sizeof(struct state),
	.add_line = add_crashes_line,
	.end_file = end_crashes_file,
	.print = print_crashes_sum,
	.release = release_crashes_sum,
};
