/* SPDX-License-Identifier: MIT */
/* Description: crash state is read as it was written, by any writer, and is refused when cut. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/record/crash_record.h"
#include "auxtrace/record/record.h"
#include "auxtrace/record/userrec.h"
#include "lib_perfdata.h"

enum { FRONT = 8 + PTC_EVENT_TYPE_NAME_MAX, OFF = 96 };

/* Returns a thread in which all numbers differ. */
static struct ptc_crash thread(void)
{
	struct ptc_crash c = { .kind = PTC_CRASH_THREAD, .bytes = ptc_cur_init("worker", 6) };
	size_t i;

	c.u.thread.pid = 1;
	c.u.thread.tid = 2;
	for (i = 0; i < PTC_REG_COUNT; i++)
		c.u.thread.regs[i] = 0x1000 + i;
	return c;
}

static struct ptc_rec record_of(const uint8_t *body, size_t len)
{
	return (struct ptc_rec){ .off = OFF,
				 .type = PTC_REC_HEADER_EVENT_TYPE,
				 .body = ptc_cur_init(body, len) };
}

static struct ptc_crash read_one(struct ptc_cur *c)
{
	struct ptc_crash got;
	struct ptc_rec rec;
	struct ptc_err err;

	cr_assert_eq(ptc_rec_next(c, 0, &rec, &err), 1);
	cr_assert_eq(ptc_crash_parse(&rec, &got, &err), 1);
	return got;
}

Test(crash_record, what_is_put_is_read)
{
	const struct ptc_crash put = thread();
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_crash got;
	struct ptc_cur c;

	ptc_crash_put(&b, &put);
	c = ptc_cur_init(b.bytes, b.len);
	got = read_one(&c);
	cr_assert_eq(got.kind, put.kind);
	cr_assert_eq(got.u.thread.pid, put.u.thread.pid);
	cr_assert_eq(got.u.thread.tid, put.u.thread.tid);
	cr_assert_arr_eq(got.u.thread.regs, put.u.thread.regs, sizeof(put.u.thread.regs));
	cr_assert_eq(ptc_cur_left(&got.bytes), 6);
	cr_assert_eq(memcmp(got.bytes.pos, "worker", 6), 0);
	cr_assert_eq(ptc_cur_left(&c), 0);
	ptc_buf_release(&b);
}

Test(crash_record, memory_comes_in_as_many_records_as_it_takes)
{
	enum { LEN = 3 * PTC_CRASH_BYTES_MAX - 5 };
	uint8_t *bytes = malloc(LEN);
	struct ptc_crash put = { .kind = PTC_CRASH_MEMORY, .bytes = ptc_cur_init(bytes, LEN) };
	struct ptc_buf b = PTC_BUF_INIT;
	size_t i, at = 0, records = 0;
	struct ptc_crash got;
	struct ptc_cur c;

	for (i = 0; i < LEN; i++)
		bytes[i] = (uint8_t)(i * 7);
	put.u.memory.addr = 0x7000;
	ptc_crash_put(&b, &put);
	cr_assert_not(ptc_buf_failed(&b));
	c = ptc_cur_init(b.bytes, b.len);
	for (; ptc_cur_left(&c); records++) {
		got = read_one(&c);
		cr_assert_eq(got.u.memory.addr, 0x7000 + at);
		cr_assert_eq(memcmp(got.bytes.pos, bytes + at, ptc_cur_left(&got.bytes)), 0);
		at += ptc_cur_left(&got.bytes);
	}
	cr_assert(at == LEN && records == 3, "%zu bytes in %zu", at, records);
	ptc_buf_release(&b);
	free(bytes);
}

Test(crash_record, cut_at_every_length_it_is_refused)
{
	struct ptc_crash put = thread(), got;
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err err;
	size_t len, whole;

	ptc_crash_put(&b, &put);
	whole = b.len - PTC_REC_HEADER_SIZE - 2; /* without the six bytes of padding */
	for (len = 0; len <= whole; len++) {
		uint8_t *bytes = pd_exact(b.bytes + PTC_REC_HEADER_SIZE, len);
		const struct ptc_rec rec = record_of(bytes, len);

		cr_assert_eq(ptc_crash_parse(&rec, &got, &err), len < whole ? PTC_E_FORMAT : 1,
			     "length %zu of %zu", len, whole);
		if (len < whole)
			cr_assert_eq(err.off, OFF);
		free(bytes);
	}
	ptc_buf_release(&b);
}

/*
 * Returns a record body with @n numbers, each equal to its position, that claims @len bytes behind
 * the numbers.
 */
static struct ptc_buf lay_out(uint32_t kind, uint32_t n, uint64_t len)
{
	struct ptc_buf b = PTC_BUF_INIT;
	uint64_t i;

	ptc_buf_le64(&b, PTC_CRASH_ID);
	ptc_buf_zero(&b, PTC_EVENT_TYPE_NAME_MAX);
	ptc_buf_le32(&b, kind);
	ptc_buf_le32(&b, n * 8);
	ptc_buf_le64(&b, len);
	for (i = 0; i < n; i++)
		ptc_buf_le64(&b, i + 1);
	return b;
}

Test(crash_record, older_and_newer_writers_are_understood)
{
	struct ptc_buf older = lay_out(PTC_CRASH_SIGNAL, 3, 0);
	struct ptc_buf newer = lay_out(PTC_CRASH_AUXV, 9, 0), other = lay_out(77, 9, 0);
	struct ptc_ledger_field f;
	struct ptc_crash c;
	struct ptc_err err;
	struct ptc_rec rec;

	rec = record_of(older.bytes, older.len);
	cr_assert_eq(ptc_crash_parse(&rec, &c, &err), 1);
	cr_assert(c.u.signal.pid == 1 && c.u.signal.signo == 3 && !c.u.signal.time_ns);
	rec = record_of(newer.bytes, newer.len);
	cr_assert_eq(ptc_crash_parse(&rec, &c, &err), 1);
	cr_assert(c.u.auxv.pid == 1 && !ptc_crash_field(&c, 1, &f));
	rec = record_of(other.bytes, other.len);
	cr_assert_eq(ptc_crash_parse(&rec, &c, &err), 1);
	cr_assert(c.kind == 77 && !ptc_crash_field(&c, 0, &f));
	ptc_buf_release(&older);
	ptc_buf_release(&newer);
	ptc_buf_release(&other);
}

Test(crash_record, a_length_is_held_against_the_bytes_that_are_there)
{
	struct ptc_buf b = lay_out(PTC_CRASH_AUXV, 1, UINT64_MAX);
	struct ptc_rec rec = record_of(b.bytes, b.len);
	struct ptc_crash c;
	struct ptc_err err;

	cr_assert_eq(ptc_crash_parse(&rec, &c, &err), PTC_E_FORMAT);
	ptc_buf_set_le64(&b, FRONT + 8, 0);
	b.bytes[FRONT + 4] = 7; /* cuts a number in half */
	cr_assert_eq(ptc_crash_parse(&rec, &c, &err), PTC_E_FORMAT);
	ptc_buf_release(&b);
}

Test(crash_record, every_number_has_a_name)
{
	const struct ptc_crash c = thread();
	struct ptc_ledger_field f;
	size_t i;

	for (i = 0; ptc_crash_field(&c, i, &f); i++)
		cr_assert(f.name && *f.name);
	cr_assert_eq(i, 3 + PTC_REG_COUNT);
	cr_assert_str_eq(ptc_crash_reg_name(PTC_REG_RIP), "rip");
	cr_assert_str_eq(ptc_crash_reg_name(PTC_REG_COUNT), "?");
}
