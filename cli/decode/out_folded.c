/* SPDX-License-Identifier: MIT */
#include "cli/decode/out_folded.h"

#include <stdlib.h>

/* A stack: its path has a node for the thread, and then one for each function. */
struct folding {
	struct ptc_call_stream *s;
	const struct ptc_call_tree *t;
	uint32_t *path; /* owned */
	struct ptc_line *l;
};

static void put_thread_of_stack(struct folding *f, uint32_t number)
{
	const struct ptc_call_thread *t = &f->s->threads[number];

	ptc_line_plain(f->l, *t->name ? t->name : "?", ";");
	ptc_line_char(f->l, '-');
	ptc_line_dec(f->l, t->tid);
}

static void put_stack(struct folding *f, uint32_t number, uint64_t value)
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
	ptc_line_char(f->l, ' ');
	ptc_line_dec(f->l, (int64_t)value);
	ptc_line_char(f->l, '\n');
}

bool ptc_folded_print(struct ptc_call_stream *s, const struct ptc_call_tree *t, bool by_time,
		      struct ptc_line *l)
{
	struct folding f = { .s = s, .t = t, .l = l };
	bool ok;
	uint64_t value;
	uint32_t i;

	f.path = calloc(t->depth_max + 1, sizeof(*f.path));
	ok = f.path != NULL;
	for (i = 0; ok && i < t->n && !l->failed; i++) {
		value = by_time ? t->nodes[i].ns : t->nodes[i].insns;
		if (value)
			put_stack(&f, i, value);
	}
	free(f.path);
	return ok;
}
