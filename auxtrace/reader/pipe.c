/* SPDX-License-Identifier: MIT */
#include "auxtrace/reader/pipe.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/reader/salvage.h"
#include "auxtrace/record/attr.h"
#include "base/err.h"
#include "base/vec.h"

/* EVENT_UPDATE: event.h, enum perf_event_update_type */
enum { UPDATE_UNIT = 0, UPDATE_SCALE = 1, UPDATE_NAME = 2 };

struct reading {
	struct ptc_file *f;
	struct ptc_cur *ids; /* ids of each attr */
	size_t ids_cap, attrs_cap;
	uint64_t updates; /* position of the first EVENT_UPDATE in the data */
	bool has_updates;
};

static int take_attr(struct reading *r, const struct ptc_rec *rec, struct ptc_err *err)
{
	struct ptc_file_attr a = { .name = NULL };
	struct ptc_file *f = r->f;
	void *attrs = f->attrs, *ids = r->ids;
	struct ptc_cur left = rec->body;
	int rc;

	rc = ptc_attr_parse(rec->body, rec->off, &a.attr, &a.unknown_bytes, err);
	if (rc)
		return rc;
	if (f->nattrs == PTC_LIMIT_ATTRS)
		return ptc_fail_at(err, PTC_E_LIMIT, rec->off, "more than %u events",
				   PTC_LIMIT_ATTRS);
	(void)ptc_cur_sub(&left, a.attr.size, &a.stored);
	if (ptc_cur_left(&left) % 8)
		return ptc_fail_at(err, PTC_E_FORMAT, rec->off,
				   "HEADER_ATTR record has %zu bytes of ids", ptc_cur_left(&left));
	if (!ptc_vec_reserve(&attrs, &r->attrs_cap, f->nattrs + 1, sizeof(*f->attrs)))
		return ptc_fail_mem(err);
	f->attrs = attrs;
	if (!ptc_vec_reserve(&ids, &r->ids_cap, f->nattrs + 1, sizeof(*r->ids)))
		return ptc_fail_mem(err);
	r->ids = ids;
	r->ids[f->nattrs] = left;
	f->attrs[f->nattrs++] = a;
	return 0;
}

static void set_feature(struct ptc_file *f, unsigned int bit, struct ptc_cur bytes, uint64_t off)
{
	f->features[bit] = (struct ptc_feature_bytes){ .bytes = bytes, .off = off, .has = true };
}

static int take_feature(struct ptc_file *f, const struct ptc_rec *rec, struct ptc_err *err)
{
	struct ptc_cur c = rec->body;
	uint64_t bit;

	if (!ptc_cur_le64(&c, &bit))
		return ptc_fail_at(err, PTC_E_FORMAT, rec->off,
				   "HEADER_FEATURE record is too short");
	/*
	 * An empty record ends the list. Its number is the first that its writer did not know, and
	 * may be a real feature for newer readers. No writer sends empty features.
	 */
	if (bit < PTC_FEATURE_BITS && ptc_cur_left(&c))
		set_feature(f, (unsigned int)bit, c, rec->off + PTC_REC_HEADER_SIZE + 8);
	return 0;
}

static int take_build_id(struct ptc_file *f, const struct ptc_rec *rec, struct ptc_err *err)
{
	struct ptc_feature_bytes *feat = &f->features[PTC_FEAT_BUILD_ID];
	const size_t size = PTC_REC_HEADER_SIZE + ptc_cur_left(&rec->body);

	if (f->build_ids.len + size > PTC_LIMIT_BUILD_IDS)
		return ptc_fail_at(err, PTC_E_LIMIT, rec->off,
				   "more than %llu bytes of HEADER_BUILD_ID records",
				   PTC_LIMIT_BUILD_IDS);
	ptc_buf_put(&f->build_ids, rec->body.pos - PTC_REC_HEADER_SIZE, size);
	if (ptc_buf_failed(&f->build_ids))
		return ptc_fail_mem(err);
	if (!feat->has)
		feat->off = rec->off;
	feat->has = true;
	return 0;
}

static int take_record(struct reading *r, const struct ptc_rec *rec, uint64_t trailing,
		       struct ptc_err *err)
{
	const uint64_t end = rec->off + PTC_REC_HEADER_SIZE + ptc_cur_left(&rec->body);
	struct ptc_cur bytes;

	switch (rec->type) {
	case PTC_REC_HEADER_ATTR:
		return take_attr(r, rec, err);
	case PTC_REC_HEADER_FEATURE:
		return take_feature(r->f, rec, err);
	case PTC_REC_HEADER_BUILD_ID:
		return take_build_id(r->f, rec, err);
	case PTC_REC_HEADER_TRACING_DATA:
		if (ptc_file_bytes(r->f, end, trailing, &bytes))
			set_feature(r->f, PTC_FEAT_TRACING_DATA, bytes, end);
		return 0;
	case PTC_REC_COMPRESSED:
	case PTC_REC_COMPRESSED2:
		r->f->compressed = true;
		return 0;
	default:
		return 0;
	}
}

static void take_update(const struct ptc_file *f, const struct ptc_rec *rec)
{
	const struct ptc_file_attr *found;
	struct ptc_cur c = rec->body;
	uint64_t type, id, word;
	struct ptc_file_attr *a;

	if (!ptc_cur_le64(&c, &type) || !ptc_cur_le64(&c, &id))
		return;
	found = ptc_file_attr_of_id(f, id);
	if (!found)
		return;
	a = &f->attrs[found - f->attrs];
	if (type == UPDATE_NAME)
		(void)ptc_cur_str(&c, &a->name);
	else if (type == UPDATE_UNIT)
		(void)ptc_cur_str(&c, &a->unit);
	else if (type == UPDATE_SCALE && ptc_cur_le64(&c, &word))
		memcpy(&a->scale, &word, sizeof(a->scale));
}

/* Return whether records before the first kernel record can include this type. */
static bool is_in_front(uint32_t type)
{
	return type >= PTC_REC_USER_START && type != PTC_REC_AUXTRACE &&
	       type != PTC_REC_COMPRESSED && type != PTC_REC_COMPRESSED2;
}

void ptc_pipe_updates(struct ptc_file *f, uint64_t pos, bool front)
{
	uint64_t trailing;
	struct ptc_err err;
	struct ptc_rec rec;

	while (ptc_part_next(f, 0, &pos, &rec, &trailing, &err) > 0) {
		if (front && !is_in_front(rec.type))
			return;
		if (rec.type == PTC_REC_EVENT_UPDATE)
			take_update(f, &rec);
	}
}

enum { TEXT_MIN = 8, TEXT_SHOWN = 60 };

static bool is_text(uint8_t byte)
{
	return (byte >= ' ' && byte < 0x7f) || byte == '\n' || byte == '\r' || byte == '\t' ||
	       byte == 0x1b;
}

/*
 * Return whether the bytes from @pos on are text: messages that the writing program printed to the
 * same pipe. Then @err is set.
 */
static bool refuse_text(const struct ptc_file *f, uint64_t pos, struct ptc_err *err)
{
	const struct ptc_section *data = &f->parts[0].data;
	struct ptc_cur c;
	size_t i, n;

	if (pos > data->size || !ptc_file_bytes(f, data->off + pos, data->size - pos, &c))
		return false;
	n = ptc_cur_left(&c);
	for (i = 0; i < n && is_text(c.pos[i]); i++)
		;
	if (i < n || n < TEXT_MIN)
		return false;
	for (i = 0; i < n && i < TEXT_SHOWN && c.pos[i] != '\n'; i++)
		;
	(void)ptc_fail_at(err, PTC_E_FORMAT, data->off + pos,
			  "behind the last record there is text, which a program wrote to the same "
			  "pipe: '%.*s'",
			  (int)i, (const char *)c.pos);
	return true;
}

static int take_records(struct reading *r, struct ptc_err *err)
{
	struct ptc_section *data = &r->f->parts[0].data;
	uint64_t pos = 0, before = 0, trailing;
	struct ptc_rec rec;
	int rc;

	while ((rc = ptc_part_next(r->f, 0, &pos, &rec, &trailing, err)) > 0) {
		if (rec.type == PTC_REC_EVENT_UPDATE && !r->has_updates) {
			r->updates = before;
			r->has_updates = true;
		}
		rc = take_record(r, &rec, trailing, err);
		if (rc)
			break;
		before = pos;
	}
	if (!rc)
		return 0;
	(void)refuse_text(r->f, before, err);
	rc = ptc_file_damaged(r->f, err);
	if (r->f->tolerant)
		r->f->parts[0].cut_trace = ptc_salvage_trace(r->f, 0, before);
	data->size = before;
	return rc;
}

int ptc_pipe_read(struct ptc_file *f, struct ptc_err *err)
{
	struct ptc_feature_bytes *ids = &f->features[PTC_FEAT_BUILD_ID];
	struct reading r = { .f = f };
	int rc;

	f->parts[0].data =
		(struct ptc_section){ .off = PTC_PIPE_HEADER_SIZE,
				      .size = f->parts[0].in.len - PTC_PIPE_HEADER_SIZE };
	rc = take_records(&r, err);
	if (!rc)
		rc = ptc_header_take_ids(f, r.ids, err);
	if (!rc && r.has_updates)
		ptc_pipe_updates(f, r.updates, false);
	if (ids->has && f->build_ids.len)
		ids->bytes = ptc_cur_init(f->build_ids.bytes, f->build_ids.len);
	free(r.ids);
	return rc;
}
