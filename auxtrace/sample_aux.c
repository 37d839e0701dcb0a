/* SPDX-License-Identifier: MIT */
#include "auxtrace/sample_aux.h"

#include "base/err.h"

/* Skip @n elements of @size bytes. */
static bool skip_array(struct ptc_cur *c, uint64_t n, size_t size)
{
	return n <= ptc_cur_left(c) / size && ptc_cur_skip(c, (size_t)n * size);
}

static bool skip_read(struct ptc_cur *c, uint64_t format)
{
	const size_t times = (format & PERF_FORMAT_TOTAL_TIME_ENABLED ? 8u : 0u) +
			     (format & PERF_FORMAT_TOTAL_TIME_RUNNING ? 8u : 0u);
	const size_t value =
		8u + (format & PERF_FORMAT_ID ? 8u : 0u) + (format & PERF_FORMAT_LOST ? 8u : 0u);
	uint64_t n;

	if (!(format & PERF_FORMAT_GROUP))
		return ptc_cur_skip(c, times + value);
	return ptc_cur_le64(c, &n) && ptc_cur_skip(c, times) && skip_array(c, n, value);
}

static bool skip_raw(struct ptc_cur *c)
{
	uint32_t n;

	return ptc_cur_le32(c, &n) && ptc_cur_skip(c, n);
}

static bool skip_branches(struct ptc_cur *c, uint64_t type)
{
	uint64_t n;

	if (!ptc_cur_le64(c, &n) || ((type & PERF_SAMPLE_BRANCH_HW_INDEX) && !ptc_cur_skip(c, 8)) ||
	    !skip_array(c, n, 24))
		return false;
	return !(type & PERF_SAMPLE_BRANCH_COUNTERS) || skip_array(c, n, 8);
}

static bool skip_regs(struct ptc_cur *c, uint64_t mask)
{
	uint64_t abi;

	return ptc_cur_le64(c, &abi) &&
	       (!abi || ptc_cur_skip(c, 8 * (size_t)__builtin_popcountll(mask)));
}

static bool skip_stack(struct ptc_cur *c)
{
	uint64_t n;

	/* behind the bytes, if there are any, how many of them count */
	return ptc_cur_le64(c, &n) && (!n || (skip_array(c, n, 1) && ptc_cur_skip(c, 8)));
}

static bool skip_callchain(struct ptc_cur *c)
{
	uint64_t n;

	return ptc_cur_le64(c, &n) && skip_array(c, n, 8);
}

/* Everything between PERIOD and AUX. */
static bool skip_fields(struct ptc_cur *c, const struct perf_event_attr *attr)
{
	const uint64_t words = PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION;
	const uint64_t last = PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP |
			      PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE;
	const uint64_t type = attr->sample_type;

	return (!(type & PERF_SAMPLE_READ) || skip_read(c, attr->read_format)) &&
	       (!(type & PERF_SAMPLE_CALLCHAIN) || skip_callchain(c)) &&
	       (!(type & PERF_SAMPLE_RAW) || skip_raw(c)) &&
	       (!(type & PERF_SAMPLE_BRANCH_STACK) || skip_branches(c, attr->branch_sample_type)) &&
	       (!(type & PERF_SAMPLE_REGS_USER) || skip_regs(c, attr->sample_regs_user)) &&
	       (!(type & PERF_SAMPLE_STACK_USER) || skip_stack(c)) &&
	       (!(type & PERF_SAMPLE_WEIGHT_TYPE) || ptc_cur_skip(c, 8)) &&
	       ptc_cur_skip(c, 8 * (size_t)__builtin_popcountll(type & words)) &&
	       (!(type & PERF_SAMPLE_REGS_INTR) || skip_regs(c, attr->sample_regs_intr)) &&
	       ptc_cur_skip(c, 8 * (size_t)__builtin_popcountll(type & last));
}

int ptc_sample_aux(const struct ptc_rec *rec, const struct perf_event_attr *attr,
		   struct ptc_sample *ret, struct ptc_cur *ret_aux, struct ptc_err *err)
{
	struct ptc_cur c = rec->body;
	struct ptc_cur bytes;
	struct ptc_sample s;
	uint64_t n;

	if (!(attr->sample_type & PERF_SAMPLE_AUX))
		return 0;
	if (!ptc_sample_parse(&c, attr->sample_type, &s) || !skip_fields(&c, attr) ||
	    !ptc_cur_le64(&c, &n) || n > ptc_cur_left(&c) || !ptc_cur_sub(&c, (size_t)n, &bytes))
		return ptc_fail_at(err, PTC_E_FORMAT, rec->off,
				   "SAMPLE record is too short for its fields");
	if (!n)
		return 0;
	*ret = s;
	*ret_aux = bytes;
	return 1;
}
