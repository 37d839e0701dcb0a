/* SPDX-License-Identifier: MIT */
/* The features of a new recording. */
#include <assert.h>
#include <stdlib.h>

#include "auxtrace/writer/writer_private.h"
#include "base/err.h"

/* perf allocates mmap_len bytes for each COMPRESSED record that it reads. */
void ptc_writer_make_compressed(struct ptc_writer *w)
{
	struct ptc_buf *b = &w->features[PTC_FEAT_COMPRESSED];
	struct ptc_compressed c = {
		.version = PTC_COMPRESSED_VERSION,
		.type = PTC_COMPRESSED_ZSTD,
		.level = w->level,
		.mmap_len = 1 << 16,
	};

	static_assert(PTC_COMPRESS_PIECE <= 1 << 16, "mmap_len");
	if (w->packed.out)
		c.ratio = (uint32_t)((w->packed.in + w->packed.out / 2) / w->packed.out);
	ptc_buf_reset(b);
	ptc_feature_put_compressed(b, &c);
	w->has[PTC_FEAT_COMPRESSED] = true;
}

int ptc_writer_feature(struct ptc_writer *w, unsigned int bit, const void *bytes, size_t len,
		       struct ptc_err *err)
{
	assert(bit > 0 && bit < PTC_FEATURE_BITS);
	if (len > PTC_LIMIT_FEATURE)
		return ptc_fail(err, PTC_E_LIMIT,
				"feature %u has %zu bytes, more than the limit of %llu", bit, len,
				PTC_LIMIT_FEATURE);
	ptc_buf_reset(&w->features[bit]);
	ptc_buf_put(&w->features[bit], bytes, len);
	if (ptc_buf_failed(&w->features[bit]))
		return ptc_fail_mem(err);
	w->has[bit] = true;
	return 0;
}

static void make_event_desc(const struct ptc_writer *w, struct ptc_event_desc *d,
			    struct ptc_buf *out)
{
	size_t i;

	for (i = 0; i < w->nevents; i++)
		d[i] = (struct ptc_event_desc){
			.attr = &w->events[i].attr,
			.name = w->events[i].name,
			.ids = w->events[i].ids,
			.nids = w->events[i].nids,
		};
	ptc_feature_put_event_desc(out, d, w->nevents);
}

static int put_event_desc(struct ptc_writer *w, struct ptc_err *err)
{
	struct ptc_event_desc *d = calloc(w->nevents ? w->nevents : 1, sizeof(*d));

	if (!d)
		return ptc_fail_mem(err);
	ptc_buf_reset(&w->features[PTC_FEAT_EVENT_DESC]);
	make_event_desc(w, d, &w->features[PTC_FEAT_EVENT_DESC]);
	w->has[PTC_FEAT_EVENT_DESC] = true;
	free(d);
	return 0;
}

int ptc_writer_make_features(struct ptc_writer *w, struct ptc_err *err)
{
	unsigned int bit;
	bool failed = false;

	if (!w->opts.copy && put_event_desc(w, err))
		return err->code;
	if (!w->opts.copy || w->npieces || w->has[PTC_FEAT_AUXTRACE]) {
		ptc_buf_reset(&w->features[PTC_FEAT_AUXTRACE]);
		/*
		 * perf seeks to the AUXTRACE records with this feature instead of reading the whole
		 * file
		 */
		ptc_feature_put_auxtrace(&w->features[PTC_FEAT_AUXTRACE], w->pieces, w->npieces);
		w->has[PTC_FEAT_AUXTRACE] = true;
	}
	if (w->compressor)
		ptc_writer_make_compressed(w);
	for (bit = 0; bit < PTC_FEATURE_BITS; bit++)
		failed |= ptc_buf_failed(&w->features[bit]);
	return failed ? ptc_fail_mem(err) : 0;
}

int ptc_writer_write_features(struct ptc_writer *w, struct ptc_err *err)
{
	struct ptc_buf table = PTC_BUF_INIT;
	uint64_t off = w->data_off + w->data_size;
	unsigned int bit;
	int rc;

	for (bit = 0; bit < PTC_FEATURE_BITS; bit++)
		off += w->has[bit] ? 16 : 0;
	for (bit = 0; bit < PTC_FEATURE_BITS; bit++) {
		if (!w->has[bit])
			continue;
		ptc_writer_put_section(&table, off, w->features[bit].len);
		off += w->features[bit].len;
	}
	rc = ptc_buf_failed(&table) ? ptc_fail_mem(err) :
				      ptc_writer_append(w, table.bytes, table.len, err);
	ptc_buf_release(&table);
	for (bit = 0; bit < PTC_FEATURE_BITS && !rc; bit++)
		if (w->has[bit])
			rc = ptc_writer_append(w, w->features[bit].bytes, w->features[bit].len,
					       err);
	return rc;
}
