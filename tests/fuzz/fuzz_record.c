/* SPDX-License-Identifier: MIT */
/*
 * One record through every parser: its type, its misc, fields of its attr, then its body.
 * lib_walk.h lists the assertions.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "lib_walk.h"

/* Reads the fields at the beginning of the input. */
static bool take_head(struct ptc_cur *c, struct ptc_rec *rec, struct perf_event_attr *attr)
{
	uint64_t sample_type, read_format, branch, user, intr;
	uint8_t type;

	if (!ptc_cur_u8(c, &type) || !ptc_cur_le16(c, &rec->misc) ||
	    !ptc_cur_le64(c, &sample_type) || !ptc_cur_le64(c, &read_format) ||
	    !ptc_cur_le64(c, &branch) || !ptc_cur_le64(c, &user) || !ptc_cur_le64(c, &intr))
		return false;
	rec->type = type;
	attr->sample_type = sample_type;
	attr->read_format = read_format;
	attr->branch_sample_type = branch;
	attr->sample_regs_user = user;
	attr->sample_regs_intr = intr;
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct ptc_cur c = ptc_cur_init(bytes, len);
	struct ptc_rec rec = { .off = 0 };
	struct perf_event_attr attr;
	uint8_t *copy;
	size_t n;

	memset(&attr, 0, sizeof(attr));
	if (!take_head(&c, &rec, &attr))
		return 0;
	n = ptc_cur_left(&c);
	if (n > PTC_REC_MAX - PTC_REC_HEADER_SIZE)
		return 0;
	copy = malloc(n ? n : 1); /* exact size: ASan sees an overread */
	if (!copy)
		abort();
	if (n)
		memcpy(copy, c.pos, n);
	rec.body = ptc_cur_init(copy, n);
	(void)wk_record(&rec, attr.sample_type, &attr);
	(void)wk_record(&rec, 0, NULL);
	free(copy);
	return 0;
}
