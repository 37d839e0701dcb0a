/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdlib.h>

#include "decode/elf/symtab.h"
#include "decode/session/decode_input.h"
#include "decode/session/item_lookup.h"
#include "ptcap/lookup.h"

/* Demangling more names would take seconds. */
enum { DEMANGLED_MAX = 200000 };

struct visit {
	int (*on_name)(void *ctx, const char *name);
	void *ctx;
	bool mangled; /* the user sees names as the linker has them */
	size_t demangled;
};

static int visit_symbol(struct visit *q, const struct ptc_symbol *sym)
{
	char *plain = NULL;
	int rc;

	if (q->mangled)
		return q->on_name(q->ctx, sym->name);
	if (!sym->plain_tried && q->demangled++ < DEMANGLED_MAX)
		plain = ptc_demangle(sym->name);
	rc = q->on_name(q->ctx, plain ? plain : sym->plain ? sym->plain : sym->name);
	free(plain);
	return rc;
}

static int visit_labels(struct visit *q, const struct ptc_text_symbols *t)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < t->n && !rc; i++)
		rc = q->on_name(q->ctx, t->names[i].name);
	return rc;
}

static int visit_symbols(struct visit *q, const struct ptc_symtab *t)
{
	size_t i;
	int rc = 0;

	for (i = 0; t && i < t->n && !rc; i++)
		rc = visit_symbol(q, &t->syms[i]);
	return rc;
}

int ptc_decode_each_function(const struct ptc_decode *d,
			     int (*on_name)(void *ctx, const char *name), void *ctx)
{
	const struct ptc_decode_input *in = ptc_decode_input(d);
	const struct ptc_origin *c = &in->origin;
	struct visit q = { .on_name = on_name, .ctx = ctx, .mangled = in->opts.mangled };
	int rc = 0;
	size_t i;

	for (i = 0; i < c->files.n && !rc; i++)
		rc = visit_symbols(&q, c->files.files[i]->syms);
	for (i = 0; i < c->njits && !rc; i++)
		rc = visit_labels(&q, &c->jits[i].names);
	if (!rc)
		rc = visit_labels(&q, &c->kernel.names);
	return rc ? rc : visit_labels(&q, &c->kernel.live);
}
