/* SPDX-License-Identifier: MIT */
/* Description: the sample_id trailer with every set of fields, and SAMPLE with every field. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/record/sample.h"
#include "lib_numbers.h"
#include "lib_perfdata.h"
#include "lib_walk.h"

static const uint64_t bits[] = {
	PERF_SAMPLE_TID,       PERF_SAMPLE_TIME, PERF_SAMPLE_ID,
	PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,	 PERF_SAMPLE_IDENTIFIER,
};

static uint64_t type_of(unsigned int set)
{
	uint64_t type = PERF_SAMPLE_IP; /* not part of the trailer */
	size_t i;

	for (i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if (set >> i & 1)
			type |= bits[i];
	return type;
}

static const struct ptc_sample_id some = {
	.pid = 11,
	.tid = -1,
	.time = 0x1122334455667788,
	.id = 99,
	.stream_id = 98,
	.cpu = 3,
};

Test(sample, every_set_of_fields_comes_back)
{
	unsigned int set;

	for (set = 0; set < 1u << 6; set++) {
		const uint64_t type = type_of(set);
		struct ptc_sample_id got = { .has = ~UINT64_C(0) };
		struct ptc_buf b = PTC_BUF_INIT;
		struct ptc_cur c;

		ptc_buf_le64(&b, 0xabcdef);
		ptc_sample_id_put(&b, type, &some);
		cr_assert_eq(b.len, 8 + ptc_sample_id_size(type));
		cr_assert_eq(ptc_sample_id_size(type), 8 * (size_t)__builtin_popcount(set));
		c = ptc_cur_init(b.bytes, b.len);
		cr_assert(ptc_sample_id_parse(&c, type, &got));
		cr_assert_eq(ptc_cur_left(&c), 8, "the trailer is cut off, the body stays");
		cr_assert_eq(got.has, type & ~(uint64_t)PERF_SAMPLE_IP);
		if (type & PERF_SAMPLE_TID)
			cr_assert(got.pid == some.pid && got.tid == some.tid);
		if (type & PERF_SAMPLE_TIME)
			cr_assert_eq(got.time, some.time);
		if (type & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER))
			cr_assert_eq(got.id, some.id);
		if (type & PERF_SAMPLE_STREAM_ID)
			cr_assert_eq(got.stream_id, some.stream_id);
		if (type & PERF_SAMPLE_CPU)
			cr_assert_eq(got.cpu, some.cpu);
		ptc_buf_release(&b);
	}
}

Test(sample, the_order_is_the_kernels)
{
	struct ptc_buf b = PTC_BUF_INIT;

	ptc_sample_id_put(&b, type_of(0x3f), &some);
	cr_assert_eq(ptc_le32(b.bytes), 11);
	cr_assert_eq(ptc_le64(b.bytes + 8), some.time);
	cr_assert_eq(ptc_le64(b.bytes + 16), 99);
	cr_assert_eq(ptc_le64(b.bytes + 24), 98);
	cr_assert_eq(ptc_le32(b.bytes + 32), 3);
	cr_assert_eq(ptc_le64(b.bytes + 40), 99);
	ptc_buf_release(&b);
}

Test(sample, a_body_cut_at_every_length_is_too_short)
{
	struct ptc_buf b = PTC_BUF_INIT;
	size_t len;

	ptc_sample_id_put(&b, type_of(0x3f), &some);
	for (len = 0; len < b.len; len++) {
		uint8_t *bytes = pd_exact(b.bytes, len);
		struct ptc_cur c = ptc_cur_init(bytes, len);
		struct ptc_sample_id got;

		cr_assert(!ptc_sample_id_parse(&c, type_of(0x3f), &got), "length %zu", len);
		cr_assert_eq(ptc_cur_left(&c), len);
		free(bytes);
	}
	ptc_buf_release(&b);
}

Test(sample, the_front_of_a_sample_is_read_and_cut_lengths_are_refused)
{
	const uint64_t type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			      PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_STREAM_ID |
			      PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_sample s;
	struct ptc_cur c;
	size_t len;

	ptc_buf_le64(&b, 1); /* IDENTIFIER */
	ptc_buf_le64(&b, 2); /* IP */
	ptc_buf_le32(&b, 3); /* pid */
	ptc_buf_le32(&b, 4); /* tid */
	ptc_buf_le64(&b, 5); /* TIME */
	ptc_buf_le64(&b, 6); /* ADDR */
	ptc_buf_le64(&b, 7); /* STREAM_ID */
	ptc_buf_le64(&b, 8); /* CPU */
	ptc_buf_le64(&b, 9); /* PERIOD */
	for (len = 0; len < b.len; len++) {
		uint8_t *bytes = pd_exact(b.bytes, len);

		c = ptc_cur_init(bytes, len);
		cr_assert(!ptc_sample_parse_front(&c, type, &s), "length %zu", len);
		free(bytes);
	}
	ptc_buf_zero(&b, 8);
	c = ptc_cur_init(b.bytes, b.len);
	cr_assert(ptc_sample_parse_front(&c, type, &s));
	cr_assert_eq(ptc_cur_left(&c), 8);
	cr_assert(s.id.id == 1 && s.ip == 2 && s.id.pid == 3 && s.id.tid == 4 && s.id.time == 5);
	cr_assert(s.addr == 6 && s.id.stream_id == 7 && s.id.cpu == 8 && s.period == 9);
	ptc_buf_release(&b);
}

/* An event with every field. */
static const struct perf_event_attr full = {
	.sample_type = PERF_SAMPLE_MAX - 1 - PERF_SAMPLE_WEIGHT_STRUCT,
	.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST |
		       PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX | PERF_SAMPLE_BRANCH_COUNTERS,
	.sample_regs_user = 0x8000000000000101,
	.sample_regs_intr = 2,
};

/* Lays out the body of a SAMPLE for @attr by hand: every u64 is the number of its position. */
static void lay_out(struct ptc_buf *b, const struct perf_event_attr *attr)
{
	const uint64_t t = attr->sample_type;
	uint64_t i;

#define U64(n) ptc_buf_le64(b, n)
	if (t & PERF_SAMPLE_IDENTIFIER)
		U64(1);
	if (t & PERF_SAMPLE_IP)
		U64(2);
	if (t & PERF_SAMPLE_TID)
		U64(3 | UINT64_C(4) << 32);
	if (t & PERF_SAMPLE_TIME)
		U64(5);
	if (t & PERF_SAMPLE_ADDR)
		U64(6);
	if (t & PERF_SAMPLE_ID)
		U64(1);
	if (t & PERF_SAMPLE_STREAM_ID)
		U64(7);
	if (t & PERF_SAMPLE_CPU)
		U64(8);
	if (t & PERF_SAMPLE_PERIOD)
		U64(9);
	if (t & PERF_SAMPLE_READ) {
		U64(2); /* nr */
		U64(10);
		U64(11);
		for (i = 12; i < 18; i++) /* value id lost, value id lost */
			U64(i);
	}
	if (t & PERF_SAMPLE_CALLCHAIN) {
		U64(3);
		for (i = 20; i < 23; i++)
			U64(i);
	}
	if (t & PERF_SAMPLE_RAW) {
		ptc_buf_le32(b, 12);
		ptc_buf_put(b, "twelve bytes", 12);
	}
	if (t & PERF_SAMPLE_BRANCH_STACK) {
		U64(2);
		U64(30);		  /* hw_idx */
		for (i = 31; i < 37; i++) /* from to flags, from to flags */
			U64(i);
		U64(37); /* counters */
		U64(38);
	}
	if (t & PERF_SAMPLE_REGS_USER) {
		U64(PERF_SAMPLE_REGS_ABI_64);
		for (i = 40; i < 43; i++)
			U64(i);
	}
	if (t & PERF_SAMPLE_STACK_USER) {
		U64(16);
		ptc_buf_put(b, "sixteen bytes of", 16);
		U64(10);
	}
	if (t & PERF_SAMPLE_WEIGHT_TYPE)
		U64(UINT64_C(0x0033002200000011));
	if (t & PERF_SAMPLE_DATA_SRC)
		U64(51);
	if (t & PERF_SAMPLE_TRANSACTION)
		U64(52);
	if (t & PERF_SAMPLE_REGS_INTR) {
		U64(PERF_SAMPLE_REGS_ABI_32);
		U64(53);
	}
	if (t & PERF_SAMPLE_PHYS_ADDR)
		U64(54);
	if (t & PERF_SAMPLE_CGROUP)
		U64(55);
	if (t & PERF_SAMPLE_DATA_PAGE_SIZE)
		U64(56);
	if (t & PERF_SAMPLE_CODE_PAGE_SIZE)
		U64(57);
	if (t & PERF_SAMPLE_AUX) {
		U64(8);
		ptc_buf_put(b, "AUX AREA", 8);
	}
#undef U64
}

static bool is(struct ptc_cur c, const char *text)
{
	return ptc_cur_left(&c) == strlen(text) && (!*text || !memcmp(c.pos, text, strlen(text)));
}

static void check_variable(const struct ptc_sample *s)
{
	const uint64_t has = s->id.has;
	struct ptc_branches branches = s->branches;
	struct ptc_read read = s->read;
	struct ptc_read_value v;
	struct ptc_branch e;
	uint64_t r;

	if (has & PERF_SAMPLE_READ) {
		cr_assert(read.n == 2 && read.time_enabled == 10 && read.time_running == 11);
		cr_assert(ptc_read_next(&read, &v));
		cr_assert(v.value == 12 && v.id == 13 && v.lost == 14);
		cr_assert(ptc_read_next(&read, &v));
		cr_assert(v.value == 15 && v.id == 16 && v.lost == 17);
	}
	cr_assert(!ptc_read_next(&read, &v));
	cr_assert_eq(ptc_cur_left(&s->callchain), has & PERF_SAMPLE_CALLCHAIN ? 24 : 0);
	if (has & PERF_SAMPLE_CALLCHAIN)
		cr_assert_eq(ptc_le64(s->callchain.pos + 16), 22);
	cr_assert(is(s->raw, has & PERF_SAMPLE_RAW ? "twelve bytes" : ""));
	if (has & PERF_SAMPLE_BRANCH_STACK) {
		cr_assert(branches.n == 2 && branches.has_hw_idx && branches.hw_idx == 30);
		cr_assert(ptc_branches_next(&branches, &e));
		cr_assert(e.from == 31 && e.to == 32 && e.counters == 37);
		cr_assert(ptc_branches_next(&branches, &e));
		cr_assert(e.from == 34 && e.to == 35 && e.counters == 38);
	}
	cr_assert(!ptc_branches_next(&branches, &e));
	if (has & PERF_SAMPLE_REGS_USER) {
		cr_assert_eq(s->regs_user.abi, PERF_SAMPLE_REGS_ABI_64);
		cr_assert(ptc_regs_get(&s->regs_user, 0, &r) && r == 40);
		cr_assert(ptc_regs_get(&s->regs_user, 8, &r) && r == 41);
		cr_assert(ptc_regs_get(&s->regs_user, 63, &r) && r == 42);
	}
	cr_assert(!ptc_regs_get(&s->regs_user, 1, &r) && !ptc_regs_get(&s->regs_user, 64, &r));
	cr_assert(is(s->stack_user, has & PERF_SAMPLE_STACK_USER ? "sixteen bytes of" : ""));
	cr_assert_eq(s->stack_user_dyn, has & PERF_SAMPLE_STACK_USER ? 10 : 0);
	if (has & PERF_SAMPLE_REGS_INTR)
		cr_assert(ptc_regs_get(&s->regs_intr, 1, &r) && r == 53);
	cr_assert(is(s->aux, has & PERF_SAMPLE_AUX ? "AUX AREA" : ""));
}

static void check_full(const struct ptc_sample *s, uint64_t type)
{
	cr_assert_eq(s->id.has, type);
#define SET(bit, v) (type & PERF_SAMPLE_##bit ? v##u : 0u)
	cr_assert_eq(s->ip, SET(IP, 2));
	cr_assert(s->id.pid == (int)SET(TID, 3) && s->id.tid == (int)SET(TID, 4));
	cr_assert_eq(s->id.time, SET(TIME, 5));
	cr_assert_eq(s->addr, SET(ADDR, 6));
	cr_assert_eq(s->id.id, type & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER) ? 1 : 0);
	cr_assert_eq(s->id.stream_id, SET(STREAM_ID, 7));
	cr_assert_eq(s->id.cpu, SET(CPU, 8));
	cr_assert_eq(s->period, SET(PERIOD, 9));
	check_variable(s);
	cr_assert_eq(s->weight.var1_dw, type & PERF_SAMPLE_WEIGHT_TYPE ? 0x11 : 0);
	cr_assert_eq(s->weight.var2_w, type & PERF_SAMPLE_WEIGHT_TYPE ? 0x22 : 0);
	cr_assert_eq(s->weight.var3_w, type & PERF_SAMPLE_WEIGHT_TYPE ? 0x33 : 0);
	cr_assert_eq(s->data_src, SET(DATA_SRC, 51));
	cr_assert_eq(s->transaction, SET(TRANSACTION, 52));
	cr_assert_eq(s->phys_addr, SET(PHYS_ADDR, 54));
	cr_assert_eq(s->cgroup, SET(CGROUP, 55));
	cr_assert_eq(s->data_page_size, SET(DATA_PAGE_SIZE, 56));
	cr_assert_eq(s->code_page_size, SET(CODE_PAGE_SIZE, 57));
#undef SET
	cr_assert_eq(ptc_cur_left(&s->rest), 0);
}

static struct ptc_rec whole(const uint8_t *bytes, size_t len)
{
	return (struct ptc_rec){ .off = 80,
				 .type = PERF_RECORD_SAMPLE,
				 .body = ptc_cur_init(bytes, len) };
}

Test(sample, every_field_alone_and_each_left_out_comes_back)
{
	unsigned int bit;
	int without;

	for (bit = 0; bit <= 25; bit++) {
		for (without = 0; without < 2; without++) {
			const uint64_t one = (UINT64_C(1) << bit) & (PERF_SAMPLE_MAX - 1);
			struct perf_event_attr attr = full;
			struct ptc_buf b = PTC_BUF_INIT, again = PTC_BUF_INIT;
			struct ptc_sample s;
			struct ptc_err err;
			struct ptc_rec rec;
			uint8_t *bytes;

			attr.sample_type = without ? full.sample_type & ~one : one;
			lay_out(&b, &attr);
			bytes = pd_exact(b.bytes, b.len);
			rec = whole(bytes, b.len);
			cr_assert_eq(ptc_sample_parse(&rec, &attr, &s, &err), 0, "bit %u: %s", bit,
				     err.msg);
			check_full(&s, attr.sample_type);
			ptc_sample_put(&again, PERF_RECORD_MISC_USER, &s, &attr);
			cr_assert(!ptc_buf_failed(&again));
			cr_assert_eq(again.len, 8 + b.len, "bit %u", bit);
			cr_assert(ptc_le32(again.bytes) == PERF_RECORD_SAMPLE &&
				  ptc_le16(again.bytes + 4) == PERF_RECORD_MISC_USER);
			if (b.len)
				cr_assert_eq(memcmp(again.bytes + 8, b.bytes, b.len), 0, "bit %u",
					     bit);
			free(bytes);
			ptc_buf_release(&b);
			ptc_buf_release(&again);
		}
	}
}

Test(sample, a_whole_sample_cut_at_every_length_is_refused_and_the_field_named)
{
	struct ptc_buf b = PTC_BUF_INIT;
	size_t len;

	lay_out(&b, &full);
	for (len = 0; len < b.len; len++) {
		uint8_t *bytes = pd_exact(b.bytes, len);
		const struct ptc_rec rec = whole(bytes, len);
		struct ptc_sample s;
		struct ptc_err err;

		cr_assert_eq(ptc_sample_parse(&rec, &full, &s, &err), PTC_E_FORMAT, "length %zu",
			     len);
		cr_assert_eq(err.off, 80);
		free(bytes);
		if (len == b.len - 1)
			cr_assert_not_null(strstr(err.msg, "ends inside its AUX"), "%s", err.msg);
	}
	ptc_buf_release(&b);
}

/* Checks one field whose length is in its first @size bytes. */
static void check_length(uint64_t bit, size_t size, uint64_t length, bool good)
{
	struct perf_event_attr attr = full;
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_sample s;
	struct ptc_err err;
	struct ptc_rec rec;
	uint8_t *bytes;
	size_t i;

	attr.sample_type = bit;
	lay_out(&b, &attr);
	bytes = pd_exact(b.bytes, b.len);
	for (i = 0; i < size; i++)
		bytes[i] = (uint8_t)(length >> 8 * i);
	rec = whole(bytes, b.len);
	cr_assert_eq(ptc_sample_parse(&rec, &attr, &s, &err), good ? 0 : PTC_E_FORMAT,
		     "bit 0x%llx length 0x%llx", (unsigned long long)bit,
		     (unsigned long long)length);
	free(bytes);
	ptc_buf_release(&b);
}

Test(sample, lengths_are_held_against_the_bytes_that_are_there)
{
	static const struct {
		uint64_t bit;
		size_t size;
		uint64_t exact;
		bool less_fits; /* the bytes left over count as rest */
	} fields[] = {
		{ PERF_SAMPLE_READ, 8, 2, true },	  { PERF_SAMPLE_CALLCHAIN, 8, 3, true },
		{ PERF_SAMPLE_RAW, 4, 12, true },	  { PERF_SAMPLE_BRANCH_STACK, 8, 2, true },
		{ PERF_SAMPLE_STACK_USER, 8, 16, false }, { PERF_SAMPLE_AUX, 8, 8, true },
	};
	size_t i;
	unsigned int bit;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const uint64_t exact = fields[i].exact;

		check_length(fields[i].bit, fields[i].size, 0, true);
		check_length(fields[i].bit, fields[i].size, exact - 1, fields[i].less_fits);
		check_length(fields[i].bit, fields[i].size, exact, true);
		check_length(fields[i].bit, fields[i].size, exact + 1, false);
		for (bit = 5; bit < 8 * fields[i].size; bit++) { /* the product wraps around */
			check_length(fields[i].bit, fields[i].size, UINT64_C(1) << bit, false);
			check_length(fields[i].bit, fields[i].size, exact + (UINT64_C(1) << bit),
				     false);
		}
		check_length(fields[i].bit, fields[i].size, UINT64_MAX, false);
	}
}

Test(sample, more_stack_copied_than_there_was_room_for_is_refused)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_STACK_USER };
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_sample s;
	struct ptc_err err;
	struct ptc_rec rec;

	lay_out(&b, &attr);
	b.bytes[24] = 16;
	rec = whole(b.bytes, b.len);
	cr_assert_eq(ptc_sample_parse(&rec, &attr, &s, &err), 0);
	b.bytes[24] = 17;
	cr_assert_eq(ptc_sample_parse(&rec, &attr, &s, &err), PTC_E_FORMAT);
	ptc_buf_release(&b);
}

Test(sample, a_branch_stack_without_entries_may_leave_out_its_index)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_BRANCH_STACK |
						       PERF_SAMPLE_PHYS_ADDR,
					.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX };
	const uint8_t bytes[24] = { [8] = 7, [16] = 9 };
	struct ptc_rec rec = whole(bytes, 16); /* nr PHYS_ADDR */
	struct ptc_sample s;
	struct ptc_err err;

	cr_assert_eq(ptc_sample_parse(&rec, &attr, &s, &err), 0);
	cr_assert(!s.branches.has_hw_idx && !s.branches.n && s.phys_addr == 7);
	rec = whole(bytes, 24); /* nr hw_idx PHYS_ADDR */
	cr_assert_eq(ptc_sample_parse(&rec, &attr, &s, &err), 0);
	cr_assert(s.branches.has_hw_idx && s.branches.hw_idx == 7 && s.phys_addr == 9);
	rec = whole(bytes, 8);
	cr_assert_eq(ptc_sample_parse(&rec, &attr, &s, &err), PTC_E_FORMAT);
}

Test(sample, registers_without_an_abi_have_no_values)
{
	const struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_REGS_USER |
							     PERF_SAMPLE_DATA_SRC,
					      .sample_regs_user = 0xff };
	const uint8_t bytes[16] = { [8] = 5 };
	const struct ptc_rec rec = whole(bytes, sizeof(bytes));
	struct ptc_sample s;
	struct ptc_err err;
	uint64_t v;

	cr_assert_eq(ptc_sample_parse(&rec, &attr, &s, &err), 0);
	cr_assert(s.regs_user.abi == 0 && s.data_src == 5 && !ptc_regs_get(&s.regs_user, 0, &v));
}

Test(sample, what_a_newer_kernel_adds_is_lent_as_it_is)
{
	const struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_MAX };
	const uint8_t bytes[16] = { 1, [8] = 2 };
	const struct ptc_rec rec = whole(bytes, sizeof(bytes));
	struct ptc_sample s;
	struct ptc_err err;

	cr_assert_eq(ptc_sample_parse(&rec, &attr, &s, &err), 0);
	cr_assert(s.ip == 1 && s.id.has == PERF_SAMPLE_IP && ptc_cur_left(&s.rest) == 8);
}

Test(sample, values_of_an_unknown_read_format_are_refused_by_name)
{
	const struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_READ,
					      .read_format = PERF_FORMAT_MAX };
	const uint8_t bytes[16] = { 0 };
	const struct ptc_rec rec = whole(bytes, sizeof(bytes));
	struct ptc_sample s;
	struct ptc_err err;

	cr_assert_eq(ptc_sample_parse(&rec, &attr, &s, &err), PTC_E_UNSUPPORTED);
	cr_assert_not_null(strstr(err.msg, "read_format 0x20"));
}

Test(sample, the_two_forms_of_weight_are_the_same_bytes)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_WEIGHT_STRUCT };
	const struct ptc_sample s = { .weight = { .var1_dw = 0x11, .var2_w = 2, .var3_w = 3 } };
	struct ptc_buf b = PTC_BUF_INIT;

	ptc_sample_put(&b, 0, &s, &attr);
	cr_assert_eq(ptc_le64(b.bytes + 8), UINT64_C(0x0003000200000011));
	ptc_buf_release(&b);
}

static void check_not_built(const struct ptc_sample *s, const struct perf_event_attr *attr)
{
	struct ptc_buf b = PTC_BUF_INIT;

	ptc_sample_put(&b, 0, s, attr);
	cr_assert(ptc_buf_failed(&b));
	ptc_buf_release(&b);
}

Test(sample, parts_that_contradict_the_attr_are_not_built)
{
	static const uint8_t some_bytes[48];
	const struct perf_event_attr regs = { .sample_type = PERF_SAMPLE_REGS_INTR,
					      .sample_regs_intr = 7 };
	const struct perf_event_attr branches = { .sample_type = PERF_SAMPLE_BRANCH_STACK,
						  .branch_sample_type =
							  PERF_SAMPLE_BRANCH_COUNTERS };
	const struct perf_event_attr chain = { .sample_type = PERF_SAMPLE_CALLCHAIN };
	const struct perf_event_attr stack = { .sample_type = PERF_SAMPLE_STACK_USER };
	struct ptc_sample s = { 0 };

	s.regs_intr.abi = 2;
	s.regs_intr.values = ptc_cur_init(some_bytes, 16);
	check_not_built(&s, &regs);
	s.branches.entries = ptc_cur_init(some_bytes, 48);
	s.branches.counters = ptc_cur_init(some_bytes, 8);
	check_not_built(&s, &branches);
	s.callchain = ptc_cur_init(some_bytes, 12);
	check_not_built(&s, &chain);
	s.stack_user = ptc_cur_init(some_bytes, 16);
	s.stack_user_dyn = 17;
	check_not_built(&s, &stack);
}

Test(sample, raw_and_aux_are_padded_as_the_kernel_pads_them)
{
	const struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_RAW | PERF_SAMPLE_AUX };
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_sample s = { 0 };

	s.raw = ptc_cur_init("abcde", 5);
	s.aux = ptc_cur_init("xyz", 3);
	ptc_sample_put(&b, 0, &s, &attr);
	cr_assert_eq(b.len, 8 + 16 + 16);
	cr_assert_eq(ptc_le32(b.bytes + 8), 12);
	cr_assert_eq(memcmp(b.bytes + 12, "abcde\0\0\0\0\0\0\0", 12), 0);
	cr_assert_eq(ptc_le64(b.bytes + 24), 8);
	cr_assert_eq(memcmp(b.bytes + 32, "xyz\0\0\0\0\0", 8), 0);
	ptc_buf_release(&b);
}

static void try_sample(const void *ctx, const uint8_t *bytes, size_t len)
{
	const struct ptc_rec rec = whole(bytes, len);

	(void)wk_record(&rec, 0, ctx);
}

/* Tests all fields, each field alone, and each form of READ. */
Test(sample, no_number_at_any_place_leads_outside)
{
	unsigned int bit;

	for (bit = 0; bit <= 25; bit++) {
		const uint64_t one = (UINT64_C(1) << bit) & (PERF_SAMPLE_MAX - 1);
		struct perf_event_attr attr = full;
		struct ptc_buf b = PTC_BUF_INIT;

		attr.sample_type = one ? one : full.sample_type;
		lay_out(&b, &attr);
		nb_each(b.bytes, b.len, try_sample, &attr);
		ptc_buf_release(&b);
	}
}
