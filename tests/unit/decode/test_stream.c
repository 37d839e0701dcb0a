/* SPDX-License-Identifier: MIT */
/* Description: the AUXTRACE records of a queue become spans without holes. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/pt_packet.h"
#include "decode/stream/psb.h"
#include "decode/stream/stream.h"
#include "lib_perfdata.h"
#include "lib_pt.h"

struct want {
	const char *bytes;
	uint64_t base, lost;
};

/* Records are strings ('0' is a byte 0) at offsets. */
static void expect(const char *const pieces[], const uint64_t offs[], size_t n,
		   const struct want *want, size_t nwant)
{
	struct ptc_index ix = PTC_INDEX_INIT;
	struct ptc_stream s = { .n = 0 };
	uint64_t pos = 0, total = 0;
	struct ptc_file *f;
	struct ptc_err err;
	struct ptc_rec rec;
	uint8_t *bytes, got[64];
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
	cr_assert_eq(ptc_stream_join(&s, f, &ix.queues[0], false, &err), 0);
	cr_assert_eq(s.n, nwant);
	for (i = 0; i < nwant; i++) {
		cr_assert_eq(s.spans[i].len, strlen(want[i].bytes));
		ptc_span_read(&s.spans[i], 0, got, s.spans[i].len);
		for (k = 0; k < s.spans[i].len; k++)
			cr_assert_eq(got[k], want[i].bytes[k] == '0' ? 0 : want[i].bytes[k]);
		cr_assert_eq(s.spans[i].base, want[i].base);
		cr_assert_eq(s.spans[i].lost, want[i].lost);
		total += s.spans[i].len;
	}
	cr_assert_eq(s.bytes, total);
	if (n == 1)
		cr_assert_not_null(s.spans[0].bytes);
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

/*
 * @want: "BASE:BYTES" for each span, '!' behind a span cut where the buffer was full, "+N" for N
 * lost bytes in front.
 */
static void expect_cut(const char *bytes, size_t hole, const uint64_t *offs, size_t n,
		       const char *done, const char *want)
{
	const size_t len = strlen(bytes);
	struct ptc_stream s = { .n = 0 };
	struct ptc_cut cuts[8] = { { 0, true } };
	uint8_t *exact = pd_exact(bytes, len);
	char got[256] = "";
	struct ptc_err err;
	uint64_t total = 0;
	size_t i;

	for (i = 0; i < len; i++)
		exact[i] = bytes[i] == '0' ? 0 : (uint8_t)bytes[i];
	cr_assert_eq(ptc_stream_single(&s, exact, len, &err), 0);
	if (hole) { /* 100 bytes are missing there */
		cr_assert_eq(ptc_stream_single(&s, exact + hole, len - hole, &err), 0);
		s.bytes = len;
		s.spans[0].len = hole;
		s.spans[1].base = hole + 100;
		s.spans[1].lost = 100;
	}
	for (i = 0; i < n; i++)
		cuts[i].off = offs[i];
	cr_assert_eq(ptc_stream_cut(&s, cuts, n, &err), 0);
	for (i = 0; i < s.n; i++) {
		const struct ptc_span *sp = &s.spans[i];
		const size_t at = strlen(got);
		size_t k;

		snprintf(got + at, sizeof(got) - at, "%s", i ? " " : "");
		if (sp->lost)
			snprintf(got + strlen(got), sizeof(got) - strlen(got), "+%d ",
				 (int)sp->lost);
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%d:", (int)sp->base);
		for (k = 0; k < sp->len; k++)
			snprintf(got + strlen(got), 2, "%c", sp->bytes[k] ? sp->bytes[k] : '0');
		snprintf(got + strlen(got), 2, "%s", sp->truncated ? "!" : "");
		total += sp->len;
	}
	cr_assert_str_eq(got, want, "got %s, want %s", got, want);
	cr_assert_eq(s.bytes, total);
	for (i = 0; i < n; i++)
		cr_assert_eq(cuts[i].done, done[i] == 'y');
	ptc_stream_release(&s);
	free(exact);
}

#define EXPECT_CUT(bytes, hole, offs, done, want)                                                  \
	expect_cut(bytes, hole, offs, sizeof(offs) / sizeof(*(offs)), done, want)

Test(stream, a_cut_ends_a_span)
{
	static const uint64_t one[] = { 3 }, three[] = { 3, 3, 7 };
	static const uint64_t ends[] = { 0, 8, 9 }, none[] = { 200 };

	EXPECT_CUT("abcdefgh", 0, one, "y", "0:abc! 3:defgh");
	EXPECT_CUT("abcdefgh", 0, three, "yyy", "0:abc! 3:defg! 7:h");
	EXPECT_CUT("abcdefgh", 0, ends, "nyn", "0:abcdefgh!");
	EXPECT_CUT("abcdefgh", 0, none, "n", "0:abcdefgh");
}

Test(stream, a_cut_is_of_the_span_it_is_in)
{
	static const uint64_t offs[] = { 2, 4, 50, 104, 105 }, end[] = { 4 };

	EXPECT_CUT("abcdefgh", 4, offs, "yynny", "0:ab! 2:cd! +100 104:e! 105:fgh");
	EXPECT_CUT("abcdefgh", 4, end, "y", "0:abcd! +100 104:efgh");
}

Test(stream, padding_behind_a_cut_is_no_span)
{
	static const uint64_t one[] = { 3 };

	EXPECT_CUT("abc00000", 0, one, "y", "0:abc!");
	EXPECT_CUT("abc0000e", 0, one, "y", "0:abc! 3:0000e");
	EXPECT_CUT("abc00000000", 0, one, "y", "0:abc! 3:00000000"); /* more than writers pad */
	EXPECT_CUT("abc00000efgh", 8, one, "y", "0:abc! +105 108:efgh");
}

/*
 * Makes AUXTRACE records from windows of a trace with 4 PSB segments. @want: the size of each span.
 */
static void expect_windows(bool samples, bool by_content, const size_t (*windows)[3], size_t n,
			   const char *want)
{
	struct ptc_index ix = PTC_INDEX_INIT;
	struct ptc_stream s = { .n = 0 };
	struct ptc_buf trace = PTC_BUF_INIT;
	struct ptc_file *f;
	struct ptc_err err;
	struct ptc_rec rec;
	uint64_t pos = 0;
	uint8_t *bytes;
	struct pd p;
	char got[128] = "";
	size_t len, i;

	for (i = 0; i < 4; i++) {
		pt_psb(&trace);
		pt_tsc(&trace, 100 + i);
		while (trace.len % 64)
			ptc_buf_u8(&trace, 0x99);
	}
	pd_init_pt(&p, NULL);
	for (i = 0; i < n; i++)
		pd_auxtrace(&p,
			    &(struct ptc_auxtrace){ .offset = windows[i][2], .tid = 1, .cpu = -1 },
			    trace.bytes + windows[i][0], windows[i][1]);
	bytes = pd_finish(&p, &len);
	cr_assert_eq(ptc_file_open_bytes(bytes, len, "test", &f, &err), 0);
	while (ptc_file_next(f, &pos, &rec, &err) > 0)
		if (rec.type == PTC_REC_AUXTRACE)
			cr_assert_eq(ptc_index_add(&ix, f, &rec, &err), 0);
	ix.queues[0].samples = samples;
	cr_assert_eq(ptc_stream_join(&s, f, &ix.queues[0], by_content, &err), 0);
	for (i = 0; i < s.n; i++) {
		uint8_t all[256];
		size_t at = 0;

		cr_assert(s.spans[i].len <= sizeof(all));
		ptc_span_read(&s.spans[i], 0, all, s.spans[i].len);
		while (memcmp(trace.bytes + at, all, s.spans[i].len) != 0)
			at++;
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%zu+%zu lost %d; ", at,
			 s.spans[i].len, (int)s.spans[i].lost);
	}
	cr_assert_str_eq(got, want, "got %s, want %s", got, want);
	ptc_stream_release(&s);
	ptc_index_release(&ix);
	ptc_file_free(f);
	free(bytes);
	pd_release(&p);
	ptc_buf_release(&trace);
}

#define EXPECT_WINDOWS(samples, by_content, windows, want)                                         \
	expect_windows(samples, by_content, windows, sizeof(windows) / sizeof(*(windows)), want)

Test(stream, snapshots_that_overlap_are_joined_by_what_is_in_them)
{
	/* from, length, offset: a position in the ring buffer, which is ambiguous */
	static const size_t back[][3] = { { 0, 160, 512 }, { 40, 216, 0 } };
	static const size_t apart[][3] = { { 0, 96, 512 }, { 128, 128, 0 } };
	static const size_t exact[][3] = { { 0, 96, 0 }, { 64, 128, 96 } };
	static const size_t follows[][3] = { { 0, 96, 0 }, { 96, 160, 96 } };
	static const size_t beyond[][3] = { { 0, 160, 0 }, { 128, 128, 1000 } };

	EXPECT_WINDOWS(false, false, back, "0+256 lost 0; ");
	EXPECT_WINDOWS(false, true, back, "0+256 lost 0; ");
	EXPECT_WINDOWS(false, false, apart, "0+96 lost 0; 128+128 lost 0; ");
	EXPECT_WINDOWS(false, true, exact, "0+192 lost 0; ");
	EXPECT_WINDOWS(false, true, follows, "0+256 lost 0; ");
	EXPECT_WINDOWS(false, true, beyond, "0+256 lost 0; ");
	EXPECT_WINDOWS(false, false, beyond, "0+160 lost 0; 128+128 lost 840; ");
}

Test(stream, samples_are_joined_only_where_they_overlap)
{
	static const size_t windows[][3] = { { 0, 96, 0 }, { 64, 96, 96 }, { 160, 96, 192 } };

	EXPECT_WINDOWS(true, false, windows, "0+160 lost 0; 160+96 lost 0; ");
}

/* PSBs in parts of any size are found as in one part, also if a PSB has extra bytes. */
Test(stream, a_psb_is_found_wherever_parts_meet)
{
	enum { FRONT = 20, TWICE = 4, LEN = 64 };
	struct ptc_part parts[LEN];
	uint8_t bytes[LEN];
	size_t twice, size, at, from;

	for (twice = 0; twice <= TWICE; twice += 2) {
		memset(bytes, 0x59, LEN);
		for (at = 0; at < PTC_PSB_LEN + twice; at += 2)
			memcpy(bytes + FRONT + at, ptc_psb, 2);
		for (size = 1; size <= LEN; size++) {
			struct ptc_span sp = { .len = LEN, .parts = parts };

			for (at = 0; at < LEN; at += size)
				parts[sp.nparts++] =
					(struct ptc_part){ bytes + at, at,
							   LEN - at < size ? LEN - at : size };
			for (from = 0; from < LEN; from++)
				cr_assert_eq(ptc_span_next_psb(&sp, from),
					     ptc_pkt_next_psb(bytes, LEN, from));
		}
		cr_assert_eq(ptc_pkt_next_psb(bytes, LEN, 0), FRONT + twice);
	}
}
