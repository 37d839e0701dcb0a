/* SPDX-License-Identifier: MIT */
#include "decode/crash/signature.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/sha256.h"
#include "decode/crash/crash.h"
#include "decode/crash/signature_list.h"
#include "decode/crash/signature_name.h"
#include "decode/crash/signature_reason.h"
#include "decode/image/codefile.h"
#include "decode/session/item_lookup.h"
#include "decode/sideband/process.h"

enum {
	PLACES = 256,	  /* limit: different places of a stack that are looked up */
	FUNCTIONS = 1024, /* limit: different functions; the rest of the stack does not count */
	BEFORE_PYTHON = 2 /* limit: functions in libraries that Python's functions called */
};

/* A place that was looked up. Its functions are ids[first] and following. */
struct looked_up {
	uint64_t pc;
	bool exact;
	bool python; /* of the interpreter */
	size_t first, n;
};

struct maker {
	const struct ptc_crash_report *r;
	struct ptc_signature_list list;
	struct looked_up places[PLACES];
	size_t nplaces;
	size_t *ids; /* owned; numbers of functions in list */
	size_t nids, ids_cap;
	bool runtimes; /* functions of runtimes count, too */
	bool has_python;
	bool no_memory;
};

/* --- which stack --- */

/*
 * Returns the stack to count: the one from the trace, because memory may be overwritten. If the
 * trace ends early, memory is newer. If both agree, one of them may begin later.
 */
static const struct ptc_crash_stack *choose_stack(const struct ptc_crash_report *r)
{
	const struct ptc_crash_stack *believed = ptc_crash_report_believed(r);

	if (r->trace_is_short && r->unwound.n)
		return &r->unwound;
	if (r->differ == PTC_CRASH_SAME && r->unwound.n > believed->n)
		return &r->unwound;
	return believed;
}

/* Is the first frame no code, because a branch led there? */
static bool is_astray(const struct ptc_crash_report *r)
{
	return r->why.is_target && r->why.addr == r->at.ip;
}

/* --- text of a frame --- */

/* Returns the build-id of the file at @ip, or NULL. */
static const struct ptc_build_id *build_id_at(const struct ptc_crash_report *r, uint64_t ip)
{
	const struct ptc_proc *p = ptc_decode_process(r->d, (int32_t)r->dead.signal.pid);
	const struct ptc_range *range = p ? ptc_addrspace_find(&p->as, ip) : NULL;

	return range && range->file && range->file->id.len ? &range->file->id : NULL;
}

/* Returns the text of a place without a name. "": it is in no file. NULL: out of memory. */
static char *nameless_text(const struct ptc_crash_report *r, const struct ptc_crash_place *p,
			   const char *module)
{
	const struct ptc_build_id *id = build_id_at(r, p->code);
	char hex[2 * PTC_BUILD_ID_MAX + 1], *ret = NULL;

	if (module[0] == '[')
		return strdup("");
	if (!id)
		return strdup(module);
	ptc_build_id_hex(id, hex);
	return asprintf(&ret, "%s[%s]+0x%" PRIx64, module, hex, p->file_offset) < 0 ? NULL : ret;
}

/* Returns the text of function @p in @module. "": it does not count. NULL: out of memory. */
static char *place_text(const struct maker *m, const struct ptc_crash_place *p, const char *module)
{
	char *function, *ret = NULL;

	if (p->inlined && !strcmp(p->function, "?"))
		return strdup("");
	if (ptc_crash_is_runtime(m->r, p) != m->runtimes)
		return strdup("");
	if (!p->function)
		return m->runtimes ? strdup("") : nameless_text(m->r, p, module);
	function = ptc_signature_function(p->function);
	if (function && asprintf(&ret, "%s!%s", module, function) < 0)
		ret = NULL;
	free(function);
	return ret;
}

/* --- the functions --- */

static void push_id(struct maker *m, char *text)
{
	size_t id;

	if (text && !*text) {
		free(text);
		return;
	}
	id = ptc_signature_list_intern(&m->list, text);
	if (id == SIZE_MAX || !ptc_grow(&m->ids, &m->ids_cap, m->nids + 1, sizeof(*m->ids)))
		m->no_memory = true;
	else
		m->ids[m->nids++] = id;
}

/* Looks up a place that is not known yet. Inlined functions count as others. */
static void look_up(struct maker *m, const struct ptc_crash_frame *f, struct looked_up *ret)
{
	static const char caller[] = "libffi.so"; /* calls functions for an interpreter */
	struct ptc_crash_place whole = PTC_CRASH_PLACE_INIT, p;
	char *module;
	bool counts;
	size_t i;

	ptc_crash_place_frame(m->r, f, &whole);
	module = ptc_signature_module(whole.file);
	*ret = (struct looked_up){ .pc = f->pc, .exact = f->exact, .first = m->nids };
	m->no_memory |= !module;
	ret->python = module && m->r->python.n && ptc_signature_is_python(module);
	counts = module && !ret->python && strcmp(module, caller) != 0;
	for (i = 0; i < whole.nfunctions && counts && !m->no_memory; i++) {
		p = whole;
		ptc_crash_place_level(&p, i);
		push_id(m, place_text(m, &p, module));
	}
	ret->n = m->nids - ret->first;
	free(module);
}

/* Returns NULL if there are too many places. */
static const struct looked_up *look_up_once(struct maker *m, const struct ptc_crash_frame *f)
{
	size_t i;

	for (i = 0; i < m->nplaces; i++)
		if (m->places[i].pc == f->pc && m->places[i].exact == f->exact)
			return &m->places[i];
	if (i == PLACES)
		return NULL;
	look_up(m, f, &m->places[m->nplaces++]);
	return &m->places[i];
}

/*
 * The version of Python decides whether a comprehension, "<listcomp>", has a frame. Each program
 * has "<module>", and a deep recursion has lost it.
 */
static bool counts_in_python(const struct maker *m, const struct ptc_python_frame *f)
{
	const size_t len = strlen(f->function);

	if (m->list.ngroups && !strcmp(f->function, "<module>"))
		return false;
	return strncmp(f->file, "<frozen ", 8) != 0 &&
	       (len < 6 || strcmp(f->function + len - 5, "comp>") != 0);
}

/* Python's functions take the place of the interpreter's, which are the same for all programs. */
static void append_python(struct maker *m)
{
	const struct ptc_python_frames *f = &m->r->python;
	size_t i;

	m->has_python = true;
	for (i = 0; i < f->n && m->list.n < FUNCTIONS && !m->no_memory; i++) {
		const char *slash = strrchr(f->items[i].file, '/');
		char *text = NULL, *function;

		if (!counts_in_python(m, &f->items[i]))
			continue;
		function = ptc_signature_python_function(f->items[i].function);
		if (function &&
		    asprintf(&text, "%s!%s", slash ? slash + 1 : f->items[i].file, function) < 0)
			text = NULL;
		free(function);
		push_id(m, text);
		if (!m->no_memory)
			ptc_signature_list_append(&m->list, m->ids[m->nids - 1]);
	}
}

/* Each program has main(), and memory that was overwritten has lost it. */
static bool is_outer_main(const struct maker *m, size_t id)
{
	const char *text = m->list.items[id].text, *name = strchr(text, '!');

	return m->list.ngroups && name && !strcmp(name, "!main");
}

/* Libraries below Python's functions may have many functions, and must not hide Python's. */
static bool has_room(const struct maker *m)
{
	return !m->r->python.n || m->has_python || m->list.ngroups < BEFORE_PYTHON;
}

static void append_one(struct maker *m, size_t id)
{
	if (has_room(m) && !is_outer_main(m, id))
		ptc_signature_list_append(&m->list, id);
}

static void append_stack(struct maker *m)
{
	const struct ptc_crash_stack *s = choose_stack(m->r);
	const struct looked_up *place;
	size_t i, k;

	for (i = is_astray(m->r); i < s->n && m->list.n < FUNCTIONS && !m->no_memory; i++) {
		place = look_up_once(m, &s->frames[i]);
		if (!place)
			break;
		if (place->python && !m->has_python)
			append_python(m);
		for (k = 0; k < place->n && !m->no_memory; k++)
			append_one(m, m->ids[place->first + k]);
	}
	if (m->r->python.n && !m->has_python && !m->no_memory)
		append_python(m);
}

/* A stack without any function of the program has those of the runtimes. */
static void append_all(struct maker *m)
{
	append_stack(m);
	if (m->list.n)
		return;
	m->runtimes = true;
	m->nplaces = m->nids = 0;
	append_stack(m);
}

/* --- all of it --- */

/* doc/json.md has this text. */
static void make_hash(struct ptc_crash_signature *s)
{
	uint8_t sum[PTC_SHA256_SIZE];
	char hex[PTC_SHA256_HEX], front[64];
	struct ptc_sha256 sha;
	size_t i;

	(void)snprintf(front, sizeof(front), "ptcap-signature %d\n", PTC_SIGNATURE_VERSION);
	ptc_sha256_init(&sha);
	ptc_sha256_put(&sha, front, strlen(front));
	ptc_sha256_put(&sha, s->reason, strlen(s->reason));
	ptc_sha256_put(&sha, "\n", 1);
	for (i = 0; i < s->nframes; i++) {
		ptc_sha256_put(&sha, s->frames[i], strlen(s->frames[i]));
		ptc_sha256_put(&sha, "\n", 1);
	}
	ptc_sha256_finish(&sha, sum);
	ptc_sha256_hex(sum, hex);
	memcpy(s->hex, hex, PTC_SIGNATURE_HEX - 1);
	s->hex[PTC_SIGNATURE_HEX - 1] = '\0';
}

static void take_frames(struct maker *m, struct ptc_crash_signature *s)
{
	struct ptc_signature_list *l = &m->list;

	ptc_signature_list_finish(l, m->r->why.reason == PTC_REASON_STACK_OVERFLOW);
	while (s->nframes < l->n && s->nframes < PTC_CRASH_SIGNATURE_FRAMES_MAX) {
		s->frames[s->nframes] = l->items[s->nframes].text;
		l->items[s->nframes++].text = NULL;
	}
}

int ptc_crash_signature_make(const struct ptc_crash_report *r, struct ptc_crash_signature *ret,
			     struct ptc_err *err)
{
	struct maker *m = calloc(1, sizeof(*m));
	bool whole = false;

	if (m) {
		m->r = r;
		append_all(m);
		ret->reason = ptc_signature_reason(r);
		whole = !m->no_memory && ret->reason;
		if (whole)
			take_frames(m, ret);
		ptc_signature_list_release(&m->list);
		free(m->ids);
	}
	free(m);
	if (!whole)
		return ptc_fail_mem(err);
	make_hash(ret);
	return 0;
}

void ptc_crash_signature_release(struct ptc_crash_signature *s)
{
	size_t i;

	for (i = 0; i < s->nframes; i++)
		free(s->frames[i]);
	free(s->reason);
	*s = (struct ptc_crash_signature){ .nframes = 0 };
}

uint32_t ptc_crash_report_signature_version(const struct ptc_crash_report *r)
{
	(void)r;
	return PTC_SIGNATURE_VERSION;
}

const char *ptc_crash_report_signature(const struct ptc_crash_report *r)
{
	return r->signature.hex;
}

const char *ptc_crash_report_signature_reason(const struct ptc_crash_report *r)
{
	return r->signature.reason;
}

const char *ptc_crash_report_signature_frame(const struct ptc_crash_report *r, size_t i)
{
	return i < r->signature.nframes ? r->signature.frames[i] : NULL;
}
