/* SPDX-License-Identifier: MIT */
#include "auxtrace/select.h"

#include <stdlib.h>
#include <string.h>

#include "auxtrace/aux_join.h"
#include "auxtrace/layout.h"
#include "auxtrace/sample.h"
#include "base/err.h"

struct span {
	uint64_t first_ns, last_ns;
	bool any;
};

struct ptc_select {
	const struct ptc_file *f;
	struct ptc_select_opts opts;
	struct ptc_index index;
	struct ptc_aux_join aux;
	bool per_cpu;	  /* every queue is of a cpu */
	uint64_t *pieces; /* owned; offsets of the payloads that are part of it, ascending */
	size_t npieces;
	bool *said; /* owned; of each AUX record by its order in the file: is it part? */
	size_t nsaid, next_aux;
	size_t said_at; /* in aux.said: of the next queue */
	struct span samples, records;
};

static bool has_cpu(const struct ptc_select_opts *o, uint32_t cpu)
{
	size_t i;

	for (i = 0; i < o->ncpus; i++)
		if (o->cpus[i] == cpu)
			return true;
	return !o->ncpus;
}

static bool has_tid(const struct ptc_select_opts *o, int32_t tid)
{
	size_t i;

	for (i = 0; i < o->ntids; i++)
		if (o->tids[i] == tid)
			return true;
	return !o->ntids;
}

static bool has_time(const struct ptc_select_opts *o, uint64_t ns)
{
	/* perf makes up records with time 0 or ~0. */
	return !ns || ns == UINT64_MAX || (ns >= o->from_ns && (!o->to_ns || ns <= o->to_ns));
}

static bool has_queue(const struct ptc_select_opts *o, const struct ptc_queue *q)
{
	if (q->cpu != -1)
		return has_cpu(o, (uint32_t)q->cpu);
	return q->tid == -1 || has_tid(o, q->tid);
}

static bool overlaps(const struct ptc_chunk *c, uint64_t off, uint64_t size)
{
	const uint64_t end = off + size < off ? UINT64_MAX : off + size;

	/* One that is empty tells of a loss, which may be at either end. */
	if (!size)
		return off >= c->aux_off && off - c->aux_off <= c->size;
	return end > c->aux_off && (off < c->aux_off || off - c->aux_off < c->size);
}

/*
 * Pieces come in the order of their offsets, but for rings that are overwritten:
 * where to begin with the spans for piece @i, given where it was for the last.
 */
static size_t first_span(const struct ptc_queue *q, size_t i, const struct ptc_aux_spans *spans,
			 size_t at)
{
	const struct ptc_chunk *c = &q->chunks[i];

	if (!i || c->aux_off < c[-1].aux_off)
		at = 0;
	while (at < spans->n && spans->spans[at].off < c->aux_off &&
	       c->aux_off - spans->spans[at].off >= spans->spans[at].size)
		at++;
	return at;
}

/* Is it known to be outside? */
static bool is_outside(const struct ptc_select *s, const struct ptc_chunk *c,
		       const struct ptc_aux_spans *spans, size_t at)
{
	uint64_t after = UINT64_MAX, until = 0;

	for (; at < spans->n; at++) {
		const struct ptc_aux_span *sp = &spans->spans[at];

		if (sp->off > c->aux_off && sp->off - c->aux_off >= c->size)
			break;
		if (!sp->size || !overlaps(c, sp->off, sp->size))
			continue;
		if (sp->after_ns < after)
			after = sp->after_ns;
		if (sp->until_ns > until)
			until = sp->until_ns;
	}
	if (after == UINT64_MAX) /* nothing is known of it */
		return false;
	return until < s->opts.from_ns || (s->opts.to_ns && after > s->opts.to_ns);
}

/* PSB: 02 82, eight times. */
static bool has_psb(const struct ptc_file *f, const struct ptc_chunk *c)
{
	static const uint8_t psb[] = { 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
				       2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82 };
	const struct ptc_cur bytes = ptc_chunk_bytes(f, c);

	return memmem(bytes.pos, ptc_cur_left(&bytes), psb, sizeof(psb)) != NULL;
}

/* Where a piece is kept and the one before is not, keep what leads to it. */
static void keep_back_to_psb(const struct ptc_select *s, const struct ptc_queue *q, bool *keep)
{
	size_t i, j;

	for (i = 1; i < q->nchunks; i++) {
		if (!keep[i] || keep[i - 1])
			continue;
		for (j = i; j--;) {
			keep[j] = true;
			if (has_psb(s->f, &q->chunks[j]))
				break;
		}
	}
}

static int keep_by_time(struct ptc_select *s, size_t queue, bool *keep, struct ptc_err *err)
{
	const struct ptc_queue *q = &s->index.queues[queue];
	struct ptc_aux_spans spans = { NULL, 0, 0 };
	size_t i, at = 0;
	int rc;

	if (!s->opts.from_ns && !s->opts.to_ns)
		return 0;
	rc = ptc_aux_join_queue(&s->aux, &s->index, queue, NULL, &spans, err);
	if (rc)
		return rc;
	for (i = 0; i < q->nchunks; i++) {
		at = first_span(q, i, &spans, at);
		keep[i] = !is_outside(s, &q->chunks[i], &spans, at);
	}
	keep_back_to_psb(s, q, keep);
	ptc_aux_spans_release(&spans);
	return 0;
}

/* Those that tell of a piece that is kept, of [lo, hi). */
static void keep_said_of(struct ptc_select *s, const struct ptc_queue *q, const bool *keep,
			 size_t lo, size_t hi)
{
	const struct ptc_aux_said *said = s->aux.said;
	size_t at = lo, i, j;

	for (i = 0; i < q->nchunks; i++) {
		const struct ptc_chunk *c = &q->chunks[i];

		if (i && c->aux_off < c[-1].aux_off)
			at = lo;
		while (at < hi && said[at].off < c->aux_off &&
		       c->aux_off - said[at].off > said[at].size)
			at++;
		for (j = at; keep[i] && j < hi; j++) {
			if (said[j].off > c->aux_off && said[j].off - c->aux_off > c->size)
				break;
			if (overlaps(c, said[j].off, said[j].size))
				s->said[said[j].seq] = true;
		}
	}
}

/* AUX records of a queue go with its pieces. */
static void keep_said(struct ptc_select *s, size_t queue, const bool *keep)
{
	const struct ptc_queue *q = &s->index.queues[queue];
	const struct ptc_aux_said *said = s->aux.said;
	const size_t lo = s->said_at;
	size_t hi = lo, i;
	bool any = false;

	for (i = 0; i < q->nchunks; i++)
		any |= keep[i];
	for (; hi < s->nsaid && said[hi].queue == queue; hi++)
		/* Of a ring that is overwritten it does not say which piece. */
		if (any && (said[hi].flags & PERF_AUX_FLAG_OVERWRITE))
			s->said[said[hi].seq] = true;
	keep_said_of(s, q, keep, lo, hi);
	s->said_at = hi;
}

static int keep_queue(struct ptc_select *s, size_t queue, struct ptc_err *err)
{
	const struct ptc_queue *q = &s->index.queues[queue];
	bool *keep = calloc(q->nchunks ? q->nchunks : 1, sizeof(*keep));
	size_t i;
	int rc = 0;

	if (!keep)
		return ptc_fail_mem(err);
	if (has_queue(&s->opts, q)) {
		memset(keep, true, q->nchunks * sizeof(*keep));
		rc = keep_by_time(s, queue, keep, err);
	}
	for (i = 0; i < q->nchunks; i++)
		if (keep[i])
			s->pieces[s->npieces++] = q->chunks[i].file_off;
	keep_said(s, queue, keep);
	free(keep);
	return rc;
}

static int by_off(const void *pa, const void *pb)
{
	const uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return (a > b) - (a < b);
}

static int keep_queues(struct ptc_select *s, struct ptc_err *err)
{
	size_t i, n = 0;
	int rc = 0;

	s->per_cpu = true;
	for (i = 0; i < s->index.nqueues; i++) {
		n += s->index.queues[i].nchunks;
		s->per_cpu &= s->index.queues[i].cpu != -1;
	}
	s->nsaid = s->aux.nsaid;
	s->pieces = calloc(n ? n : 1, sizeof(*s->pieces));
	s->said = calloc(s->nsaid ? s->nsaid : 1, sizeof(*s->said));
	if (!s->pieces || !s->said)
		return ptc_fail_mem(err);
	for (i = 0; i < s->aux.nsaid; i++) /* nobody's are everybody's */
		s->said[s->aux.said[i].seq] = s->aux.said[i].queue == PTC_AUX_NO_QUEUE;
	for (i = 0; i < s->index.nqueues && !rc; i++)
		rc = keep_queue(s, i, err);
	qsort(s->pieces, s->npieces, sizeof(*s->pieces), by_off);
	return rc;
}

static int gather(struct ptc_select *s, struct ptc_err *err)
{
	uint64_t pos = 0;
	struct ptc_rec rec;
	struct ptc_sb sb;
	int rc;

	while ((rc = ptc_file_next(s->f, &pos, &rec, err)) > 0) {
		rc = 0;
		if (rec.type == PTC_REC_AUXTRACE)
			rc = ptc_index_add(&s->index, s->f, &rec, err);
		else if (rec.type == PTC_REC_ID_INDEX)
			rc = ptc_aux_join_ids(&s->aux, &rec, err);
		else if (rec.type == PERF_RECORD_AUX &&
			 ptc_sb_parse(&rec, ptc_file_trailer_type(s->f, &rec), &sb, err) > 0)
			rc = ptc_aux_join_add(&s->aux, &sb, err);
		if (rc)
			return rc;
	}
	return rc;
}

int ptc_select_new(const struct ptc_file *f, const struct ptc_select_opts *opts,
		   struct ptc_select **ret, struct ptc_err *err)
{
	struct ptc_select *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return ptc_fail_mem(err);
	s->f = f;
	s->opts = *opts;
	s->index = (struct ptc_index)PTC_INDEX_INIT;
	s->aux = (struct ptc_aux_join)PTC_AUX_JOIN_INIT;
	rc = gather(s, err);
	if (!rc)
		rc = ptc_aux_join_sort(&s->aux, &s->index, err);
	if (!rc)
		rc = keep_queues(s, err);
	if (rc)
		ptc_select_free(s);
	else
		*ret = s;
	return rc;
}

void ptc_select_free(struct ptc_select *s)
{
	if (!s)
		return;
	ptc_index_release(&s->index);
	ptc_aux_join_release(&s->aux);
	free(s->pieces);
	free(s->said);
	free(s);
}

/* What the record says of itself. */
static struct ptc_sample_id identify(const struct ptc_file *f, const struct ptc_rec *rec)
{
	const struct ptc_file_attr *a;
	struct ptc_cur body = rec->body;
	struct ptc_sample_id id = { .has = 0 };
	struct ptc_sample sample = { .id = { .has = 0 } };
	uint64_t type;

	if (rec->type != PERF_RECORD_SAMPLE) {
		type = ptc_file_trailer_type(f, rec);
		if (!type || !ptc_sample_id_parse(&body, type, &id))
			id.has = 0;
		return id;
	}
	a = ptc_file_sample_attr(f, rec);
	if (!a || !ptc_sample_parse_front(&body, a->attr.sample_type, &sample))
		return id;
	return sample.id;
}

static bool has_id(const struct ptc_select *s, const struct ptc_sample_id *id)
{
	const struct ptc_select_opts *o = &s->opts;

	return (!(id->has & PERF_SAMPLE_CPU) || has_cpu(o, id->cpu)) &&
	       (!(id->has & PERF_SAMPLE_TID) || has_tid(o, id->tid)) &&
	       (!(id->has & PERF_SAMPLE_TIME) || has_time(o, id->time));
}

/* Who ran when: without it, trace that is kept would be another's. */
static bool has_switch(const struct ptc_select *s, const struct ptc_sample_id *id)
{
	if (!s->index.nqueues)
		return has_id(s, id);
	return !s->per_cpu || !(id->has & PERF_SAMPLE_CPU) || has_cpu(&s->opts, id->cpu);
}

static bool has_piece(const struct ptc_select *s, const struct ptc_rec *rec)
{
	const uint64_t payload = rec->off + PTC_REC_HEADER_SIZE + ptc_cur_left(&rec->body);

	return s->npieces &&
	       bsearch(&payload, s->pieces, s->npieces, sizeof(payload), by_off) != NULL;
}

/* An AUX record that cannot be read was not counted by gather either. */
static bool has_aux(struct ptc_select *s, const struct ptc_rec *rec)
{
	struct ptc_err err;
	struct ptc_sb sb;

	if (ptc_sb_parse(rec, ptc_file_trailer_type(s->f, rec), &sb, &err) <= 0)
		return true;
	return s->next_aux >= s->nsaid || s->said[s->next_aux++];
}

static bool decide(struct ptc_select *s, const struct ptc_rec *rec, const struct ptc_sample_id *id)
{
	switch (rec->type) {
	case PTC_REC_AUXTRACE:
		return has_piece(s, rec);
	case PERF_RECORD_AUX:
		return has_aux(s, rec);
	case PERF_RECORD_ITRACE_START:
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return has_switch(s, id);
	case PERF_RECORD_SAMPLE:
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
	case PERF_RECORD_READ:
	case PERF_RECORD_LOST_SAMPLES:
	case PERF_RECORD_CALLCHAIN_DEFERRED:
		return has_id(s, id);
	default:
		return true;
	}
}

static void note_time(struct span *sp, const struct ptc_sample_id *id)
{
	if (!(id->has & PERF_SAMPLE_TIME) || !id->time || id->time == UINT64_MAX)
		return;
	if (!sp->any || id->time < sp->first_ns)
		sp->first_ns = id->time;
	if (!sp->any || id->time > sp->last_ns)
		sp->last_ns = id->time;
	sp->any = true;
}

bool ptc_select_has(struct ptc_select *s, const struct ptc_rec *rec)
{
	struct ptc_sample_id id = { .has = 0 };

	if (rec->type < PTC_REC_USER_START)
		id = identify(s->f, rec);
	if (!decide(s, rec, &id))
		return false;
	note_time(&s->records, &id);
	if (rec->type == PERF_RECORD_SAMPLE)
		note_time(&s->samples, &id);
	return true;
}

bool ptc_select_times(const struct ptc_select *s, uint64_t *ret_first_ns, uint64_t *ret_last_ns)
{
	const struct span *sp = s->samples.any ? &s->samples : &s->records;

	if (!sp->any)
		return false;
	*ret_first_ns = sp->first_ns;
	*ret_last_ns = sp->last_ns;
	return true;
}
