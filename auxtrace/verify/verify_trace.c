/* SPDX-License-Identifier: MIT */
/* Checks after all records were read. */
#include <inttypes.h>

#include "auxtrace/reader/aux_overlap.h"
#include "auxtrace/reader/time_order.h"
#include "auxtrace/verify/verify_private.h"

#define INJECTED UINT64_C(1000000000) /* perf inject adds this to an id */

static void verify_info(struct ptc_verify *v)
{
	const struct ptc_time_conv *a = &v->info.time, *b = &v->conv;

	if (v->has_conv && v->has_info && v->info.type == PTC_AUXTRACE_TYPE_INTEL_PT &&
	    v->info.cap_user_time_zero &&
	    (a->shift != b->shift || a->mult != b->mult || a->zero != b->zero))
		ptc_verify_say(v, "info", v->conv_off,
			       "TIME_CONV is another clock than that of AUXTRACE_INFO");
}

/* Report chunks of one queue that overlap in the stream by more than padding. */
static void verify_pieces(struct ptc_verify *v, const struct ptc_queue *q)
{
	size_t i;

	for (i = 1; i < q->nchunks; i++) {
		const struct ptc_chunk *a = &q->chunks[i - 1], *b = &q->chunks[i];

		if (b->aux_off < a->aux_off || b->aux_off - a->aux_off + PTC_PADDING_MAX < a->size)
			ptc_verify_say(v, "aux", b->file_off - PTC_AUXTRACE_SIZE,
				       "trace at 0x%" PRIx64 " of queue %" PRIu32
				       " overlaps the piece before it",
				       b->aux_off, q->idx);
	}
}

/*
 * Returns the offset of the AUXTRACE record that contains byte @off of the stream, or is the last
 * before it.
 */
static uint64_t piece_of(const struct ptc_queue *q, uint64_t off)
{
	size_t i = 0;

	while (i + 1 < q->nchunks && q->chunks[i + 1].aux_off <= off)
		i++;
	return q->nchunks ? q->chunks[i].file_off - PTC_AUXTRACE_SIZE : 0;
}

static void verify_spans(struct ptc_verify *v, const struct ptc_queue *q,
			 const struct ptc_aux_spans *s)
{
	const bool accounted = ptc_verify_is_missing(v, q->idx);
	size_t i;

	for (i = 0; i < s->n; i++) {
		const struct ptc_aux_span *p = &s->spans[i];

		if (p->lost && !accounted)
			ptc_verify_say(v, "aux", piece_of(q, p->off),
				       "%" PRIu64 " bytes in front of 0x%" PRIx64
				       " of queue %" PRIu32
				       " are told of, or left out, and are not there",
				       p->lost, p->off, q->idx);
		if (!p->told)
			ptc_verify_say(v, "aux", piece_of(q, p->off),
				       "no AUX record tells of %" PRIu64 " bytes at 0x%" PRIx64
				       " of queue %" PRIu32,
				       p->size, p->off, q->idx);
	}
}

/* Report bytes covered by two AUX records, which are sorted by queue and offset. */
static void verify_said(struct ptc_verify *v)
{
	size_t i;

	for (i = 1; i < v->join.nsaid; i++) {
		const struct ptc_aux_said *a = &v->join.said[i - 1], *b = &v->join.said[i];

		if (a->queue == b->queue && a->queue != PTC_AUX_NO_QUEUE && a->size && b->size &&
		    b->off - a->off < a->size)
			ptc_verify_say(v, "aux", v->aux_off,
				       "two AUX records tell of 0x%" PRIx64 " of queue %" PRIu32,
				       b->off, v->index.queues[a->queue].idx);
	}
}

static int verify_aux(struct ptc_verify *v, struct ptc_err *err)
{
	struct ptc_aux_spans spans;
	size_t i;
	int rc = ptc_aux_join_sort(&v->join, &v->index, err);

	if (rc)
		return rc;
	if (v->join.unplaced)
		ptc_verify_say(v, "aux", v->aux_off, "%" PRIu64 " AUX records are of no queue",
			       v->join.unplaced);
	if (v->snapshot) { /* offsets of AUX records are then positions in the ring */
		ptc_verify_snapshot(v);
		return 0;
	}
	verify_said(v);
	for (i = 0; i < v->index.nqueues; i++) {
		const struct ptc_queue *q = &v->index.queues[i];

		verify_pieces(v, q);
		rc = ptc_aux_join_queue(&v->join, &v->index, i, NULL, &spans, err);
		if (rc)
			return rc;
		verify_spans(v, q, &spans);
		ptc_aux_spans_release(&spans);
	}
	return 0;
}

int ptc_verify_trace(struct ptc_verify *v, struct ptc_err *err)
{
	struct ptc_err complaint;
	uint64_t off = 0;
	struct ptc_cur c;

	verify_info(v);
	if (!ptc_index_agrees(&v->index, v->f, &complaint)) {
		(void)ptc_file_feature(v->f, PTC_FEAT_AUXTRACE, &c, &off);
		complaint.off = off;
		ptc_verify_say_err(v, "index", &complaint);
	}
	ptc_verify_sampled(v);
	/* Trace without AUX records (of another tracer) cannot be checked. */
	return v->index.nqueues && v->join.nsaid ? verify_aux(v, err) : 0;
}

/* Report records that perf cannot sort, because they are older than the marks promise. */
int ptc_verify_order(struct ptc_verify *v, struct ptc_err *err)
{
	uint64_t time, last = 0;
	struct ptc_err damage;
	struct ptc_order *o;
	struct ptc_rec rec;
	int rc = ptc_order_new(v->f, NULL, &o, err);

	if (rc)
		return rc;
	while ((rc = ptc_order_next(o, &rec, &time, &damage)) > 0) {
		if (time && time < last)
			ptc_verify_say(v, "order", rec.off,
				       "a record %s is %" PRIu64
				       " ns older than what FINISHED_ROUND let go before it",
				       ptc_rec_name(rec.type), last - time);
		if (time > last)
			last = time;
	}
	ptc_order_free(o);
	if (rc == PTC_E_NO_MEMORY)
		*err = damage;
	return rc == PTC_E_NO_MEMORY ? rc : 0; /* damage was reported before */
}

/*
 * Return whether perf inject --itrace synthesized events. Their ids are those of the traced event
 * plus INJECTED (tools/perf/util/intel-pt.c, intel_pt_synth_events).
 */
static bool is_injected(const struct ptc_file *f)
{
	size_t i;

	for (i = 0; i < f->nids; i++)
		if (f->by_id[i].id >= INJECTED && ptc_file_attr_of_id(f, f->by_id[i].id - INJECTED))
			return true;
	return false;
}

/*
 * Check SAMPLE_TIME. perf record covers samples, ITRACE_START and AUX, older versions only samples,
 * and other writers may cover more. A time outside all records is a finding.
 */
void ptc_verify_times(struct ptc_verify *v)
{
	const bool sampled = v->samples.last;
	const bool injected = is_injected(v->f);
	const struct ptc_verify_span *s = sampled ? &v->samples : &v->traced;
	struct ptc_sample_time t;
	struct ptc_cur c;
	uint64_t off;

	if (!ptc_file_feature(v->f, PTC_FEAT_SAMPLE_TIME, &c, &off) ||
	    !ptc_feature_get_sample_time(&c, &t) || (!t.first_ns && !t.last_ns) || !v->times.last)
		return;
	if (injected) /* the feature is from the file before injection */
		return;
	if (s->last && (t.first_ns > s->first || t.last_ns < s->last))
		ptc_verify_say(v, "time", off,
			       "SAMPLE_TIME is %" PRIu64 " to %" PRIu64 ", the %s %" PRIu64
			       " to %" PRIu64,
			       t.first_ns, t.last_ns, sampled ? "samples" : "records of trace",
			       s->first, s->last);
	else if (t.first_ns < v->times.first || t.last_ns > v->times.last)
		ptc_verify_say(v, "time", off,
			       "SAMPLE_TIME is %" PRIu64 " to %" PRIu64
			       ", the records are of %" PRIu64 " to %" PRIu64,
			       t.first_ns, t.last_ns, v->times.first, v->times.last);
}

/* Returns the bytes of compressed records, as stored. *@ret_off: offset of the first one. */
static uint64_t packed_bytes(const struct ptc_file *f, uint64_t *ret_off)
{
	uint64_t pos = 0, n = 0;
	struct ptc_err damage;
	struct ptc_rec rec;

	while (ptc_file_next_stored(f, &pos, &rec, &damage) > 0) {
		if (!ptc_rec_is_compressed(&rec))
			continue;
		if (!n)
			*ret_off = rec.off;
		n += PTC_REC_HEADER_SIZE + ptc_cur_left(&rec.body);
	}
	return n;
}

static void verify_pieces_of(struct ptc_verify *v, uint32_t mmap_len)
{
	size_t i;

	/* The piece's first record may have begun in an earlier compressed record. */
	for (i = 0; i < v->f->npieces; i++)
		if (v->f->pieces[i].end - v->f->pieces[i].start > (uint64_t)mmap_len + PTC_REC_MAX)
			ptc_verify_say(v, "compressed", v->f->pieces[i].at,
				       "it expands to more than the %" PRIu32 " bytes promised",
				       mmap_len);
}

void ptc_verify_compressed(struct ptc_verify *v)
{
	uint64_t off = 0, first = 0;
	const uint64_t packed = packed_bytes(v->f, &first);
	struct ptc_compressed x;
	struct ptc_cur c;

	if (!ptc_file_feature(v->f, PTC_FEAT_COMPRESSED, &c, &off)) {
		if (packed)
			ptc_verify_say(v, "compressed", first,
				       "compressed records, and no feature COMPRESSED");
		return;
	}
	if (!ptc_feature_get_compressed(&c, &x))
		return;
	/* perf leaves the version at 0 */
	if (x.version > PTC_COMPRESSED_VERSION || x.type != PTC_COMPRESSED_ZSTD)
		ptc_verify_say(v, "compressed", off,
			       "version %" PRIu32 ", type %" PRIu32 ": not known", x.version,
			       x.type);
	verify_pieces_of(v, x.mmap_len);
	if (packed && x.ratio &&
	    (x.ratio > v->inflated / packed + 2 || x.ratio + 2 < v->inflated / packed))
		ptc_verify_say(v, "compressed", off,
			       "the ratio is told as %" PRIu32 ", and is %" PRIu64, x.ratio,
			       v->inflated / packed);
}
