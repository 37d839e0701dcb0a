/* SPDX-License-Identifier: MIT */
#include "cli/dump/dump_emit.h"

#include <inttypes.h>
#include <stdio.h>

void ptc_emit_bits(struct ptc_emit *e, const char *name, uint64_t bits, const struct ptc_names *t)
{
	char text[1024] = "";
	size_t i, n = 0;

	for (i = 0; i < t->n && n < sizeof(text) / 2; i++) {
		const uint64_t bit = t->list[i].value;

		if (!bit || (bits & bit) != bit)
			continue;
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", n ? "|" : "",
				      t->list[i].name);
		bits &= ~bit;
	}
	if (bits)
		(void)snprintf(text + n, sizeof(text) - n, "%s0x%" PRIx64, n ? "|" : "", bits);
	else if (!n)
		(void)snprintf(text, sizeof(text), "0");
	ptc_emit_word(e, name, text);
}

void ptc_emit_named(struct ptc_emit *e, const char *name, uint64_t v, const struct ptc_names *t)
{
	const char *word = ptc_names_find(t, v);

	if (word)
		ptc_emit_word(e, name, word);
	else
		ptc_emit_u64(e, name, v);
}

void ptc_emit_callchain(struct ptc_emit *e, struct ptc_cur ips)
{
	uint64_t ip;

	ptc_emit_list(e, "callchain");
	while (ptc_cur_le64(&ips, &ip)) {
		const char *mark = ptc_names_find(&ptc_names_context, ip);

		if (mark)
			ptc_emit_word(e, NULL, mark);
		else
			ptc_emit_hex(e, NULL, ip);
	}
	ptc_emit_end(e);
}

void ptc_emit_entries(struct ptc_emit *e, const char *name)
{
	if (e->json)
		ptc_emit_list(e, name);
}

void ptc_emit_entry(struct ptc_emit *e)
{
	if (e->json)
		ptc_emit_object(e, NULL);
	else
		ptc_emit_list(e, NULL);
}

void ptc_emit_entries_end(struct ptc_emit *e)
{
	if (e->json)
		ptc_emit_end(e);
}
