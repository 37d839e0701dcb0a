/* SPDX-License-Identifier: MIT */
#include "cli/sum/joined_costs.h"

#include <string.h>

#include "base/err.h"
#include "cli/decode/out_callgrind.h"
#include "cli/sum/part_item.h"
#include "cli/sum/sum_json.h"

/* A row of a call. A frame and a sum have other members behind these. */
enum { CALLER, SOURCE, LINE, CALLEE, CALL_MEMBERS };

int ptc_joined_costs_init(struct ptc_joined_costs *c, struct ptc_part_join *join,
			  const json_t *options, const struct ptc_sum_line *l, struct ptc_err *err)
{
	int rc;

	*c = (struct ptc_joined_costs){ .join = join };
	rc = ptc_sum_json_maybe_text(l, options, "command", &c->command, err);
	if (rc)
		return rc;
	c->has_time = json_is_true(json_object_get(options, "has_time"));
	c->lines.stream = &join->stream;
	return ptc_call_costs_init(&c->calls, &join->stream) ? 0 : ptc_fail_mem(err);
}

void ptc_joined_costs_release(struct ptc_joined_costs *c)
{
	ptc_call_costs_release(&c->calls);
	ptc_line_costs_release(&c->lines);
}

int ptc_joined_costs_event(struct ptc_joined_costs *c, const struct ptc_call_event *e)
{
	return ptc_call_costs_event(&c->calls, e);
}

static int damaged_costs(const struct ptc_sum_line *l, struct ptc_err *err)
{
	return ptc_sum_fail(err, l,
			    "the costs of an unknown function; the file is damaged, write it "
			    "again");
}

/*
 * Gets the call of a row. @root: the function that stands for an unknown caller; PTC_NO_NUMBER:
 * the caller is known.
 */
static int get_call(struct ptc_joined_costs *c, const struct ptc_sum_line *l, const uint64_t *v,
		    uint32_t root, struct ptc_call_cost *ret, struct ptc_err *err)
{
	struct ptc_part_join *j = c->join;
	struct ptc_call_cost call = { .caller = root };
	const bool by_root = v[CALLER] == UINT64_MAX;
	int rc = ptc_joined_source(&j->sources, l, v[SOURCE], v[LINE], &call.at, err);

	if (rc)
		return rc;
	if (v[CALLEE] >= j->nfunctions || (by_root && root == PTC_NO_NUMBER) ||
	    (!by_root && v[CALLER] >= j->nfunctions))
		return damaged_costs(l, err);
	if (!by_root)
		call.caller = ptc_part_join_number(j, v[CALLER]);
	call.callee = ptc_part_join_number(j, v[CALLEE]);
	if (call.caller == PTC_NO_NUMBER || call.callee == PTC_NO_NUMBER ||
	    !ptc_call_costs_enter(&c->calls, call.callee, j->begins[call.callee]))
		return ptc_fail_mem(err);
	*ret = call;
	return 0;
}

static int add_call_row(struct ptc_joined_costs *c, const struct ptc_sum_line *l, const json_t *row,
			uint32_t root, struct ptc_err *err)
{
	enum { TIMES = CALL_MEMBERS, INSNS, NS, N };
	struct ptc_call_cost call;
	uint64_t v[N];
	int rc = ptc_part_row_get(l, row, N, v, err);

	if (!rc)
		rc = get_call(c, l, v, root, &call, err);
	if (rc)
		return rc;
	call.times = v[TIMES];
	call.insns = v[INSNS];
	call.ns = v[NS];
	return ptc_call_costs_add(&c->calls, &call) != PTC_NO_NUMBER ? 0 : ptc_fail_mem(err);
}

/* --- steps --- */

static int open_frame(struct ptc_joined_costs *c, const struct ptc_sum_line *l, const json_t *row,
		      struct ptc_cost_thread *t, const struct ptc_cost_frame *root, uint64_t before,
		      struct ptc_err *err)
{
	enum { DEPTH = CALL_MEMBERS, TAILS, INSNS, TIME, N };
	struct ptc_call_cost call;
	struct ptc_cost_frame f;
	uint64_t v[N];
	int rc = ptc_part_row_get(l, row, N, v, err);

	if (!rc)
		rc = get_call(c, l, v, root->function, &call, err);
	if (rc)
		return rc;
	if (!v[DEPTH] || v[DEPTH] > PTC_COST_ROOTS || v[TAILS] > PTC_COST_ROOTS)
		return damaged_costs(l, err);
	f = (struct ptc_cost_frame){ .function = call.callee,
				     .depth = root->depth + (uint32_t)v[DEPTH],
				     .tails = (uint32_t)v[TAILS],
				     .call = ptc_call_costs_add(&c->calls, &call),
				     .since_insns = before + v[INSNS],
				     .since_time = v[TIME] };
	if (f.call == PTC_NO_NUMBER || !ptc_call_costs_open(t, &f))
		return ptc_fail_mem(err);
	return 0;
}

int ptc_joined_costs_step(struct ptc_joined_costs *c, const struct ptc_sum_line *l, uint32_t thread,
			  uint64_t before, struct ptc_err *err)
{
	enum { FIRST, LAST, ROOT, N };
	struct ptc_cost_thread *t = ptc_call_costs_thread(&c->calls, thread);
	const json_t *calls = json_object_get(l->json, "calls");
	const json_t *frames = json_object_get(l->json, "frames");
	struct ptc_cost_frame root;
	uint64_t v[N];
	size_t i;
	int rc = ptc_part_row_get(l, json_object_get(l->json, "times"), N, v, err);

	if (rc)
		return rc;
	if (!t)
		return ptc_fail_mem(err);
	if (!t->n)
		return damaged_costs(l, err);
	root = t->frames[t->n - 1];
	ptc_call_costs_pass(&c->calls, t, v[FIRST], v[LAST], v[ROOT]);
	for (i = 0; !rc && i < json_array_size(calls); i++)
		rc = add_call_row(c, l, json_array_get(calls, i), root.function, err);
	for (i = 0; !rc && i < json_array_size(frames); i++)
		rc = open_frame(c, l, json_array_get(frames, i), t, &root, before, err);
	return rc;
}

/* --- sums of the part --- */

static int add_own_row(struct ptc_joined_costs *c, const struct ptc_sum_line *l, const json_t *row,
		       struct ptc_err *err)
{
	enum { FUNCTION, NS, N };
	struct ptc_part_join *j = c->join;
	uint64_t v[N];
	uint32_t function;
	const int rc = ptc_part_row_get(l, row, N, v, err);

	if (rc)
		return rc;
	if (v[FUNCTION] >= j->nfunctions)
		return damaged_costs(l, err);
	function = ptc_part_join_number(j, v[FUNCTION]);
	if (function == PTC_NO_NUMBER ||
	    !ptc_call_costs_enter(&c->calls, function, j->begins[function]))
		return ptc_fail_mem(err);
	c->calls.functions[function].ns += v[NS];
	return 0;
}

static int add_line_row(struct ptc_joined_costs *c, const struct ptc_sum_line *l, const json_t *row,
			struct ptc_err *err)
{
	enum { FUNCTION, FILE_NUMBER, LINE_NUMBER, INSNS, N };
	struct ptc_part_join *j = c->join;
	struct ptc_line_cost cost;
	uint64_t v[N];
	int rc = ptc_part_row_get(l, row, N, v, err);

	if (!rc)
		rc = ptc_joined_source(&j->sources, l, v[FILE_NUMBER], v[LINE_NUMBER], &cost.at,
				       err);
	if (rc)
		return rc;
	if (v[FUNCTION] >= j->nfunctions)
		return damaged_costs(l, err);
	cost.function = ptc_part_join_number(j, v[FUNCTION]);
	cost.insns = v[INSNS];
	if (cost.function == PTC_NO_NUMBER || !ptc_line_costs_add(&c->lines, &cost))
		return ptc_fail_mem(err);
	return 0;
}

int ptc_joined_costs_line(struct ptc_joined_costs *c, const struct ptc_sum_line *l,
			  struct ptc_err *err)
{
	const char *type = ptc_sum_json_word(l->json, "type");
	const bool calls = !strcmp(type, "calls"), own = !strcmp(type, "own");
	const json_t *rows;
	size_t i;
	int rc;

	if (!calls && !own && strcmp(type, "lines") != 0)
		return 0;
	rc = ptc_sum_json_array(l, l->json, "rows", &rows, err);
	for (i = 0; !rc && i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);

		if (calls)
			rc = add_call_row(c, l, row, PTC_NO_NUMBER, err);
		else
			rc = (own ? add_own_row : add_line_row)(c, l, row, err);
	}
	return rc;
}

bool ptc_joined_costs_print(struct ptc_joined_costs *c, struct ptc_line *l)
{
	const struct ptc_callgrind_sums sums = { .stream = &c->join->stream,
						 .lines = &c->lines,
						 .calls = &c->calls,
						 .command = c->command,
						 .has_time = c->has_time };

	return ptc_callgrind_print_sums(&sums, l);
}
