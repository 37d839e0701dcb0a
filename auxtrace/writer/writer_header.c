/* SPDX-License-Identifier: MIT */
/* The header of a new recording: of a file, and as records in pipe mode. */
#include "auxtrace/record/attr.h"
#include "auxtrace/writer/pipe_writer.h"
#include "auxtrace/writer/writer_private.h"
#include "base/err.h"

static uint32_t event_size(const struct ptc_writer_event *e)
{
	const uint32_t least = PERF_ATTR_SIZE_VER7;

	if (e->stored)
		return (uint32_t)(e->stored_len + (-e->stored_len & 7));
	return ptc_attr_stored_size(&e->attr) > least ? ptc_attr_stored_size(&e->attr) : least;
}

/* All attrs of a file have one size. */
static uint32_t attr_size(const struct ptc_writer *w)
{
	uint32_t size = w->nevents ? 0 : PERF_ATTR_SIZE_VER7;
	size_t i;

	for (i = 0; i < w->nevents; i++)
		if (event_size(&w->events[i]) > size)
			size = event_size(&w->events[i]);
	return size;
}

static void put_attr(struct ptc_buf *b, const struct ptc_writer_event *e, uint32_t size)
{
	if (e->stored)
		ptc_pipe_put_attr_bytes(b, ptc_cur_init(e->stored, e->stored_len), size);
	else
		ptc_attr_put(b, &e->attr, size);
}

void ptc_writer_put_section(struct ptc_buf *b, uint64_t off, uint64_t size)
{
	ptc_buf_le64(b, off);
	ptc_buf_le64(b, size);
}

/* Returns the offset of the ids of @e, before or behind the data. Both positions advance. */
static uint64_t section_of_ids(const struct ptc_writer_event *e, uint64_t *front, uint64_t *late)
{
	uint64_t *from = e->nids > e->front_nids ? late : front;
	const uint64_t off = *from;

	*front += e->front_nids * 8;
	if (from == late)
		*late += e->nids * 8;
	return off;
}

void ptc_writer_put_front(const struct ptc_writer *w, struct ptc_buf *b)
{
	const uint32_t size = attr_size(w);
	const uint64_t entry = size + UINT64_C(16);
	uint64_t ids_off = PTC_FILE_HEADER_SIZE;
	uint64_t attrs_off = ids_off, late_off = w->late_off;
	uint64_t bitmap[PTC_FEATURE_BITS / 64] = { 0 };
	size_t i, j;

	for (i = 0; i < w->nevents; i++)
		attrs_off += w->events[i].front_nids * 8;
	for (i = 0; i < PTC_FEATURE_BITS; i++)
		if (w->has[i])
			bitmap[i / 64] |= UINT64_C(1) << i % 64;
	ptc_buf_put(b, PTC_MAGIC_FILE2, 8);
	ptc_buf_le64(b, PTC_FILE_HEADER_SIZE);
	ptc_buf_le64(b, entry);
	ptc_writer_put_section(b, attrs_off, w->nevents * entry);
	ptc_writer_put_section(b, attrs_off + w->nevents * entry, w->data_size);
	ptc_writer_put_section(b, 0, 0); /* event types: unused for a long time */
	for (i = 0; i < PTC_FEATURE_BITS / 64; i++)
		ptc_buf_le64(b, bitmap[i]);
	for (i = 0; i < w->nevents; i++)
		for (j = 0; j < w->events[i].front_nids; j++)
			ptc_buf_le64(b, w->events[i].ids[j]);
	for (i = 0; i < w->nevents; i++) {
		put_attr(b, &w->events[i], size);
		ptc_writer_put_section(b, section_of_ids(&w->events[i], &ids_off, &late_off),
				       w->events[i].nids * 8);
	}
}

int ptc_writer_put_pipe_front(struct ptc_writer *w, struct ptc_buf *b, struct ptc_err *err)
{
	unsigned int bit;
	size_t i;
	int rc = 0;

	ptc_pipe_put_header(b);
	/*
	 * COMPRESSED comes first: the attrs and features of a copied pipe may follow as records
	 * (ptc_copy).
	 */
	if (w->compressor) {
		ptc_writer_make_compressed(w);
		ptc_pipe_put_feature(b, PTC_FEAT_COMPRESSED, &w->features[PTC_FEAT_COMPRESSED]);
		w->has[PTC_FEAT_COMPRESSED] = false;
	}
	for (i = 0; i < w->nevents && !rc; i++) {
		struct ptc_buf attr = PTC_BUF_INIT;

		put_attr(&attr, &w->events[i], event_size(&w->events[i]));
		rc = ptc_buf_failed(&attr) ?
			     ptc_fail_mem(err) :
			     ptc_pipe_put_attr(b, &attr, w->events[i].ids, w->events[i].nids, err);
		ptc_buf_release(&attr);
	}
	for (bit = 0; bit < PTC_FEATURE_BITS; bit++)
		if (w->has[bit])
			ptc_pipe_put_feature(b, bit, &w->features[bit]);
	if (w->nevents)
		ptc_pipe_put_end(b);
	return rc;
}
