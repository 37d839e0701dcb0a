/* SPDX-License-Identifier: MIT */
#include "auxtrace/header.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/attr.h"
#include "base/err.h"

enum {
	OLD_HEADER_SIZE = 72, /* before there were features */
	SECTION_SIZE = 16,    /* u64 offset, u64 size */
};

/* Something lies outside the file: a reason to stop, or to go on with what is left. */
static int damaged(struct ptc_file *f, struct ptc_err *err)
{
	if (!f->tolerant)
		return err->code;
	if (!f->damage.code) {
		f->damage = *err;
		(void)ptc_file_err_name(f, &f->damage);
	}
	return 0;
}

static bool get_section(struct ptc_cur *c, struct ptc_section *ret)
{
	return ptc_cur_le64(c, &ret->off) && ptc_cur_le64(c, &ret->size);
}

static int check_magic(const struct ptc_file *f, struct ptc_err *err)
{
	struct ptc_cur c = ptc_cur_init(f->base, f->len);
	const uint8_t *magic;
	uint64_t size;

	if (!f->len)
		return ptc_fail(err, PTC_E_FORMAT, "the file is empty");
	if (!ptc_cur_bytes(&c, 8, &magic) || !ptc_cur_le64(&c, &size))
		return ptc_fail_at(err, PTC_E_FORMAT, 0, "not a perf.data file: too short");
	if (!memcmp(magic, PTC_MAGIC_FILE1, 8))
		return ptc_fail_at(err, PTC_E_UNSUPPORTED, 0,
				   "the old PERFFILE format (before Linux 3.6) is not supported");
	if (!memcmp(magic, "2ELIFREP", 8))
		return ptc_fail_at(err, PTC_E_UNSUPPORTED, 0,
				   "a big-endian perf.data is not supported");
	if (memcmp(magic, PTC_MAGIC_FILE2, 8) != 0)
		return ptc_fail_at(err, PTC_E_FORMAT, 0, "not a perf.data file: wrong magic");
	if (size == PTC_PIPE_HEADER_SIZE)
		return ptc_fail_at(
			err, PTC_E_UNSUPPORTED, 8,
			"a perf.data in pipe mode (perf record -o -) is not supported yet");
	if (size != PTC_FILE_HEADER_SIZE && size != OLD_HEADER_SIZE)
		return ptc_fail_at(err, PTC_E_FORMAT, 8, "header size %" PRIu64 ", expected %d",
				   size, PTC_FILE_HEADER_SIZE);
	if (size > f->len)
		return ptc_fail_at(err, PTC_E_FORMAT, 0, "the header is cut off");
	return 0;
}

/* The ids of one attr, or just how many (@out NULL). */
static int read_ids(struct ptc_file *f, const struct ptc_section *s, uint64_t *out, size_t *ret_n,
		    struct ptc_err *err)
{
	struct ptc_cur c;
	size_t i;

	if (s->size % 8 || s->size / 8 > PTC_LIMIT_IDS)
		return ptc_fail_at(err, PTC_E_LIMIT, s->off,
				   "an event with %" PRIu64 " bytes of ids", s->size);
	if (!ptc_file_bytes(f, s->off, s->size, &c))
		return ptc_fail_at(err, PTC_E_FORMAT, s->off, "ids of an event outside the file");
	*ret_n = (size_t)s->size / 8;
	for (i = 0; out && i < *ret_n; i++)
		if (!ptc_cur_le64(&c, &out[i]))
			break;
	return 0;
}

int ptc_id_compare(const void *a, const void *b)
{
	const uint64_t x = ((const struct ptc_id_entry *)a)->id;
	const uint64_t y = ((const struct ptc_id_entry *)b)->id;

	return (x > y) - (x < y);
}

static int index_ids(struct ptc_file *f, const struct ptc_section *sections, struct ptc_err *err)
{
	size_t total = 0;
	size_t i, j;
	size_t n = 0;
	int rc;

	for (i = 0; i < f->nattrs; i++) {
		rc = read_ids(f, &sections[i], NULL, &n, err);
		if (rc)
			return rc;
		total += n;
		if (total > PTC_LIMIT_IDS)
			return ptc_fail_at(err, PTC_E_LIMIT, sections[i].off,
					   "more than %u event ids", PTC_LIMIT_IDS);
	}
	f->ids = calloc(total ? total : 1, sizeof(*f->ids));
	f->by_id = calloc(total ? total : 1, sizeof(*f->by_id));
	if (!f->ids || !f->by_id)
		return ptc_fail_mem(err);
	for (i = 0; i < f->nattrs; i++) {
		uint64_t *ids = f->ids + f->nids;

		rc = read_ids(f, &sections[i], ids, &n, err);
		if (rc)
			return rc;
		f->attrs[i].ids = ids;
		f->attrs[i].nids = n;
		for (j = 0; j < n; j++)
			f->by_id[f->nids + j] = (struct ptc_id_entry){ ids[j], i };
		f->nids += n;
	}
	qsort(f->by_id, f->nids, sizeof(*f->by_id), ptc_id_compare);
	return 0;
}

static int read_attrs(struct ptc_file *f, uint64_t entry_size, const struct ptc_section *s,
		      struct ptc_err *err)
{
	struct ptc_section *sections = NULL;
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
	sections = calloc(f->nattrs, sizeof(*sections));
	if (!f->attrs || !sections) {
		rc = ptc_fail_mem(err);
		goto out;
	}
	for (i = 0; i < f->nattrs; i++) {
		const uint64_t off = s->off + i * entry_size;
		struct ptc_cur attr;

		if (!ptc_cur_sub(&c, (size_t)entry_size - SECTION_SIZE, &attr) ||
		    !get_section(&c, &sections[i])) {
			rc = ptc_fail_at(err, PTC_E_FORMAT, off, "the events are cut off");
			goto out;
		}
		rc = ptc_attr_parse(attr, off, &f->attrs[i].attr, &f->attrs[i].unknown_bytes, err);
		if (rc)
			goto out;
	}
	rc = index_ids(f, sections, err);
out:
	free(sections);
	return rc;
}

/* Where the id is in a trailer (from its end) and in a SAMPLE (from its start); -1: nowhere. */
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

static void find_ids(struct ptc_file *f)
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

static int read_features(struct ptc_file *f, struct ptc_cur bitmap, struct ptc_err *err)
{
	/* The table follows the data; data.off + data.size lies inside the file. */
	uint64_t off = f->data.off + f->data.size;
	struct ptc_cur c = ptc_cur_init(f->base + off, f->len - (size_t)off);
	unsigned int bit;

	for (bit = 0; bit < PTC_FEATURE_BITS; bit++) {
		struct ptc_section s;
		struct ptc_cur bytes;
		int rc = 0;

		if (bit / 8 >= ptc_cur_left(&bitmap) || !(bitmap.pos[bit / 8] >> bit % 8 & 1))
			continue;
		if (!get_section(&c, &s)) {
			(void)ptc_fail_at(err, PTC_E_FORMAT, off, "the feature table is cut off");
			return damaged(f, err);
		}
		if (s.size > PTC_LIMIT_FEATURE)
			rc = ptc_fail_at(err, PTC_E_LIMIT, off,
					 "feature %u claims %" PRIu64 " bytes", bit, s.size);
		else if (s.size && !ptc_file_bytes(f, s.off, s.size, &bytes))
			rc = ptc_fail_at(err, PTC_E_FORMAT, off, "feature %u lies outside the file",
					 bit);
		if (rc && damaged(f, err))
			return rc;
		f->features[bit] = s;
		f->has[bit] = !rc;
		off += SECTION_SIZE;
	}
	return 0;
}

static int check_data(struct ptc_file *f, struct ptc_err *err)
{
	const uint64_t left = f->data.off <= f->len ? f->len - f->data.off : 0;

	if (f->data.off > f->len)
		(void)ptc_fail_at(err, PTC_E_FORMAT, 40,
				  "the data start at 0x%" PRIx64 ", outside the file", f->data.off);
	else if (!f->data.size)
		(void)ptc_fail_at(err, PTC_E_FORMAT, 48,
				  "the file was not finished (data size 0): its writer was killed");
	else if (f->data.size > left)
		(void)ptc_fail_at(err, PTC_E_FORMAT, f->len,
				  "the file is cut: %" PRIu64 " of %" PRIu64
				  " bytes of data are there",
				  left, f->data.size);
	else
		return 0;
	if (f->data.off > f->len)
		f->data.off = f->len;
	f->data.size = left;
	return damaged(f, err);
}

int ptc_header_read(struct ptc_file *f, struct ptc_err *err)
{
	struct ptc_cur c = ptc_cur_init(f->base, f->len);
	struct ptc_section attrs, event_types;
	uint64_t size, entry_size;
	int rc;

	rc = check_magic(f, err);
	if (rc)
		return rc;
	if (!ptc_cur_skip(&c, 8) || !ptc_cur_le64(&c, &size) || !ptc_cur_le64(&c, &entry_size) ||
	    !get_section(&c, &attrs) || !get_section(&c, &f->data) ||
	    !get_section(&c, &event_types))
		return ptc_fail_at(err, PTC_E_FORMAT, 0, "the header is cut off");
	rc = read_attrs(f, entry_size, &attrs, err);
	if (rc)
		return rc;
	find_ids(f);
	rc = check_data(f, err);
	/* Where the data do not end nothing can follow them. */
	if (rc || f->damage.code || size != PTC_FILE_HEADER_SIZE)
		return rc;
	c.end = f->base + size;
	return read_features(f, c, err);
}
