/* SPDX-License-Identifier: MIT */
#include "decode/session/similar_functions.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "decode/elf/symtab.h"
#include "decode/session/decode_input.h"
#include "decode/session/item_filter.h"
#include "decode/session/item_lookup.h"
#include "decode/symbols/demangle.h"

/* Demangling more names would take seconds. */
enum { DEMANGLED_MAX = 200000 };

struct search {
	struct ptc_similar *s;
	bool mangled; /* the user sees names as the linker has them */
	size_t demangled;
};

/* Returns false if @name is the wanted name. */
static bool add_similar_function(struct search *q, const char *name)
{
	if (ptc_item_filter_is_name(q->s->wanted, name))
		return false;
	ptc_similar_add_part(q->s, name, strcspn(name, "("));
	return true;
}

static bool add_symbol(struct search *q, const struct ptc_symbol *sym)
{
	char *plain = NULL;
	bool more;

	if (q->mangled)
		return add_similar_function(q, sym->name);
	if (!sym->plain_tried && q->demangled++ < DEMANGLED_MAX)
		plain = ptc_demangle(sym->name);
	more = add_similar_function(q, plain ? plain : sym->plain ? sym->plain : sym->name);
	free(plain);
	return more;
}

static bool add_labels(struct search *q, const struct ptc_text_symbols *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (!add_similar_function(q, t->names[i].name))
			return false;
	return true;
}

static bool add_all(struct search *q, const struct ptc_origin *c)
{
	const struct ptc_codefiles *files = &c->files;
	size_t i, k;

	for (i = 0; i < files->n; i++) {
		const struct ptc_symtab *t = files->files[i]->syms;

		for (k = 0; t && k < t->n; k++)
			if (!add_symbol(q, &t->syms[k]))
				return false;
	}
	for (i = 0; i < c->njits; i++)
		if (!add_labels(q, &c->jits[i].names))
			return false;
	return add_labels(q, &c->kernel.names) && add_labels(q, &c->kernel.live);
}

void ptc_decode_similar(const struct ptc_decode *d, struct ptc_similar *s)
{
	const struct ptc_decode_input *in = ptc_decode_input(d);
	struct search q = { .s = s, .mangled = in->opts.mangled };

	if (!add_all(&q, &in->origin))
		ptc_similar_begin(s, s->wanted);
}
