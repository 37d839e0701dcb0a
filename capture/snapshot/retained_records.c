/* SPDX-License-Identifier: MIT */
#include "capture/snapshot/retained_records.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/record/sideband.h"
#include "base/err.h"
#include "capture/rings/ring.h"
#include "capture/snapshot/ring_reach.h"
#include "capture/snapshot/state_compactor.h"

enum { PACK_AT = 64 << 10 }; /* folded bytes at the front that make moving the rest worthwhile */

/* The unchanged records of one ring, oldest first. */
struct line {
	struct ptc_buf buf;
	size_t from;	/* offset of the first record that is not folded */
	uint64_t first; /* time of the record at from; valid if has_first */
	bool has_first;
	struct ptc_horizon horizon;
	bool traces;
};

/*
 * The current mappings of one process. They were read after all records up to time @before had been
 * drained. A record with a time after @until was made after that reading: a whole round that began
 * after the reading ended at @until. Once such a record is folded, the mappings before the reading
 * are no longer needed.
 */
struct look {
	enum { NO_LOOK, TAKEN, DATED } state;
	int32_t pid;
	uint64_t before, until;
	struct ptc_maps maps;
};

struct ptc_kept {
	uint64_t sample_type;
	const char *proc; /* borrowed; NULL: no look-up */
	struct look look;
	struct ptc_fold *fold; /* owned */
	struct line *lines;    /* owned */
	size_t n, bytes, max_bytes;
	uint64_t newest;  /* time of the newest record */
	uint64_t settled; /* no record older than this will come */
	uint64_t since;	  /* all records before this time are folded */
};

int ptc_kept_new(const struct ptc_kept_opts *opts, struct ptc_kept **ret, struct ptc_err *err)
{
	struct ptc_kept *k = calloc(1, sizeof(*k));
	size_t i;

	if (!k)
		return ptc_fail_mem(err);
	k->sample_type = opts->sample_type;
	k->max_bytes = opts->max_bytes ? opts->max_bytes : PTC_KEPT_BYTES;
	k->proc = opts->proc;
	k->look.maps = (struct ptc_maps)PTC_MAPS_INIT;
	k->fold = ptc_fold_new(opts->sample_type, opts->id);
	k->lines = calloc(opts->nrings + 1, sizeof(*k->lines));
	if (!k->fold || !k->lines) {
		ptc_kept_free(k);
		return ptc_fail_mem(err);
	}
	k->n = opts->nrings;
	for (i = 0; i < k->n; i++) {
		k->lines[i].traces = opts->rings[i].aux_size != 0;
		if (k->lines[i].traces)
			ptc_horizon_init(&k->lines[i].horizon, opts->rings[i].aux_size, 0);
	}
	*ret = k;
	return 0;
}

void ptc_kept_free(struct ptc_kept *k)
{
	size_t i;

	if (!k)
		return;
	for (i = 0; i < k->n; i++)
		ptc_buf_release(&k->lines[i].buf);
	ptc_fold_free(k->fold);
	ptc_maps_release(&k->look.maps);
	free(k->lines);
	free(k);
}

/* Parses the record at offset @at of @b. Returns its size, 0 at the end, or an error. */
static int parse_record_at(const struct ptc_kept *k, const struct ptc_buf *b, size_t at,
			   struct ptc_sb *sb, struct ptc_err *err)
{
	struct ptc_rec rec;
	struct ptc_cur c;
	size_t before;
	int rc;

	if (at == b->len) /* an empty buffer has no bytes, so no pointer to add to */
		return 0;
	c = ptc_cur_init(b->bytes + at, b->len - at);
	before = ptc_cur_left(&c);
	rc = ptc_rec_next(&c, at, &rec, err);
	if (!rc)
		return 0;
	*sb = (struct ptc_sb){ .type = 0 }; /* a SAMPLE is not parsed */
	if (rc > 0)
		rc = ptc_sb_parse(&rec, k->sample_type, sb, err);
	return rc < 0 ? rc : (int)(before - ptc_cur_left(&c));
}

int ptc_kept_before(struct ptc_kept *k, const struct ptc_buf *records, struct ptc_err *err)
{
	struct ptc_sb sb;
	size_t at = 0;
	int n;

	while ((n = parse_record_at(k, records, at, &sb, err)) > 0) {
		const int rc = ptc_fold_take(k->fold, &sb, err);

		if (rc)
			return rc;
		at += (size_t)n;
	}
	return n;
}

/* --- adding records --- */

static void note_kept_record(struct ptc_kept *k, struct line *l, const struct ptc_sb *sb,
			     struct ptc_ledger_ring *ledger)
{
	ptc_ledger_note(ledger, sb);
	if (!(sb->id.has & PERF_SAMPLE_TIME))
		return;
	if (sb->id.time > k->newest)
		k->newest = sb->id.time;
	if (l->traces && sb->type == PERF_RECORD_AUX && sb->u.aux.flags & PERF_AUX_FLAG_OVERWRITE)
		ptc_horizon_stop(&l->horizon, sb->id.time, sb->u.aux.offset);
}

int ptc_kept_add(struct ptc_kept *k, size_t i, const struct ptc_seg seg[2],
		 struct ptc_ledger_ring *ledger, struct ptc_err *err)
{
	struct line *l = &k->lines[i];
	size_t at = l->buf.len;
	struct ptc_sb sb;
	int n;

	ptc_buf_put(&l->buf, seg[0].bytes, seg[0].len);
	ptc_buf_put(&l->buf, seg[1].bytes, seg[1].len);
	if (ptc_buf_failed(&l->buf))
		return ptc_fail_mem(err);
	k->bytes += l->buf.len - at;
	while ((n = parse_record_at(k, &l->buf, at, &sb, err)) > 0) {
		note_kept_record(k, l, &sb, ledger);
		at += (size_t)n;
	}
	return n;
}

/* --- folding records --- */

/* Returns a time before which no ring has trace, as far as that is known. */
static uint64_t reach(const struct ptc_kept *k)
{
	uint64_t least = UINT64_MAX;
	size_t i;

	for (i = 0; i < k->n; i++)
		if (k->lines[i].traces && k->lines[i].horizon.reach < least)
			least = k->lines[i].horizon.reach;
	return least;
}

static void pack(struct line *l)
{
	if (l->from < PACK_AT || l->from < l->buf.len / 2)
		return;
	memmove(l->buf.bytes, l->buf.bytes + l->from, l->buf.len - l->from);
	l->buf.len -= l->from;
	l->from = 0;
}

static int look_at_first(const struct ptc_kept *k, struct line *l, struct ptc_err *err)
{
	struct ptc_sb sb;
	const int n = l->has_first ? 0 : parse_record_at(k, &l->buf, l->from, &sb, err);

	if (n > 0) {
		l->first = sb.id.time;
		l->has_first = true;
	}
	return n < 0 ? n : 0;
}

/* Finds the ring with the oldest record. *ret is NULL if there are no records. */
static int oldest(struct ptc_kept *k, struct line **ret, struct ptc_err *err)
{
	size_t i;

	*ret = NULL;
	for (i = 0; i < k->n; i++) {
		struct line *l = &k->lines[i];
		const int rc = look_at_first(k, l, err);

		if (rc)
			return rc;
		if (l->has_first && (!*ret || l->first < (*ret)->first))
			*ret = l;
	}
	return 0;
}

static int apply_look(struct ptc_kept *k, struct ptc_err *err)
{
	const struct look *l = &k->look;

	k->look.state = NO_LOOK;
	return ptc_fold_look(k->fold, l->pid, &l->maps, l->before, err);
}

/*
 * Advances the look at current mappings. Unreadable maps mean that the process has ended or that we
 * may not read it. The look is then skipped.
 */
static void advance_maps_look(struct ptc_kept *k)
{
	struct look *l = &k->look;
	struct ptc_err ignored;

	if (l->state == TAKEN) {
		l->until = k->newest;
		l->state = DATED;
	}
	if (!k->proc || l->state != NO_LOOK || !ptc_fold_wants_look(k->fold, &l->pid))
		return;
	if (ptc_maps_read(&l->maps, k->proc, l->pid, &ignored) || !l->maps.n)
		return;
	l->before = k->newest;
	l->state = TAKEN;
}

static int fold_first(struct ptc_kept *k, struct line *l, struct ptc_err *err)
{
	struct ptc_sb sb;
	const int n = parse_record_at(k, &l->buf, l->from, &sb, err);
	int rc = n < 0 ? n : 0;

	if (!rc && k->look.state == DATED && l->first > k->look.until)
		rc = apply_look(k, err);
	if (!rc)
		rc = ptc_fold_take(k->fold, &sb, err);
	if (rc)
		return rc;
	if (l->first >= k->since)
		k->since = l->first + 1;
	l->from += (size_t)n;
	l->has_first = false;
	k->bytes -= (size_t)n;
	pack(l);
	return 0;
}

/* Folds records older than @until, and more while over @bytes are unfolded. */
static int fold(struct ptc_kept *k, uint64_t until, size_t bytes, struct ptc_err *err)
{
	struct line *l;
	int rc = oldest(k, &l, err);

	while (!rc && l && l->first < k->settled && (l->first < until || k->bytes > bytes)) {
		rc = fold_first(k, l, err);
		if (!rc)
			rc = oldest(k, &l, err);
	}
	return rc;
}

int ptc_kept_round(struct ptc_kept *k, struct ptc_err *err)
{
	const bool many = k->bytes > k->max_bytes;
	const int rc = fold(k, reach(k), many ? k->max_bytes / 2 : SIZE_MAX, err);

	k->settled = k->newest;
	advance_maps_look(k);
	return rc;
}

int ptc_kept_fold(struct ptc_kept *k, uint64_t until, struct ptc_err *err)
{
	if (k->settled < until)
		k->settled = until;
	return fold(k, until, SIZE_MAX, err);
}

int ptc_kept_put(const struct ptc_kept *k, struct ptc_buf *state, struct ptc_buf *records,
		 struct ptc_err *err)
{
	size_t i;

	for (i = 0; i < k->n; i++)
		ptc_buf_put(records, k->lines[i].buf.bytes + k->lines[i].from,
			    ptc_kept_bytes(k, i));
	if (ptc_buf_failed(records))
		return ptc_fail_mem(err);
	return ptc_fold_put(k->fold, state, err);
}

uint64_t ptc_kept_since(const struct ptc_kept *k)
{
	return k->since;
}

size_t ptc_kept_bytes(const struct ptc_kept *k, size_t i)
{
	return k->lines[i].buf.len - k->lines[i].from;
}
