/* SPDX-License-Identifier: MIT */
#include "cli/decode/out_folded.h"

#include <stdlib.h>

static void put_thread_of_stack(struct ptc_folding *f, uint32_t number)
{
	const struct ptc_call_thread *t = &f->s->threads[number];

	ptc_line_plain(f->l, *t->name ? t->name : "?", ";");
	ptc_line_char(f->l, '-');
	ptc_line_dec(f->l, t->tid);
}

static void put_stack(struct ptc_folding *f, uint32_t number)
{
	const size_t n = ptc_call_tree_path(f->t, number, f->path);
	char buf[4096];
	size_t i;

	put_thread_of_stack(f, f->t->nodes[f->path[0]].function);
	for (i = 1; i < n; i++) {
		ptc_line_char(f->l, ';');
		ptc_line_plain(f->l,
			       ptc_call_function_name(f->s, f->t->nodes[f->path[i]].function, buf,
						      sizeof(buf)),
			       ";");
	}
}

bool ptc_folding_init(struct ptc_folding *f, struct ptc_call_stream *s,
		      const struct ptc_call_tree *t, bool by_time, struct ptc_line *l)
{
	*f = (struct ptc_folding){ .s = s, .t = t, .by_time = by_time, .l = l };
	f->path = calloc((size_t)t->depth_max + 1, sizeof(*f->path));
	return f->path;
}

bool ptc_folding_next(struct ptc_folding *f, uint64_t *ret_value)
{
	while (f->at < f->t->n && !f->l->failed) {
		const struct ptc_tree_node *n = &f->t->nodes[f->at++];

		*ret_value = f->by_time ? n->ns : n->insns;
		if (!*ret_value)
			continue;
		put_stack(f, f->at - 1);
		return true;
	}
	return false;
}

void ptc_folding_release(struct ptc_folding *f)
{
	free(f->path);
}

bool ptc_folded_print(struct ptc_call_stream *s, const struct ptc_call_tree *t, bool by_time,
		      struct ptc_line *l)
{
	struct ptc_folding f;
	uint64_t value;

	if (!ptc_folding_init(&f, s, t, by_time, l))
		return false;
	while (ptc_folding_next(&f, &value)) {
		ptc_line_char(l, ' ');
		ptc_line_dec(l, (int64_t)value);
		ptc_line_char(l, '\n');
	}
	ptc_folding_release(&f);
	return true;
}
