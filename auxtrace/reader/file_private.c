/* SPDX-License-Identifier: MIT */
#include "auxtrace/reader/file_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/record/attr.h"
#include "base/err.h"

enum {
	OLD_HEADER_SIZE = 72, /* before the format had features */
	SECTION_SIZE = 16,    /* u64 offset, u64 size */
};

static bool get_section(struct ptc_cur *c, struct ptc_section *ret)
{
	return ptc_cur_le64(c, &ret->off) && ptc_cur_le64(c, &ret->size);
}

static int check_magic(const struct ptc_file *f, uint64_t *ret_size, struct ptc_err *err)
{
	const struct ptc_input *in = &f->parts[0].in;
	struct ptc_cur c = ptc_cur_init(in->bytes, in->len);
	const uint8_t *magic;
	uint64_t size;

	if (!in->len)
		return ptc_fail(err, PTC_E_FORMAT, "the file is empty");
	if (!ptc_cur_bytes(&c, 8, &magic) || !ptc_cur_le64(&c, &size))
		return ptc_fail_at(err, PTC_E_FORMAT, 0, "not a perf.data file: too short");
	if (!memcmp(magic, PTC_MAGIC_FILE1, 8))
		return ptc_fail_at(err, PTC_E_UNSUPPORTED, 0,
				   "the old PERFFILE format (before Linux 3.6) is not supported");
	if (!memcmp(magic, "2ELIFREP", 8))
		return ptc_fail_at(
			err, PTC_E_UNSUPPORTED, 0,
			"a big-endian perf.data (no x86 machine wrote it) is not supported");
	if (memcmp(magic, PTC_MAGIC_FILE2, 8) != 0)
		return ptc_fail_at(err, PTC_E_FORMAT, 0, "not a perf.data file: wrong magic");
	if (size != PTC_PIPE_HEADER_SIZE && size != PTC_FILE_HEADER_SIZE && size != OLD_HEADER_SIZE)
		return ptc_fail_at(err, PTC_E_FORMAT, 8, "header size %" PRIu64 ", expected %d",
				   size, PTC_FILE_HEADER_SIZE);
	if (size > in->len)
		return ptc_fail_at(err, PTC_E_FORMAT, 0, "the header is cut off");
	*ret_size = size;
	return 0;
}

/* Find the ids of one attr. */
static int find_ids(struct ptc_file *f, const struct ptc_section *s, struct ptc_cur *ret,
		    struct ptc_err *err)
{
	if (s->size % 8 || s->size / 8 > PTC_LIMIT_IDS)
		return ptc_fail_at(err, PTC_E_LIMIT, s->off,
				   "an event with %" PRIu64 " bytes of ids", s->size);
	if (!ptc_file_bytes(f, s->off, s->size, ret))
		return ptc_fail_at(err, PTC_E_FORMAT, s->off, "ids of an event outside the file");
	return 0;
}

/* Word of the id in a trailer (from its end), and in a SAMPLE (from its start); -1: it has none. */
static int trailer_id_word(uint64_t type)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		return 1;
	if (!(type & PERF_SAMPLE_ID))
		return -1;
	return 1 + __builtin_popcountll(type & (PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU));
}

static int sample_id_word(uint64_t type)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		return 0;
	if (!(type & PERF_SAMPLE_ID))
		return -1;
	return __builtin_popcountll(
		type & (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR));
}

static void find_words(struct ptc_file *f)
{
	bool same = true;
	size_t i;

	f->trailer_id = f->sample_id = -1;
	for (i = 1; i < f->nattrs; i++)
		same &= f->attrs[i].attr.sample_type == f->attrs[0].attr.sample_type;
	if (same)
		return;
	f->trailer_id = trailer_id_word(f->attrs[0].attr.sample_type);
	f->sample_id = sample_id_word(f->attrs[0].attr.sample_type);
	for (i = 1; i < f->nattrs; i++) {
		if (trailer_id_word(f->attrs[i].attr.sample_type) != f->trailer_id)
			f->trailer_id = -1;
		if (sample_id_word(f->attrs[i].attr.sample_type) != f->sample_id)
			f->sample_id = -1;
	}
}

int ptc_header_take_ids(struct ptc_file *f, const struct ptc_cur *ids, struct ptc_err *err)
{
	uint64_t total = 0;
	size_t i;

	for (i = 0; i < f->nattrs; i++)
		total += ptc_cur_left(&ids[i]) / 8;
	if (total > PTC_LIMIT_IDS)
		return ptc_fail(err, PTC_E_LIMIT, "more than %u event ids", PTC_LIMIT_IDS);
	f->ids = calloc(total ? total : 1, sizeof(*f->ids));
	f->by_id = calloc(total ? total : 1, sizeof(*f->by_id));
	if (!f->ids || !f->by_id)
		return ptc_fail_mem(err);
	for (i = 0; i < f->nattrs; i++) {
		struct ptc_cur c = ids[i];
		uint64_t id;

		f->attrs[i].ids = f->ids + f->nids;
		while (ptc_cur_le64(&c, &id)) {
			f->ids[f->nids] = id;
			f->by_id[f->nids++] = (struct ptc_id_entry){ id, i };
			f->attrs[i].nids++;
		}
	}
	qsort(f->by_id, f->nids, sizeof(*f->by_id), ptc_id_compare);
	find_words(f);
	return 0;
}

static int read_attrs(struct ptc_file *f, uint64_t entry_size, const struct ptc_section *s,
		      struct ptc_err *err)
{
	struct ptc_cur *ids = NULL;
	struct ptc_section where;
	struct ptc_cur c;
	size_t i;
	int rc = 0;

	if (entry_size < PERF_ATTR_SIZE_VER0 + SECTION_SIZE)
		return ptc_fail_at(err, PTC_E_FORMAT, 16, "event attributes of %" PRIu64 " bytes",
				   entry_size);
	if (s->size % entry_size)
		return ptc_fail_at(err, PTC_E_FORMAT, 24,
				   "the events take %" PRIu64 " bytes, no multiple of %" PRIu64,
				   s->size, entry_size);
	if (s->size / entry_size > PTC_LIMIT_ATTRS)
		return ptc_fail_at(err, PTC_E_LIMIT, 24, "more than %u events", PTC_LIMIT_ATTRS);
	if (!ptc_file_bytes(f, s->off, s->size, &c))
		return ptc_fail_at(err, PTC_E_FORMAT, s->off, "the events lie outside the file");
	f->nattrs = (size_t)(s->size / entry_size);
	if (!f->nattrs)
		return 0;
	f->attrs = calloc(f->nattrs, sizeof(*f->attrs));
	ids = calloc(f->nattrs, sizeof(*ids));
	if (!f->attrs || !ids) {
		rc = ptc_fail_mem(err);
		goto out;
	}
	for (i = 0; i < f->nattrs; i++) {
		const uint64_t off = s->off + i * entry_size;
		struct ptc_cur attr;

		if (!ptc_cur_sub(&c, (size_t)entry_size - SECTION_SIZE, &attr) ||
		    !get_section(&c, &where)) {
			rc = ptc_fail_at(err, PTC_E_FORMAT, off, "the events are cut off");
			goto out;
		}
		rc = ptc_attr_parse(attr, off, &f->attrs[i].attr, &f->attrs[i].unknown_bytes, err);
		if (!rc)
			rc = find_ids(f, &where, &ids[i], err);
		if (!rc)
			f->attrs[i].stored = ptc_cur_init(attr.pos, f->attrs[i].attr.size);
		if (rc)
			goto out;
	}
	rc = ptc_header_take_ids(f, ids, err);
out:
	free(ids);
	return rc;
}

static int take_feature(struct ptc_file *f, unsigned int bit, const struct ptc_section *s,
			uint64_t off, struct ptc_err *err)
{
	struct ptc_feature_bytes *feat = &f->features[bit];

	if (s->size > PTC_LIMIT_FEATURE)
		return ptc_fail_at(err, PTC_E_LIMIT, off, "feature %u claims %" PRIu64 " bytes",
				   bit, s->size);
	feat->bytes = ptc_cur_init(f->parts[0].in.bytes, 0);
	if (s->size && !ptc_file_bytes(f, s->off, s->size, &feat->bytes))
		return ptc_fail_at(err, PTC_E_FORMAT, off, "feature %u lies outside the file", bit);
	feat->off = s->off;
	feat->has = true;
	return 0;
}

int ptc_header_features(struct ptc_file *f, uint64_t off, struct ptc_err *err)
{
	const struct ptc_input *in = &f->parts[0].in;
	const uint8_t *bitmap = in->bytes + OLD_HEADER_SIZE;
	struct ptc_cur c = ptc_cur_init(in->bytes, in->len);
	unsigned int bit;

	if (!ptc_cur_skip(&c, (size_t)off))
		c.pos = c.end;
	for (bit = 0; bit < PTC_FEATURE_BITS; bit++) {
		struct ptc_section s;
		int rc;

		if (!(bitmap[bit / 8] >> bit % 8 & 1))
			continue;
		if (!get_section(&c, &s)) {
			(void)ptc_fail_at(err, PTC_E_FORMAT, off, "the feature table is cut off");
			return ptc_file_damaged(f, err);
		}
		rc = take_feature(f, bit, &s, off, err);
		if (rc && ptc_file_damaged(f, err))
			return rc;
		off += SECTION_SIZE;
	}
	return 0;
}

static int check_data(struct ptc_file *f, struct ptc_err *err)
{
	struct ptc_section *data = &f->parts[0].data;
	const uint64_t len = f->parts[0].in.len;
	const uint64_t left = data->off <= len ? len - data->off : 0;

	if (data->off > len)
		(void)ptc_fail_at(err, PTC_E_FORMAT, 40,
				  "the data start at 0x%" PRIx64 ", outside the file", data->off);
	else if (!data->size)
		(void)ptc_fail_at(err, PTC_E_FORMAT, 48,
				  "the file was not finished (data size 0): its writer was killed");
	else if (data->size > left)
		(void)ptc_fail_at(err, PTC_E_FORMAT, len,
				  "the file is cut: %" PRIu64 " of %" PRIu64
				  " bytes of data are there",
				  left, data->size);
	else
		return 0;
	if (data->off > len)
		data->off = len;
	data->size = left;
	return ptc_file_damaged(f, err);
}

int ptc_header_read(struct ptc_file *f, struct ptc_err *err)
{
	struct ptc_part *p = &f->parts[0];
	struct ptc_cur c = ptc_cur_init(p->in.bytes, p->in.len);
	struct ptc_section attrs, event_types;
	uint64_t size = 0, entry_size; /* initialized: gcc does not see that the call sets size */
	int rc;

	rc = check_magic(f, &size, err);
	if (rc)
		return rc;
	if (size == PTC_PIPE_HEADER_SIZE) {
		f->form = PTC_FORM_PIPE;
		return 0;
	}
	if (!ptc_cur_skip(&c, 16) || !ptc_cur_le64(&c, &entry_size) || !get_section(&c, &attrs) ||
	    !get_section(&c, &p->data) || !get_section(&c, &event_types))
		return ptc_fail_at(err, PTC_E_FORMAT, 0, "the header is cut off");
	rc = read_attrs(f, entry_size, &attrs, err);
	if (!rc)
		rc = check_data(f, err);
	if (rc || size != PTC_FILE_HEADER_SIZE)
		return rc;
	/* If the end of the data is unknown, the features are searched later: see ptc_salvage. */
	return f->ndamage ? 0 : ptc_header_features(f, p->data.off + p->data.size, err);
}
