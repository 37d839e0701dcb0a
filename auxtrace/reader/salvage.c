/* SPDX-License-Identifier: MIT */
#include "auxtrace/reader/salvage.h"

#include "auxtrace/record/auxtrace_rec.h"

enum { SECTION_SIZE = 16 };

/*
 * Return whether the table of features is at @off. Its sections directly follow it, as all writers
 * write them.
 */
static bool is_table(const struct ptc_file *f, uint64_t off)
{
	const struct ptc_input *in = &f->parts[0].in;
	uint64_t want = off, left, at, size;
	struct ptc_cur c = ptc_cur_init(in->bytes, in->len);
	unsigned int i, n = 0;

	for (i = PTC_FILE_HEADER_SIZE - PTC_FEATURE_BITS / 8; i < PTC_FILE_HEADER_SIZE; i++)
		n += (unsigned int)__builtin_popcount(in->bytes[i]);
	if (!n || !ptc_cur_skip(&c, (size_t)off))
		return false;
	want += (uint64_t)n * SECTION_SIZE;
	for (i = 0; i < n; i++) {
		if (!ptc_cur_le64(&c, &at) || !ptc_cur_le64(&c, &size) || at < want || at > in->len)
			return false;
		left = in->len - at;
		if (size > left)
			return false;
		want = at + size;
	}
	return true;
}

uint64_t ptc_salvage_trace(const struct ptc_file *f, size_t i, uint64_t pos)
{
	const struct ptc_part *p = &f->parts[i];
	const uint64_t at = p->data.off + pos;
	struct ptc_auxtrace a;
	struct ptc_err err;
	struct ptc_cur c;
	struct ptc_rec rec;

	if (p->data.off + p->data.size != p->in.len)
		return 0;
	c = ptc_cur_init(p->in.bytes + at, (size_t)(p->in.len - at));
	if (ptc_rec_next(&c, at, &rec, &err) <= 0 || rec.type != PTC_REC_AUXTRACE ||
	    ptc_auxtrace_parse(rec.body, at, UINT64_MAX, &a, &err) || a.size <= ptc_cur_left(&c))
		return 0;
	return ptc_cur_left(&c) & ~UINT64_C(7);
}

static int salvage_part(struct ptc_file *f, size_t i, struct ptc_err *err)
{
	/*
	 * The features follow the data. So a header without the size of the data does not locate
	 * them.
	 */
	const bool unfinished = !i && f->form != PTC_FORM_PIPE && f->ndamage &&
				f->parts[0].in.bytes[8] == PTC_FILE_HEADER_SIZE;
	struct ptc_part *p = &f->parts[i];
	uint64_t pos = 0, trailing;
	struct ptc_rec rec;
	int rc;

	while ((rc = ptc_part_next(f, i, &pos, &rec, &trailing, err)) > 0)
		f->compressed |= ptc_rec_is_compressed(&rec);
	if (!rc)
		return 0;
	p->cut_trace = ptc_salvage_trace(f, i, pos);
	p->data.size = pos;
	if (unfinished && is_table(f, p->data.off + pos))
		return ptc_header_features(f, p->data.off + pos, err);
	return ptc_file_damaged(f, err);
}

int ptc_salvage(struct ptc_file *f, struct ptc_err *err)
{
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < f->nparts; i++)
		rc = salvage_part(f, i, err);
	return rc;
}
