/* SPDX-License-Identifier: MIT */
#include "cli/common/ledger.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
enum { COLUMNS = 32 }; /* more than the numbers of any entry */

static int no_memory(struct ptc_err *err)
{
	return ptc_fail_mem(err);
}

/* Make space for one more in an array of @n. */
static void *grow_ledger_array(void *items, size_t n, size_t each)
{
	return n & (n - 1) ? items : reallocarray(items, n ? 2 * n : 1, each);
}

static int add_ring(struct ptc_ledger_list *l, const struct ptc_ledger_ring *r, struct ptc_err *err)
{
	struct ptc_ledger_ring *items = grow_ledger_array(l->rings, l->nrings, sizeof(*items));

	if (!items)
		return no_memory(err);
	l->rings = items;
	l->rings[l->nrings++] = *r;
	return 0;
}

static int add_event(struct ptc_ledger_list *l, const struct ptc_ledger_event *e,
		     struct ptc_err *err)
{
	struct ptc_ledger_event *items = grow_ledger_array(l->events, l->nevents, sizeof(*items));

	if (!items)
		return no_memory(err);
	l->events = items;
	l->events[l->nevents++] = *e;
	return 0;
}

int ptc_ledger_list_add(struct ptc_ledger_list *l, const struct ptc_rec *rec, struct ptc_err *err)
{
	struct ptc_ledger ledger;
	struct ptc_ledger_ring r;
	struct ptc_ledger_event e;
	int rc = ptc_ledger_parse(rec, &ledger, err);

	if (rc <= 0)
		return rc;
	rc = 0;
	while (!rc && ptc_ledger_next_ring(&ledger, &r))
		rc = add_ring(l, &r, err);
	while (!rc && ptc_ledger_next_event(&ledger, &e))
		rc = add_event(l, &e, err);
	while (!rc && ptc_ledger_next_clock(&ledger, &l->last))
		if (!l->first.time_ns)
			l->first = l->last;
	while (!rc && ptc_ledger_next_source(&ledger, &l->source))
		;
	return rc;
}

void ptc_ledger_list_release(struct ptc_ledger_list *l)
{
	free(l->rings);
	free(l->events);
	*l = (struct ptc_ledger_list){ .nrings = 0 };
}

/* --- tables --- */

/* Get number @i of entry @row. Returns false if @i is too large. */
typedef bool field_fn(const void *entries, size_t row, size_t i, struct ptc_ledger_field *ret);

static bool ring_field(const void *entries, size_t row, size_t i, struct ptc_ledger_field *ret)
{
	return ptc_ledger_ring_field((const struct ptc_ledger_ring *)entries + row, i, ret);
}

static bool event_field(const void *entries, size_t row, size_t i, struct ptc_ledger_field *ret)
{
	return ptc_ledger_event_field((const struct ptc_ledger_event *)entries + row, i, ret);
}

static int print(char *text, size_t size, const struct ptc_ledger_field *f)
{
	return f->is_signed ? snprintf(text, size, "%" PRId64, (int64_t)f->value) :
			      snprintf(text, size, "%" PRIu64, f->value);
}

/*
 * Returns the width of column @i; 0: all values are 0, so it is left out. The first column, which
 * identifies the row, stays.
 */
static int width(field_fn *field, const void *entries, size_t n, size_t i)
{
	struct ptc_ledger_field f = { .name = "" };
	bool any = i == 0;
	int most = 0;
	size_t row;

	for (row = 0; row < n && field(entries, row, i, &f); row++) {
		const int len = print(NULL, 0, &f);

		any |= f.value != 0;
		if (len > most)
			most = len;
	}
	if (!any)
		return 0;
	return most > (int)strlen(f.name) ? most : (int)strlen(f.name);
}

static void show_row(FILE *out, const char *prefix, field_fn *field, const void *entries,
		     size_t row, const int *widths, bool names)
{
	struct ptc_ledger_field f;
	char text[24];
	size_t i;

	fprintf(out, "%s", prefix);
	for (i = 0; i < COLUMNS && field(entries, row, i, &f); i++) {
		(void)print(text, sizeof(text), &f);
		if (widths[i])
			fprintf(out, " %*s", widths[i], names ? f.name : text);
	}
	fprintf(out, "\n");
}

static void print_ledger_table(FILE *out, const char *prefix, field_fn *field, const void *entries,
			       size_t n, size_t max)
{
	int widths[COLUMNS];
	size_t row, i;

	if (!n)
		return;
	for (i = 0; i < COLUMNS; i++)
		widths[i] = width(field, entries, n, i);
	show_row(out, prefix, field, entries, 0, widths, true);
	for (row = 0; row < n && row < max; row++)
		show_row(out, prefix, field, entries, row, widths, false);
	if (n > max)
		fprintf(out, "%s %zu more\n", prefix, n - max);
}

void ptc_ledger_show_rings(FILE *out, const char *prefix, const struct ptc_ledger_ring *rings,
			   size_t n, size_t max)
{
	print_ledger_table(out, prefix, ring_field, rings, n, max);
}

void ptc_ledger_show_events(FILE *out, const char *prefix, const struct ptc_ledger_event *events,
			    size_t n, size_t max)
{
	print_ledger_table(out, prefix, event_field, events, n, max);
}
