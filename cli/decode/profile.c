/* SPDX-License-Identifier: MIT */
#include "cli/decode/profile.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "cli/common/cli.h"
#include "cli/decode/line_buffer.h"
#include "ptcap/lookup.h"

void ptc_profile_init(struct ptc_profile *p, struct ptc_decode *d)
{
	p->edges = (struct ptc_counts){ .of = PTC_COUNTS_EDGES, .d = d };
	p->blocks = (struct ptc_counts){ .of = PTC_COUNTS_BLOCKS, .d = d };
}

void ptc_profile_release(struct ptc_profile *p)
{
	ptc_counts_release(&p->edges);
	ptc_counts_release(&p->blocks);
}

int ptc_profile_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct ptc_profile *p = ctx;

	return ptc_counts_items(&p->edges, items, n) || ptc_counts_items(&p->blocks, items, n);
}

/* Two addresses of the object: a branch, or the first and last instruction of a block. */
struct span {
	uint64_t from, to; /* OUTSIDE: not in the object */
	uint64_t times;
};

#define OUTSIDE UINT64_MAX

struct spans {
	struct span *v; /* owned */
	size_t n, cap;
};

/* The object: its name in the recording, and the layout of its file. */
struct object {
	const char *name;	       /* borrowed */
	struct ptc_elf_layout *layout; /* owned */
};

static bool is_branch(const struct ptc_counts_entry *e)
{
	return e->kind != PTC_KIND_START && e->kind != PTC_KIND_ASYNC;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * Returns the recorded name of the object: a path as recorded or as it is here, or a name without
 * folders that only one file has. NULL: not known.
 */
static const char *recorded_name(const struct ptc_profile *p)
{
	const bool is_path = strchr(p->object, '/') != NULL;
	const char *found = NULL, *file;
	char real[PATH_MAX] = "";
	size_t i;

	if (is_path && !realpath(p->object, real))
		real[0] = '\0';
	for (i = 0; i < p->edges.n; i++) {
		file = ptc_names_of(&p->edges.names, p->edges.entries[i].from.file);
		if (!file || file == found)
			continue;
		if (!strcmp(file, p->object) || !strcmp(file, real))
			return file;
		if (is_path || strcmp(base_name(file), p->object) != 0)
			continue;
		if (found)
			return NULL;
		found = file;
	}
	return found;
}

static bool open_object(const struct ptc_profile *p, struct object *o)
{
	struct ptc_err err;

	o->name = recorded_name(p);
	if (!o->name) {
		ptc_say("the trace has no branches in '%s', or several files have this name; "
			"`ptcap decode --counts=edges --format=json` lists the files",
			p->object);
		return false;
	}
	if (!ptc_decode_layout(p->edges.d, o->name, &o->layout, &err))
		return true;
	(void)ptc_say_err(&err);
	return false;
}

/*
 * Returns the address that is 0 in the profile. BOLT: the ELF file's own 0. PROFGEN: the page where
 * the first executable segment begins (llvm-profgen calls it preferred text segment address). AFDO:
 * where the file begins.
 */
static uint64_t base_of(const struct object *o, enum ptc_profile_kind kind)
{
	if (kind == PTC_PROFILE_BOLT)
		return 0;
	return kind == PTC_PROFILE_PROFGEN ? ptc_elf_layout_code_base(o->layout) :
					     ptc_elf_layout_file_base(o->layout);
}

static uint64_t address_in(const struct object *o, const struct ptc_counts *c,
			   const struct ptc_counts_place *p)
{
	const char *file = ptc_names_of(&c->names, p->file);
	uint64_t addr;

	if (!file || strcmp(file, o->name) != 0 ||
	    !ptc_elf_layout_address(o->layout, p->off, &addr))
		return OUTSIDE;
	return addr;
}

static int by_addresses(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

/* Sorts the spans, and adds the counts of equal ones. */
static void merge_equal(struct spans *s)
{
	size_t i, n = 0;

	if (!s->n)
		return;
	qsort(s->v, s->n, sizeof(*s->v), by_addresses);
	for (i = 1; i < s->n; i++) {
		if (by_addresses(&s->v[n], &s->v[i]) == 0)
			s->v[n].times += s->v[i].times;
		else
			s->v[++n] = s->v[i];
	}
	s->n = n + 1;
}

/* Collects the spans of the object. @whole: both ends are in it. Returns false if out of memory. */
static bool collect(struct spans *s, const struct object *o, struct ptc_counts *c, bool whole)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		const struct ptc_counts_entry *e = &c->entries[i];
		const struct span span = { address_in(o, c, &e->from), address_in(o, c, &e->to),
					   e->times };

		if (!is_branch(e) || (span.from == OUTSIDE && span.to == OUTSIDE) ||
		    (whole && (span.from == OUTSIDE || span.to == OUTSIDE || span.from > span.to)))
			continue;
		if (!ptc_grow(&s->v, &s->cap, s->n + 1, sizeof(*s->v)))
			return false;
		s->v[s->n++] = span;
	}
	merge_equal(s);
	return true;
}

static void put_end(struct ptc_line *l, uint64_t addr)
{
	ptc_line_char(l, ' ');
	if (addr == OUTSIDE)
		ptc_line_str(l, "X:0");
	else
		ptc_line_hex(l, addr);
}

/* Blocks in a PLT are left out: perf2bolt knows no code there, and counts them as mismatches. */
static void put_bolt(struct ptc_line *l, const struct object *o, const struct spans *branches,
		     const struct spans *blocks)
{
	size_t i;

	for (i = 0; i < branches->n; i++) {
		ptc_line_char(l, 'B');
		put_end(l, branches->v[i].from);
		put_end(l, branches->v[i].to);
		ptc_line_char(l, ' ');
		ptc_line_dec(l, (int64_t)branches->v[i].times);
		ptc_line_str(l, " 0\n"); /* mispredictions are not known */
	}
	for (i = 0; i < blocks->n; i++) {
		if (ptc_elf_layout_is_plt(o->layout, blocks->v[i].from))
			continue;
		ptc_line_char(l, 'F');
		put_end(l, blocks->v[i].from);
		put_end(l, blocks->v[i].to);
		ptc_line_char(l, ' ');
		ptc_line_dec(l, (int64_t)blocks->v[i].times);
		ptc_line_char(l, '\n');
	}
}

static void put_spans(struct ptc_line *l, const struct spans *s, const char *between, uint64_t base)
{
	size_t i;

	ptc_line_dec(l, (int64_t)s->n);
	ptc_line_char(l, '\n');
	for (i = 0; i < s->n; i++) {
		ptc_line_hex(l, s->v[i].from - base);
		ptc_line_str(l, between);
		ptc_line_hex(l, s->v[i].to - base);
		ptc_line_char(l, ':');
		ptc_line_dec(l, (int64_t)s->v[i].times);
		ptc_line_char(l, '\n');
	}
}

static bool print_object(struct ptc_profile *p, const struct object *o, struct ptc_line *l)
{
	struct spans branches = { .n = 0 }, blocks = { .n = 0 };
	const bool ok = collect(&branches, o, &p->edges, p->kind != PTC_PROFILE_BOLT) &&
			collect(&blocks, o, &p->blocks, true);

	if (ok && p->kind == PTC_PROFILE_BOLT) {
		put_bolt(l, o, &branches, &blocks);
	} else if (ok) {
		put_spans(l, &blocks, "-", base_of(o, p->kind));
		if (p->kind == PTC_PROFILE_AFDO)
			ptc_line_str(l, "0\n"); /* no counts of single addresses */
		put_spans(l, &branches, "->", base_of(o, p->kind));
	}
	free(branches.v);
	free(blocks.v);
	return ok;
}

/* Prints lists without rows. A profile of BOLT has no lists. */
static void put_empty_profile(const struct ptc_profile *p, struct ptc_line *l)
{
	if (p->kind == PTC_PROFILE_PROFGEN)
		ptc_line_str(l, "0\n0\n");
	else if (p->kind == PTC_PROFILE_AFDO)
		ptc_line_str(l, "0\n0\n0\n");
}

bool ptc_profile_print(struct ptc_profile *p, struct ptc_line *l)
{
	struct object o = { .name = NULL };
	bool ok = !p->edges.failed && !p->blocks.failed;

	if (!ok)
		return false;
	ptc_counts_settle(&p->edges);
	ptc_counts_settle(&p->blocks);
	p->refused = !open_object(p, &o);
	if (!p->refused)
		ok = print_object(p, &o, l);
	else if (p->is_shard)
		put_empty_profile(p, l);
	ptc_elf_layout_free(o.layout);
	return ok;
}
