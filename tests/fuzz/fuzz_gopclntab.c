/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as Go's table of functions and lines. Asserted: functions ascend and have names in the
 * table, a line has a file and a number, and there are no more lines than bytes of code.
 */
#include <stdlib.h>
#include <string.h>

#include "decode/symbols/gopclntab.h"
#include "fuzz.h"

enum { CODE_MAX = 1 << 16, ASKED = 64 };

static int count(void *ctx, const char *file, int line)
{
	uint64_t *left = ctx;

	CHECK(strlen(file) && line > 0 && *left);
	--*left;
	return 0;
}

static void ask(struct ptc_gopclntab *t)
{
	struct ptc_go_func f;
	uint64_t start, end, last, i;
	const char *file;
	int line;

	ptc_gopclntab_range(t, &start, &end);
	last = start;
	for (i = 0; i < t->n; i++) {
		if (!ptc_gopclntab_func(t, i, &f))
			continue;
		CHECK(f.addr - start >= last - start && f.size <= end - f.addr);
		CHECK(f.name < ptc_cur_left(&t->names) &&
		      strlen((const char *)t->names.pos + f.name));
		last = f.addr;
	}
	/* The search for the table refuses more code than the file has. */
	if (end - start > CODE_MAX)
		return;
	for (i = 0; i <= ASKED; i++) {
		file = ptc_gopclntab_line(t, start + (end - start) * i / ASKED, &line);
		CHECK(!file || (strlen(file) && line > 0));
	}
	end -= start;
	CHECK(!ptc_gopclntab_each(t, count, &end));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	uint8_t *copy = malloc(len + 1); /* exact size: ASan sees an overread */
	struct ptc_gopclntab *t;

	CHECK(copy);
	if (len)
		memcpy(copy, bytes, len);
	copy[len] = 0;
	t = ptc_gopclntab_new(copy, len);
	if (t)
		ask(t);
	else
		free(copy);
	ptc_gopclntab_free(t);
	return 0;
}
