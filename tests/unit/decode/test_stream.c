/* SPDX-License-Identifier: MIT */
/* Description: pieces of a queue -> spans without holes. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "decode/stream.h"
#include "lib_perfdata.h"

struct want {
	const char *bytes;
	uint64_t base, lost;
};

/* Pieces are strings ('0' is a byte 0) at offsets. */
static void expect(const char *const pieces[], const uint64_t offs[], size_t n,
		   const struct want *want, size_t nwant)
{
	struct ptc_index ix = PTC_INDEX_INIT;
	struct ptc_stream s = { .n = 0 };
	uint64_t pos = 0, total = 0;
	struct ptc_file *f;
	struct ptc_err err;
	struct ptc_rec rec;
	uint8_t *bytes;
	struct pd p;
	size_t len, i, k;

	pd_init_pt(&p, NULL);
	for (i = 0; i < n; i++) {
		char piece[64];

		len = strlen(pieces[i]);
		cr_assert(len % 8 == 0);
		for (k = 0; k < len; k++)
			piece[k] = pieces[i][k] == '0' ? '\0' : pieces[i][k];
		pd_auxtrace(&p,
			    &(struct ptc_auxtrace){
				    .offset = offs[i], .reference = i + 1, .tid = 1, .cpu = -1 },
			    piece, len);
	}
	bytes = pd_finish(&p, &len);
	cr_assert_eq(ptc_file_open_bytes(bytes, len, "test", &f, &err), 0);
	while (ptc_file_next(f, &pos, &rec, &err) > 0)
		if (rec.type == PTC_REC_AUXTRACE)
			cr_assert_eq(ptc_index_add(&ix, f, &rec, &err), 0);
	cr_assert_eq(ptc_stream_join(&s, f, &ix.queues[0], &err), 0);
	cr_assert_eq(s.n, nwant);
	for (i = 0; i < nwant; i++) {
		cr_assert_eq(s.spans[i].len, strlen(want[i].bytes));
		for (k = 0; k < s.spans[i].len; k++)
			cr_assert_eq(s.spans[i].bytes[k],
				     want[i].bytes[k] == '0' ? 0 : want[i].bytes[k]);
		cr_assert_eq(s.spans[i].base, want[i].base);
		cr_assert_eq(s.spans[i].lost, want[i].lost);
		total += s.spans[i].len;
	}
	cr_assert_eq(s.bytes, total);
	if (n == 1)
		cr_assert_null(s.spans[0].owned);
	cr_assert_eq(s.spans[s.n - 1].reference, n);
	ptc_stream_release(&s);
	ptc_stream_release(&s);
	ptc_index_release(&ix);
	ptc_file_free(f);
	free(bytes);
	pd_release(&p);
}

#define EXPECT(pieces, offs, want)                                                                 \
	expect(pieces, offs, sizeof(offs) / sizeof(*(offs)), want, sizeof(want) / sizeof(*(want)))

Test(stream, one_piece_is_lent)
{
	static const char *const pieces[] = { "abcdefgh" };
	static const uint64_t offs[] = { 40 };
	static const struct want want[] = { { "abcdefgh", 40, 0 } };

	EXPECT(pieces, offs, want);
}

Test(stream, pieces_in_a_row_are_joined)
{
	static const char *const pieces[] = { "abcdefgh", "ijklmnop", "qrstuvwx" };
	static const uint64_t offs[] = { 8, 16, 24 };
	static const struct want want[] = { { "abcdefghijklmnopqrstuvwx", 8, 0 } };

	EXPECT(pieces, offs, want);
}

Test(stream, padding_is_replaced_by_what_follows)
{
	static const char *const pieces[] = { "abcde000", "fghi0000", "jklmnopq" };
	static const uint64_t offs[] = { 0, 5, 9 };
	static const struct want want[] = { { "abcdefghijklmnopq", 0, 0 } };

	EXPECT(pieces, offs, want);
}

Test(stream, bytes_told_twice_are_taken_once)
{
	static const char *const pieces[] = { "abcdefghijklmnop", "ijklmnopqrstuvwx", "qrstuvwx" };
	static const uint64_t offs[] = { 0, 8, 16 };
	static const struct want want[] = { { "abcdefghijklmnopqrstuvwx", 0, 0 } };

	EXPECT(pieces, offs, want);
}

Test(stream, a_hole_parts_spans)
{
	static const char *const pieces[] = { "abcdefgh", "ijklmnop" };
	static const uint64_t offs[] = { 0, 100 };
	static const struct want want[] = { { "abcdefgh", 0, 0 }, { "ijklmnop", 100, 92 } };

	EXPECT(pieces, offs, want);
}

Test(stream, offsets_that_begin_anew_or_contradict_part_spans_without_a_loss)
{
	static const char *const pieces[] = { "abcdefgh", "ijklmnop", "qrstuvwx" };
	static const uint64_t offs[] = { 100, 0, 0 };
	static const struct want want[] = { { "abcdefgh", 100, 0 },
					    { "ijklmnop", 0, 0 },
					    { "qrstuvwx", 0, 0 } };

	EXPECT(pieces, offs, want);
}
