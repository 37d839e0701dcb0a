/* SPDX-License-Identifier: MIT */
#include "auxtrace/writer/pipe_writer.h"

#include <string.h>

#include "auxtrace/feature/feature_file.h"
#include "auxtrace/record/layout.h"
#include "auxtrace/record/record.h"
#include "base/err.h"

enum {
	FEATURE_SIZE = PTC_REC_HEADER_SIZE + 8, /* HEADER_FEATURE without the feature's bytes */
	TRACING_DATA_SIZE = PTC_REC_HEADER_SIZE + 4,
};

void ptc_pipe_put_header(struct ptc_buf *b)
{
	ptc_buf_put(b, PTC_MAGIC_FILE2, 8);
	ptc_buf_le64(b, PTC_PIPE_HEADER_SIZE);
}

void ptc_pipe_put_attr_bytes(struct ptc_buf *b, struct ptc_cur attr, uint32_t size)
{
	const size_t start = b->len, len = ptc_cur_left(&attr);

	ptc_buf_put(b, attr.pos, len);
	ptc_buf_zero(b, size - len);
	if (!ptc_buf_failed(b)) /* u32 type, u32 size */
		ptc_buf_set_le64(b, start, ptc_le32(attr.pos) | (uint64_t)size << 32);
}

int ptc_pipe_put_attr(struct ptc_buf *b, const struct ptc_buf *attr, const uint64_t *ids,
		      size_t nids, struct ptc_err *err)
{
	size_t start, i;

	if (nids > (PTC_REC_MAX - PTC_REC_HEADER_SIZE - attr->len) / 8)
		return ptc_fail(err, PTC_E_LIMIT,
				"an event with %zu ids does not fit into a record of pipe mode",
				nids);
	start = ptc_rec_begin(b, PTC_REC_HEADER_ATTR, 0);
	ptc_buf_put(b, attr->bytes, attr->len);
	for (i = 0; i < nids; i++)
		ptc_buf_le64(b, ids[i]);
	ptc_rec_end(b, start);
	return 0;
}

bool ptc_pipe_has_room(unsigned int bit, size_t len)
{
	if (bit == PTC_FEAT_AUXTRACE || bit == PTC_FEAT_DIR_FORMAT)
		return false;
	if (bit == PTC_FEAT_TRACING_DATA || bit == PTC_FEAT_BUILD_ID)
		return true;
	return len && len <= PTC_REC_MAX - FEATURE_SIZE;
}

/*
 * Write the header of a record that has exactly the size of its contents, not padded to 8, as perf
 * does.
 */
static void put_head(struct ptc_buf *b, uint32_t type, uint16_t misc, size_t size)
{
	ptc_buf_le32(b, type);
	ptc_buf_le16(b, misc);
	ptc_buf_le16(b, (uint16_t)size);
}

/* The bytes after the record are padded, the record is not. */
static void put_tracing_data(struct ptc_buf *b, const struct ptc_buf *bytes)
{
	const size_t pad = -bytes->len & 7;

	put_head(b, PTC_REC_HEADER_TRACING_DATA, 0, TRACING_DATA_SIZE);
	ptc_buf_le32(b, (uint32_t)(bytes->len + pad));
	ptc_buf_put(b, bytes->bytes, bytes->len);
	ptc_buf_zero(b, pad);
}

static void put_build_ids(struct ptc_buf *b, const struct ptc_buf *bytes)
{
	struct ptc_cur c = ptc_cur_init(bytes->bytes, bytes->len);
	struct ptc_rec rec;
	struct ptc_err err;

	while (ptc_rec_next(&c, 0, &rec, &err) > 0) {
		const bool old = ptc_feature_is_old_build_id(rec.misc, rec.body);
		const size_t size = PTC_REC_HEADER_SIZE + ptc_cur_left(&rec.body);

		if (old && size + sizeof(int32_t) > UINT16_MAX)
			return;
		/* In a file's BUILD_ID feature these records have type 0. */
		put_head(b, PTC_REC_HEADER_BUILD_ID, rec.misc, size + (old ? sizeof(int32_t) : 0));
		if (old) /* pipe mode never had the layout without pid */
			ptc_buf_le32(b, (uint32_t)ptc_feature_old_build_id_pid(rec.misc));
		ptc_buf_put(b, rec.body.pos, ptc_cur_left(&rec.body));
	}
}

void ptc_pipe_put_feature(struct ptc_buf *b, unsigned int bit, const struct ptc_buf *bytes)
{
	if (bit == PTC_FEAT_TRACING_DATA) {
		put_tracing_data(b, bytes);
		return;
	}
	if (bit == PTC_FEAT_BUILD_ID) {
		put_build_ids(b, bytes);
		return;
	}
	put_head(b, PTC_REC_HEADER_FEATURE, 0, FEATURE_SIZE + bytes->len);
	ptc_buf_le64(b, bit);
	ptc_buf_put(b, bytes->bytes, bytes->len);
}

void ptc_pipe_put_end(struct ptc_buf *b)
{
	const size_t start = ptc_rec_begin(b, PTC_REC_HEADER_FEATURE, 0);

	ptc_buf_le64(b, PTC_FEAT_CPU_DOMAIN_INFO + 1);
	ptc_rec_end(b, start);
}
