/* SPDX-License-Identifier: MIT */
#include "cli/decode/coverage.h"
#include "cli/decode/line_buffer.h"
#include "cli/decode/out_coverage.h"

/* A name is a line of its own. */
static void put_name(struct ptc_line *l, const char *name)
{
	for (; *name; name++)
		ptc_line_char(l, *name == '\n' || *name == '\r' ? '?' : *name);
}

static void put_number(struct ptc_line *l, const char *key, uint64_t n)
{
	ptc_line_str(l, key);
	ptc_line_dec(l, (int64_t)n);
	ptc_line_char(l, '\n');
}

static void put_file(struct ptc_line *l, const struct ptc_coverage_file *f)
{
	size_t i;

	ptc_line_str(l, "TN:\nSF:");
	put_name(l, f->name);
	ptc_line_char(l, '\n');
	for (i = 0; i < f->n; i++) {
		ptc_line_str(l, "DA:");
		ptc_line_dec(l, (int64_t)f->lines[i].from.off);
		put_number(l, ",", f->lines[i].times);
	}
	put_number(l, "LF:", f->n);
	put_number(l, "LH:", f->ran);
	ptc_line_str(l, "end_of_record\n");
}

bool ptc_lcov_print(const struct ptc_counts *c, struct ptc_line *l)
{
	struct ptc_coverage v;
	const bool ok = ptc_coverage_make(&v, c);
	size_t i;

	for (i = 0; i < v.n && ok; i++)
		put_file(l, &v.files[i]);
	ptc_coverage_release(&v);
	return ok;
}
