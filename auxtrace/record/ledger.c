/* SPDX-License-Identifier: MIT */
#include "auxtrace/record/ledger.h"

#include <assert.h>
#include <string.h>

#include "auxtrace/record/record.h"
#include "auxtrace/record/userrec.h"
#include "base/err.h"

/* An entry consists of its structure's numbers, 8 bytes each, in order. */
static const char *const ring_names[] = {
	"idx",	       "cpu",	     "tid",	     "data_made",   "data_read",
	"data_stored", "lost",	     "lost_samples", "throttled",   "aux_made",
	"aux_read",    "aux_stored", "aux_overrun",  "aux_dropped", "truncated",
	"partial",     "collisions", "wakeups",	     "restarts",
};
static const char *const event_names[] = { "id", "enabled_ns", "running_ns", "lost", "failed" };
static const char *const clock_names[] = { "time_ns", "monotonic_ns" };
static const char *const source_names[] = { "instructions", "transfers", "unshown" };
static const char *const processor_names[] = { "cpu",	"cpus",	    "family",
					       "model", "stepping", "microcode" };

enum {
	WORD = 8,
	RING_WORDS = sizeof(ring_names) / sizeof(ring_names[0]),
	EVENT_WORDS = sizeof(event_names) / sizeof(event_names[0]),
	CLOCK_WORDS = sizeof(clock_names) / sizeof(clock_names[0]),
	SOURCE_WORDS = sizeof(source_names) / sizeof(source_names[0]),
	PROCESSOR_WORDS = sizeof(processor_names) / sizeof(processor_names[0]),
	WHICH_WORDS = 3, /* idx, cpu, tid */
	FRONT = WORD + PTC_EVENT_TYPE_NAME_MAX,
	HEAD = 2 * WORD, /* u32 kind, u32 size, u64 n */
	ROOM = PTC_REC_MAX - PTC_REC_HEADER_SIZE - FRONT - HEAD,
};

static_assert(sizeof(struct ptc_ledger_ring) == (size_t)RING_WORDS * WORD,
	      "every number has a name");
static_assert(sizeof(struct ptc_ledger_event) == (size_t)EVENT_WORDS * WORD,
	      "every number has a name");
static_assert(sizeof(struct ptc_ledger_clock) == (size_t)CLOCK_WORDS * WORD,
	      "every number has a name");
static_assert(sizeof(struct ptc_ledger_source) == (size_t)SOURCE_WORDS * WORD,
	      "every number has a name");
static_assert(sizeof(struct ptc_ledger_processor) == (size_t)PROCESSOR_WORDS * WORD,
	      "every number has a name");

/* Returns the event name, as seen by readers that do not know these records. */
static const char *kind_name(uint32_t kind)
{
	return kind == PTC_LEDGER_RINGS	  ? "ptcap ledger: rings" :
	       kind == PTC_LEDGER_EVENTS  ? "ptcap ledger: events" :
	       kind == PTC_LEDGER_CLOCKS  ? "ptcap ledger: clocks" :
	       kind == PTC_LEDGER_SOURCES ? "ptcap ledger: source" :
					    "ptcap ledger: processors";
}

/* --- writing --- */

/* @entries: @n entries of @each words. */
static void put_record(struct ptc_buf *b, uint32_t kind, const uint8_t *entries, size_t each,
		       size_t n)
{
	struct ptc_user u = { .type = PTC_REC_HEADER_EVENT_TYPE };
	struct ptc_buf more = PTC_BUF_INIT;
	uint64_t word;
	size_t i;

	ptc_buf_le32(&more, kind);
	ptc_buf_le32(&more, (uint32_t)(each * WORD));
	ptc_buf_le64(&more, n);
	for (i = 0; i < n * each; i++) {
		memcpy(&word, entries + i * WORD, WORD);
		ptc_buf_le64(&more, word);
	}
	u.u.event_type.event_id = PTC_LEDGER_ID;
	u.u.event_type.name = kind_name(kind);
	u.u.event_type.more = ptc_cur_init(more.bytes, more.len);
	ptc_user_put(b, &u);
	b->failed |= ptc_buf_failed(&more);
	ptc_buf_release(&more);
}

static void put_records(struct ptc_buf *b, uint32_t kind, const void *entries, size_t each,
			size_t n)
{
	const uint8_t *at = entries;
	const size_t max = ROOM / (each * WORD);

	while (n) {
		const size_t now = n < max ? n : max;

		put_record(b, kind, at, each, now);
		at += now * each * WORD;
		n -= now;
	}
}

void ptc_ledger_put_rings(struct ptc_buf *b, const struct ptc_ledger_ring *rings, size_t n)
{
	put_records(b, PTC_LEDGER_RINGS, rings, RING_WORDS, n);
}

void ptc_ledger_put_events(struct ptc_buf *b, const struct ptc_ledger_event *events, size_t n)
{
	put_records(b, PTC_LEDGER_EVENTS, events, EVENT_WORDS, n);
}

void ptc_ledger_put_clocks(struct ptc_buf *b, const struct ptc_ledger_clock *clocks, size_t n)
{
	put_records(b, PTC_LEDGER_CLOCKS, clocks, CLOCK_WORDS, n);
}

void ptc_ledger_put_source(struct ptc_buf *b, const struct ptc_ledger_source *source)
{
	put_records(b, PTC_LEDGER_SOURCES, source, SOURCE_WORDS, 1);
}

void ptc_ledger_put_processors(struct ptc_buf *b, const struct ptc_ledger_processor *processors,
			       size_t n)
{
	put_records(b, PTC_LEDGER_PROCESSORS, processors, PROCESSOR_WORDS, n);
}

/* --- reading --- */

int ptc_ledger_parse(const struct ptc_rec *rec, struct ptc_ledger *ret, struct ptc_err *err)
{
	struct ptc_ledger l;
	struct ptc_cur c;
	uint64_t n;
	int rc;

	rc = ptc_user_own(rec, PTC_LEDGER_ID, &c, err);
	if (rc <= 0)
		return rc;
	if (!ptc_cur_le32(&c, &l.kind) || !ptc_cur_le32(&c, &l.size) || !ptc_cur_le64(&c, &n) ||
	    l.size < WORD || l.size % WORD || n > ptc_cur_left(&c) / l.size ||
	    !ptc_cur_sub(&c, (size_t)n * l.size, &l.at))
		return ptc_fail_at(err, PTC_E_FORMAT, rec->off,
				   "the ledger is too short for what it claims");
	*ret = l;
	return 1;
}

static bool next_ledger_entry(struct ptc_ledger *l, uint32_t kind, uint64_t *words, size_t n)
{
	struct ptc_cur entry;
	size_t i;

	if (l->kind != kind || !ptc_cur_left(&l->at) || !ptc_cur_sub(&l->at, l->size, &entry))
		return false;
	for (i = 0; i < n; i++)
		if (!ptc_cur_le64(&entry, &words[i]))
			words[i] = 0;
	return true;
}

bool ptc_ledger_next_ring(struct ptc_ledger *l, struct ptc_ledger_ring *ret)
{
	uint64_t words[RING_WORDS];

	if (!next_ledger_entry(l, PTC_LEDGER_RINGS, words, RING_WORDS))
		return false;
	memcpy(ret, words, sizeof(*ret));
	return true;
}

bool ptc_ledger_next_event(struct ptc_ledger *l, struct ptc_ledger_event *ret)
{
	uint64_t words[EVENT_WORDS];

	if (!next_ledger_entry(l, PTC_LEDGER_EVENTS, words, EVENT_WORDS))
		return false;
	memcpy(ret, words, sizeof(*ret));
	return true;
}

bool ptc_ledger_next_clock(struct ptc_ledger *l, struct ptc_ledger_clock *ret)
{
	uint64_t words[CLOCK_WORDS];

	if (!next_ledger_entry(l, PTC_LEDGER_CLOCKS, words, CLOCK_WORDS))
		return false;
	memcpy(ret, words, sizeof(*ret));
	return true;
}

bool ptc_ledger_next_source(struct ptc_ledger *l, struct ptc_ledger_source *ret)
{
	uint64_t words[SOURCE_WORDS];

	if (!next_ledger_entry(l, PTC_LEDGER_SOURCES, words, SOURCE_WORDS))
		return false;
	memcpy(ret, words, sizeof(*ret));
	return true;
}

bool ptc_ledger_next_processor(struct ptc_ledger *l, struct ptc_ledger_processor *ret)
{
	uint64_t words[PROCESSOR_WORDS];

	if (!next_ledger_entry(l, PTC_LEDGER_PROCESSORS, words, PROCESSOR_WORDS))
		return false;
	memcpy(ret, words, sizeof(*ret));
	return true;
}

/* --- the numbers --- */

bool ptc_ledger_ring_field(const struct ptc_ledger_ring *r, size_t i, struct ptc_ledger_field *ret)
{
	uint64_t words[RING_WORDS];

	if (i >= RING_WORDS)
		return false;
	memcpy(words, r, sizeof(words));
	*ret = (struct ptc_ledger_field){ ring_names[i], words[i], i == 1 || i == 2 };
	return true;
}

bool ptc_ledger_event_field(const struct ptc_ledger_event *e, size_t i,
			    struct ptc_ledger_field *ret)
{
	uint64_t words[EVENT_WORDS];

	if (i >= EVENT_WORDS)
		return false;
	memcpy(words, e, sizeof(words));
	*ret = (struct ptc_ledger_field){ event_names[i], words[i], false };
	return true;
}

bool ptc_ledger_clock_field(const struct ptc_ledger_clock *entry, size_t i,
			    struct ptc_ledger_field *ret)
{
	uint64_t words[CLOCK_WORDS];

	if (i >= CLOCK_WORDS)
		return false;
	memcpy(words, entry, sizeof(words));
	*ret = (struct ptc_ledger_field){ clock_names[i], words[i], false };
	return true;
}

bool ptc_ledger_source_field(const struct ptc_ledger_source *entry, size_t i,
			     struct ptc_ledger_field *ret)
{
	uint64_t words[SOURCE_WORDS];

	if (i >= SOURCE_WORDS)
		return false;
	memcpy(words, entry, sizeof(words));
	*ret = (struct ptc_ledger_field){ source_names[i], words[i], false };
	return true;
}

bool ptc_ledger_processor_field(const struct ptc_ledger_processor *entry, size_t i,
				struct ptc_ledger_field *ret)
{
	uint64_t words[PROCESSOR_WORDS];

	if (i >= PROCESSOR_WORDS)
		return false;
	memcpy(words, entry, sizeof(words));
	*ret = (struct ptc_ledger_field){ processor_names[i], words[i], false };
	return true;
}

void ptc_ledger_add(struct ptc_ledger_ring *to, const struct ptc_ledger_ring *from)
{
	uint64_t a[RING_WORDS], b[RING_WORDS];
	size_t i;

	memcpy(a, to, sizeof(a));
	memcpy(b, from, sizeof(b));
	for (i = WHICH_WORDS; i < RING_WORDS; i++)
		a[i] += b[i];
	memcpy(to, a, sizeof(a));
}

void ptc_ledger_note(struct ptc_ledger_ring *r, const struct ptc_sb *sb)
{
	switch (sb->type) {
	case PERF_RECORD_LOST:
		r->lost_records += sb->u.lost.lost;
		break;
	case PERF_RECORD_LOST_SAMPLES:
		r->lost_samples += sb->u.lost.lost;
		break;
	case PERF_RECORD_THROTTLE:
		r->throttled++;
		break;
	case PERF_RECORD_AUX:
		r->truncated += (sb->u.aux.flags & PERF_AUX_FLAG_TRUNCATED) != 0;
		r->partial += (sb->u.aux.flags & PERF_AUX_FLAG_PARTIAL) != 0;
		r->collisions += (sb->u.aux.flags & PERF_AUX_FLAG_COLLISION) != 0;
		break;
	default:
		break;
	}
}
