/* SPDX-License-Identifier: MIT */
/* `ptcap decode --format bin`: items as they are. Every machine that ptcap runs on is
 * little-endian. */
#include <assert.h>
#include <stdio.h>

#include "out.h"

enum { HEAD_LEN = 64 };

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the records are little-endian");

void ptc_print_bin_head(void)
{
	/* Padded with blanks to the size of a record, whose alignment is then that of the file. */
	printf("%-*s\n", HEAD_LEN - 1, "PTCAPDEC 1 64");
}

int ptc_print_bin(void *ctx, const struct ptc_item *items, size_t n)
{
	struct ptc_printer *p = ctx;

	if (fwrite(items, sizeof(*items), n, stdout) != n)
		p->line->failed = true;
	return p->line->failed;
}
