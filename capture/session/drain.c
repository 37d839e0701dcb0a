/* SPDX-License-Identifier: MIT */
#include "capture/session/drain.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "arch/pt_packet.h"
#include "auxtrace/record/record.h"
#include "base/err.h"
#include "capture/host/clock.h"

enum { AUX_NEARLY_FULL = 2 * 4096, PIECE_UNIT = 8 };

struct ptc_drain_ring {
	const struct ptc_source_ring *desc; /* borrowed from the source */
	struct ptc_ring data;
	struct ptc_aux aux;	  /* in full-trace mode */
	struct ptc_snapshot snap; /* in snapshot mode */
	uint64_t pending;	  /* bytes of sideband records that the writer may still hold */
	bool stopped; /* the ring was full and the trace stopped; reported once the ring is empty */
};

/* --- the rings --- */

static int map_aux(const struct ptc_drain *d, struct ptc_drain_ring *r, struct ptc_err *err)
{
	const struct ptc_source_ring *s = r->desc;

	if (!s->aux_size)
		return 0;
	if (!d->snapshot)
		return ptc_aux_init(&r->aux, s->page, s->aux, s->aux_size, err);
	if (d->snapshot_size > s->aux_size)
		return ptc_fail(err, PTC_E_USAGE,
				"a snapshot cannot be larger than the AUX ring of %zu bytes; use a "
				"larger ring (-m)",
				s->aux_size);
	return ptc_snapshot_init(&r->snap, s->page, s->aux, s->aux_size, err);
}

/* Maps the ring, if the source has created it by now. */
static int map_ring(const struct ptc_drain *d, struct ptc_drain_ring *r, struct ptc_err *err)
{
	const struct ptc_source_ring *s = r->desc;
	int rc;

	if (r->data.page || !s->page)
		return 0;
	rc = ptc_ring_init(&r->data, s->page, s->data_off, s->data_size, err);
	return rc ? rc : map_aux(d, r, err);
}

static bool has_trace(const struct ptc_drain_ring *r)
{
	return r->data.page && r->desc->aux_size;
}

int ptc_drain_init(struct ptc_drain *d, struct ptc_source *source,
		   const struct ptc_record_opts *opts, struct ptc_err *err)
{
	const struct ptc_source_ring *rings;
	size_t i;
	int rc = 0;

	*d = (struct ptc_drain){
		.source = source,
		.snapshot = opts->snapshot.enabled,
		.snapshot_size = opts->snapshot.size,
		.packs = opts->output.compression != 0,
	};
	d->n = source->ops->rings(source, &rings);
	d->rings = calloc(d->n, sizeof(*d->rings));
	d->ledger = calloc(d->n, sizeof(*d->ledger));
	if (!d->rings || !d->ledger)
		return ptc_fail_mem(err);
	for (i = 0; !rc && i < d->n; i++) {
		const struct ptc_source_ring *s = &rings[i];

		d->rings[i].desc = s;
		d->ledger[i].idx = s->idx;
		d->ledger[i].cpu = s->cpu;
		d->ledger[i].tid = s->tid;
		rc = map_ring(d, &d->rings[i], err);
	}
	return rc;
}

void ptc_drain_release(struct ptc_drain *d)
{
	size_t i;

	for (i = 0; d->rings && i < d->n; i++)
		ptc_snapshot_release(&d->rings[i].snap);
	ptc_noted_release(&d->noted);
	free(d->rings);
	free(d->ledger);
	d->rings = NULL;
	d->ledger = NULL;
}

void ptc_drain_woken(struct ptc_drain *d, const struct pollfd *fds)
{
	size_t i;

	for (i = 0; i < d->n; i++)
		d->ledger[i].wakeups += (fds[i].revents & POLLIN) != 0;
}

/* --- writing to the file --- */

/*
 * Converts a full disk (ENOSPC, EDQUOT) into success if the file can keep what was written so far.
 * After that nothing more is written.
 */
static int written(struct ptc_drain *d, int rc, struct ptc_err *err)
{
	if (rc != PTC_E_IO || (err->sys != ENOSPC && err->sys != EDQUOT))
		return rc;
	d->why_full = *err;
	if (ptc_writer_cut(d->writer, err))
		return err->code;
	d->full = true;
	return 0;
}

static int put_records(struct ptc_drain *d, const struct ptc_seg seg[2], struct ptc_err *err)
{
	return d->full ? 0 : written(d, ptc_writer_records(d->writer, seg, err), err);
}

/* Writes records, and scans them for losses, times and files. */
static int write_records(struct ptc_drain *d, const struct ptc_seg seg[2],
			 struct ptc_ledger_ring *ledger, struct ptc_err *err)
{
	struct ptc_seg pokes[2] = { { NULL, 0 }, { NULL, 0 } };
	const uint64_t first = d->noted.first_ns, last = d->noted.last_ns;
	int rc = put_records(d, seg, err);

	if (!rc)
		rc = ptc_noted_scan(&d->noted, seg, ledger, err);
	if (d->full) { /* the records were dropped: restore the time range */
		d->noted.first_ns = first;
		d->noted.last_ns = last;
	}
	if (rc || !d->noted.pokes.len)
		return rc;
	pokes[0] = (struct ptc_seg){ d->noted.pokes.bytes, d->noted.pokes.len };
	rc = ptc_buf_failed(&d->noted.pokes) ? ptc_fail_mem(err) : put_records(d, pokes, err);
	ptc_buf_reset(&d->noted.pokes);
	return rc;
}

static int write_aux(struct ptc_drain *d, size_t i, uint64_t off, const struct ptc_seg seg[2],
		     struct ptc_err *err)
{
	const struct ptc_source_ring *s = d->rings[i].desc;
	const uint64_t n = (uint64_t)seg[0].len + seg[1].len;
	const struct ptc_auxtrace a = {
		.offset = off,
		.reference = ptc_rdtsc(),
		.idx = s->idx,
		.tid = s->tid,
		.cpu = s->cpu,
	};
	int rc;

	d->ledger[i].aux_read += n;
	if (d->full)
		return 0;
	rc = written(d, ptc_writer_auxtrace(d->writer, &a, seg, err), err);
	if (rc || d->full)
		return rc;
	d->ledger[i].aux_stored += n;
	d->aux_bytes += n;
	return 0;
}

/* --- one ring --- */

static void clear_wakeup(const struct ptc_source_ring *s)
{
	uint64_t count;

	if (s->counts)
		(void)!read(s->fd, &count, sizeof(count));
}

/* Marks the pending records of ring @i as stored: they are in the file now. */
static void settle(struct ptc_drain *d, size_t i)
{
	d->ledger[i].data_stored += d->rings[i].pending;
	d->data_bytes += d->rings[i].pending;
	d->rings[i].pending = 0;
}

static int drain_data(struct ptc_drain *d, size_t i, bool *ret_any, struct ptc_err *err)
{
	struct ptc_drain_ring *r = &d->rings[i];
	struct ptc_ledger_ring *l = &d->ledger[i];
	struct ptc_seg seg[2];
	uint64_t end;
	const int64_t got = ptc_ring_read(&r->data, seg, &end, err);
	int rc;

	if (got <= 0)
		return (int)got;
	rc = d->kept ? ptc_kept_add(d->kept, i, seg, l, err) : write_records(d, seg, l, err);
	if (rc)
		return rc;
	l->data_read += (uint64_t)got;
	l->data_made = l->data_read; /* preliminary: ptc_drain_close sets it */
	if (!d->full && !d->kept)
		r->pending += (uint64_t)got;
	if (!d->packs)
		settle(d, i);
	ptc_ring_done(&r->data, end);
	*ret_any = true;
	return 0;
}

/*
 * Returns the offset in @seg at which a chunk of trace can end: a PSB at or after @from. @before
 * bytes of the chunk precede @seg. The chunk's size must be a multiple of PIECE_UNIT, so that it is
 * not padded. Returns the segment's length if there is no such PSB.
 */
static size_t next_end(struct ptc_seg seg, size_t from, size_t before)
{
	size_t at = ptc_pkt_next_psb(seg.bytes, seg.len, from);

	while (at < seg.len && (before + at) % PIECE_UNIT)
		at = ptc_pkt_next_psb(seg.bytes, seg.len, at + 1);
	return at;
}

/*
 * Limits @seg to one ring's share of a round. A chunk must end at a packet boundary, and the only
 * boundaries visible here are those before a PSB.
 */
static uint64_t bound(const struct ptc_drain *d, struct ptc_seg seg[2])
{
	const size_t first = seg[0].len;

	if (d->whole_packets && first > PTC_DRAIN_QUANTUM)
		seg[0].len = next_end(seg[0], PTC_DRAIN_QUANTUM, 0);
	if (seg[0].len < first)
		seg[1].len = 0;
	else if (d->whole_packets && seg[1].len)
		seg[1].len = next_end(
			seg[1], first < PTC_DRAIN_QUANTUM ? PTC_DRAIN_QUANTUM - first : 0, first);
	return (uint64_t)seg[0].len + seg[1].len;
}

/*
 * Order: load the AUX head, drain the data ring, then write the AUX bytes up to that head. So the
 * AUX record that describes trace bytes is always in the file before those bytes. With snapshots
 * the AUX ring is not read here. Returns 1 if the ring was full and is empty now.
 */
static int drain_ring(struct ptc_drain *d, size_t i, bool last, bool *ret_any, bool *ret_more,
		      struct ptc_err *err)
{
	struct ptc_drain_ring *r = &d->rings[i];
	const bool has_aux = !d->snapshot && r->desc->aux_size;
	const uint64_t truncated = d->ledger[i].truncated;
	struct ptc_seg aux[2];
	uint64_t start = 0, all = 0, n;
	int rc = map_ring(d, r, err);

	if (rc || !r->data.page)
		return rc;
	clear_wakeup(r->desc);
	if (has_aux)
		all = ptc_aux_read(&r->aux, aux, &start);
	rc = drain_data(d, i, ret_any, err);
	if (rc || !has_aux)
		return rc;
	n = all ? bound(d, aux) : 0;
	if (n)
		rc = write_aux(d, i, start, aux, err);
	if (rc)
		return rc;
	ptc_aux_done(&r->aux, start + n, last && n == all);
	*ret_any = *ret_any || n;
	*ret_more = *ret_more || n < all;
	/*
	 * If tracing starts while the ring is full, there is no record at all (pt.c,
	 * pt_buffer_reset_markers). So a nearly full ring also counts as stopped.
	 */
	r->stopped |= d->ledger[i].truncated != truncated ||
		      all + AUX_NEARLY_FULL >= r->desc->aux_size;
	if (n < all || !r->stopped)
		return 0;
	r->stopped = false;
	return 1;
}

/* Writes the new trace of all AUX rings. The rings stand still. */
static int write_snapshot(struct ptc_drain *d, struct ptc_err *err)
{
	struct ptc_seg seg[2];
	uint64_t start;
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < d->n; i++)
		if (has_trace(&d->rings[i]) &&
		    ptc_snapshot_read(&d->rings[i].snap, d->snapshot_size, seg, &start))
			rc = write_aux(d, i, start, seg, err);
	return rc;
}

uint64_t ptc_drain_window(struct ptc_drain *d, size_t i, struct ptc_seg seg[2], uint64_t *ret_start)
{
	struct ptc_snapshot *s = &d->rings[i].snap;

	if (!has_trace(&d->rings[i]))
		return 0;
	(void)ptc_snapshot_read(s, d->snapshot_size, seg, ret_start);
	return ptc_snapshot_window(s, d->snapshot_size, seg, ret_start);
}

/* --- all rings --- */

static int put_mark(struct ptc_drain *d, struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	size_t i;
	int rc;

	if (d->full)
		return 0;
	ptc_rec_end(&b, ptc_rec_begin(&b, PTC_REC_FINISHED_ROUND, 0));
	rc = ptc_buf_failed(&b) ? ptc_fail_mem(err) :
				  written(d, ptc_writer_plain(d->writer, b.bytes, b.len, err), err);
	ptc_buf_release(&b);
	for (i = 0; !rc && !d->full && i < d->n; i++)
		settle(d, i);
	return rc;
}

int ptc_drain_round(struct ptc_drain *d, bool last, bool snapshot, bool *ret_more,
		    struct ptc_err *err)
{
	const struct ptc_source_ops *ops = d->source->ops;
	bool any = false;
	size_t k;
	int rc = 0;

	*ret_more = false;
	for (k = 0; rc >= 0 && k < d->n; k++) {
		const size_t i = (d->first + k) % d->n;

		if (ops->waken)
			ops->waken(d->source, i);
		rc = drain_ring(d, i, last, &any, ret_more, err);
		ops->drained(d->source, i, rc == 1);
	}
	if (d->n)
		d->first = (d->first + 1) % d->n;
	if (rc >= 0 && d->kept)
		return ptc_kept_round(d->kept, err);
	if (rc >= 0)
		rc = snapshot ? write_snapshot(d, err) : 0;
	if (!rc && (any || snapshot))
		rc = put_mark(d, err);
	return rc;
}

void ptc_drain_close(struct ptc_drain *d)
{
	size_t i;

	for (i = 0; i < d->n; i++) {
		const struct ptc_drain_ring *r = &d->rings[i];
		struct ptc_ledger_ring *l = &d->ledger[i];

		if (r->data.page)
			l->data_made = ptc_ring_made(&r->data);
		if (!d->snapshot && has_trace(r)) {
			l->aux_made = ptc_aux_made(&r->aux);
			l->aux_overrun = r->aux.lost;
		}
		if (d->source->ops->account)
			d->source->ops->account(d->source, i, l);
	}
}
