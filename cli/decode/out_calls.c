/* SPDX-License-Identifier: MIT */
/* The calls of a decode, with the names of their functions. */
#include "cli/decode/out_calls.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/number_index.h"
#include "cli/common/short_name.h"
#include "ptcap/lookup.h"

enum { NAME_SIZE = 512, NAME_MAX_WIDTH = 400, SEEN_BITS = 14 };

/* The function of an address. */
struct ptc_name_seen {
	uint64_t ip, code; /* code: its number; ip 0: unused */
	uint64_t start;	   /* 0: no function is known */
	const char *name;  /* of an entry, as it is printed; NULL: not made yet */
	bool is_chosen;	   /* the function is that of choice.sym; valid if name */
};

/* Returns the entry of @ip, which is not 0. */
static struct ptc_name_seen *seen_at(struct ptc_calls_printer *p, const struct ptc_item *item,
				     uint64_t ip)
{
	const uint64_t code = ptc_code_parts_at(&p->code, p->d, item, ip)->number;
	const uint64_t hash = ptc_hash_mix(ptc_hash_mix(0, ip), code);
	struct ptc_name_seen *seen = &p->seen[hash >> (64 - SEEN_BITS)];
	uint64_t off = 0;

	if (seen->ip == ip && seen->code == code)
		return seen;
	*seen = (struct ptc_name_seen){ .ip = ip, .code = code };
	if (ptc_decode_symbol(p->d, item, ip, &off))
		seen->start = ip - off;
	return seen;
}

static uint64_t function(void *ctx, const struct ptc_item *item, uint64_t ip)
{
	return ip ? seen_at(ctx, item, ip)->start : 0;
}

static const char *name(void *ctx, const struct ptc_item *item, uint64_t ip)
{
	const struct ptc_calls_printer *p = ctx;
	uint64_t off;

	return ptc_decode_symbol(p->d, item, ip, &off);
}

static uint64_t life(void *ctx, const struct ptc_item *item)
{
	const struct ptc_calls_printer *p = ctx;

	return ptc_decode_life(p->d, item);
}

/* Returns the name of the function, or "??". *@ret_off: the offset in it. */
static const char *function_name(struct ptc_calls_printer *p, const struct ptc_call *call,
				 uint64_t *ret_off)
{
	if (call->how != PTC_CALL_BY_INLINING)
		return ptc_decode_symbol(p->d, call->item, call->ip, ret_off);
	return call->name ? call->name : "??";
}

/* Write the name: function and offset, or file and offset, or the address. */
static void make_name(struct ptc_calls_printer *p, const struct ptc_call *call, char ret[NAME_SIZE])
{
	uint64_t off = 0;
	const char *name = function_name(p, call, &off), *base;
	/* On a terminal a name is shortened, not cut off in the middle of its arguments. */
	char *shorter = name && p->form.width ? ptc_short_name(name, NAME_MAX_WIDTH) : NULL;
	size_t n = 0;

	name = shorter ? shorter : name;
	if (!name) {
		name = ptc_decode_file(p->d, call->item, call->ip, &off);
		base = name ? strrchr(name, '/') : NULL;
		name = base ? base + 1 : name;
	}
	if (!name) {
		(void)snprintf(ret, NAME_SIZE, "0x%" PRIx64, call->ip);
		return;
	}
	for (; name[n] && n + 32 < NAME_SIZE; n++) /* escape terminal control characters */
		ret[n] = (char)(name[n] >= ' ' && name[n] < 0x7f ? name[n] : '?');
	ret[n] = '\0';
	if (off)
		(void)snprintf(ret + n, NAME_SIZE - n, "+0x%" PRIx64, off);
	free(shorter);
}

static bool is_chosen_function(struct ptc_calls_printer *p, const struct ptc_call *call)
{
	const char *sym = p->plain ? p->plain : p->form.choice.sym;
	uint64_t off;
	const char *name = sym ? function_name(p, call, &off) : NULL;

	return name && ptc_is_function_name(sym, name);
}

/* Set the name of an ENTER, owned by the printer. Returns false if out of memory. */
static bool name_entry(struct ptc_calls_printer *p, const struct ptc_call *call,
		       struct ptc_shown_call *ret)
{
	struct ptc_name_seen *seen = call->how != PTC_CALL_BY_INLINING && call->ip ?
					     seen_at(p, call->item, call->ip) :
					     NULL;
	char text[NAME_SIZE];
	uint32_t number;

	if (seen && seen->name) {
		ret->name = seen->name;
		ret->is_chosen = seen->is_chosen;
		return true;
	}
	make_name(p, call, text);
	number = ptc_names_get(&p->names, text);
	if (number == UINT32_MAX)
		return false;
	ret->name = ptc_names_of(&p->names, number);
	ret->is_chosen = is_chosen_function(p, call);
	if (seen) {
		seen->name = ret->name;
		seen->is_chosen = ret->is_chosen;
	}
	return true;
}

static int on_call(void *ctx, const struct ptc_call *call)
{
	struct ptc_calls_printer *p = ctx;
	struct ptc_shown_call shown = { .type = call->type,
					.how = call->how,
					.tid = call->item->tid,
					.queue = call->item->queue,
					.depth = call->depth,
					.indent = call->depth,
					.cut = call->cut,
					.ip = call->ip,
					.time = call->item->time,
					.insns = call->insns,
					.since = call->since,
					.since_insns = call->since_insns,
					.times = 1,
					.gap = call->item };

	int rc = PTC_E_NO_MEMORY;

	if (call->type != PTC_CALL_ENTER || name_entry(p, call, &shown))
		rc = p->sink.on_call(p->sink.ctx, &shown);
	p->failed |= rc == PTC_E_NO_MEMORY;
	return rc;
}

static int on_real_call(void *ctx, const struct ptc_call *call)
{
	struct ptc_calls_printer *p = ctx;

	return p->inlines ? ptc_inline_calls_add(p->inlines, call) : on_call(p, call);
}

static size_t inlines(void *ctx, const struct ptc_item *item, uint64_t ip,
		      struct ptc_inline_frame frames[PTC_INLINE_MAX])
{
	const struct ptc_calls_printer *p = ctx;

	return ptc_decode_inlines(p->d, item, ip, frames);
}

/* Put the selection and the fold, if wanted, in front of the lines. */
static void link_sinks(struct ptc_calls_printer *p)
{
	const struct ptc_calls_choice *c = &p->form.choice;

	p->sink = (struct ptc_shown_sink){ ptc_print_call_line, &p->lines };
	if (c->folds) {
		p->fold.sink = p->sink;
		p->sink = (struct ptc_shown_sink){ ptc_call_fold_add, &p->fold };
	}
	if (c->sym || c->depth || c->min) {
		p->view = (struct ptc_call_view){ .choice = *c, .sink = p->sink };
		p->sink = (struct ptc_shown_sink){ ptc_call_view_add, &p->view };
	}
}

int ptc_calls_printer_init(struct ptc_calls_printer *p, struct ptc_decode *d, struct ptc_line *line,
			   const struct ptc_calls_form *form)
{
	const struct ptc_calls_opts opts = { .size = sizeof(struct ptc_calls_opts),
					     .function = function,
					     .on_call = on_real_call,
					     .ctx = p,
					     .life = life,
					     .name = name };
	const struct ptc_inline_calls_opts more = { sizeof(more), inlines, on_call, p };

	*p = (struct ptc_calls_printer){ .form = *form, .d = d };
	p->lines = (struct ptc_call_lines){
		.line = line, .json = form->json, .by_insns = form->by_insns, .width = form->width
	};
	link_sinks(p);
	p->calls = ptc_calls_new(&opts);
	p->inlines = form->inlines ? ptc_inline_calls_new(&more) : NULL;
	if (form->choice.sym && !form->mangled)
		p->plain = ptc_demangle(form->choice.sym);
	p->seen = calloc((size_t)1 << SEEN_BITS, sizeof(*p->seen));
	if (p->calls && p->seen && !p->inlines == !form->inlines)
		return 0;
	ptc_calls_printer_finish(p);
	return PTC_E_NO_MEMORY;
}

void ptc_calls_printer_finish(struct ptc_calls_printer *p)
{
	/* Both are finished in any case: the lines of the fold are older than those of the view. */
	p->failed |= ptc_call_view_finish(&p->view) == PTC_E_NO_MEMORY;
	p->failed |= ptc_call_fold_finish(&p->fold) == PTC_E_NO_MEMORY;
	ptc_call_lines_finish(&p->lines);
	ptc_call_view_release(&p->view);
	ptc_call_fold_release(&p->fold);
	free(p->plain);
	p->plain = NULL;
	ptc_calls_free(p->calls);
	ptc_inline_calls_free(p->inlines);
	ptc_names_release(&p->names);
	free(p->seen);
	p->calls = NULL;
	p->inlines = NULL;
	p->seen = NULL;
}

int ptc_print_calls(void *ctx, const struct ptc_item *items, size_t n)
{
	struct ptc_calls_printer *p = ctx;
	size_t i;
	int rc = 0;

	ptc_code_parts_begin(&p->code);
	for (i = 0; !rc && i < n; i++)
		rc = ptc_calls_item(p->calls, &items[i]);
	return rc;
}
