/* SPDX-License-Identifier: MIT */
#include "auxtrace/record/record.h"

#include "auxtrace/record/layout.h"
#include "base/err.h"

static const char *const kernel_names[] = {
	[PERF_RECORD_MMAP] = "MMAP",
	[PERF_RECORD_LOST] = "LOST",
	[PERF_RECORD_COMM] = "COMM",
	[PERF_RECORD_EXIT] = "EXIT",
	[PERF_RECORD_THROTTLE] = "THROTTLE",
	[PERF_RECORD_UNTHROTTLE] = "UNTHROTTLE",
	[PERF_RECORD_FORK] = "FORK",
	[PERF_RECORD_READ] = "READ",
	[PERF_RECORD_SAMPLE] = "SAMPLE",
	[PERF_RECORD_MMAP2] = "MMAP2",
	[PERF_RECORD_AUX] = "AUX",
	[PERF_RECORD_ITRACE_START] = "ITRACE_START",
	[PERF_RECORD_LOST_SAMPLES] = "LOST_SAMPLES",
	[PERF_RECORD_SWITCH] = "SWITCH",
	[PERF_RECORD_SWITCH_CPU_WIDE] = "SWITCH_CPU_WIDE",
	[PERF_RECORD_NAMESPACES] = "NAMESPACES",
	[PERF_RECORD_KSYMBOL] = "KSYMBOL",
	[PERF_RECORD_BPF_EVENT] = "BPF_EVENT",
	[PERF_RECORD_CGROUP] = "CGROUP",
	[PERF_RECORD_TEXT_POKE] = "TEXT_POKE",
	[PERF_RECORD_AUX_OUTPUT_HW_ID] = "AUX_OUTPUT_HW_ID",
	[PERF_RECORD_CALLCHAIN_DEFERRED] = "CALLCHAIN_DEFERRED",
};

static const char *const user_names[] = {
	[PTC_REC_HEADER_ATTR - PTC_REC_USER_START] = "HEADER_ATTR",
	[PTC_REC_HEADER_EVENT_TYPE - PTC_REC_USER_START] = "HEADER_EVENT_TYPE",
	[PTC_REC_HEADER_TRACING_DATA - PTC_REC_USER_START] = "HEADER_TRACING_DATA",
	[PTC_REC_HEADER_BUILD_ID - PTC_REC_USER_START] = "HEADER_BUILD_ID",
	[PTC_REC_FINISHED_ROUND - PTC_REC_USER_START] = "FINISHED_ROUND",
	[PTC_REC_ID_INDEX - PTC_REC_USER_START] = "ID_INDEX",
	[PTC_REC_AUXTRACE_INFO - PTC_REC_USER_START] = "AUXTRACE_INFO",
	[PTC_REC_AUXTRACE - PTC_REC_USER_START] = "AUXTRACE",
	[PTC_REC_AUXTRACE_ERROR - PTC_REC_USER_START] = "AUXTRACE_ERROR",
	[PTC_REC_THREAD_MAP - PTC_REC_USER_START] = "THREAD_MAP",
	[PTC_REC_CPU_MAP - PTC_REC_USER_START] = "CPU_MAP",
	[PTC_REC_STAT_CONFIG - PTC_REC_USER_START] = "STAT_CONFIG",
	[PTC_REC_STAT - PTC_REC_USER_START] = "STAT",
	[PTC_REC_STAT_ROUND - PTC_REC_USER_START] = "STAT_ROUND",
	[PTC_REC_EVENT_UPDATE - PTC_REC_USER_START] = "EVENT_UPDATE",
	[PTC_REC_TIME_CONV - PTC_REC_USER_START] = "TIME_CONV",
	[PTC_REC_HEADER_FEATURE - PTC_REC_USER_START] = "HEADER_FEATURE",
	[PTC_REC_COMPRESSED - PTC_REC_USER_START] = "COMPRESSED",
	[PTC_REC_FINISHED_INIT - PTC_REC_USER_START] = "FINISHED_INIT",
	[PTC_REC_COMPRESSED2 - PTC_REC_USER_START] = "COMPRESSED2",
	[PTC_REC_BPF_METADATA - PTC_REC_USER_START] = "BPF_METADATA",
	[PTC_REC_SCHEDSTAT_CPU - PTC_REC_USER_START] = "SCHEDSTAT_CPU",
	[PTC_REC_SCHEDSTAT_DOMAIN - PTC_REC_USER_START] = "SCHEDSTAT_DOMAIN",
};

const char *ptc_rec_name(uint32_t type)
{
	if (type < sizeof(kernel_names) / sizeof(kernel_names[0]))
		return kernel_names[type];
	if (type >= PTC_REC_USER_START &&
	    type - PTC_REC_USER_START < sizeof(user_names) / sizeof(user_names[0]))
		return user_names[type - PTC_REC_USER_START];
	return NULL;
}

int ptc_rec_next(struct ptc_cur *c, uint64_t off, struct ptc_rec *ret, struct ptc_err *err)
{
	const size_t left = ptc_cur_left(c);
	struct ptc_rec r = { .off = off };
	struct ptc_cur pos = *c;
	uint16_t size;

	if (!left)
		return 0;
	if (!ptc_cur_le32(&pos, &r.type) || !ptc_cur_le16(&pos, &r.misc) ||
	    !ptc_cur_le16(&pos, &size))
		return ptc_fail_at(err, PTC_E_FORMAT, off,
				   "%zu bytes are left where a record should start", left);
	if (size < PTC_REC_HEADER_SIZE)
		return ptc_fail_at(err, PTC_E_FORMAT, off,
				   "a record of type %u has the impossible size %u", r.type, size);
	if (!ptc_cur_sub(&pos, size - (size_t)PTC_REC_HEADER_SIZE, &r.body))
		return ptc_fail_at(err, PTC_E_FORMAT, off,
				   "a record of type %u has size %u, but %zu bytes are left",
				   r.type, size, left);
	*c = pos;
	*ret = r;
	return 1;
}

uint64_t ptc_rec_trailing(const struct ptc_rec *rec)
{
	struct ptc_cur c = rec->body;
	uint64_t size = 0;
	uint32_t text = 0;

	if (rec->type == PTC_REC_AUXTRACE && ptc_cur_le64(&c, &size))
		return size;
	if (rec->type == PTC_REC_HEADER_TRACING_DATA && ptc_cur_le32(&c, &text))
		return text;
	return 0;
}

size_t ptc_rec_begin(struct ptc_buf *b, uint32_t type, uint16_t misc)
{
	const size_t start = b->len;

	ptc_buf_le32(b, type);
	ptc_buf_le16(b, misc);
	ptc_buf_le16(b, 0); /* size, filled in by ptc_rec_end */
	return start;
}

void ptc_rec_end(struct ptc_buf *b, size_t start)
{
	size_t size;

	if (ptc_buf_failed(b))
		return;
	size = b->len - start;
	ptc_buf_zero(b, -size & 7);
	size += -size & 7;
	if (size > PTC_REC_MAX) {
		b->failed = true;
		return;
	}
	ptc_buf_set_le16(b, start + 6, (uint16_t)size);
}
