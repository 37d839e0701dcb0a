/* SPDX-License-Identifier: MIT */
/* Description: bytes of served calls and cells, whole and cut. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cli/serve/call_record.h"
#include "cli/serve/served_call.h"

enum { N = 4 };

static const struct ptc_served_call calls[N] = {
	{ 5, 3, 70000, 0, 0x10, { 100, 7 }, { 120, 7 }, { 0, 0 }, 0 },
	{ 4, 2, 1, 9, 0x23, { 90, 7 }, { 130, 8 }, { 20, 0 }, 1 },
	{ UINT64_MAX,
	  UINT32_MAX,
	  UINT32_MAX,
	  UINT32_MAX,
	  0xff,
	  { 0, 0 },
	  { UINT64_MAX, UINT64_MAX },
	  { UINT64_MAX, 1 },
	  UINT64_MAX },
	{ 0, 0, 0, 0, 0, { 0, 0 }, { 0, 0 }, { 0, 0 }, 0 },
};
static const struct ptc_served_cell cells[N] = {
	{ 5, 3, 7, 0x10, 100, 120, 1, 20, 20 },
	{ 4, 2, 1, 0x23, 90, 130, 3, 25, 20 },
	{ UINT64_MAX, UINT32_MAX, UINT32_MAX, 0xff, 0, UINT64_MAX, UINT64_MAX, 9, 8 },
	{ 0, 0, 0, 0, 0, 0, 1, 0, 0 },
};

static bool same_call(const struct ptc_served_call *a, const struct ptc_served_call *b)
{
	return a->number == b->number && a->depth == b->depth && a->function == b->function &&
	       a->site == b->site && a->how == b->how && a->begin.insns == b->begin.insns &&
	       a->begin.time_ns == b->begin.time_ns && a->end.insns == b->end.insns &&
	       a->end.time_ns == b->end.time_ns && a->inside.insns == b->inside.insns &&
	       a->inside.time_ns == b->inside.time_ns && a->calls == b->calls;
}

static bool same_cell(const struct ptc_served_cell *a, const struct ptc_served_cell *b)
{
	return a->number == b->number && a->depth == b->depth && a->function == b->function &&
	       a->how == b->how && a->begin == b->begin && a->end == b->end &&
	       a->count == b->count && a->busy == b->busy && a->longest == b->longest;
}

/* Reads @n bytes at the end of an allocation. Returns the number of calls, or of cells. */
static int count_read(const struct ptc_buf *b, size_t n, bool of_cells)
{
	uint8_t *bytes = malloc(n ? n : 1);
	struct ptc_numbers from = { bytes, bytes + n, false };
	struct ptc_served_call_codec call_codec = { .last.number = 0 };
	struct ptc_served_cell_codec cell_codec = { .last.number = 0 };
	struct ptc_served_call call;
	struct ptc_served_cell cell;
	int i;

	cr_assert(bytes);
	memcpy(bytes, b->bytes, n);
	for (i = 0; i < N; i++) {
		if (of_cells ? !ptc_served_cell_get(&cell_codec, &from, &cell) :
			       !ptc_served_call_get(&call_codec, &from, &call))
			break;
		if (of_cells)
			cr_assert(same_cell(&cell, &cells[i]), "cell %d", i);
		else
			cr_assert(same_call(&call, &calls[i]), "call %d", i);
	}
	free(bytes);
	return i;
}

static void check_cuts(const struct ptc_buf *b, bool of_cells)
{
	int before = 0;
	size_t n;

	cr_assert_eq(count_read(b, b->len, of_cells), N);
	for (n = 0; n < b->len; n++) {
		const int read = count_read(b, n, of_cells);

		cr_assert(read >= before && read < N, "%zu bytes: %d", n, read);
		before = read;
	}
}

Test(served_call, calls_are_read_as_they_were_written)
{
	struct ptc_served_call_codec codec = { .last.number = 0 };
	struct ptc_buf b = PTC_BUF_INIT;
	int i;

	for (i = 0; i < N; i++)
		ptc_served_call_put(&codec, &calls[i], &b);
	check_cuts(&b, false);
	ptc_buf_release(&b);
}

Test(served_call, cells_are_read_as_they_were_written)
{
	struct ptc_served_cell_codec codec = { .last.number = 0 };
	struct ptc_buf b = PTC_BUF_INIT;
	int i;

	for (i = 0; i < N; i++)
		ptc_served_cell_put(&codec, &cells[i], &b);
	check_cuts(&b, true);
	ptc_buf_release(&b);
}

Test(served_call, records_are_read_as_they_were_written)
{
	int i;

	for (i = 0; i < N; i++) {
		const struct ptc_call_record record = { .caller = 42, .call = calls[i] };
		struct ptc_buf b = PTC_BUF_INIT;
		struct ptc_call_record got;

		ptc_call_record_put(&record, &b);
		cr_assert_eq(b.len, PTC_CALL_RECORD_SIZE);
		ptc_call_record_get(b.bytes, &got);
		cr_assert_eq(got.caller, 42);
		cr_assert(same_call(&got.call, &calls[i]));
		ptc_buf_release(&b);
	}
}
