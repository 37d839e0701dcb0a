/* SPDX-License-Identifier: MIT */
#include "auxtrace/record/cutout.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/record/record.h"
#include "auxtrace/record/userrec.h"
#include "base/err.h"
#include "base/sorted.h"

/* QUEUES_MAX: limit, also of a recording that claims more. */
enum {
	WORD = 8,
	QUEUE = sizeof(struct ptc_cutout_queue),
	WORDS = QUEUE / WORD,
	TIMED = 1, /* flag */
	HEAD = 6 * WORD,
	ROOM = PTC_REC_MAX - PTC_REC_HEADER_SIZE - WORD - PTC_EVENT_TYPE_NAME_MAX - HEAD,
	QUEUES_MAX = 1 << 20
};

static_assert(QUEUE == 7 * WORD, "a queue consists of 64-bit numbers");

/* --- writing --- */

/* Layout: i, n, flags and the size of a queue with 4 bytes each, then numbers of 8 bytes. */
static void put_cutout_record(struct ptc_buf *b, const struct ptc_cutout *c, size_t first, size_t n)
{
	struct ptc_user u = { .type = PTC_REC_HEADER_EVENT_TYPE };
	struct ptc_buf more = PTC_BUF_INIT;
	uint64_t words[WORDS];
	size_t i, k;

	ptc_buf_le32(&more, c->i);
	ptc_buf_le32(&more, c->n);
	ptc_buf_le32(&more, c->timed ? TIMED : 0);
	ptc_buf_le32(&more, QUEUE);
	ptc_buf_le64(&more, c->from_ns);
	ptc_buf_le64(&more, c->to_ns);
	ptc_buf_le64(&more, n);
	for (i = first; i < first + n; i++) {
		memcpy(words, &c->queues[i], QUEUE);
		for (k = 0; k < WORDS; k++)
			ptc_buf_le64(&more, words[k]);
	}
	u.u.event_type.event_id = PTC_CUTOUT_ID;
	u.u.event_type.name = "ptcap shard";
	u.u.event_type.more = ptc_cur_init(more.bytes, more.len);
	ptc_user_put(b, &u);
	b->failed |= ptc_buf_failed(&more);
	ptc_buf_release(&more);
}

void ptc_cutout_put(struct ptc_buf *b, const struct ptc_cutout *c)
{
	const size_t max = ROOM / QUEUE;
	size_t first = 0, n;

	do {
		n = c->nqueues - first < max ? c->nqueues - first : max;
		put_cutout_record(b, c, first, n);
		first += n;
	} while (first < c->nqueues);
}

/* --- reading --- */

int ptc_cutout_parse(const struct ptc_rec *rec, struct ptc_cutout_record *ret, struct ptc_err *err)
{
	struct ptc_cutout_record r = { .size = 0 };
	struct ptc_cutout *c = &r.head;
	uint32_t flags;
	struct ptc_cur cur;
	uint64_t n;
	int rc;

	rc = ptc_user_own(rec, PTC_CUTOUT_ID, &cur, err);
	if (rc <= 0)
		return rc;
	if (!ptc_cur_le32(&cur, &c->i) || !ptc_cur_le32(&cur, &c->n) ||
	    !ptc_cur_le32(&cur, &flags) || !ptc_cur_le32(&cur, &r.size) ||
	    !ptc_cur_le64(&cur, &c->from_ns) || !ptc_cur_le64(&cur, &c->to_ns) ||
	    !ptc_cur_le64(&cur, &n) || !c->i || c->i > c->n || r.size < QUEUE || r.size % WORD ||
	    n > ptc_cur_left(&cur) / r.size || !ptc_cur_sub(&cur, (size_t)n * r.size, &r.at))
		return ptc_fail_at(err, PTC_E_FORMAT, rec->off,
				   "the borders of a shard are too short for what they claim");
	c->timed = flags & TIMED;
	*ret = r;
	return 1;
}

bool ptc_cutout_next(struct ptc_cutout_record *r, struct ptc_cutout_queue *ret)
{
	uint64_t words[WORDS];
	struct ptc_cur queue;
	size_t i;

	if (!ptc_cur_left(&r->at) || !ptc_cur_sub(&r->at, r->size, &queue))
		return false;
	for (i = 0; i < WORDS; i++)
		if (!ptc_cur_le64(&queue, &words[i]))
			return false;
	memcpy(ret, words, QUEUE);
	return true;
}

static bool is_same_shard(const struct ptc_cutout *a, const struct ptc_cutout *b)
{
	return a->i == b->i && a->n == b->n && a->timed == b->timed && a->from_ns == b->from_ns &&
	       a->to_ns == b->to_ns;
}

int ptc_cutout_add(struct ptc_cutout *c, struct ptc_cutout_record *r, struct ptc_err *err)
{
	const size_t more = ptc_cur_left(&r->at) / r->size;
	struct ptc_cutout_queue *queues;

	if (c->n && !is_same_shard(c, &r->head))
		return ptc_fail(err, PTC_E_FORMAT, "the recording has the borders of two shards");
	if (more > QUEUES_MAX - c->nqueues)
		return ptc_fail(err, PTC_E_LIMIT, "a shard has more than %d queues", QUEUES_MAX);
	queues = reallocarray(c->queues, c->nqueues + more + 1, sizeof(*queues));
	if (!queues)
		return ptc_fail_mem(err);
	c->queues = queues;
	c->i = r->head.i;
	c->n = r->head.n;
	c->timed = r->head.timed;
	c->from_ns = r->head.from_ns;
	c->to_ns = r->head.to_ns;
	for (; ptc_cutout_next(r, &queues[c->nqueues]); c->nqueues++)
		if (c->nqueues && queues[c->nqueues].idx <= queues[c->nqueues - 1].idx)
			return ptc_fail(err, PTC_E_FORMAT,
					"the queues of the shard are not in order");
	return 0;
}

const struct ptc_cutout_queue *ptc_cutout_find(const struct ptc_cutout *c, uint32_t idx)
{
	const size_t at = PTC_PARTITION_POINT(i, 0, c->nqueues, c->queues[i].idx < idx);

	return at < c->nqueues && c->queues[at].idx == idx ? &c->queues[at] : NULL;
}

void ptc_cutout_release(struct ptc_cutout *c)
{
	free(c->queues);
	*c = (struct ptc_cutout){ .n = 0 };
}
