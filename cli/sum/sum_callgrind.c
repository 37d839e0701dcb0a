/* SPDX-License-Identifier: MIT */
/*
 * Adds `ptcap decode --format callgrind`. The format is that of the chapter "Callgrind Format
 * Specification" of Valgrind's manual, with lines as positions. Each file numbers its names itself.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/idmap.h"
#include "cli/sum/callgrind_table.h"
#include "cli/sum/sum.h"

#define UNKNOWN "???" /* callgrind's word for a name that is not known */

/* The names of a kind, by their numbers in a file. */
struct numbered {
	struct ptc_idmap places;
	uint32_t *names; /* owned */
	size_t n, cap;
};

enum { OBJECTS, FILES, FUNCTIONS, KINDS };

struct state {
	struct ptc_callgrind_table table;
	char *events, *command; /* owned; NULL: none */
	bool commands_differ;
	size_t nfiles;
	/* Of the current file. */
	char *command_here; /* owned; NULL: none */
	struct numbered numbered[KINDS];
	struct ptc_callgrind_place at; /* of the lines that follow */
	bool has_events, has_totals, has_call;
	uint64_t calls, line; /* line: of the last costs */
	uint64_t totals[PTC_CALLGRIND_EVENTS];
};

/* The keys in front of a name: their kind, and the members that they set. */
static const struct key {
	const char *text;
	int kind;
	size_t member, second; /* offsets in struct ptc_callgrind_place; often the same */
} keys[] = {
#define AT(m) offsetof(struct ptc_callgrind_place, m)
	{ "ob=", OBJECTS, AT(object), AT(object) },
	{ "fl=", FILES, AT(source), AT(file) },
	{ "fi=", FILES, AT(file), AT(file) },
	{ "fe=", FILES, AT(file), AT(file) },
	{ "fn=", FUNCTIONS, AT(function), AT(function) },
	{ "cob=", OBJECTS, AT(callee_object), AT(callee_object) },
	{ "cfi=", FILES, AT(callee_source), AT(callee_source) },
	{ "cfl=", FILES, AT(callee_source), AT(callee_source) },
	{ "cfn=", FUNCTIONS, AT(callee_function), AT(callee_function) },
#undef AT
};

static void release_numbered(struct numbered *n)
{
	ptc_idmap_release(&n->places);
	free(n->names);
	*n = (struct numbered){ .n = 0 };
}

static void begin_file(struct state *s)
{
	size_t i;

	for (i = 0; i < KINDS; i++)
		release_numbered(&s->numbered[i]);
	free(s->command_here);
	s->command_here = NULL;
	s->at = (struct ptc_callgrind_place){ .line = 0 };
	s->has_events = s->has_totals = s->has_call = false;
	s->line = 0;
	memset(s->totals, 0, sizeof(s->totals));
}

/* --- names --- */

static int define_number(struct numbered *n, uint64_t number, uint32_t name, struct ptc_err *err)
{
	const size_t place = ptc_idmap_find(&n->places, (int32_t)number);

	if (place != SIZE_MAX) {
		n->names[place] = name;
		return 0;
	}
	if (!ptc_grow(&n->names, &n->cap, n->n + 1, sizeof(*n->names)) ||
	    !ptc_idmap_add(&n->places, (int32_t)number, n->n))
		return ptc_fail_mem(err);
	n->names[n->n++] = name;
	return 0;
}

/* Gets the name of "NAME", "(NUMBER) NAME" or "(NUMBER)". */
static int get_name(struct state *s, const struct ptc_sum_line *l, const char *text, int kind,
		    uint32_t *ret, struct ptc_err *err)
{
	struct numbered *n = &s->numbered[kind];
	const char *at = text + 1;
	uint64_t number = 0;
	size_t place;

	if (*text == '(' && ptc_sum_take_number(&at, &number) && *at == ')') {
		text = at + 1 + strspn(at + 1, " ");
		if (!number || number > INT32_MAX)
			return ptc_sum_fail(err, l, "a name has a number that is 0 or too large");
	}
	if (*text || !number) {
		*ret = ptc_names_get(&s->table.names, *text ? text : UNKNOWN);
		if (*ret == UINT32_MAX)
			return ptc_fail_mem(err);
		return number ? define_number(n, number, *ret, err) : 0;
	}
	place = ptc_idmap_find(&n->places, (int32_t)number);
	if (place == SIZE_MAX)
		return ptc_sum_fail(err, l, "the name with this number is in no line before");
	*ret = n->names[place];
	return 0;
}

static int take_name(struct state *s, const struct ptc_sum_line *l, const struct key *key,
		     struct ptc_err *err)
{
	uint32_t name = 0;
	const int rc = get_name(s, l, l->text + strlen(key->text), key->kind, &name, err);

	if (rc)
		return rc;
	memcpy((char *)&s->at + key->member, &name, sizeof(name));
	memcpy((char *)&s->at + key->second, &name, sizeof(name));
	if (key->member == offsetof(struct ptc_callgrind_place, function))
		s->at.file = s->at.source;
	return 0;
}

/* --- numbers --- */

/* Takes the line in front of costs: a number, or relative to the line before ("+1", "-1", "*"). */
static bool take_line(const char **at, uint64_t before, uint64_t *ret)
{
	const char sign = **at;
	uint64_t n;

	if (sign == '*') {
		++*at;
		*ret = before;
		return true;
	}
	*at += sign == '+' || sign == '-';
	if (!ptc_sum_take_number(at, &n))
		return false;
	if (sign == '-' && n > before)
		return false;
	*ret = sign == '-' ? before - n : sign == '+' ? before + n : n;
	return *ret <= PTC_SUM_MAX;
}

/* Takes numbers with blanks in front, at most one for each event. Missing ones are 0. */
static bool take_costs(const struct state *s, const char *at, uint64_t *ret)
{
	size_t i;

	for (i = 0; i < s->table.nevents; i++) {
		ret[i] = 0;
		at += strspn(at, " ");
		if (*at && !ptc_sum_take_number(&at, &ret[i]))
			return false;
	}
	return !at[strspn(at, " ")];
}

/* Sets the names that the file has left out. Returns false if out of memory. */
static bool complete_place(struct state *s, struct ptc_callgrind_place *p)
{
	const uint32_t unknown = ptc_names_get(&s->table.names, UNKNOWN);

	if (!p->object)
		p->object = unknown;
	if (!p->source)
		p->source = unknown;
	if (!p->file)
		p->file = p->source;
	if (!p->callee_object)
		p->callee_object = p->object;
	if (!p->callee_source)
		p->callee_source = p->file;
	return unknown != UINT32_MAX;
}

/* "LINE COST..." */
static int add_costs(struct state *s, const struct ptc_sum_line *l, struct ptc_err *err)
{
	struct ptc_callgrind_row row = { .place = s->at };
	const char *at = l->text;
	size_t i;

	if (!s->has_events || !s->at.function)
		return ptc_sum_fail(err, l, "costs without events: or fn= in front");
	if (!take_line(&at, s->line, &row.place.line) || (*at && *at != ' ') ||
	    !take_costs(s, at, row.costs))
		return ptc_sum_fail(
			err, l,
			"not a line with its costs, numbers up to 2^63-1; write the file "
			"again");
	s->line = row.place.line;
	if (!complete_place(s, &row.place))
		return ptc_fail_mem(err);
	if (s->has_call) {
		row.calls = s->calls;
	} else {
		row.place.callee_object = row.place.callee_source = row.place.callee_function = 0;
		row.place.callee_line = 0;
		for (i = 0; i < s->table.nevents; i++)
			ptc_sum_add(&s->totals[i], row.costs[i]);
	}
	if (s->has_call)
		s->at.callee_object = s->at.callee_source = s->at.callee_function = 0;
	s->has_call = false;
	return ptc_callgrind_table_add(&s->table, &row) ? 0 : ptc_fail_mem(err);
}

/* "calls=NUMBER LINE". The next line has the costs. */
static int take_call(struct state *s, const struct ptc_sum_line *l, struct ptc_err *err)
{
	const char *at = l->text + strlen("calls=");

	if (!s->at.callee_function || !ptc_sum_take_number(&at, &s->calls) || *at++ != ' ' ||
	    !take_line(&at, s->line, &s->at.callee_line) || *at)
		return ptc_sum_fail(err, l, "not calls=NUMBER LINE behind cfn=");
	s->has_call = true;
	return 0;
}

/* --- lines of the head and the end --- */

static int take_events(struct state *s, const struct ptc_sum_line *l, const char *text,
		       struct ptc_err *err)
{
	size_t n = 0;
	const char *at;

	if (!s->events) {
		for (at = text; *at; at += strspn(at, " ")) {
			at += strcspn(at, " ");
			n++;
		}
		if (!n || n > PTC_CALLGRIND_EVENTS)
			return ptc_sum_fail(err, l, "no events, or more than %d",
					    PTC_CALLGRIND_EVENTS);
		s->events = strdup(text);
		s->table.nevents = n;
	}
	if (!s->events)
		return ptc_fail_mem(err);
	if (strcmp(text, s->events) != 0)
		return ptc_sum_fail(
			err, l,
			"the events are '%s', but the files before have '%s'; add files "
			"with the same events",
			text, s->events);
	s->has_events = true;
	return 0;
}

static int check_totals(struct state *s, const struct ptc_sum_line *l, const char *text,
			struct ptc_err *err)
{
	uint64_t totals[PTC_CALLGRIND_EVENTS];

	if (!s->has_events || !take_costs(s, text, totals) ||
	    memcmp(totals, s->totals, s->table.nevents * sizeof(*totals)) != 0)
		return ptc_sum_fail(
			err, l, "the totals are not the sum of the lines; write the file again");
	s->has_totals = true;
	return 0;
}

/* "KEY: TEXT" */
static int take_header(struct state *s, const struct ptc_sum_line *l, struct ptc_err *err)
{
	const char *colon = strchr(l->text, ':'), *text = colon ? colon + 1 : "";
	const size_t len = colon ? (size_t)(colon - l->text) : 0;

	if (!strncmp(l->text, "cmd:", 4)) {
		free(s->command_here);
		s->command_here = strdup(text);
		return s->command_here ? 0 : ptc_fail_mem(err);
	}
	text += strspn(text, " ");
	if (!strncmp(l->text, "events:", 7))
		return take_events(s, l, text, err);
	if (!strncmp(l->text, "totals:", 7))
		return check_totals(s, l, text, err);
	if (!strncmp(l->text, "positions:", 10) && strcmp(text, "line") != 0)
		return ptc_sum_fail(err, l, "the positions are '%s'; only lines can be added",
				    text);
	if (len && strspn(l->text, "abcdefghijklmnopqrstuvwxyz") == len)
		return 0;
	return ptc_sum_fail(err, l, "not a line of callgrind's format that ptcap writes");
}

static int add_callgrind_line(void *state, const struct ptc_sum_line *l, struct ptc_err *err)
{
	struct state *s = state;
	size_t i;

	if (l->number == 1)
		begin_file(s);
	if (!*l->text || *l->text == '#')
		return 0;
	if (s->has_call || strchr("0123456789+-*", *l->text))
		return add_costs(s, l, err);
	if (!strncmp(l->text, "calls=", 6))
		return take_call(s, l, err);
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strncmp(l->text, keys[i].text, strlen(keys[i].text)))
			return take_name(s, l, &keys[i], err);
	return take_header(s, l, err);
}

/* Keeps the command if all files have it. */
static void join_commands(struct state *s)
{
	if (!s->nfiles++) {
		s->command = s->command_here;
		s->command_here = NULL;
	} else if (!s->command || !s->command_here || strcmp(s->command, s->command_here) != 0) {
		s->commands_differ = true;
	}
}

static int end_callgrind_file(void *state, const struct ptc_sum_line *l, struct ptc_err *err)
{
	struct state *s = state;

	if (!l->number || !s->has_totals || s->has_call)
		return ptc_sum_fail(err, l, "the file ends without totals:; write it again");
	join_commands(s);
	return 0;
}

static bool print_callgrind_sum(void *state, const struct ptc_sum_how *how)
{
	struct state *s = state;

	return ptc_callgrind_table_print(&s->table, s->commands_differ ? NULL : s->command,
					 s->events, how->line);
}

static void release_callgrind_sum(void *state)
{
	struct state *s = state;

	begin_file(s);
	free(s->events);
	free(s->command);
	ptc_callgrind_table_release(&s->table);
}

const struct ptc_sum_format ptc_sum_callgrind_format = {
	.name = "callgrind's format (decode --format callgrind)",
	.size = sizeof(struct state),
	.add_line = add_callgrind_line,
	.end_file = end_callgrind_file,
	.print = print_callgrind_sum,
	.release = release_callgrind_sum,
};
