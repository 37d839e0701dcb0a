/* SPDX-License-Identifier: MIT */
#include "auxtrace/copy/record_filter.h"

#include <stdlib.h>
#include <string.h>

#include "auxtrace/reader/aux_join.h"
#include "auxtrace/record/cutout.h"
#include "auxtrace/record/layout.h"
#include "auxtrace/record/sample.h"
#include "base/err.h"
#include "base/sorted.h"

struct span {
	uint64_t first_ns, last_ns;
	bool any;
};

struct ptc_select {
	const struct ptc_file *f;
	struct ptc_select_opts opts;
	struct ptc_index index;
	struct ptc_aux_join aux;
	bool per_cpu;	  /* every queue belongs to a CPU */
	uint64_t *pieces; /* owned; payload offsets of the selected AUXTRACE records, ascending */
	size_t npieces;
	bool *said; /* owned; for each AUX record, in file order: selected? */
	size_t nsaid, next_aux;
	size_t said_at;		/* position in aux.said of the next queue */
	struct ptc_trim *trims; /* owned; of each queue; with a cutout */
	size_t *said_queue;	/* owned; the queue of each AUX record, in file order */
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
	/* perf synthesizes records with time 0 or ~0. */
	return !ns || ns == UINT64_MAX || (ns >= o->from_ns && (!o->to_ns || ns < o->to_ns));
}

static bool has_queue(const struct ptc_select_opts *o, const struct ptc_queue *q)
{
	if (q->cpu != -1)
		return has_cpu(o, (uint32_t)q->cpu);
	return q->tid == -1 || has_tid(o, q->tid);
}

static uint64_t end_of(uint64_t off, uint64_t size)
{
	return size > UINT64_MAX - off ? UINT64_MAX : off + size;
}

/* Return whether spans ascend. In overwrite mode they are in file order, without times. */
static bool is_ascending(const struct ptc_aux_spans *spans)
{
	size_t i;

	for (i = 1; i < spans->n; i++)
		if (spans->spans[i].off < end_of(spans->spans[i - 1].off, spans->spans[i - 1].size))
			return false;
	return true;
}

/* Returns the first span that ends after @off. The spans must ascend. */
static size_t span_behind(const struct ptc_aux_spans *spans, uint64_t off)
{
	return PTC_PARTITION_POINT(i, 0, spans->n,
				   end_of(spans->spans[i].off, spans->spans[i].size) <= off);
}

/* Return whether a chunk is known to be outside the time range. Times ascend with offsets. */
static bool is_outside(const struct ptc_select *s, const struct ptc_chunk *c,
		       const struct ptc_aux_spans *spans)
{
	const uint64_t end = end_of(c->aux_off, c->size);
	const size_t first = span_behind(spans, c->aux_off);
	size_t last = span_behind(spans, end);

	if (last == spans->n || spans->spans[last].off >= end)
		last--;
	if (!spans->n || last == SIZE_MAX || first > last) /* no span: the time is unknown */
		return false;
	return spans->spans[last].until_ns < s->opts.from_ns ||
	       (s->opts.to_ns && spans->spans[first].after_ns >= s->opts.to_ns);
}

/* Return whether the chunk contains a PSB, which is 02 82 repeated eight times. */
static bool has_psb(const struct ptc_file *f, const struct ptc_chunk *c)
{
	static const uint8_t psb[] = { 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
				       2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82 };
	const struct ptc_cur bytes = ptc_chunk_bytes(f, c);

	return memmem(bytes.pos, ptc_cur_left(&bytes), psb, sizeof(psb)) != NULL;
}

/* If a chunk is kept and the previous one is not, also keep the chunks back to a PSB. */
static void keep_back_to_psb(const struct ptc_select *s, const struct ptc_queue *q, bool *keep)
{
	size_t i, j;

	for (i = 1; i < q->nchunks; i++) {
		if (!keep[i] || keep[i - 1])
			continue;
		/* Stops at a kept chunk, which has its own PSB if there is one. */
		for (j = i; j-- && !keep[j];) {
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
	bool ascending;
	size_t i;
	int rc;

	if (!s->opts.from_ns && !s->opts.to_ns)
		return 0;
	rc = ptc_aux_join_queue(&s->aux, &s->index, queue, NULL, &spans, err);
	if (rc)
		return rc;
	ascending = is_ascending(&spans);
	for (i = 0; ascending && i < q->nchunks; i++)
		keep[i] = !is_outside(s, &q->chunks[i], &spans);
	keep_back_to_psb(s, q, keep);
	ptc_aux_spans_release(&spans);
	return 0;
}

/* Kept chunks, sorted by offset. end: the maximum of this and all earlier chunks. */
struct range {
	uint64_t off, end;
};

static int by_start(const void *pa, const void *pb)
{
	const struct range *a = pa, *b = pb;

	return (a->off > b->off) - (a->off < b->off);
}

/* Returns NULL if out of memory. */
static struct range *kept_ranges(const struct ptc_queue *q, const bool *keep, size_t *ret_n)
{
	struct range *r = calloc(q->nchunks ? q->nchunks : 1, sizeof(*r));
	size_t i, n = 0;

	if (!r)
		return NULL;
	for (i = 0; i < q->nchunks; i++)
		if (keep[i])
			r[n++] = (struct range){ q->chunks[i].aux_off,
						 end_of(q->chunks[i].aux_off, q->chunks[i].size) };
	qsort(r, n, sizeof(*r), by_start);
	for (i = 1; i < n; i++)
		if (r[i].end < r[i - 1].end)
			r[i].end = r[i - 1].end;
	*ret_n = n;
	return r;
}

/*
 * Return whether @a covers one of the ranges. An empty record reports a loss at its offset, so it
 * matches a range that begins or ends there.
 */
static bool tells_of(const struct ptc_aux_said *a, const struct range *r, size_t n)
{
	const uint64_t end = end_of(a->off, a->size);
	size_t after; /* the first range that begins after the record */

	/* In overwrite mode a record does not identify a chunk. */
	if (a->flags & PERF_AUX_FLAG_OVERWRITE)
		return n > 0;
	after = PTC_PARTITION_POINT(i, 0, n, r[i].off < end || (!a->size && r[i].off == end));
	return after && (a->size ? r[after - 1].end > a->off : r[after - 1].end >= a->off);
}

/* With a cutout: selects the chunks of a queue with bytes to keep, and finds the kept range. */
static void keep_cutout(struct ptc_select *s, size_t queue, bool *keep)
{
	const struct ptc_queue *q = &s->index.queues[queue];
	const struct ptc_cutout_queue *c = ptc_cutout_find(s->opts.cutout, q->idx);
	const struct ptc_trim want = { c ? c->keep_from : 0, c ? c->keep_to : UINT64_MAX };
	struct ptc_trim *t = &s->trims[queue];
	size_t i;

	*t = (struct ptc_trim){ UINT64_MAX, 0 };
	for (i = 0; i < q->nchunks; i++) {
		struct ptc_auxtrace a = { .offset = q->chunks[i].aux_off,
					  .size = q->chunks[i].size };
		struct ptc_cur bytes = ptc_chunk_bytes(s->f, &q->chunks[i]);

		keep[i] = ptc_trim_piece(&want, &a, &bytes);
		if (keep[i] && a.offset < t->from)
			t->from = a.offset;
		if (keep[i] && end_of(a.offset, a.size) > t->to)
			t->to = end_of(a.offset, a.size);
	}
}

/* Keep the AUX records of a queue that belong to kept chunks. */
static int keep_said(struct ptc_select *s, size_t queue, const bool *keep, struct ptc_err *err)
{
	const struct ptc_aux_said *said = s->aux.said;
	struct range *ranges;
	size_t n = 0;

	ranges = kept_ranges(&s->index.queues[queue], keep, &n);
	if (!ranges)
		return ptc_fail_mem(err);
	if (s->opts.cutout && n) {
		ranges[0] = (struct range){ s->trims[queue].from, s->trims[queue].to };
		n = 1;
	}
	for (; s->said_at < s->nsaid && said[s->said_at].queue == queue; s->said_at++) {
		s->said[said[s->said_at].seq] = tells_of(&said[s->said_at], ranges, n);
		s->said_queue[said[s->said_at].seq] = queue;
	}
	free(ranges);
	return 0;
}

static int keep_queue(struct ptc_select *s, size_t queue, struct ptc_err *err)
{
	const struct ptc_queue *q = &s->index.queues[queue];
	bool *keep = calloc(q->nchunks ? q->nchunks : 1, sizeof(*keep));
	size_t i;
	int rc = 0;

	if (!keep)
		return ptc_fail_mem(err);
	if (s->opts.cutout) {
		keep_cutout(s, queue, keep);
	} else if (has_queue(&s->opts, q)) {
		memset(keep, true, q->nchunks * sizeof(*keep));
		rc = keep_by_time(s, queue, keep, err);
	}
	for (i = 0; i < q->nchunks; i++)
		if (keep[i])
			s->pieces[s->npieces++] = q->chunks[i].file_off;
	if (!rc)
		rc = keep_said(s, queue, keep, err);
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
	s->said_queue = calloc(s->nsaid ? s->nsaid : 1, sizeof(*s->said_queue));
	s->trims = calloc(s->index.nqueues + 1, sizeof(*s->trims));
	if (!s->pieces || !s->said || !s->said_queue || !s->trims)
		return ptc_fail_mem(err);
	for (i = 0; i < s->aux.nsaid; i++) { /* records of unknown queue are always kept */
		s->said[s->aux.said[i].seq] = s->aux.said[i].queue == PTC_AUX_NO_QUEUE;
		s->said_queue[s->aux.said[i].seq] = PTC_AUX_NO_QUEUE;
	}
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
	ptc_index_sort(&s->index);
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
	free(s->said_queue);
	free(s->trims);
	free(s);
}

/* Returns the sample_id fields of a record. */
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

/* Context switches are kept with trace: otherwise trace would be attributed to the wrong thread. */
static bool has_switch(const struct ptc_select *s, const struct ptc_sample_id *id)
{
	if (!s->index.nqueues)
		return has_id(s, id);
	return !s->per_cpu || !(id->has & PERF_SAMPLE_CPU) || has_cpu(&s->opts, id->cpu);
}

static bool has_piece(const struct ptc_select *s, const struct ptc_rec *rec)
{
	const uint64_t payload = rec->off + PTC_REC_HEADER_SIZE + ptc_cur_left(&rec->body);
	const size_t at = PTC_PARTITION_POINT(i, 0, s->npieces, s->pieces[i] < payload);

	return at < s->npieces && s->pieces[at] == payload;
}

/* An unreadable AUX record was not counted by gather, so keep it without counting. */
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
	struct ptc_ledger ledger;
	struct ptc_err err;

	switch (rec->type) {
	case PTC_REC_AUXTRACE:
		return has_piece(s, rec);
	case PTC_REC_HEADER_EVENT_TYPE:
		/* The ledger is about the whole recording, except for clocks and processors. */
		return ptc_ledger_parse(rec, &ledger, &err) != 1 ||
		       ledger.kind == PTC_LEDGER_CLOCKS || ledger.kind == PTC_LEDGER_PROCESSORS;
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

const struct ptc_trim *ptc_select_trim(const struct ptc_select *s, const struct ptc_rec *rec)
{
	struct ptc_auxtrace a;
	struct ptc_cur payload;
	struct ptc_err err;
	size_t queue = PTC_AUX_NO_QUEUE;

	if (!s->opts.cutout)
		return NULL;
	if (rec->type == PTC_REC_AUXTRACE && !ptc_file_auxtrace(s->f, rec, &a, &payload, &err))
		queue = ptc_index_find(&s->index, a.idx);
	else if (rec->type == PERF_RECORD_AUX && s->next_aux)
		queue = s->said_queue[s->next_aux - 1];
	return queue < s->index.nqueues ? &s->trims[queue] : NULL;
}

static void extend_time_span(struct span *sp, const struct ptc_sample_id *id)
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
	extend_time_span(&s->records, &id);
	if (rec->type == PERF_RECORD_SAMPLE)
		extend_time_span(&s->samples, &id);
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
