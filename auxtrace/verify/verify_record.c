/* SPDX-License-Identifier: MIT */
/* Checks of each single record. */
#include <inttypes.h>
#include <stdlib.h>

#include "auxtrace/record/crash_record.h"
#include "auxtrace/record/filecode.h"
#include "auxtrace/record/userrec.h"
#include "auxtrace/verify/verify_private.h"
#include "base/err.h"
#include "base/sorted.h"
#include "ptcap/cutout.h"

/* Records that the recorder synthesized have id 0. */
static void verify_id(struct ptc_verify *v, const struct ptc_rec *rec, uint64_t id)
{
	if (id && v->f->nids && !ptc_file_attr_of_id(v->f, id))
		ptc_verify_say(v, "id", rec->off, "a record %s has id %" PRIu64 ", of no event",
			       ptc_rec_name(rec->type), id);
}

static void widen_verify_span(struct ptc_verify_span *s, uint64_t time)
{
	if (!time || time == UINT64_MAX)
		return;
	if (!s->last || time < s->first)
		s->first = time;
	if (time > s->last)
		s->last = time;
}

static void verify_sample_id(struct ptc_verify *v, const struct ptc_rec *rec,
			     const struct ptc_sample_id *id)
{
	if (id->has & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER))
		verify_id(v, rec, id->id);
	if (!(id->has & PERF_SAMPLE_TIME))
		return;
	widen_verify_span(&v->times, id->time);
	if (rec->type == PERF_RECORD_SAMPLE)
		widen_verify_span(&v->samples, id->time);
	if (rec->type == PERF_RECORD_AUX || rec->type == PERF_RECORD_ITRACE_START)
		widen_verify_span(&v->traced, id->time);
}

enum { CPU_MAP_ROOM = 16 };

/*
 * Known zero padding of real writers. Names in a HEADER_BUILD_ID are padded to a multiple of 64, by
 * ptcap too. An EVENT_UPDATE of perf always has the size of the largest kind. A CPU_MAP of perf up
 * to 5.19 is a word too large, and is then padded to a multiple of 8.
 */
static bool is_habit(const struct ptc_rec *rec, size_t known)
{
	const uint8_t *p = rec->body.pos + (known - PTC_REC_HEADER_SIZE);

	if (rec->type == PTC_REC_CPU_MAP ?
		    rec->body.end - p >= CPU_MAP_ROOM :
		    rec->type != PTC_REC_EVENT_UPDATE && rec->type != PTC_REC_HEADER_BUILD_ID)
		return false;
	while (p < rec->body.end && !*p)
		p++;
	return p == rec->body.end;
}

/* v->again is the record encoded again from its parsed form. A longer record has unknown bytes. */
static void verify_end(struct ptc_verify *v, const struct ptc_rec *rec)
{
	const size_t size = PTC_REC_HEADER_SIZE + ptc_cur_left(&rec->body);
	const size_t known = v->again.len;
	const bool failed = ptc_buf_failed(&v->again);

	ptc_buf_reset(&v->again);
	if (failed) /* data that cannot be encoded were not written by any real writer */
		ptc_verify_say(v, "record", rec->off, "a record %s makes no sense",
			       ptc_rec_name(rec->type));
	else if (size > known && !is_habit(rec, known))
		ptc_verify_say(v, "trailing", rec->off,
			       "a record %s has %zu bytes behind what is known of it",
			       ptc_rec_name(rec->type), size - known);
}

static int verify_sample(struct ptc_verify *v, const struct ptc_rec *rec, struct ptc_err *err)
{
	const struct ptc_file_attr *a = ptc_file_sample_attr(v->f, rec);
	struct ptc_err broken;
	struct ptc_sample s;

	if (!a) {
		ptc_verify_say(v, "record", rec->off, "a SAMPLE, and no event");
	} else if (ptc_sample_parse(rec, &a->attr, &s, &broken)) {
		ptc_verify_say_err(v, "record", &broken);
	} else {
		verify_sample_id(v, rec, &s.id);
		if (ptc_cur_left(&s.rest))
			ptc_verify_say(v, "trailing", rec->off,
				       "a SAMPLE has %zu bytes behind what its event asks for",
				       ptc_cur_left(&s.rest));
		return ptc_verify_sample_aux(v, rec, &a->attr, &s, err);
	}
	return 0;
}

static int verify_sideband(struct ptc_verify *v, const struct ptc_rec *rec, struct ptc_err *err)
{
	const uint64_t type = ptc_file_trailer_type(v->f, rec);
	struct ptc_err broken;
	struct ptc_sb sb;
	int rc = ptc_sb_parse(rec, type, &sb, &broken);

	if (rc < 0)
		ptc_verify_say_err(v, "record", &broken);
	if (rc <= 0)
		return 0;
	verify_sample_id(v, rec, &sb.id);
	ptc_ledger_note(&v->seen, &sb);
	v->lost |= sb.type == PERF_RECORD_LOST;
	if (sb.type == PERF_RECORD_LOST)
		verify_id(v, rec, sb.u.lost.id);
	if (sb.type == PERF_RECORD_THROTTLE || sb.type == PERF_RECORD_UNTHROTTLE)
		verify_id(v, rec, sb.u.throttle.id);
	if (sb.type == PERF_RECORD_AUX) {
		if (!v->join.nsaid)
			v->aux_off = rec->off;
		rc = ptc_aux_join_add(&v->join, &sb, err);
		if (rc)
			return rc;
	}
	ptc_sb_put(&v->again, &sb, type);
	verify_end(v, rec);
	return 0;
}

static int take_id_index(struct ptc_verify *v, const struct ptc_rec *rec,
			 struct ptc_user_id_index x, struct ptc_err *err)
{
	struct ptc_id_index_entry i;

	if (!v->ids.len)
		v->ids_off = rec->off;
	while (ptc_id_index_next(&x, &i)) {
		if (!ptc_file_attr_of_id(v->f, i.id))
			ptc_verify_say(v, "id_index", rec->off, "id %" PRIu64 " is of no event",
				       i.id);
		ptc_buf_le64(&v->ids, i.id);
	}
	if (ptc_buf_failed(&v->ids))
		return ptc_fail_mem(err);
	return ptc_aux_join_ids(&v->join, rec, err);
}

static void take_info(struct ptc_verify *v, const struct ptc_rec *rec)
{
	struct ptc_err broken;
	size_t i;

	if (ptc_pt_info_parse(rec, &v->info, &broken)) {
		ptc_verify_say_err(v, "record", &broken);
		return;
	}
	v->has_info = true;
	if (v->info.type != PTC_AUXTRACE_TYPE_INTEL_PT)
		return;
	v->snapshot = v->info.snapshot_mode;
	for (i = 0; i < v->f->nattrs; i++)
		if (v->f->attrs[i].attr.type == v->info.pmu_type)
			return;
	ptc_verify_say(v, "info", rec->off, "AUXTRACE_INFO is of PMU %" PRIu32 ", no event's",
		       v->info.pmu_type);
}

static int take_auxtrace(struct ptc_verify *v, const struct ptc_rec *rec, struct ptc_err *err)
{
	struct ptc_auxtrace a;
	struct ptc_err broken;
	struct ptc_cur bytes;

	if (!v->has_info)
		ptc_verify_say(v, "info", rec->off, "no AUXTRACE_INFO in front of the trace");
	/* ptc_file_next has checked that the record is complete. */
	if (ptc_file_auxtrace(v->f, rec, &a, &bytes, &broken))
		return 0;
	v->stats.trace_bytes += a.size;
	return ptc_index_add(&v->index, v->f, rec, err);
}

/* Check a crash record: it is complete, and its process had a signal record before. */
static void verify_crash(struct ptc_verify *v, const struct ptc_rec *rec)
{
	struct ptc_err broken;
	struct ptc_crash c;
	const int rc = ptc_crash_parse(rec, &c, &broken);

	if (rc < 0)
		ptc_verify_say_err(v, "record", &broken);
	if (rc <= 0)
		return;
	if (c.kind == PTC_CRASH_SIGNAL) {
		v->crashed = true;
		v->crashed_pid = c.u.signal.pid;
	} else if (!v->crashed || c.u.signal.pid != v->crashed_pid) { /* all begin with a pid */
		ptc_verify_say(v, "crash", rec->off,
			       "the state of a crash of process %" PRIu64
			       " is behind no signal that killed it",
			       c.u.signal.pid);
	}
}

/* Check a record with code of a mapped file: complete, and inside that file. */
static void verify_filecode(struct ptc_verify *v, const struct ptc_rec *rec)
{
	struct ptc_filecode c;
	struct ptc_err broken;
	const int rc = ptc_filecode_parse(rec, &c, &broken);

	if (rc < 0)
		ptc_verify_say_err(v, "record", &broken);
	if (rc > 0 && (c.off > c.size || ptc_cur_left(&c.bytes) > c.size - c.off))
		ptc_verify_say(v, "record", rec->off,
			       "the code of a file of %" PRIu64
			       " bytes is behind its end: at %" PRIu64,
			       c.size, c.off);
}

/* Check a record of a cutout: is the trace that it names in the order of the stream? */
static void verify_cutout(struct ptc_verify *v, const struct ptc_rec *rec)
{
	struct ptc_cutout_record r;
	struct ptc_cutout_queue q;
	struct ptc_err broken;
	const int rc = ptc_cutout_parse(rec, &r, &broken);

	if (rc < 0)
		ptc_verify_say_err(v, "record", &broken);
	while (rc > 0 && ptc_cutout_next(&r, &q))
		if (q.keep_from > q.from_arm || q.from_arm > q.from_at || q.from_arm > q.to_arm ||
		    q.to_arm > q.to_at || q.to_at > q.keep_to)
			ptc_verify_say(v, "record", rec->off,
				       "the borders of the shard in queue %" PRIu64
				       " are not in order",
				       q.idx);
}

static void take_time_conv(struct ptc_verify *v, const struct ptc_rec *rec)
{
	struct ptc_err broken;

	if (ptc_time_conv_parse(rec, &v->conv, &broken)) {
		ptc_verify_say_err(v, "record", &broken);
		return;
	}
	v->has_conv = true;
	v->conv_off = rec->off;
}

static int verify_user_record(struct ptc_verify *v, const struct ptc_rec *rec,
			      const struct ptc_user *u, struct ptc_err *err)
{
	switch (rec->type) {
	case PTC_REC_HEADER_EVENT_TYPE:
		verify_crash(v, rec);
		verify_filecode(v, rec);
		verify_cutout(v, rec);
		return ptc_verify_take_ledger(v, rec, err);
	case PTC_REC_ID_INDEX:
		return take_id_index(v, rec, u->u.id_index, err);
	case PTC_REC_AUXTRACE_INFO:
		take_info(v, rec);
		return 0;
	case PTC_REC_AUXTRACE:
		return take_auxtrace(v, rec, err);
	case PTC_REC_TIME_CONV:
		take_time_conv(v, rec);
		return 0;
	default:
		return 0;
	}
}

static int verify_user(struct ptc_verify *v, const struct ptc_rec *rec, struct ptc_err *err)
{
	struct ptc_err broken;
	struct ptc_user u;
	int rc = ptc_user_parse(rec, &u, &broken);

	if (rc < 0)
		ptc_verify_say_err(v, "record", &broken);
	if (rc <= 0)
		return 0;
	rc = verify_user_record(v, rec, &u, err);
	if (rc)
		return rc;
	ptc_user_put(&v->again, &u);
	verify_end(v, rec);
	return 0;
}

int ptc_verify_record(struct ptc_verify *v, const struct ptc_rec *rec, struct ptc_err *err)
{
	v->stats.records++;
	if (rec->off & PTC_OFF_INFLATED)
		v->inflated += PTC_REC_HEADER_SIZE + ptc_cur_left(&rec->body);
	if (!ptc_rec_name(rec->type)) {
		v->stats.unknown_records++;
		return 0;
	}
	if (rec->type == PERF_RECORD_SAMPLE)
		return verify_sample(v, rec, err);
	return rec->type < PTC_REC_USER_START ? verify_sideband(v, rec, err) :
						verify_user(v, rec, err);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t x = ptc_le64(a), y = ptc_le64(b);

	return x < y ? -1 : x > y;
}

void ptc_verify_ids(struct ptc_verify *v)
{
	const size_t n = v->ids.len / sizeof(uint64_t);
	size_t i;

	if (n)
		qsort(v->ids.bytes, n, sizeof(uint64_t), by_value);
	for (i = 1; i < n; i++)
		if (!by_value(v->ids.bytes + 8 * i, v->ids.bytes + 8 * (i - 1)))
			ptc_verify_say(v, "id_index", v->ids_off, "id %" PRIu64 " is there twice",
				       ptc_le64(v->ids.bytes + 8 * i));
	for (i = 0; n && i < v->f->nids; i++) {
		const uint64_t id = v->f->by_id[i].id;
		const size_t at = PTC_PARTITION_POINT(k, 0, n, ptc_le64(v->ids.bytes + 8 * k) < id);

		if (at == n || ptc_le64(v->ids.bytes + 8 * at) != id)
			ptc_verify_say(v, "id_index", v->ids_off, "id %" PRIu64 " is missing", id);
	}
}
