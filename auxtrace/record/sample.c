/* SPDX-License-Identifier: MIT */
#include "auxtrace/record/sample.h"

#include <inttypes.h>
#include <stddef.h>

#include "base/err.h"

/* Every field of the trailer takes 8 bytes; TID and CPU are two u32. */
#define TRAILER                                                                                    \
	((uint64_t)(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |  \
		    PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER))

size_t ptc_sample_id_size(uint64_t sample_type)
{
	return 8 * (size_t)__builtin_popcountll(sample_type & TRAILER);
}

static bool get_tid(struct ptc_cur *c, struct ptc_sample_id *id)
{
	uint32_t pid, tid;

	if (!ptc_cur_le32(c, &pid) || !ptc_cur_le32(c, &tid))
		return false;
	id->pid = (int32_t)pid;
	id->tid = (int32_t)tid;
	return true;
}

static bool get_cpu(struct ptc_cur *c, struct ptc_sample_id *id)
{
	return ptc_cur_le32(c, &id->cpu) && ptc_cur_skip(c, 4);
}

bool ptc_sample_id_parse(struct ptc_cur *body, uint64_t sample_type, struct ptc_sample_id *ret)
{
	const size_t size = ptc_sample_id_size(sample_type);
	const size_t left = ptc_cur_left(body);
	struct ptc_sample_id id = { .has = sample_type & TRAILER };
	struct ptc_cur c;

	if (size > left)
		return false;
	c = ptc_cur_init(body->pos + (left - size), size);
	if (((sample_type & PERF_SAMPLE_TID) && !get_tid(&c, &id)) ||
	    ((sample_type & PERF_SAMPLE_TIME) && !ptc_cur_le64(&c, &id.time)) ||
	    ((sample_type & PERF_SAMPLE_ID) && !ptc_cur_le64(&c, &id.id)) ||
	    ((sample_type & PERF_SAMPLE_STREAM_ID) && !ptc_cur_le64(&c, &id.stream_id)) ||
	    ((sample_type & PERF_SAMPLE_CPU) && !get_cpu(&c, &id)) ||
	    ((sample_type & PERF_SAMPLE_IDENTIFIER) && !ptc_cur_le64(&c, &id.id)))
		return false;
	body->end -= size;
	*ret = id;
	return true;
}

void ptc_sample_id_put(struct ptc_buf *b, uint64_t sample_type, const struct ptc_sample_id *id)
{
	if (sample_type & PERF_SAMPLE_TID) {
		ptc_buf_le32(b, (uint32_t)id->pid);
		ptc_buf_le32(b, (uint32_t)id->tid);
	}
	if (sample_type & PERF_SAMPLE_TIME)
		ptc_buf_le64(b, id->time);
	if (sample_type & PERF_SAMPLE_ID)
		ptc_buf_le64(b, id->id);
	if (sample_type & PERF_SAMPLE_STREAM_ID)
		ptc_buf_le64(b, id->stream_id);
	if (sample_type & PERF_SAMPLE_CPU) {
		ptc_buf_le32(b, id->cpu);
		ptc_buf_le32(b, 0);
	}
	if (sample_type & PERF_SAMPLE_IDENTIFIER)
		ptc_buf_le64(b, id->id);
}

bool ptc_sample_parse_front(struct ptc_cur *body, uint64_t sample_type, struct ptc_sample *ret)
{
	const uint64_t known = TRAILER | PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_PERIOD;
	struct ptc_sample_id id = { .has = sample_type & known };
	uint64_t ip = 0, addr = 0, period = 0;
	struct ptc_cur c = *body;

	if (((sample_type & PERF_SAMPLE_IDENTIFIER) && !ptc_cur_le64(&c, &id.id)) ||
	    ((sample_type & PERF_SAMPLE_IP) && !ptc_cur_le64(&c, &ip)) ||
	    ((sample_type & PERF_SAMPLE_TID) && !get_tid(&c, &id)) ||
	    ((sample_type & PERF_SAMPLE_TIME) && !ptc_cur_le64(&c, &id.time)) ||
	    ((sample_type & PERF_SAMPLE_ADDR) && !ptc_cur_le64(&c, &addr)) ||
	    ((sample_type & PERF_SAMPLE_ID) && !ptc_cur_le64(&c, &id.id)) ||
	    ((sample_type & PERF_SAMPLE_STREAM_ID) && !ptc_cur_le64(&c, &id.stream_id)) ||
	    ((sample_type & PERF_SAMPLE_CPU) && !get_cpu(&c, &id)) ||
	    ((sample_type & PERF_SAMPLE_PERIOD) && !ptc_cur_le64(&c, &period)))
		return false;
	*body = c;
	ret->id = id;
	ret->ip = ip;
	ret->addr = addr;
	ret->period = period;
	return true;
}

/* Take a u64 count and that many u64. */
static bool get_words(struct ptc_cur *c, struct ptc_cur *ret)
{
	uint64_t n;

	return ptc_cur_le64(c, &n) && n <= ptc_cur_left(c) / 8 &&
	       ptc_cur_sub(c, (size_t)n * 8, ret);
}

/* Take a u64 length and that many bytes. */
static bool get_bytes(struct ptc_cur *c, struct ptc_cur *ret)
{
	uint64_t len;

	return ptc_cur_le64(c, &len) && len <= ptc_cur_left(c) && ptc_cur_sub(c, (size_t)len, ret);
}

static bool get_regs(struct ptc_cur *c, uint64_t mask, struct ptc_regs *ret)
{
	ret->mask = mask;
	return ptc_cur_le64(c, &ret->abi) &&
	       (!ret->abi || ptc_cur_sub(c, 8 * (size_t)__builtin_popcountll(mask), &ret->values));
}

static bool get_read(struct ptc_cur *c, const struct perf_event_attr *attr, struct ptc_sample *s)
{
	return ptc_read_parse(c, attr->read_format, &s->read);
}

static bool get_callchain(struct ptc_cur *c, const struct perf_event_attr *attr,
			  struct ptc_sample *s)
{
	(void)attr;
	return get_words(c, &s->callchain);
}

static bool get_raw(struct ptc_cur *c, const struct perf_event_attr *attr, struct ptc_sample *s)
{
	uint32_t len;

	(void)attr;
	return ptc_cur_le32(c, &len) && ptc_cur_sub(c, len, &s->raw);
}

/* has_hw_idx and has_counters were set by ptc_sample_parse. */
static bool get_branches(struct ptc_cur *c, const struct perf_event_attr *attr,
			 struct ptc_sample *s)
{
	(void)attr;
	return ptc_branches_parse(c, &s->branches);
}

static bool get_regs_user(struct ptc_cur *c, const struct perf_event_attr *attr,
			  struct ptc_sample *s)
{
	return get_regs(c, attr->sample_regs_user, &s->regs_user);
}

static bool get_stack_user(struct ptc_cur *c, const struct perf_event_attr *attr,
			   struct ptc_sample *s)
{
	(void)attr;
	if (!get_bytes(c, &s->stack_user))
		return false;
	if (!ptc_cur_left(&s->stack_user)) /* without a stack, dyn_size is absent */
		return true;
	return ptc_cur_le64(c, &s->stack_user_dyn) &&
	       s->stack_user_dyn <= ptc_cur_left(&s->stack_user);
}

static bool get_weight(struct ptc_cur *c, const struct perf_event_attr *attr, struct ptc_sample *s)
{
	(void)attr;
	if (!ptc_cur_le64(c, &s->weight.full))
		return false;
	s->weight.var1_dw = (uint32_t)s->weight.full;
	s->weight.var2_w = (uint16_t)(s->weight.full >> 32);
	s->weight.var3_w = (uint16_t)(s->weight.full >> 48);
	return true;
}

static bool get_regs_intr(struct ptc_cur *c, const struct perf_event_attr *attr,
			  struct ptc_sample *s)
{
	return get_regs(c, attr->sample_regs_intr, &s->regs_intr);
}

static bool get_aux(struct ptc_cur *c, const struct perf_event_attr *attr, struct ptc_sample *s)
{
	(void)attr;
	return get_bytes(c, &s->aux);
}

static void put_words(struct ptc_buf *b, struct ptc_cur words)
{
	if (ptc_cur_left(&words) % 8)
		b->failed = true;
	ptc_buf_le64(b, ptc_cur_left(&words) / 8);
	ptc_buf_put(b, words.pos, ptc_cur_left(&words));
}

static void put_regs(struct ptc_buf *b, const struct ptc_regs *r, uint64_t mask)
{
	const size_t n = r->abi ? (size_t)__builtin_popcountll(mask) : 0;

	if (ptc_cur_left(&r->values) != 8 * n)
		b->failed = true;
	ptc_buf_le64(b, r->abi);
	ptc_buf_put(b, r->values.pos, ptc_cur_left(&r->values));
}

static void put_read(struct ptc_buf *b, const struct perf_event_attr *attr,
		     const struct ptc_sample *s)
{
	struct ptc_read r = s->read;

	r.format = attr->read_format;
	ptc_read_put(b, &r);
}

static void put_callchain(struct ptc_buf *b, const struct perf_event_attr *attr,
			  const struct ptc_sample *s)
{
	(void)attr;
	put_words(b, s->callchain);
}

static void put_raw(struct ptc_buf *b, const struct perf_event_attr *attr,
		    const struct ptc_sample *s)
{
	const size_t len = ptc_cur_left(&s->raw);
	const size_t pad = -(4 + len) & 7;

	(void)attr;
	ptc_buf_le32(b, (uint32_t)(len + pad));
	ptc_buf_put(b, s->raw.pos, len);
	ptc_buf_zero(b, pad);
}

static void put_branches(struct ptc_buf *b, const struct perf_event_attr *attr,
			 const struct ptc_sample *s)
{
	struct ptc_branches branches = s->branches;

	branches.has_hw_idx = (attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX) != 0;
	branches.has_counters = (attr->branch_sample_type & PERF_SAMPLE_BRANCH_COUNTERS) != 0;
	ptc_branches_put(b, &branches);
}

static void put_regs_user(struct ptc_buf *b, const struct perf_event_attr *attr,
			  const struct ptc_sample *s)
{
	put_regs(b, &s->regs_user, attr->sample_regs_user);
}

static void put_stack_user(struct ptc_buf *b, const struct perf_event_attr *attr,
			   const struct ptc_sample *s)
{
	const size_t len = ptc_cur_left(&s->stack_user);

	(void)attr;
	if (len % 8 || s->stack_user_dyn > len)
		b->failed = true;
	ptc_buf_le64(b, len);
	if (!len)
		return;
	ptc_buf_put(b, s->stack_user.pos, len);
	ptc_buf_le64(b, s->stack_user_dyn);
}

static void put_weight(struct ptc_buf *b, const struct perf_event_attr *attr,
		       const struct ptc_sample *s)
{
	const struct ptc_weight *w = &s->weight;

	if (attr->sample_type & PERF_SAMPLE_WEIGHT_STRUCT)
		ptc_buf_le64(b, w->var1_dw | (uint64_t)w->var2_w << 32 | (uint64_t)w->var3_w << 48);
	else
		ptc_buf_le64(b, w->full);
}

static void put_regs_intr(struct ptc_buf *b, const struct perf_event_attr *attr,
			  const struct ptc_sample *s)
{
	put_regs(b, &s->regs_intr, attr->sample_regs_intr);
}

static void put_aux(struct ptc_buf *b, const struct perf_event_attr *attr,
		    const struct ptc_sample *s)
{
	const size_t len = ptc_cur_left(&s->aux);
	const size_t pad = -len & 7;

	(void)attr;
	ptc_buf_le64(b, len + pad);
	ptc_buf_put(b, s->aux.pos, len);
	ptc_buf_zero(b, pad);
}

/* The parts after the front, in the kernel's order. A part without functions is one u64. */
#define U64(bit, field)                                                                            \
	{                                                                                          \
		PERF_SAMPLE_##bit, #bit, NULL, NULL, offsetof(struct ptc_sample, field)            \
	}
#define PART(bit, name)                                                                            \
	{                                                                                          \
		PERF_SAMPLE_##bit, #bit, get_##name, put_##name, 0                                 \
	}

static const struct part {
	uint64_t bit;
	const char *name;
	bool (*get)(struct ptc_cur *c, const struct perf_event_attr *attr, struct ptc_sample *s);
	void (*put)(struct ptc_buf *b, const struct perf_event_attr *attr,
		    const struct ptc_sample *s);
	size_t field; /* offset of the u64 in struct ptc_sample */
} parts[] = {
	PART(READ, read),
	PART(CALLCHAIN, callchain),
	PART(RAW, raw),
	PART(BRANCH_STACK, branches),
	PART(REGS_USER, regs_user),
	PART(STACK_USER, stack_user),
	PART(WEIGHT_TYPE, weight),
	U64(DATA_SRC, data_src),
	U64(TRANSACTION, transaction),
	PART(REGS_INTR, regs_intr),
	U64(PHYS_ADDR, phys_addr),
	U64(CGROUP, cgroup),
	U64(DATA_PAGE_SIZE, data_page_size),
	U64(CODE_PAGE_SIZE, code_page_size),
	PART(AUX, aux),
};

enum { NPARTS = sizeof(parts) / sizeof(parts[0]) };

/* Parse all parts. Returns NULL, or the part that does not fit. */
static const struct part *get_parts(struct ptc_cur c, const struct perf_event_attr *attr,
				    struct ptc_sample *s)
{
	const struct part *p;

	for (p = parts; p < parts + NPARTS; p++) {
		if (!(attr->sample_type & p->bit))
			continue;
		if (p->get) {
			if (!p->get(&c, attr, s))
				return p;
		} else if (!ptc_cur_le64(&c, (uint64_t *)(void *)((char *)s + p->field))) {
			return p;
		}
		s->id.has |= attr->sample_type & p->bit;
	}
	s->rest = c;
	return NULL;
}

/*
 * As get_parts. If a branch stack has no entries, hw_idx may be absent: choose the variant that
 * ends exactly at the record's end.
 */
static const struct part *get_parts_any(struct ptc_cur c, const struct perf_event_attr *attr,
					struct ptc_sample *s)
{
	struct ptc_sample with = *s, without = *s;
	const struct part *wrong = get_parts(c, attr, &with);
	const bool exact = !wrong && !ptc_cur_left(&with.rest);

	if (!exact && with.branches.has_hw_idx && !with.branches.n) {
		without.branches.has_hw_idx = false;
		if (!get_parts(c, attr, &without) && !without.branches.n &&
		    !ptc_cur_left(&without.rest)) {
			*s = without;
			return NULL;
		}
	}
	*s = with;
	return wrong;
}

int ptc_sample_parse(const struct ptc_rec *rec, const struct perf_event_attr *attr,
		     struct ptc_sample *ret, struct ptc_err *err)
{
	struct ptc_cur c = rec->body;
	struct ptc_sample s = { 0 };
	const struct part *wrong;

	if (!ptc_sample_parse_front(&c, attr->sample_type, &s))
		return ptc_fail_at(err, PTC_E_FORMAT, rec->off, "SAMPLE record is too short");
	if ((attr->sample_type & PERF_SAMPLE_READ) && !ptc_read_known(attr->read_format))
		return ptc_fail_at(err, PTC_E_UNSUPPORTED, rec->off,
				   "SAMPLE record has values of the unknown read_format 0x%" PRIx64,
				   (uint64_t)attr->read_format);
	if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK) {
		s.branches.has_hw_idx = (attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX) !=
					0;
		s.branches.has_counters =
			(attr->branch_sample_type & PERF_SAMPLE_BRANCH_COUNTERS) != 0;
	}
	wrong = get_parts_any(c, attr, &s);
	if (wrong)
		return ptc_fail_at(err, PTC_E_FORMAT, rec->off, "SAMPLE record ends inside its %s",
				   wrong->name);
	*ret = s;
	return 0;
}

static void put_front(struct ptc_buf *b, uint64_t sample_type, const struct ptc_sample *s)
{
	if (sample_type & PERF_SAMPLE_IDENTIFIER)
		ptc_buf_le64(b, s->id.id);
	if (sample_type & PERF_SAMPLE_IP)
		ptc_buf_le64(b, s->ip);
	ptc_sample_id_put(b, sample_type & (PERF_SAMPLE_TID | PERF_SAMPLE_TIME), &s->id);
	if (sample_type & PERF_SAMPLE_ADDR)
		ptc_buf_le64(b, s->addr);
	ptc_sample_id_put(b,
			  sample_type & (PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU),
			  &s->id);
	if (sample_type & PERF_SAMPLE_PERIOD)
		ptc_buf_le64(b, s->period);
}

void ptc_sample_put(struct ptc_buf *b, uint16_t misc, const struct ptc_sample *s,
		    const struct perf_event_attr *attr)
{
	const size_t start = ptc_rec_begin(b, PERF_RECORD_SAMPLE, misc);
	const struct part *p;

	put_front(b, attr->sample_type, s);
	for (p = parts; p < parts + NPARTS; p++) {
		if (!(attr->sample_type & p->bit))
			continue;
		if (p->put)
			p->put(b, attr, s);
		else
			ptc_buf_le64(b,
				     *(const uint64_t *)(const void *)((const char *)s + p->field));
	}
	ptc_buf_put(b, s->rest.pos, ptc_cur_left(&s->rest));
	ptc_rec_end(b, start);
}

bool ptc_regs_get(const struct ptc_regs *r, unsigned int bit, uint64_t *ret)
{
	struct ptc_cur c = r->values;

	return bit < 64 && (r->mask >> bit & 1) &&
	       ptc_cur_skip(&c, 8 * (size_t)__builtin_popcountll(r->mask &
								 ((UINT64_C(1) << bit) - 1))) &&
	       ptc_cur_le64(&c, ret);
}
