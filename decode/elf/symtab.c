/* SPDX-License-Identifier: MIT */
#include "decode/elf/symtab.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/grow.h"
#include "base/sorted.h"

/*
 * Limits of a table, for any file: sections may overlap. LOOK_BACK: limit of labels in a function.
 */
enum { SYMBOLS_MAX = 1 << 24, STRINGS_MAX = 256 << 20, LOOK_BACK = 64 };

void ptc_symtab_free(struct ptc_symtab *t)
{
	size_t i;

	if (!t)
		return;
	for (i = 0; i < t->nstrings; i++)
		free(t->strings[i]);
	for (i = 0; i < t->n; i++)
		free(t->syms[i].plain);
	free(t->syms);
	free(t->segs);
	free(t);
}

char *ptc_symtab_room(struct ptc_symtab *t, size_t len)
{
	char *room;

	if (t->nstrings == PTC_SYMTAB_BLOCKS || len > STRINGS_MAX - t->strings_len)
		return NULL;
	room = ptc_budget_allows(len) ? malloc(len ? len : 1) : NULL;
	if (!room)
		return NULL;
	t->strings[t->nstrings++] = room;
	t->strings_len += len;
	return room;
}

bool ptc_symtab_add(struct ptc_symtab *t, const struct ptc_symbol *s)
{
	if (t->n >= SYMBOLS_MAX)
		return true;
	if (!ptc_grow(&t->syms, &t->cap, t->n + 1, sizeof(*t->syms)))
		return false;
	t->syms[t->n++] = *s;
	return true;
}

bool ptc_symtab_add_segment(struct ptc_symtab *t, uint64_t off, uint64_t size, uint64_t addr)
{
	if (!ptc_grow(&t->segs, &t->segs_cap, t->nsegs + 1, sizeof(*t->segs)))
		return false;
	t->segs[t->nsegs++] = (struct ptc_symseg){ off, size, addr };
	return true;
}

/* __x is usually an alias of x, so fewer underscores are better. */
static int by_name(const char *a, const char *b)
{
	const size_t under_a = strspn(a, "_"), under_b = strspn(b, "_");

	if (under_a != under_b)
		return under_a < under_b ? -1 : 1;
	if (strlen(a) != strlen(b))
		return strlen(a) < strlen(b) ? -1 : 1;
	return strcmp(a, b);
}

static int by_addr(const void *pa, const void *pb)
{
	const struct ptc_symbol *a = pa, *b = pb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (!a->size != !b->size)
		return a->size ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return by_name(a->name, b->name);
}

void ptc_symtab_sort(struct ptc_symtab *t)
{
	size_t i, n = 0;

	if (t->n)
		qsort(t->syms, t->n, sizeof(*t->syms), by_addr);
	for (i = 0; i < t->n; i++) {
		if (!n || t->syms[n - 1].addr != t->syms[i].addr)
			t->syms[n++] = t->syms[i];
		else
			free(t->syms[i].plain);
	}
	t->n = n;
}

static bool to_addr(const struct ptc_symtab *t, uint64_t off, uint64_t *ret)
{
	size_t i;

	for (i = 0; i < t->nsegs; i++) {
		const struct ptc_symseg *s = &t->segs[i];

		if (off >= s->off && off - s->off < s->size) {
			*ret = off - s->off + s->addr;
			return true;
		}
	}
	return false;
}

/* Returns the index of the first symbol behind @addr. */
static size_t behind(const struct ptc_symtab *t, uint64_t addr)
{
	return PTC_PARTITION_POINT(i, 0, t->n, t->syms[i].addr <= addr);
}

const struct ptc_symbol *ptc_symtab_exact(const struct ptc_symtab *t, uint64_t addr)
{
	const size_t i = behind(t, addr);

	return i && t->syms[i - 1].addr == addr ? &t->syms[i - 1] : NULL;
}

/*
 * A symbol without a size may be a label inside a function with a size: then the function's name is
 * better. Otherwise the symbol ends at the next symbol, or at the end of its section.
 */
struct ptc_symbol *ptc_symtab_at(const struct ptc_symtab *t, uint64_t off, uint64_t *ret_off)
{
	struct ptc_symbol *found = NULL, *s;
	uint64_t addr;
	size_t lo, i;

	if (!to_addr(t, off, &addr))
		return NULL;
	lo = behind(t, addr);
	for (i = 0; i < LOOK_BACK && lo > i; i++) {
		s = &t->syms[lo - 1 - i];
		if (s->size && addr - s->addr < s->size) {
			found = s;
			break;
		}
		if (!i && !s->size && (!s->end || addr < s->end))
			found = s;
	}
	if (found)
		*ret_off = addr - found->addr;
	return found;
}

const char *ptc_symtab_find(const struct ptc_symtab *t, uint64_t off, uint64_t *ret_off)
{
	const struct ptc_symbol *s = ptc_symtab_at(t, off, ret_off);

	return s ? s->name : NULL;
}
