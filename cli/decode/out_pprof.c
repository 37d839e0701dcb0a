/* SPDX-License-Identifier: MIT */
#include "cli/decode/out_pprof.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/grow.h"
#include "base/terminal_escape.h"
#include "cli/decode/gzip_out.h"
#include "cli/decode/protobuf.h"
#include "ptcap/lookup.h"

/* Numbers of fields: messages of profile.proto. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_DEFAULT_TYPE = 14,
	VALUE_TYPE = 1,
	VALUE_UNIT = 2,
	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,
	LABEL_KEY = 1,
	LABEL_STR = 2,
	LABEL_NUM = 3,
	MAPPING_ID = 1,
	MAPPING_LIMIT = 3,
	MAPPING_FILE = 5,
	MAPPING_HAS_FUNCTIONS = 7,
	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	LINE_LINE = 2,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILE = 4,
	FUNCTION_START = 5,
};

/* Strings of our own, in front of the names. The string 0 is empty. */
static const char *const own_strings[] = { "",	     "instructions", "count", "time", "nanoseconds",
					   "thread", "tid",	     "pid" };

enum { S_NONE, S_INSTRUCTIONS, S_COUNT, S_TIME, S_NANOSECONDS, S_THREAD, S_TID, S_PID, S_OWN };

/*
 * The table of strings has the own strings, the names of the stream, and a name for each function
 * without a symbol. The ids of functions and locations are their numbers + 1, the ids of mappings
 * the numbers of their names + 1.
 */
struct pprof {
	struct ptc_call_stream *s;
	const struct ptc_call_tree *t;
	const struct ptc_function_begins *begins;
	uint32_t *thread_names; /* owned; numbers in the names of the stream; 0: not known */
	struct ptc_gzip *z;
	struct ptc_buf whole, part,
		inner;	/* a field of the profile, its message, and a field of it */
	uint32_t *path; /* owned */
	bool by_time;	/* samples have a time */
	bool failed;	/* out of memory */
};

bool ptc_function_begins_event(struct ptc_function_begins *b, struct ptc_call_stream *s,
			       const struct ptc_call_event *e)
{
	const size_t n = b->n;

	if (e->call->type != PTC_CALL_ENTER || e->function < n)
		return true;
	if (!ptc_grow(&b->v, &b->cap, e->function + 1, sizeof(*b->v)))
		return false;
	b->n = e->function + 1;
	memset(b->v + n, 0, (b->n - n) * sizeof(*b->v));
	b->v[e->function] = ptc_function_begin(s, e->call->item, e->call->ip);
	return b->v[e->function].file != UINT32_MAX;
}

/* Write field @number of the profile, whose message is in part. */
static void put_part(struct pprof *p, uint32_t number)
{
	ptc_protobuf_bytes(&p->whole, number, p->part.bytes, p->part.len);
	p->failed |= ptc_buf_failed(&p->whole) || ptc_buf_failed(&p->part) ||
		     ptc_buf_failed(&p->inner);
	if (!p->failed)
		ptc_gzip_put(p->z, p->whole.bytes, p->whole.len);
	ptc_buf_reset(&p->whole);
	ptc_buf_reset(&p->part);
}

/* Put the message in inner into part as field @number. */
static void put_inner(struct pprof *p, uint32_t number)
{
	ptc_protobuf_bytes(&p->part, number, p->inner.bytes, p->inner.len);
	ptc_buf_reset(&p->inner);
}

static void put_type(struct pprof *p, uint32_t field, uint32_t type, uint32_t unit)
{
	ptc_protobuf_number(&p->part, VALUE_TYPE, type);
	ptc_protobuf_number(&p->part, VALUE_UNIT, unit);
	put_part(p, field);
}

static void put_types(struct pprof *p)
{
	put_type(p, PROFILE_SAMPLE_TYPE, S_INSTRUCTIONS, S_COUNT);
	if (p->by_time)
		put_type(p, PROFILE_SAMPLE_TYPE, S_TIME, S_NANOSECONDS);
	put_type(p, PROFILE_PERIOD_TYPE, S_INSTRUCTIONS, S_COUNT);
	ptc_protobuf_number(&p->whole, PROFILE_PERIOD, 1);
	ptc_protobuf_number(&p->whole, PROFILE_DEFAULT_TYPE, S_INSTRUCTIONS);
}

/* --- samples --- */

/* Returns the string of a name of the stream. */
static uint64_t string_of_name(uint32_t name)
{
	return name ? S_OWN + (uint64_t)name - 1 : S_NONE;
}

static void put_label(struct pprof *p, uint32_t key, uint32_t field, uint64_t value)
{
	ptc_protobuf_number(&p->inner, LABEL_KEY, key);
	ptc_protobuf_number(&p->inner, field, value);
	put_inner(p, SAMPLE_LABEL);
}

static void put_labels(struct pprof *p, uint32_t thread)
{
	const struct ptc_call_thread *t = &p->s->threads[thread];

	if (p->thread_names[thread])
		put_label(p, S_THREAD, LABEL_STR, string_of_name(p->thread_names[thread]));
	put_label(p, S_PID, LABEL_NUM, (uint64_t)(int64_t)t->pid);
	put_label(p, S_TID, LABEL_NUM, (uint64_t)(int64_t)t->tid);
}

static void put_pprof_sample(struct pprof *p, uint32_t number)
{
	const struct ptc_tree_node *node = &p->t->nodes[number];
	const size_t n = ptc_call_tree_path(p->t, number, p->path);
	size_t i;

	for (i = n; i > 1; i--)
		ptc_protobuf_varint(&p->inner, (uint64_t)p->t->nodes[p->path[i - 1]].function + 1);
	put_inner(p, SAMPLE_LOCATION);
	ptc_protobuf_varint(&p->inner, node->insns);
	if (p->by_time)
		ptc_protobuf_varint(&p->inner, node->ns);
	put_inner(p, SAMPLE_VALUE);
	put_labels(p, p->t->nodes[p->path[0]].function);
	put_part(p, PROFILE_SAMPLE);
}

static void put_pprof_samples(struct pprof *p)
{
	uint32_t i;

	for (i = 0; i < p->t->n && !p->failed; i++)
		if (p->t->nodes[i].insns || (p->by_time && p->t->nodes[i].ns))
			put_pprof_sample(p, i);
}

/* --- tables --- */

static void put_mapping(struct pprof *p, uint32_t name)
{
	ptc_protobuf_number(&p->part, MAPPING_ID, (uint64_t)name + 1);
	ptc_protobuf_number(&p->part, MAPPING_LIMIT, INT64_MAX);
	ptc_protobuf_number(&p->part, MAPPING_FILE, string_of_name(name));
	ptc_protobuf_number(&p->part, MAPPING_HAS_FUNCTIONS, 1);
	put_part(p, PROFILE_MAPPING);
}

/* Write a mapping for each file with code. Each has the addresses of its file. */
static bool put_mappings(struct pprof *p)
{
	bool *done = calloc(p->s->names.n + 1, sizeof(*done));
	size_t i;

	for (i = 0; done && i < p->s->nfunctions; i++) {
		if (!done[p->s->functions[i].file])
			put_mapping(p, p->s->functions[i].file);
		done[p->s->functions[i].file] = true;
	}
	free(done);
	return done;
}

static struct ptc_source_line function_line(const struct pprof *p, uint32_t number)
{
	static const struct ptc_source_line unknown;

	return number < p->begins->n ? p->begins->v[number] : unknown;
}

static void put_location(struct pprof *p, uint32_t number)
{
	const struct ptc_function *f = &p->s->functions[number];

	ptc_protobuf_number(&p->inner, LINE_FUNCTION, (uint64_t)number + 1);
	ptc_protobuf_number(&p->inner, LINE_LINE, function_line(p, number).line);
	ptc_protobuf_number(&p->part, LOCATION_ID, (uint64_t)number + 1);
	ptc_protobuf_number(&p->part, LOCATION_MAPPING, (uint64_t)f->file + 1);
	ptc_protobuf_number(&p->part, LOCATION_ADDRESS, f->off);
	put_inner(p, LOCATION_LINE);
	put_part(p, PROFILE_LOCATION);
}

static void put_pprof_function(struct pprof *p, uint32_t number, uint64_t *next_string)
{
	const struct ptc_source_line begin = function_line(p, number);
	const uint32_t name = p->s->functions[number].name;
	const uint64_t string = name ? string_of_name(name) : (*next_string)++;

	ptc_protobuf_number(&p->part, FUNCTION_ID, (uint64_t)number + 1);
	ptc_protobuf_number(&p->part, FUNCTION_NAME, string);
	ptc_protobuf_number(&p->part, FUNCTION_SYSTEM_NAME, string);
	ptc_protobuf_number(&p->part, FUNCTION_FILE, string_of_name(begin.file));
	ptc_protobuf_number(&p->part, FUNCTION_START, begin.line);
	put_part(p, PROFILE_FUNCTION);
}

static void put_string(struct pprof *p, const char *s)
{
	char *escaped = ptc_plain_dup(s);

	p->failed |= !escaped;
	if (escaped)
		ptc_buf_put(&p->part, escaped, strlen(escaped));
	put_part(p, PROFILE_STRING);
	free(escaped);
}

/* Write all strings, in the order of their numbers. */
static void put_strings(struct pprof *p)
{
	char buf[4096];
	size_t i;

	for (i = 0; i < S_OWN; i++)
		put_string(p, own_strings[i]);
	for (i = 1; i <= p->s->names.n && !p->failed; i++)
		put_string(p, ptc_names_of(&p->s->names, (uint32_t)i));
	for (i = 0; i < p->s->nfunctions && !p->failed; i++)
		if (!p->s->functions[i].name)
			put_string(p, ptc_call_function_name(p->s, (uint32_t)i, buf, sizeof(buf)));
}

static void put_functions(struct pprof *p)
{
	uint64_t next_string = S_OWN + p->s->names.n;
	uint32_t i;

	for (i = 0; i < p->s->nfunctions && !p->failed; i++) {
		put_location(p, i);
		put_pprof_function(p, i, &next_string);
	}
}

/* Make the names of threads part of the names of the stream. Returns false if out of memory. */
static bool number_thread_names(struct pprof *p)
{
	size_t i;

	p->thread_names = calloc(p->s->nthreads + 1, sizeof(*p->thread_names));
	for (i = 0; p->thread_names && i < p->s->nthreads; i++) {
		const char *name = p->s->threads[i].name;

		p->thread_names[i] = ptc_names_get(&p->s->names, *name ? name : NULL);
		if (p->thread_names[i] == UINT32_MAX)
			return false;
	}
	return p->thread_names != NULL;
}

bool ptc_pprof_has_time(const struct ptc_decode *d)
{
	uint64_t first, last;
	struct ptc_err ignored;

	return !ptc_decode_is_of_software(d) && !ptc_decode_get_times(d, &first, &last, &ignored);
}

bool ptc_pprof_print(struct ptc_call_stream *s, const struct ptc_call_tree *t,
		     const struct ptc_function_begins *begins, bool by_time, struct ptc_line *l)
{
	struct pprof p = { .s = s,
			   .t = t,
			   .begins = begins,
			   .whole = PTC_BUF_INIT,
			   .part = PTC_BUF_INIT,
			   .inner = PTC_BUF_INIT,
			   .by_time = by_time };
	bool ok = number_thread_names(&p);

	p.path = calloc((size_t)t->depth_max + 1, sizeof(*p.path));
	p.z = ptc_gzip_begin(l);
	ok = ok && p.path && p.z;
	if (ok) {
		put_types(&p);
		put_pprof_samples(&p);
		ok = put_mappings(&p);
		put_functions(&p);
		put_strings(&p);
	}
	ptc_gzip_end(p.z);
	free(p.thread_names);
	free(p.path);
	ptc_buf_release(&p.whole);
	ptc_buf_release(&p.part);
	ptc_buf_release(&p.inner);
	return ok && !p.failed;
}
