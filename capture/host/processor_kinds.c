/* SPDX-License-Identifier: MIT */
#include "capture/host/processor_kinds.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/grow.h"
#include "base/io.h"
#include "ptcap/error.h"

enum { CPUINFO_MAX = 16 << 20 };

void ptc_processor_kinds_release(struct ptc_processor_kinds *k)
{
	free(k->items);
	*k = (struct ptc_processor_kinds){ .n = 0 };
}

static bool is_same_kind(const struct ptc_ledger_processor *a, const struct ptc_ledger_processor *b)
{
	return a->family == b->family && a->model == b->model && a->stepping == b->stepping &&
	       a->microcode == b->microcode;
}

static bool add_cpu(struct ptc_processor_kinds *k, const struct ptc_ledger_processor *p)
{
	size_t i;

	for (i = 0; i < k->n; i++)
		if (is_same_kind(&k->items[i], p)) {
			k->items[i].cpus++;
			return true;
		}
	if (!ptc_grow(&k->items, &k->cap, k->n + 1, sizeof(*k->items)))
		return false;
	k->items[k->n] = *p;
	k->items[k->n++].cpus = 1;
	return true;
}

/* Returns the place for the value of a key of @len bytes. NULL: another key. */
static uint64_t *number_of(struct ptc_ledger_processor *p, const char *key, size_t len)
{
	const struct {
		const char *key;
		uint64_t *number;
	} numbers[] = {
		{ "processor", &p->cpu },	{ "cpu family", &p->family },
		{ "model", &p->model },		{ "stepping", &p->stepping },
		{ "microcode", &p->microcode },
	};
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (strlen(numbers[i].key) == len && !memcmp(numbers[i].key, key, len))
			return numbers[i].number;
	return NULL;
}

bool ptc_processor_kinds_parse(struct ptc_processor_kinds *k, const char *text)
{
	struct ptc_ledger_processor p = { .cpu = 0 };
	const char *line = text;
	bool any = false;

	while (*line) {
		const size_t n = strcspn(line, "\n"), colon = strcspn(line, ":\n");
		size_t len = colon;
		uint64_t *number;

		while (len && (line[len - 1] == '\t' || line[len - 1] == ' '))
			len--;
		number = colon < n ? number_of(&p, line, len) : NULL;
		if (number == &p.cpu) {
			if (any && !add_cpu(k, &p))
				return false;
			p = (struct ptc_ledger_processor){ .cpu = 0 };
			any = true;
		}
		/* A digit is required: strtoull would skip a line's end. */
		if (number && line[colon + 1] == ' ' && isdigit((unsigned char)line[colon + 2]))
			*number = strtoull(line + colon + 2, NULL, 0);
		line += n + (line[n] == '\n');
	}
	return !any || add_cpu(k, &p);
}

bool ptc_processor_kinds_read(struct ptc_processor_kinds *k, const char *root)
{
	struct ptc_buf text = PTC_BUF_INIT;
	struct ptc_err ignored;
	char path[256];
	bool ok = true;

	(void)snprintf(path, sizeof(path), "%s/proc/cpuinfo", root);
	if (!ptc_read_file(path, CPUINFO_MAX, &text, &ignored))
		ok = ptc_processor_kinds_parse(k, (const char *)text.bytes);
	ptc_buf_release(&text);
	return ok;
}
