/* SPDX-License-Identifier: MIT */
/* Description: the ledger is read as it was written, by any writer, and is refused when cut. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/record/ledger.h"
#include "auxtrace/record/record.h"
#include "auxtrace/record/userrec.h"
#include "lib_perfdata.h"

enum { FRONT = 8 + PTC_EVENT_TYPE_NAME_MAX, RING = sizeof(struct ptc_ledger_ring) };

/* Returns a ring whose numbers all differ. */
static struct ptc_ledger_ring ring(uint64_t n)
{
	struct ptc_ledger_ring r;
	size_t i;

	for (i = 0; i < RING / 8; i++)
		memcpy((uint8_t *)&r + 8 * i, &(uint64_t){ n * 100 + i }, 8);
	r.tid = -1;
	return r;
}

static struct ptc_rec record_of(const uint8_t *body, size_t len)
{
	return (struct ptc_rec){ .off = 96,
				 .type = PTC_REC_HEADER_EVENT_TYPE,
				 .body = ptc_cur_init(body, len) };
}

/* Writes a record body with @n entries of @size bytes; each number is its position. */
static void lay_out(struct ptc_buf *b, uint32_t kind, uint32_t size, uint64_t n)
{
	uint64_t i;

	ptc_buf_le64(b, PTC_LEDGER_ID);
	ptc_buf_zero(b, PTC_EVENT_TYPE_NAME_MAX);
	ptc_buf_le32(b, kind);
	ptc_buf_le32(b, size);
	ptc_buf_le64(b, n);
	for (i = 0; i < n * size / 8; i++)
		ptc_buf_le64(b, i + 1);
}

Test(ledger, what_is_put_is_read_in_as_many_records_as_it_takes)
{
	enum { N = 1000 };
	struct ptc_ledger_ring *rings = calloc(N, sizeof(*rings)), got;
	const struct ptc_ledger_event events[2] = { { 1, 2, 3, 4, 5 }, { 6, 7, 8, 9, 10 } };
	struct ptc_buf b = PTC_BUF_INIT;
	size_t i, nrings = 0, nevents = 0, records = 0;
	struct ptc_ledger_event event;
	struct ptc_ledger l;
	struct ptc_rec rec;
	struct ptc_err err;
	struct ptc_cur c;

	for (i = 0; i < N; i++)
		rings[i] = ring(i);
	ptc_ledger_put_rings(&b, rings, N);
	ptc_ledger_put_events(&b, events, 2);
	cr_assert_not(ptc_buf_failed(&b));
	c = ptc_cur_init(b.bytes, b.len);
	while (ptc_cur_left(&c)) {
		cr_assert_eq(ptc_rec_next(&c, 0, &rec, &err), 1);
		cr_assert_eq(ptc_ledger_parse(&rec, &l, &err), 1);
		while (ptc_ledger_next_ring(&l, &got))
			cr_assert_eq(memcmp(&got, &rings[nrings++], sizeof(got)), 0);
		while (ptc_ledger_next_event(&l, &event))
			cr_assert_eq(memcmp(&event, &events[nevents++], sizeof(event)), 0);
		records++;
	}
	cr_assert(nrings == N && nevents == 2 && records > 2, "%zu, %zu in %zu", nrings, nevents,
		  records);
	ptc_buf_release(&b);
	free(rings);
}

Test(ledger, of_nothing_there_is_nothing)
{
	struct ptc_buf b = PTC_BUF_INIT;

	ptc_ledger_put_rings(&b, NULL, 0);
	ptc_ledger_put_events(&b, NULL, 0);
	cr_assert_eq(b.len, 0);
}

Test(ledger, cut_at_every_length_it_is_refused)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_ledger l;
	struct ptc_err err;
	size_t len;

	lay_out(&b, PTC_LEDGER_EVENTS, sizeof(struct ptc_ledger_event), 2);
	for (len = 0; len <= b.len; len++) {
		uint8_t *bytes = pd_exact(b.bytes, len);
		const struct ptc_rec rec = record_of(bytes, len);
		struct ptc_ledger_event e;

		cr_assert_eq(ptc_ledger_parse(&rec, &l, &err), len < b.len ? PTC_E_FORMAT : 1,
			     "length %zu of %zu", len, b.len);
		if (len < b.len)
			cr_assert_eq(err.off, 96);
		else
			while (ptc_ledger_next_event(&l, &e))
				cr_assert(e.failed);
		free(bytes);
	}
	ptc_buf_release(&b);
}

Test(ledger, counts_and_sizes_are_held_against_the_bytes_that_are_there)
{
	static const struct {
		uint32_t size;
		uint64_t n;
	} bad[] = { { 0, 1 },
		    { 4, 1 },
		    { 12, 1 },
		    { 40, 3 },
		    { 80, 2 },
		    { 8, 11 },
		    { UINT32_MAX - 7, 1 },
		    { 40, UINT64_MAX },
		    { 16, UINT64_C(1) << 60 } };
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_ledger l;
	struct ptc_err err;
	struct ptc_rec rec;
	size_t i;

	lay_out(&b, PTC_LEDGER_EVENTS, 40, 2);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memcpy(b.bytes + FRONT + 4, &bad[i].size, 4);
		ptc_buf_set_le64(&b, FRONT + 8, bad[i].n);
		rec = record_of(b.bytes, b.len);
		cr_assert_eq(ptc_ledger_parse(&rec, &l, &err), PTC_E_FORMAT, "case %zu", i);
	}
	ptc_buf_release(&b);
}

Test(ledger, entries_of_an_older_and_of_a_newer_writer)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_ledger_ring r;
	struct ptc_ledger_event e;
	struct ptc_ledger l;
	struct ptc_err err;
	struct ptc_rec rec;

	lay_out(&b, PTC_LEDGER_RINGS, 40, 2); /* five numbers in each entry */
	rec = record_of(b.bytes, b.len);
	cr_assert_eq(ptc_ledger_parse(&rec, &l, &err), 1);
	cr_assert_not(ptc_ledger_next_event(&l, &e), "they are rings");
	cr_assert(ptc_ledger_next_ring(&l, &r) && r.idx == 1 && r.data_read == 5);
	cr_assert(!r.data_stored && !r.restarts, "what is not there is 0");
	cr_assert(ptc_ledger_next_ring(&l, &r) && r.idx == 6 && !ptc_ledger_next_ring(&l, &r));
	ptc_buf_reset(&b);
	lay_out(&b, PTC_LEDGER_EVENTS, 64, 2); /* eight numbers in each entry */
	rec = record_of(b.bytes, b.len);
	cr_assert_eq(ptc_ledger_parse(&rec, &l, &err), 1);
	cr_assert(ptc_ledger_next_event(&l, &e) && e.id == 1 && e.failed == 5);
	cr_assert(ptc_ledger_next_event(&l, &e) && e.id == 9);
	ptc_buf_reset(&b);
	lay_out(&b, 77, 16, 1); /* an unknown kind */
	rec = record_of(b.bytes, b.len);
	cr_assert_eq(ptc_ledger_parse(&rec, &l, &err), 1);
	cr_assert(!ptc_ledger_next_event(&l, &e) && !ptc_ledger_next_ring(&l, &r));
	ptc_buf_release(&b);
}

Test(ledger, processors_are_read_as_they_were_put)
{
	const struct ptc_ledger_processor put[2] = { { 0, 8, 6, 151, 2, 0x2c },
						     { 8, 4, 6, 190, 0, 0x2d } };
	struct ptc_ledger_processor p;
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_ledger_source source;
	struct ptc_ledger_field f;
	struct ptc_ledger l;
	struct ptc_rec rec;
	struct ptc_err err;
	struct ptc_cur c;
	size_t i;

	ptc_ledger_put_processors(&b, put, 2);
	c = ptc_cur_init(b.bytes, b.len);
	cr_assert_eq(ptc_rec_next(&c, 0, &rec, &err), 1);
	cr_assert_eq(ptc_ledger_parse(&rec, &l, &err), 1);
	cr_assert_not(ptc_ledger_next_source(&l, &source));
	for (i = 0; i < 2; i++) {
		cr_assert(ptc_ledger_next_processor(&l, &p));
		cr_assert_eq(memcmp(&p, &put[i], sizeof(p)), 0);
	}
	cr_assert_not(ptc_ledger_next_processor(&l, &p));
	cr_assert(ptc_ledger_processor_field(&put[1], 5, &f) && f.value == 0x2d && !f.is_signed);
	cr_assert_str_eq(f.name, "microcode");
	cr_assert_not(ptc_ledger_processor_field(&put[1], 6, &f));
	ptc_buf_release(&b);
}

Test(ledger, other_records_are_none)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_ledger l;
	struct ptc_err err;
	struct ptc_rec rec;

	lay_out(&b, PTC_LEDGER_RINGS, 8, 1);
	rec = record_of(b.bytes, b.len);
	rec.type = PTC_REC_FINISHED_ROUND;
	cr_assert_eq(ptc_ledger_parse(&rec, &l, &err), 0);
	ptc_buf_set_le64(&b, 0, 3); /* the name of an event */
	rec = record_of(b.bytes, FRONT);
	cr_assert_eq(ptc_ledger_parse(&rec, &l, &err), 0);
	ptc_buf_release(&b);
}

Test(ledger, each_number_has_a_name_and_is_added)
{
	struct ptc_ledger_ring a = ring(1), b = ring(2), sum = a;
	const struct ptc_ledger_event e = { 1, 2, 3, 4, 5 };
	struct ptc_ledger_field x, y, z;
	size_t i;

	ptc_ledger_add(&sum, &b);
	for (i = 0; ptc_ledger_ring_field(&a, i, &x); i++) {
		cr_assert(ptc_ledger_ring_field(&b, i, &y) && ptc_ledger_ring_field(&sum, i, &z));
		cr_assert_eq(z.value, i < 3 ? x.value : x.value + y.value, "%s", x.name);
		cr_assert_eq(x.is_signed, !strcmp(x.name, "cpu") || !strcmp(x.name, "tid"));
	}
	cr_assert_eq(i, RING / 8);
	for (i = 0; ptc_ledger_event_field(&e, i, &x); i++)
		cr_assert_eq(x.value, i + 1);
	cr_assert_eq(i, 5);
	(void)ptc_ledger_ring_field(&a, 9, &x);
	cr_assert(!strcmp(x.name, "aux_made") && x.value == a.aux_made);
	(void)ptc_ledger_ring_field(&a, 18, &x);
	cr_assert(!strcmp(x.name, "restarts") && x.value == a.restarts);
}
