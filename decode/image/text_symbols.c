/* SPDX-License-Identifier: MIT */
#include "decode/image/text_symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/grow.h"
#include "base/lines.h"
#include "base/sorted.h"

/* Names that begin in front of an address and are looked at, because names may overlap. */
enum { LOOK_BACK = 64, LAST_SIZE = 4096 };

void ptc_text_symbols_release(struct ptc_text_symbols *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (!t->names[i].lent)
			free((char *)(uintptr_t)t->names[i].name);
	free(t->names);
	memset(t, 0, sizeof(*t));
}

static bool append_label(struct ptc_text_symbols *t, const struct ptc_label *n)
{
	if (t->n >= PTC_TEXT_SYMBOLS_MAX ||
	    !ptc_grow(&t->names, &t->cap, t->n + 1, sizeof(*t->names)))
		return false;
	t->names[t->n++] = *n;
	return true;
}

bool ptc_text_symbols_add(struct ptc_text_symbols *t, uint64_t addr, uint64_t size, uint64_t time,
			  const char *name, size_t len)
{
	char *copy = ptc_budget_allows(len + 1) ? strndup(name, len) : NULL;

	if (copy && append_label(t, &(struct ptc_label){ addr, size, time, .name = copy }))
		return true;
	free(copy);
	return false;
}

bool ptc_text_symbols_lend(struct ptc_text_symbols *t, uint64_t addr, uint64_t size, uint64_t time,
			   const char *name)
{
	return append_label(t, &(struct ptc_label){ addr, size, time, .lent = true, .name = name });
}

static int by_addr(const void *pa, const void *pb)
{
	const struct ptc_label *a = pa, *b = pb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	/*
	 * A jitdump may have moved code with one long name a million times: compare pointers first.
	 */
	return a->name == b->name ? 0 : strcmp(a->name, b->name);
}

void ptc_text_symbols_sort(struct ptc_text_symbols *t)
{
	size_t i, j;

	if (!t->n)
		return;
	qsort(t->names, t->n, sizeof(*t->names), by_addr);
	for (i = 0; i < t->n; i = j) {
		for (j = i + 1; j < t->n && t->names[j].addr == t->names[i].addr; j++)
			;
		for (; i < j; i++)
			if (!t->names[i].size)
				t->names[i].size = j < t->n ? t->names[j].addr - t->names[i].addr :
							      LAST_SIZE;
	}
}

/* Returns the first name behind @addr, or at @addr and later than @time. */
static size_t first_behind(const struct ptc_text_symbols *t, uint64_t addr, uint64_t time)
{
	return PTC_PARTITION_POINT(i, 0, t->n,
				   t->names[i].addr < addr ||
					   (t->names[i].addr == addr && t->names[i].time <= time));
}

/* Returns the newest name in [@begin, @end), all of one address, that contains @ip. */
static const struct ptc_label *newest(const struct ptc_text_symbols *t, size_t begin, size_t end,
				      uint64_t ip, uint64_t since)
{
	const struct ptc_label *n;
	size_t i;

	for (i = 0; i < LOOK_BACK && end > begin + i; i++) {
		n = &t->names[end - 1 - i];
		if (ip - n->addr < n->size && (!n->time || n->time >= since))
			return n;
	}
	return NULL;
}

const char *ptc_text_symbols_find_since(const struct ptc_text_symbols *t, uint64_t ip,
					uint64_t since, uint64_t time, uint64_t *ret_off)
{
	const struct ptc_label *best = NULL, *n;
	size_t end = first_behind(t, ip, UINT64_MAX), begin, groups;

	/*
	 * For each address, take the names up to @time. Code may come to one address any number of
	 * times.
	 */
	for (groups = 0; groups < LOOK_BACK && end; groups++) {
		const uint64_t addr = t->names[end - 1].addr;

		begin = addr ? first_behind(t, addr - 1, UINT64_MAX) : 0;
		n = newest(t, begin, first_behind(t, addr, time), ip, since);
		if (n && (!best || n->time > best->time))
			best = n;
		end = begin;
	}
	if (!best)
		return NULL;
	*ret_off = ip - best->addr;
	return best->name;
}

const char *ptc_text_symbols_find(const struct ptc_text_symbols *t, uint64_t ip, uint64_t time,
				  uint64_t *ret_off)
{
	return ptc_text_symbols_find_since(t, ip, 0, time, ret_off);
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' :
	       c >= 'a' && c <= 'f' ? c - 'a' + 10 :
	       c >= 'A' && c <= 'F' ? c - 'A' + 10 :
				      -1;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/*
 * Takes the hex digits at *@p and the blanks behind the digits; there must be a blank. Calls no
 * function for strings: see ptc_line_end.
 */
static bool take_hex(const char **p, uint64_t *ret)
{
	const bool prefix = (*p)[0] == '0' && (*p)[1] == 'x';
	const char *const begin = *p + (prefix ? 2 : 0), *at;
	uint64_t n = 0;

	for (at = begin; digit(*at) >= 0; at++) {
		if (n >> 60)
			return false;
		n = n << 4 | (uint64_t)digit(*at);
	}
	if (at == begin || !is_blank(*at))
		return false;
	while (is_blank(*at))
		at++;
	*ret = n;
	*p = at;
	return true;
}

static size_t word_len(const char *p, const char *end)
{
	const char *at = p;

	while (at < end && !is_blank(*at))
		at++;
	return (size_t)(at - p);
}

bool ptc_text_symbols_kallsyms(struct ptc_text_symbols *t, const char *text)
{
	const char *const end = text + strlen(text), *line;
	uint64_t addr;

	for (; text < end; text = line + 1) {
		const char *p = text;
		bool global;

		line = ptc_line_end(text, end);
		if (!take_hex(&p, &addr) || !strchr("tTwW", *p) || !*p || p[1] != ' ' || !addr)
			continue;
		global = *p == 'T' || *p == 'W';
		p += 2;
		if (!ptc_text_symbols_add(t, addr, 0, 0, p, word_len(p, line)))
			return false;
		t->names[t->n - 1].global = global;
	}
	return true;
}

bool ptc_text_symbols_perf_map(struct ptc_text_symbols *t, const char *text)
{
	const char *const end = text + strlen(text), *line;
	uint64_t addr, size;

	for (; text < end; text = line + 1) {
		const char *p = text;

		line = ptc_line_end(text, end);
		if (!take_hex(&p, &addr) || !take_hex(&p, &size) || !size || p >= line)
			continue;
		if (!ptc_text_symbols_add(t, addr, size, 0, p, (size_t)(line - p)))
			return false;
	}
	return true;
}

uint64_t ptc_text_symbols_addr(const struct ptc_text_symbols *t, const char *name)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (!strcmp(t->names[i].name, name))
			return t->names[i].addr;
	return 0;
}
