/* SPDX-License-Identifier: MIT */
/*
 * countcheck: compares a recording of the PMU softcount (tests/guest/softcount.c) with the PMU's
 * own account.
 *
 * countcheck FILE ACCOUNTS           rings that were drained
 * countcheck FILE ACCOUNTS MOST      snapshots of MOST bytes of a ring (0: all of it)
 * countcheck FILE ACCOUNTS samples   AUX samples
 *
 * ACCOUNTS: the lines of /proc/softcount for the recording's rings. The stored bytes, and the bytes
 * dropped behind a TRUNCATED AUX record, must add up to all bytes that a ring was offered. The
 * ledger in the file must have the same numbers for each ring. Each snapshot must equal the content
 * of the ring when the trace was stopped. Each sample must have the ring's newest bytes, in the
 * order of the samples. Prints the sums of stored and lost bytes as in the ledger. Exits with 1 if
 * a check fails.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptcap/file.h"
#include "ptcap/ledger.h"

enum { WORD = 8, RINGS = 64, STOPS = 64, LINE = 4096, RING_SHIFT = 48 };

/* A line of /proc/softcount. */
struct account {
	uint64_t ring, size, offered, dropped, truncations, refused, stops;
	uint64_t stop[STOPS];
	size_t kept;	  /* entries of stop[] */
	uint64_t sampled; /* end of the newest sample */
	bool seen;
};

/* The end of the range of an AUX record. */
struct piece_end {
	int32_t cpu, tid;
	uint64_t at;
	bool truncated;
};

struct check {
	const struct ptc_file *f;
	struct account accounts[RINGS];
	size_t naccounts;
	struct piece_end *ends;
	size_t nends, ends_cap;
	struct ptc_ledger_ring entries[RINGS];
	size_t nentries;
	uint64_t rings, pieces, stored, dropped, offered, truncated, lost;
	uint64_t wrapped; /* snapshots without a link to the previous one */
};

__attribute__((format(printf, 1, 2))) static _Noreturn void fail(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fprintf(stderr, "countcheck: ");
	vfprintf(stderr, format, ap);
	fprintf(stderr, "\n");
	va_end(ap);
	exit(1);
}

/* --- numbers of the PMU --- */

static bool next_number(char **line, uint64_t *ret)
{
	char *end;

	*ret = strtoull(*line, &end, 10);
	if (end == *line)
		return false;
	*line = end;
	return true;
}

static void read_accounts(struct check *c, const char *path)
{
	char text[LINE], *line;
	FILE *in = fopen(path, "r");

	if (!in)
		fail("cannot open '%s'", path);
	while (fgets(text, sizeof(text), in)) {
		struct account *a = &c->accounts[c->naccounts++];

		line = text;
		if (c->naccounts > RINGS)
			fail("there are too many rings");
		if (!next_number(&line, &a->ring) || !next_number(&line, &a->size) ||
		    !next_number(&line, &a->offered) || !next_number(&line, &a->dropped) ||
		    !next_number(&line, &a->truncations) || !next_number(&line, &a->refused) ||
		    !next_number(&line, &a->stops))
			fail("no account: %s", text);
		while (a->kept < STOPS && next_number(&line, &a->stop[a->kept]))
			a->kept++;
	}
	fclose(in);
}

static struct account *account_of_ring(struct check *c, uint64_t ring)
{
	size_t i;

	for (i = 0; i < c->naccounts; i++)
		if (c->accounts[i].ring == ring)
			return &c->accounts[i];
	fail("ring %" PRIu64 ": nobody knows it", ring);
	return NULL;
}

/*
 * Returns the ring of the chunk's queue. A ring has exactly one queue, and a queue exactly one
 * ring.
 */
static struct account *account_of(struct check *c, const struct ptc_chunk *chunk)
{
	struct ptc_cur bytes = ptc_chunk_bytes(c->f, chunk);
	struct account *a;
	uint64_t word;

	if (!ptc_cur_le64(&bytes, &word))
		fail("a piece has no word");
	a = account_of_ring(c, word >> RING_SHIFT);
	if (a->seen)
		fail("ring %" PRIu64 " is in two queues", a->ring);
	a->seen = true;
	return a;
}

/* --- records of the kernel --- */

static void add_end(struct check *c, const struct ptc_sb *sb)
{
	if (c->nends == c->ends_cap) {
		c->ends_cap = c->ends_cap ? c->ends_cap * 2 : 1024;
		c->ends = realloc(c->ends, c->ends_cap * sizeof(*c->ends));
		if (!c->ends)
			fail("out of memory");
	}
	c->ends[c->nends++] = (struct piece_end){
		.cpu = (int32_t)sb->id.cpu,
		.tid = sb->id.tid,
		.at = sb->u.aux.offset + sb->u.aux.size,
		.truncated = sb->u.aux.flags & PERF_AUX_FLAG_TRUNCATED,
	};
	c->truncated += c->ends[c->nends - 1].truncated;
}

static void add_entries(struct check *c, const struct ptc_rec *rec)
{
	struct ptc_ledger l;
	struct ptc_err err;
	const int rc = ptc_ledger_parse(rec, &l, &err);

	if (rc < 0)
		fail("%s", err.msg);
	if (rc != 1)
		return;
	while (ptc_ledger_next_ring(&l, &c->entries[c->nentries]))
		if (++c->nentries == RINGS)
			fail("the ledger has too many rings");
}

static void read_records(struct check *c)
{
	struct ptc_rec rec;
	struct ptc_sb sb;
	struct ptc_err err;
	uint64_t pos = 0;
	int rc;

	while ((rc = ptc_file_next(c->f, &pos, &rec, &err)) == 1) {
		add_entries(c, &rec);
		if (rec.type != PERF_RECORD_AUX && rec.type != PERF_RECORD_LOST)
			continue;
		if (ptc_sb_parse(&rec, ptc_file_trailer_type(c->f, &rec), &sb, &err) != 1)
			fail("%s", err.msg);
		if (rec.type == PERF_RECORD_AUX)
			add_end(c, &sb);
		else
			c->lost += sb.u.lost.lost;
	}
	if (rc < 0)
		fail("%s", err.msg);
}

/*
 * Returns true if the kernel reported missing bytes behind @at. That record itself may be lost too.
 */
static bool told(const struct check *c, const struct ptc_queue *q, uint64_t at)
{
	size_t i;

	for (i = 0; i < c->nends; i++)
		if (c->ends[i].truncated && c->ends[i].at == at &&
		    (q->cpu >= 0 ? c->ends[i].cpu == q->cpu : c->ends[i].tid == q->tid))
			return true;
	return c->lost != 0;
}

/* --- numbers of the ledger --- */

static const struct ptc_ledger_ring *entry_of(const struct check *c, const struct ptc_queue *q)
{
	size_t i;

	for (i = 0; i < c->nentries; i++)
		if (c->entries[i].idx == q->idx)
			return &c->entries[i];
	fail("the ledger has nothing of queue %" PRIu32, q->idx);
	return NULL;
}

static void same(const struct account *a, const char *what, uint64_t ledger, uint64_t found)
{
	if (ledger != found)
		fail("ring %" PRIu64 ": the ledger says %" PRIu64 " %s, it is %" PRIu64, a->ring,
		     ledger, what, found);
}

/* Returns the number of TRUNCATED AUX records of a queue. */
static uint64_t truncations(const struct check *c, const struct ptc_queue *q)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < c->nends; i++)
		n += c->ends[i].truncated &&
		     (q->cpu >= 0 ? c->ends[i].cpu == q->cpu : c->ends[i].tid == q->tid);
	return n;
}

/* Checks the ledger of a ring. @made: the head (0: not checked); @stored: bytes in the file. */
static void check_entry(struct check *c, const struct ptc_queue *q, const struct account *a,
			uint64_t made, uint64_t stored)
{
	const struct ptc_ledger_ring *l = entry_of(c, q);

	same(a, "bytes that were made", l->aux_made, made);
	same(a, "bytes that were read", l->aux_read, stored);
	same(a, "bytes that are stored", l->aux_stored, stored);
	same(a, "bytes that were overwritten", l->aux_overrun, 0);
	same(a, "truncations", l->truncated, truncations(c, q));
	c->stored += l->aux_stored;
}

/*
 * The losses of sideband records in the ledger must equal the losses reported in the file, for
 * rings with and without a queue.
 */
static void check_lost(const struct check *c)
{
	uint64_t lost = 0;
	size_t i;

	for (i = 0; i < c->nentries; i++)
		lost += c->entries[i].lost_records;
	if (lost != c->lost)
		fail("the ledger says that %" PRIu64 " records are lost, the LOST records %" PRIu64,
		     lost, c->lost);
}

/* --- a ring that was drained --- */

static void drained(struct check *c, const struct ptc_queue *q, const struct account *a)
{
	const uint64_t first = a->ring << RING_SHIFT;
	uint64_t word, next = first, at = 0, dropped = 0;
	size_t i;

	for (i = 0; i < q->nchunks; i++) {
		struct ptc_cur bytes = ptc_chunk_bytes(c->f, &q->chunks[i]);

		if (q->chunks[i].aux_off != at)
			fail("ring %" PRIu64 ": a piece at %" PRIu64
			     ", the one before ends at %" PRIu64,
			     a->ring, q->chunks[i].aux_off, at);
		for (; ptc_cur_le64(&bytes, &word); at += WORD, next = word + 1) {
			if (word == next)
				continue;
			if (word < next || word - first >= a->offered / WORD)
				fail("ring %" PRIu64 ": %016" PRIx64 " at %" PRIu64
				     " instead of %016" PRIx64,
				     a->ring, word, at, next);
			dropped += (word - next) * WORD;
			if (!told(c, q, at))
				fail("ring %" PRIu64 ": %" PRIu64 " bytes are missing at %" PRIu64
				     ", and nothing says so",
				     a->ring, (word - next) * WORD, at);
		}
		if (ptc_cur_left(&bytes))
			fail("ring %" PRIu64 ": half a word at %" PRIu64, a->ring, at);
	}
	word = first + a->offered / WORD; /* the word that would come next */
	if (word != next && !told(c, q, at))
		fail("ring %" PRIu64 ": its last %" PRIu64
		     " bytes are missing, and nothing says so",
		     a->ring, (word - next) * WORD);
	dropped += (word - next) * WORD;
	if (dropped != a->dropped)
		fail("ring %" PRIu64 ": %" PRIu64 " bytes are missing, %" PRIu64 " were dropped",
		     a->ring, dropped, a->dropped);
	if (at + dropped != a->offered)
		fail("ring %" PRIu64 ": %" PRIu64 " stored and %" PRIu64 " dropped, of %" PRIu64
		     " offered",
		     a->ring, at, dropped, a->offered);
	/*
	 * A full ring must have dropped something, unless space was returned before the head
	 * reached it.
	 */
	if (a->refused && !a->dropped)
		fail("ring %" PRIu64 ": no room %" PRIu64 " times, and nothing was dropped",
		     a->ring, a->refused);
	check_entry(c, q, a, a->offered - a->dropped, at);
	c->dropped += dropped;
}

/* --- snapshots --- */

/* Checks that a chunk equals [*from, end) of the stream, or its newest part that fits. */
static void snapshot(const struct check *c, const struct ptc_chunk *chunk, const struct account *a,
		     uint64_t from, uint64_t end)
{
	struct ptc_cur bytes = ptc_chunk_bytes(c->f, chunk);
	uint64_t word, at = from;

	while (ptc_cur_le64(&bytes, &word)) {
		if (word != (a->ring << RING_SHIFT) + at / WORD)
			fail("ring %" PRIu64 ": %016" PRIx64 " instead of byte %" PRIu64
			     " of a snapshot of %" PRIu64 " to %" PRIu64,
			     a->ring, word, at, from, end);
		at += WORD;
	}
	if (at != end || ptc_cur_left(&bytes))
		fail("ring %" PRIu64 ": a snapshot ends at %" PRIu64 ", the trace was at %" PRIu64,
		     a->ring, at, end);
	if ((chunk->aux_off + chunk->size) % a->size != end % a->size)
		fail("ring %" PRIu64 ": a snapshot says that it ends at %" PRIu64
		     ", not at %" PRIu64,
		     a->ring, (chunk->aux_off + chunk->size) % a->size, end % a->size);
}

/* Expects one snapshot at each stop: all new bytes, limited by the ring size and by @most. */
static void snapshots(struct check *c, const struct ptc_queue *q, const struct account *a,
		      uint64_t most)
{
	uint64_t last = 0, end, stored = 0;
	size_t i, n = 0;

	if (a->stops != a->kept)
		fail("ring %" PRIu64 " was stopped too often: %" PRIu64 " times", a->ring,
		     a->stops);
	for (i = 0; i < a->kept; i++, last = end) {
		uint64_t from = last;

		end = a->stop[i];
		if (end == last)
			continue;
		if (end - from > a->size) {
			from = end - a->size;
			c->wrapped++;
		}
		if (most && end - from > most)
			from = end - most;
		if (n == q->nchunks)
			fail("ring %" PRIu64 ": there is no snapshot of %" PRIu64 " to %" PRIu64,
			     a->ring, from, end);
		snapshot(c, &q->chunks[n++], a, from, end);
		stored += end - from;
	}
	check_entry(c, q, a, 0, stored);
	if (n != q->nchunks)
		fail("ring %" PRIu64 ": %zu snapshots, %zu were expected", a->ring, q->nchunks, n);
	if (last != a->offered)
		fail("ring %" PRIu64 ": the last snapshot is not the end", a->ring);
}

/* --- samples --- */

/* A sample has zeros where the ring was not written yet, then words up to the PMU's position. */
static void sample(struct check *c, struct ptc_cur bytes)
{
	const uint64_t len = ptc_cur_left(&bytes);
	struct account *a = NULL;
	uint64_t word, next = 0, zeros = 0;

	while (ptc_cur_le64(&bytes, &word)) {
		if (!word && !next) {
			zeros += WORD;
			continue;
		}
		if (!a)
			a = account_of_ring(c, word >> RING_SHIFT);
		if (next && word != next)
			fail("ring %" PRIu64 ": %016" PRIx64 " instead of %016" PRIx64
			     " in a sample",
			     a->ring, word, next);
		next = word + 1;
	}
	if (!a) /* from the very beginning */
		return;
	next = (next - (a->ring << RING_SHIFT)) * WORD;
	if (next < a->sampled || next > a->offered)
		fail("ring %" PRIu64 ": a sample up to %" PRIu64 ", behind one up to %" PRIu64
		     ", of %" PRIu64,
		     a->ring, next, a->sampled, a->offered);
	if (zeros && len - zeros != next)
		fail("ring %" PRIu64 ": %" PRIu64 " bytes are missing in a sample", a->ring, zeros);
	a->sampled = next;
	a->seen = true;
	c->stored += len - zeros;
}

static void check_samples(struct check *c)
{
	struct ptc_rec rec;
	struct ptc_sample s;
	struct ptc_err err;
	uint64_t pos = 0;
	size_t i;

	while (ptc_file_next(c->f, &pos, &rec, &err) == 1) {
		const struct ptc_file_attr *attr;

		if (rec.type != PERF_RECORD_SAMPLE)
			continue;
		attr = ptc_file_sample_attr(c->f, &rec);
		if (!attr)
			fail("a sample is of no event");
		if (ptc_sample_parse(&rec, &attr->attr, &s, &err) < 0)
			fail("%s", err.msg);
		if (ptc_cur_left(&s.aux) != attr->attr.aux_sample_size)
			fail("a sample has %zu bytes", ptc_cur_left(&s.aux));
		sample(c, s.aux);
		c->pieces++;
	}
	for (i = 0; i < c->naccounts; i++) {
		c->rings += c->accounts[i].seen;
		c->offered += c->accounts[i].offered;
	}
	if (!c->stored)
		fail("there is nothing in the samples");
}

/* --- the whole check --- */

static void check_queues(struct check *c, const char *most)
{
	struct ptc_index ix = PTC_INDEX_INIT;
	struct ptc_err err;
	size_t i;

	if (ptc_index_scan(&ix, c->f, &err))
		fail("%s", err.msg);
	for (i = 0; i < ix.nqueues; i++) {
		const struct ptc_queue *q = &ix.queues[i];
		const struct account *a = account_of(c, &q->chunks[0]);

		if (most)
			snapshots(c, q, a, strtoull(most, NULL, 10));
		else
			drained(c, q, a);
		c->rings++;
		c->pieces += q->nchunks;
	}
	ptc_index_release(&ix);
	check_lost(c);
	for (i = 0; i < c->naccounts; i++) {
		if (!c->accounts[i].seen && c->accounts[i].offered)
			fail("nothing is stored of ring %" PRIu64, c->accounts[i].ring);
		c->offered += c->accounts[i].offered;
	}
}

int main(int argc, char **argv)
{
	struct check c = { 0 };
	struct ptc_file *f;
	struct ptc_err err;

	if (argc != 3 && argc != 4) {
		fprintf(stderr, "usage: countcheck FILE ACCOUNTS [MOST|samples]\n");
		return 2;
	}
	if (ptc_file_open(argv[1], &f, &err))
		fail("%s", err.msg);
	c.f = f;
	read_accounts(&c, argv[2]);
	read_records(&c);
	if (argv[3] && !strcmp(argv[3], "samples"))
		check_samples(&c);
	else
		check_queues(&c, argv[3]);
	printf("rings %" PRIu64 " pieces %" PRIu64 " stored %" PRIu64 " dropped %" PRIu64
	       " offered %" PRIu64 " truncated %" PRIu64 " lost %" PRIu64 " wrapped %" PRIu64 "\n",
	       c.rings, c.pieces, c.stored, c.dropped, c.offered, c.truncated, c.lost, c.wrapped);
	free(c.ends);
	ptc_file_free(f);
	return 0;
}
