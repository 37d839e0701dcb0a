/* SPDX-License-Identifier: MIT */
#include "cli/sum/callgrind_table.h"

#include <stdlib.h>
#include <string.h>

#include "cli/decode/line_buffer.h"
#include "cli/sum/sum_line.h"

static uint64_t hash_of_row(const void *entry)
{
	const struct ptc_callgrind_place *p = &((const struct ptc_callgrind_row *)entry)->place;
	uint64_t hash = ptc_hash_mix(p->object, (uint64_t)p->source << 32 | p->function);

	hash = ptc_hash_mix(ptc_hash_mix(hash, p->file), p->line);
	hash = ptc_hash_mix(hash, (uint64_t)p->callee_source << 32 | p->callee_function);
	return ptc_hash_mix(ptc_hash_mix(hash, p->callee_object), p->callee_line);
}

static bool is_same_row(const void *entry, const void *key)
{
	const struct ptc_callgrind_place *a = &((const struct ptc_callgrind_row *)entry)->place;
	const struct ptc_callgrind_place *b = &((const struct ptc_callgrind_row *)key)->place;

	return a->object == b->object && a->source == b->source && a->function == b->function &&
	       a->file == b->file && a->line == b->line && a->callee_object == b->callee_object &&
	       a->callee_source == b->callee_source && a->callee_function == b->callee_function &&
	       a->callee_line == b->callee_line;
}

bool ptc_callgrind_table_add(struct ptc_callgrind_table *t, const struct ptc_callgrind_row *row)
{
	static const struct ptc_number_kind kind = { sizeof(*row), hash_of_row, is_same_row };
	const uint32_t number = ptc_number_find(&t->index, &kind, t->rows, row);
	size_t i;

	for (i = 0; i < t->nevents && !row->place.callee_function; i++)
		ptc_sum_add(&t->totals[i], row->costs[i]);
	if (!number)
		return ptc_number_append(&t->index, &kind, &t->rows, &t->n, &t->cap, row);
	ptc_sum_add(&t->rows[number - 1].calls, row->calls);
	for (i = 0; i < t->nevents; i++)
		ptc_sum_add(&t->rows[number - 1].costs[i], row->costs[i]);
	return true;
}

void ptc_callgrind_table_release(struct ptc_callgrind_table *t)
{
	ptc_names_release(&t->names);
	free(t->rows);
	free(t->index.slots);
}

/* --- printing --- */

enum kind_of_name { OBJECT, FILE_NAME, FUNCTION, KINDS };

/* The state of the printer. */
struct printing {
	const struct ptc_callgrind_table *t;
	struct ptc_line *l;
	/* Owned: for each kind the printed number of each name; 0: not printed yet. */
	uint32_t *numbers[KINDS];
	uint32_t n[KINDS];
	uint32_t file; /* of the lines being printed */
};

/* Compares the functions of two rows, and with @with_file the source files of the lines. */
static int by_function(const struct ptc_names *names, const struct ptc_callgrind_place *a,
		       const struct ptc_callgrind_place *b, bool with_file)
{
	int r = ptc_names_compare(names, a->object, b->object);

	if (!r)
		r = ptc_names_compare(names, a->source, b->source);
	if (!r)
		r = ptc_names_compare(names, a->function, b->function);
	/* Lines come in front of calls. */
	if (!r && with_file)
		r = (a->callee_function != 0) - (b->callee_function != 0);
	return r || !with_file ? r : ptc_names_compare(names, a->file, b->file);
}

/* The last argument is a struct ptc_names. */
static int by_function_and_line(const void *x, const void *y, void *names)
{
	const struct ptc_callgrind_place *a = &((const struct ptc_callgrind_row *)x)->place;
	const struct ptc_callgrind_place *b = &((const struct ptc_callgrind_row *)y)->place;
	int r = by_function(names, a, b, true);

	if (!r && a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (!r)
		r = ptc_names_compare(names, a->callee_object, b->callee_object);
	if (!r)
		r = ptc_names_compare(names, a->callee_source, b->callee_source);
	if (!r)
		r = ptc_names_compare(names, a->callee_function, b->callee_function);
	return r ? r : (a->callee_line > b->callee_line) - (a->callee_line < b->callee_line);
}

/* Print "(12) name" when the name is first used, then "(12)". */
static void put_numbered_name(struct printing *p, const char *key, enum kind_of_name kind,
			      uint32_t name)
{
	const bool is_new = !p->numbers[kind][name];

	if (is_new)
		p->numbers[kind][name] = ++p->n[kind];
	ptc_line_str(p->l, key);
	ptc_line_char(p->l, '(');
	ptc_line_dec(p->l, p->numbers[kind][name]);
	ptc_line_char(p->l, ')');
	if (is_new) {
		ptc_line_char(p->l, ' ');
		ptc_line_plain(p->l, ptc_names_of(&p->t->names, name), "");
	}
	ptc_line_char(p->l, '\n');
}

static void put_costs(struct printing *p, const uint64_t *costs)
{
	size_t i;

	for (i = 0; i < p->t->nevents; i++) {
		ptc_line_char(p->l, ' ');
		ptc_line_dec(p->l, (int64_t)costs[i]);
	}
	ptc_line_char(p->l, '\n');
}

static void put_called_function(struct printing *p, const struct ptc_callgrind_row *row)
{
	put_numbered_name(p, "cob=", OBJECT, row->place.callee_object);
	put_numbered_name(p, "cfi=", FILE_NAME, row->place.callee_source);
	put_numbered_name(p, "cfn=", FUNCTION, row->place.callee_function);
	ptc_line_str(p->l, "calls=");
	ptc_line_dec(p->l, (int64_t)row->calls);
	ptc_line_char(p->l, ' ');
	ptc_line_dec(p->l, (int64_t)row->place.callee_line);
	ptc_line_char(p->l, '\n');
}

/* Print a row. @before: the row in front, or NULL. */
static void put_row(struct printing *p, const struct ptc_callgrind_row *row,
		    const struct ptc_callgrind_row *before)
{
	const struct ptc_callgrind_place *at = &row->place;

	if (!before || by_function(&p->t->names, &before->place, at, false)) {
		ptc_line_char(p->l, '\n');
		put_numbered_name(p, "ob=", OBJECT, at->object);
		put_numbered_name(p, "fl=", FILE_NAME, at->source);
		put_numbered_name(p, "fn=", FUNCTION, at->function);
		p->file = at->source;
	}
	if (at->file != p->file)
		put_numbered_name(p, at->file == at->source ? "fe=" : "fi=", FILE_NAME, at->file);
	p->file = at->file;
	if (at->callee_function)
		put_called_function(p, row);
	ptc_line_dec(p->l, (int64_t)at->line);
	put_costs(p, row->costs);
}

static void put_all(struct printing *p, const char *command, const char *events)
{
	const struct ptc_callgrind_table *t = p->t;
	size_t i;

	ptc_line_str(p->l, "# callgrind format\nversion: 1\ncreator: ptcap\n");
	if (command) {
		ptc_line_str(p->l, "cmd:");
		ptc_line_plain(p->l, command, "");
		ptc_line_char(p->l, '\n');
	}
	ptc_line_str(p->l, "positions: line\n");
	if (strstr(events, " ns"))
		ptc_line_str(p->l, "event: ns : Nanoseconds\n");
	ptc_line_str(p->l, "events: ");
	ptc_line_plain(p->l, events, "");
	ptc_line_str(p->l, "\nsummary:");
	put_costs(p, t->totals);
	for (i = 0; i < t->n; i++)
		put_row(p, &t->rows[i], i ? &t->rows[i - 1] : NULL);
	ptc_line_str(p->l, "\ntotals:");
	put_costs(p, t->totals);
}

bool ptc_callgrind_table_print(struct ptc_callgrind_table *t, const char *command,
			       const char *events, struct ptc_line *l)
{
	struct printing p = { .t = t, .l = l };
	bool ok = true;
	size_t i;

	for (i = 0; i < KINDS; i++) {
		p.numbers[i] = calloc(t->names.n + 1, sizeof(*p.numbers[i]));
		ok &= p.numbers[i] != NULL;
	}
	if (t->n)
		qsort_r(t->rows, t->n, sizeof(*t->rows), by_function_and_line, &t->names);
	if (ok)
		put_all(&p, command, events);
	for (i = 0; i < KINDS; i++)
		free(p.numbers[i]);
	return ok;
}
