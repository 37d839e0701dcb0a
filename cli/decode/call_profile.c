/* SPDX-License-Identifier: MIT */
#include "cli/decode/call_profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "cli/common/cli.h"
#include "cli/common/jsontext.h"
#include "cli/decode/out_folded.h"

static const char *const names[] = { [PTC_CALL_PROFILE_CALLGRIND] = "callgrind",
				     [PTC_CALL_PROFILE_FOLDED] = "folded",
				     [PTC_CALL_PROFILE_PPROF] = "pprof" };

enum ptc_call_profile_kind ptc_call_profile_parse(const char *name)
{
	int i;

	for (i = PTC_CALL_PROFILE_NONE + 1; i < PTC_CALL_PROFILE_COUNT; i++)
		if (!strcmp(name, names[i]))
			return (enum ptc_call_profile_kind)i;
	return PTC_CALL_PROFILE_NONE;
}

static int on_tree_event(void *ctx, const struct ptc_call_event *e)
{
	struct ptc_call_profile *p = ctx;

	if (p->kind == PTC_CALL_PROFILE_PPROF &&
	    !ptc_function_begins_event(&p->begins, &p->stream, e))
		return PTC_E_NO_MEMORY;
	return ptc_call_tree_event(&p->tree, e);
}

/* Returns @rc of the stream. Without success reports the limit of the tree, or sets failed. */
static int checked(struct ptc_call_profile *p, int rc)
{
	if (!rc || p->refused)
		return rc;
	p->refused = p->tree.full;
	p->failed = !p->refused;
	if (p->refused)
		ptc_say("the trace has more than %zu different stacks; select a part with --tid or "
			"--time, or limit the functions of a stack with --depth",
			p->tree.nodes_max);
	return rc;
}

static int take_tree_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct ptc_call_profile *p = ctx;

	return checked(p, ptc_call_stream_items(&p->stream, items, n));
}

static int take_callgrind_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct ptc_call_profile *p = ctx;

	return checked(p, ptc_callgrind_items(&p->callgrind, items, n));
}

static uint32_t depth_of(const struct ptc_call_profile *p)
{
	return p->depth ? (uint32_t)p->depth : PTC_TREE_DEPTH;
}

static int take_part_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct ptc_call_profile *p = ctx;

	p->failed |= ptc_part_out_items(&p->part, items, n) ||
		     (p->part.costs && ptc_part_costs_items(p->part.costs, items, n));
	return p->failed;
}

bool ptc_call_profile_before(struct ptc_call_profile *p, const struct ptc_item *items, size_t n)
{
	return !p->part.costs || ptc_part_costs_before(p->part.costs, items, n);
}

/* Begins a shard of a profile with costs of calls. Returns false if out of memory. */
static bool begin_costs(struct ptc_call_profile *p, struct ptc_decode *d)
{
	char *command;
	json_t *options = NULL;

	p->part.costs = &p->part_costs;
	if (!ptc_callgrind_command(d, &command))
		return false;
	options = json_pack("{s:o*, s:b}", "command", command ? ptc_json_text(command) : NULL,
			    "has_time", ptc_callgrind_has_time(d));
	free(command);
	return ptc_part_out_begin(&p->part, d, options) &&
	       ptc_part_costs_begin(&p->part_costs, &p->part);
}

static bool begin_part(struct ptc_call_profile *p, struct ptc_decode *d, struct ptc_line *l)
{
	const bool folded = p->kind == PTC_CALL_PROFILE_FOLDED;

	p->part = (struct ptc_part_out){
		.line = l, .shard = p->shard, .of = names[p->kind], .has_begins = !folded
	};
	if (p->kind == PTC_CALL_PROFILE_CALLGRIND)
		return begin_costs(p, d);
	return ptc_part_out_begin(&p->part, d,
				  json_pack("{s:i, s:b}", "depth", (int)depth_of(p), "by_time",
					    folded ? p->by_time : ptc_pprof_has_time(d)));
}

bool ptc_call_profile_begin(struct ptc_call_profile *p, struct ptc_decode *d, struct ptc_line *l,
			    struct ptc_sink *ret)
{
	const struct ptc_call_stream_opts opts = { .d = d, .on_event = on_tree_event, .ctx = p };

	*ret = (struct ptc_sink){ .ctx = p };
	if (p->shard.n) {
		ret->on_items = take_part_items;
		return begin_part(p, d, l);
	}
	if (p->kind == PTC_CALL_PROFILE_CALLGRIND) {
		ret->on_items = take_callgrind_items;
		return ptc_callgrind_init(&p->callgrind, d);
	}
	ret->on_items = take_tree_items;
	ptc_call_tree_init(&p->tree, depth_of(p));
	return !ptc_call_stream_init(&p->stream, &opts);
}

static bool print_tree(struct ptc_call_profile *p, struct ptc_line *l)
{
	bool ok = !checked(p, ptc_call_stream_finish(&p->stream));

	if (ok && p->kind == PTC_CALL_PROFILE_PPROF)
		ok = ptc_pprof_print(&p->stream, &p->tree, &p->begins,
				     ptc_pprof_has_time(p->stream.opts.d), l);
	else if (ok)
		ok = ptc_folded_print(&p->stream, &p->tree, p->by_time, l);
	if (ok && p->tree.cut)
		ptc_say("stacks have at most %" PRIu32 " functions: %" PRIu64
			" deeper call%s count for the function at this depth (--depth)",
			p->tree.depth_max, p->tree.cut, ptc_plural(p->tree.cut));
	return ok || p->refused;
}

bool ptc_call_profile_print(struct ptc_call_profile *p, struct ptc_line *l)
{
	if (p->shard.n)
		return ptc_part_out_steps(&p->part) &&
		       (!p->part.costs || ptc_part_costs_end(p->part.costs, &p->part)) &&
		       ptc_part_out_end(&p->part);
	if (p->kind == PTC_CALL_PROFILE_CALLGRIND)
		return ptc_callgrind_print(&p->callgrind, l);
	return print_tree(p, l);
}

void ptc_call_profile_release(struct ptc_call_profile *p)
{
	ptc_part_costs_release(&p->part_costs);
	ptc_part_out_release(&p->part);
	ptc_callgrind_release(&p->callgrind);
	ptc_call_tree_release(&p->tree);
	free(p->begins.v);
	ptc_call_stream_release(&p->stream);
}
