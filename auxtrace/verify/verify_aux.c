/* SPDX-License-Identifier: MIT */
/*
 * Checks of trace that is not a stream: snapshots, whose AUX records have positions in a ring, and
 * trace in samples.
 */
#include <inttypes.h>

#include "auxtrace/reader/aux_overlap.h"
#include "auxtrace/verify/verify_private.h"
#include "base/sorted.h"

enum { SAMPLE_ALIGN = 8 };

static uint64_t align_up(uint64_t n)
{
	return n > UINT64_MAX - SAMPLE_ALIGN ? n :
					       (n + SAMPLE_ALIGN - 1) / SAMPLE_ALIGN * SAMPLE_ALIGN;
}

int ptc_verify_sample_aux(struct ptc_verify *v, const struct ptc_rec *rec,
			  const struct perf_event_attr *attr, const struct ptc_sample *s,
			  struct ptc_err *err)
{
	struct ptc_aux_sample t = { .size = ptc_cur_left(&s->aux), .tid = -1, .cpu = -1 };
	bool placed;

	if (!t.size)
		return 0;
	if (!v->has_info)
		ptc_verify_say(v, "info", rec->off, "no AUXTRACE_INFO in front of the trace");
	/* kernel/events/core.c, perf_prepare_sample_aux */
	if (t.size > align_up(attr->aux_sample_size) || t.size % SAMPLE_ALIGN)
		ptc_verify_say(v, "aux", rec->off,
			       "a SAMPLE has %" PRIu64 " bytes of trace, its event asks for %u",
			       t.size, attr->aux_sample_size);
	if (s->id.has & PERF_SAMPLE_CPU)
		t.cpu = (int32_t)s->id.cpu;
	else if (s->id.has & PERF_SAMPLE_TID)
		t.tid = s->id.tid;
	t.idx = (uint32_t)(t.cpu != -1 ? t.cpu : t.tid);
	placed = ptc_aux_join_idx(&v->join, s->id.id, &t.idx);
	if (!placed && t.cpu == -1 && t.tid == -1) {
		ptc_verify_say(v, "aux", rec->off, "trace in a SAMPLE of no cpu, thread or queue");
		return 0;
	}
	t.file_off = rec->off + PTC_REC_HEADER_SIZE + (uint64_t)(s->aux.pos - rec->body.pos);
	return ptc_index_add_sample(&v->sampled, v->f, &t, err);
}

void ptc_verify_sampled(struct ptc_verify *v)
{
	size_t i;

	for (i = 0; i < v->sampled.nqueues; i++)
		if (ptc_index_find(&v->index, v->sampled.queues[i].idx) != SIZE_MAX)
			ptc_verify_say(v, "aux", v->sampled.queues[i].chunks[0].file_off,
				       "queue %" PRIu32 " has trace in samples and in pieces",
				       v->sampled.queues[i].idx);
}

/* The AUX records of one queue, sorted by offset: the positions where its ring stopped. */
struct stops {
	const struct ptc_aux_said *said;
	size_t n;
	uint64_t ring; /* size of the ring */
};

/* Return whether a record is at @pos, or before it by at most the padding. */
static bool is_near(const struct stops *s, uint64_t pos)
{
	const size_t behind = PTC_PARTITION_POINT(i, 0, s->n, s->said[i].off <= pos);

	return behind && pos - s->said[behind - 1].off <= PTC_PADDING_MAX;
}

static bool stopped_at(const struct stops *s, uint64_t end)
{
	return is_near(s, end % s->ring) || is_near(s, end % s->ring + s->ring);
}

/*
 * In snapshot mode an AUX record's size is the ring's size, and its offset is a position in the
 * ring.
 */
static void verify_ring(struct ptc_verify *v, const struct ptc_queue *q, struct stops *s)
{
	size_t i;

	s->ring = s->n ? s->said[0].size : 0;
	for (i = 0; i < s->n; i++)
		if (s->said[i].off > s->said[i].size || s->said[i].size != s->ring) {
			ptc_verify_say(v, "aux", v->aux_off,
				       "an AUX record of queue %" PRIu32 " tells of 0x%" PRIx64
				       " in a ring of 0x%" PRIx64 " bytes, another of 0x%" PRIx64
				       " bytes",
				       q->idx, s->said[i].off, s->said[i].size, s->ring);
			s->ring = 0; /* the ring size is unknown */
			return;
		}
	if (s->ring > UINT64_MAX / 2)
		s->ring = 0;
}

static void verify_snapshots(struct ptc_verify *v, const struct ptc_queue *q, const struct stops *s)
{
	size_t i;

	for (i = 0; s->ring && i < q->nchunks; i++) {
		const struct ptc_chunk *c = &q->chunks[i];
		const uint64_t off = c->file_off - PTC_AUXTRACE_SIZE;

		if (c->size > align_up(s->ring))
			ptc_verify_say(v, "aux", off,
				       "a snapshot of queue %" PRIu32 " has 0x%" PRIx64
				       " bytes, its ring 0x%" PRIx64,
				       q->idx, c->size, s->ring);
		else if (!v->lost && !stopped_at(s, c->aux_off + c->size))
			ptc_verify_say(v, "aux", off,
				       "a snapshot of queue %" PRIu32 " ends at 0x%" PRIx64
				       ", where no AUX record says that the trace stopped",
				       q->idx, c->aux_off + c->size);
	}
}

void ptc_verify_snapshot(struct ptc_verify *v)
{
	const struct ptc_aux_join *j = &v->join;
	size_t i, at = 0;

	for (i = 0; i < v->index.nqueues; i++) {
		struct stops s = { .said = j->said + at };

		for (; at < j->nsaid && j->said[at].queue == i; at++)
			s.n++;
		verify_ring(v, &v->index.queues[i], &s);
		verify_snapshots(v, &v->index.queues[i], &s);
	}
}
