/* SPDX-License-Identifier: MIT */
#include "auxtrace/record/auxtrace_rec.h"

#include <inttypes.h>

#include "auxtrace/record/layout.h"
#include "base/err.h"

int ptc_auxtrace_parse(struct ptc_cur body, uint64_t off, uint64_t bytes_after,
		       struct ptc_auxtrace *ret, struct ptc_err *err)
{
	struct ptc_auxtrace a;
	uint32_t tid, cpu;

	if (!ptc_cur_le64(&body, &a.size) || !ptc_cur_le64(&body, &a.offset) ||
	    !ptc_cur_le64(&body, &a.reference) || !ptc_cur_le32(&body, &a.idx) ||
	    !ptc_cur_le32(&body, &tid) || !ptc_cur_le32(&body, &cpu))
		return ptc_fail_at(err, PTC_E_FORMAT, off, "AUXTRACE record is too short");
	if (a.size > bytes_after)
		return ptc_fail_at(err, PTC_E_FORMAT, off,
				   "AUXTRACE record claims %" PRIu64 " bytes of trace, %" PRIu64
				   " are there",
				   a.size, bytes_after);
	a.tid = (int32_t)tid;
	a.cpu = (int32_t)cpu;
	*ret = a;
	return 0;
}

void ptc_auxtrace_put(struct ptc_buf *b, const struct ptc_auxtrace *a)
{
	const size_t start = ptc_rec_begin(b, PTC_REC_AUXTRACE, 0);

	ptc_buf_le64(b, a->size);
	ptc_buf_le64(b, a->offset);
	ptc_buf_le64(b, a->reference);
	ptc_buf_le32(b, a->idx);
	ptc_buf_le32(b, (uint32_t)a->tid);
	ptc_buf_le32(b, (uint32_t)a->cpu);
	ptc_buf_le32(b, 0);
	ptc_rec_end(b, start);
}
