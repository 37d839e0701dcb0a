/* SPDX-License-Identifier: MIT */
/*
 * Prints the contents of a recording: the number of records of each type, and the queues of trace
 * with the first bytes of each. Valid C and C++.
 *
 *	cc count.c -lptcap -o count (README.md: without an installed ptcap)
 *	./count perf.data
 */
#include <inttypes.h>
#include <stdio.h>

#include "ptcap/file.h"

enum { TYPES = 128, BATCH = 64, SHOWN = 16 };

static int count_records(const struct ptc_file *f, struct ptc_err *err)
{
	uint64_t counts[TYPES] = { 0 }, others = 0, pos = 0;
	struct ptc_rec recs[BATCH];
	uint32_t type;
	int i, n;

	while ((n = ptc_file_next_batch(f, &pos, recs, BATCH, err)) > 0)
		for (i = 0; i < n; i++) {
			if (recs[i].type < TYPES)
				counts[recs[i].type]++;
			else
				others++;
		}
	if (n < 0)
		return n;
	for (type = 0; type < TYPES; type++) {
		const char *name = ptc_rec_name(type);

		if (counts[type])
			printf("%" PRIu32 " %s: %" PRIu64 "\n", type, name ? name : "?",
			       counts[type]);
	}
	if (others)
		printf("others: %" PRIu64 "\n", others);
	return 0;
}

static void show_queue(const struct ptc_file *f, const struct ptc_queue *q)
{
	struct ptc_cur bytes = ptc_chunk_bytes(f, &q->chunks[0]);
	uint8_t byte;
	int i;

	printf("queue %" PRIu32 ": cpu %" PRId32 ", tid %" PRId32 ", %zu chunks, %" PRIu64
	       " bytes:",
	       q->idx, q->cpu, q->tid, q->nchunks, q->bytes);
	for (i = 0; i < SHOWN && ptc_cur_u8(&bytes, &byte); i++)
		printf(" %02x", byte);
	printf("\n");
}

static int show_queues(const struct ptc_file *f, struct ptc_err *err)
{
	struct ptc_index ix = PTC_INDEX_INIT;
	struct ptc_err complaint;
	size_t i;
	int rc;

	rc = ptc_index_open(&ix, f, &complaint, err);
	if (!rc && complaint.code)
		fprintf(stderr, "count: %s\n", complaint.msg);
	for (i = 0; !rc && i < ix.nqueues; i++)
		show_queue(f, &ix.queues[i]);
	ptc_index_release(&ix);
	return rc;
}

int main(int argc, char **argv)
{
	struct ptc_file *f;
	struct ptc_err err;
	int rc;

	if (argc != 2) {
		fprintf(stderr, "usage: count FILE\n");
		return 2;
	}
	rc = ptc_file_open(argv[1], &f, &err);
	if (!rc) {
		rc = count_records(f, &err);
		if (!rc)
			rc = show_queues(f, &err);
		ptc_file_free(f);
	}
	if (rc)
		fprintf(stderr, "count: %s\n", err.msg);
	return rc ? 1 : 0;
}
