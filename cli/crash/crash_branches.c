/* SPDX-License-Identifier: MIT */
/* The last branches of `ptcap crash show`. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "base/terminal_escape.h"
#include "cli/crash/branch_fold.h"
#include "cli/crash/crash_out.h"
#include "cli/crash/place_text.h"

enum { KIND = 10, CACHE = 4096 };

static const char arrow[] = " -> ";

/* --- is it library code? --- */

/* Answers for addresses, because a flow has the same addresses again and again. */
struct answers {
	const struct ptc_crash_report *r;
	struct {
		uint64_t ip;
		bool known, library;
	} * cache; /* owned; CACHE entries */
};

static const struct ptc_item *branch_at(void *ctx, size_t i)
{
	const struct answers *a = ctx;

	return ptc_crash_report_branch(a->r, i);
}

static bool is_library_code(void *ctx, uint64_t ip)
{
	struct answers *a = ctx;
	const size_t at = (size_t)(ip ^ ip >> 12) % CACHE;
	struct ptc_crash_place place = PTC_CRASH_PLACE_INIT;

	if (!a->cache[at].known || a->cache[at].ip != ip) {
		ptc_crash_place_at(a->r, ip, &place);
		a->cache[at].ip = ip;
		a->cache[at].known = true;
		a->cache[at].library = !ptc_crash_find_user_code(a->r, &place);
	}
	return a->cache[at].library;
}

/* --- one entry --- */

/* Returns "memcmp()" for a visit of library code. Caller frees it. NULL: out of memory. */
static char *library_text(const struct ptc_crash_report *r, const struct ptc_item *it, size_t width)
{
	struct ptc_crash_place place = PTC_CRASH_PLACE_INIT;
	char *name, *ret = NULL;
	size_t len;

	ptc_crash_place_at(r, ptc_item_has_to(it) ? it->to : it->from, &place);
	name = ptc_place_name(&place, width);
	if (!name)
		return NULL;
	len = strlen(name);
	if (len > 4 && !strcmp(name + len - 4, "@plt"))
		name[len - 4] = '\0';
	if (asprintf(&ret, "%s%s", name, strchr(name, '(') ? "" : "()") < 0)
		ret = NULL;
	free(name);
	return ret;
}

static char *end_text(const struct ptc_crash_report *r, uint64_t ip, bool there, size_t width)
{
	struct ptc_crash_place place = PTC_CRASH_PLACE_INIT;

	if (!there)
		return strdup("");
	ptc_crash_place_at(r, ip, &place);
	(void)ptc_crash_find_user_code(r, &place);
	return ptc_place_text(&place, width);
}

/* Returns the source of the entry's first branch. Caller frees it. NULL: out of memory. */
static char *source_text(const struct ptc_crash_report *r, const struct ptc_fold_entry *e,
			 size_t width)
{
	const struct ptc_item *it = e->first;

	return end_text(r, it->from, it->type == PTC_ITEM_BRANCH && ptc_item_has_from(it), width);
}

static void count_text(const struct ptc_fold_entry *e, char ret[48])
{
	ret[0] = '\0';
	if (e->library)
		(void)snprintf(ret, 48, " [%zu branch%s]", e->n, ptc_plural_es(e->n));
	else if (e->n > 1)
		(void)snprintf(ret, 48, " [%zu times]", e->n);
}

static void add_entry(const struct ptc_crash_view *v, struct ptc_screen *s,
		      const struct ptc_fold_entry *e, size_t column)
{
	const struct ptc_item *it = e->first;
	const size_t left = KIND + column + strlen(arrow);
	size_t width = v->width, used;
	char *from, *to, count[48];

	if (it->type == PTC_ITEM_GAP) {
		ptc_screen_add(s, PTC_STYLE_PLAIN, "  (gap: %s)",
			       ptc_gap_name((enum ptc_gap_cause)it->cause));
		return;
	}
	count_text(e, count);
	if (width != SIZE_MAX)
		width = width > left + strlen(count) ? width - left - strlen(count) : 1;
	from = source_text(v->r, e, v->width == SIZE_MAX ? SIZE_MAX : column);
	to = e->library ?
		     library_text(v->r, it, width == SIZE_MAX || width < 3 ? width : width - 2) :
		     end_text(v->r, it->to, ptc_item_has_to(it), width);
	used = from ? ptc_plain_width(from) : 0;
	if (from && to)
		ptc_screen_add(s, e->library ? PTC_STYLE_DIM : PTC_STYLE_PLAIN,
			       "  %-7s %s%*s%s%s%s", ptc_kind_name((enum ptc_kind)it->kind), from,
			       used < column ? (int)(column - used) : 0, "", arrow, to, count);
	s->failed |= !from || !to;
	free(from);
	free(to);
}

/* --- all of them --- */

/* Returns the columns that the sources take. */
static size_t sources_column(const struct ptc_crash_view *v, const struct ptc_fold *f)
{
	const size_t limit = v->width == SIZE_MAX ? SIZE_MAX :
						    (v->width - KIND - strlen(arrow)) / 2;
	size_t column = 0, i;

	for (i = 0; i < f->n; i++) {
		char *text = source_text(v->r, &f->entries[i], limit);
		const size_t width = text ? ptc_plain_width(text) : 0;

		column = width > column ? width : column;
		free(text);
	}
	return column < limit ? column : limit;
}

static void add_entries(const struct ptc_crash_view *v, struct ptc_screen *s,
			const struct ptc_fold *f)
{
	const size_t column = sources_column(v, f);
	bool folded = false;
	size_t i;

	for (i = 0; i < f->n; i++)
		folded |= f->entries[i].library;
	ptc_screen_heading(s, folded ? "last branches (library calls folded, -v unfolds)" :
				       "last branches");
	for (i = 0; i < f->n; i++)
		add_entry(v, s, &f->entries[i], column);
}

static void add_unfolded(const struct ptc_crash_view *v, struct ptc_screen *s, size_t n)
{
	const size_t all = ptc_crash_report_branches(v->r), most = n < all ? n : all;
	struct ptc_fold f = { .entries = calloc(most + 1, sizeof(*f.entries)) };

	if (!f.entries) {
		s->failed = true;
		return;
	}
	for (f.n = 0; f.n < most; f.n++)
		f.entries[f.n] = (struct ptc_fold_entry){
			.first = ptc_crash_report_branch(v->r, all - most + f.n),
			.n = 1,
		};
	add_entries(v, s, &f);
	ptc_fold_release(&f);
}

void ptc_crash_add_branches(const struct ptc_crash_view *v, struct ptc_screen *s, size_t n)
{
	struct answers a = { .r = v->r };
	const struct ptc_fold_opts opts = { .n = ptc_crash_report_branches(v->r),
					    .want = n,
					    .item = branch_at,
					    .is_library = is_library_code,
					    .ctx = &a };
	struct ptc_fold f;

	if (v->verbose) {
		add_unfolded(v, s, n);
		return;
	}
	a.cache = calloc(CACHE, sizeof(*a.cache));
	if (a.cache && ptc_fold_branches(&opts, &f)) {
		add_entries(v, s, &f);
		ptc_fold_release(&f);
	} else {
		s->failed = true;
	}
	free(a.cache);
}
