/* SPDX-License-Identifier: MIT */
#include "cli/arrow/ipc_message.h"

#include "cli/arrow/flatbuffer.h"

/* Numbers of Schema.fbs and Message.fbs. */
enum {
	VERSION = 4, /* MetadataVersion.V5 */
	HEADER_SCHEMA = 1,
	HEADER_DICTIONARY = 2,
	HEADER_BATCH = 3,
	TYPE_INT = 2,
	TYPE_UTF8 = 5,
};

/* Sizes of references and numbers in tables. */
enum { REFERENCE = 4, PREFIX = 8 };

#define CONTINUATION UINT32_MAX

size_t ptc_ipc_size(enum ptc_ipc_type type)
{
	static const size_t sizes[] = {
		[PTC_IPC_INT8] = 1, [PTC_IPC_INT32] = 4, [PTC_IPC_INT64] = 8, [PTC_IPC_UINT64] = 8
	};

	return sizes[type];
}

/* --- schema --- */

static size_t put_int(struct ptc_buf *b, enum ptc_ipc_type type)
{
	struct ptc_flat_field f[] = {
		{ 4, ptc_ipc_size(type) * 8, 0 }, /* bitWidth */
		{ 1, type != PTC_IPC_UINT64, 0 }, /* is_signed */
	};

	return ptc_flat_table(b, f, 2);
}

static size_t put_encoding(struct ptc_buf *b, const struct ptc_ipc_column *c)
{
	struct ptc_flat_field f[] = {
		{ 8, (uint64_t)c->dictionary, 0 }, /* id */
		{ REFERENCE, 0, 0 },		   /* indexType */
	};
	const size_t table = ptc_flat_table(b, f, 2);

	ptc_flat_refer(b, f[1].at, put_int(b, c->type));
	return table;
}

static size_t put_column(struct ptc_buf *b, const struct ptc_ipc_column *c)
{
	const bool text = c->dictionary != PTC_IPC_NO_DICTIONARY;
	struct ptc_flat_field f[] = {
		{ REFERENCE, 0, 0 },		       /* name */
		{ 1, c->nullable, 0 },		       /* nullable */
		{ 1, text ? TYPE_UTF8 : TYPE_INT, 0 }, /* type_type */
		{ REFERENCE, 0, 0 },		       /* type */
		{ text ? REFERENCE : 0, 0, 0 },	       /* dictionary */
		{ REFERENCE, 0, 0 },		       /* children */
	};
	const size_t table = ptc_flat_table(b, f, 6);

	ptc_flat_refer(b, f[0].at, ptc_flat_string(b, c->name));
	ptc_flat_refer(b, f[3].at, text ? ptc_flat_table(b, NULL, 0) : put_int(b, c->type));
	if (text)
		ptc_flat_refer(b, f[4].at, put_encoding(b, c));
	ptc_flat_refer(b, f[5].at, ptc_flat_references(b, 0));
	return table;
}

static size_t put_schema(struct ptc_buf *b, const struct ptc_ipc_column *columns, size_t n)
{
	struct ptc_flat_field f[] = {
		{ 0, 0, 0 },	     /* endianness: little */
		{ REFERENCE, 0, 0 }, /* fields */
	};
	const size_t table = ptc_flat_table(b, f, 2), vector = ptc_flat_references(b, n);
	size_t i;

	ptc_flat_refer(b, f[1].at, vector);
	for (i = 0; i < n; i++)
		ptc_flat_refer(b, vector + 4 + i * REFERENCE, put_column(b, &columns[i]));
	return table;
}

/* --- messages --- */

/* Begins a message. Returns the position of the reference to its header. */
static size_t begin_message(struct ptc_buf *b, uint64_t header, uint64_t body)
{
	struct ptc_flat_field f[] = {
		{ 2, VERSION, 0 },   /* version */
		{ 1, header, 0 },    /* header_type */
		{ REFERENCE, 0, 0 }, /* header */
		{ 8, body, 0 },	     /* bodyLength */
	};
	size_t root;

	ptc_buf_le32(b, CONTINUATION);
	ptc_buf_le32(b, 0);
	root = ptc_flat_root(b);
	ptc_flat_refer(b, root, ptc_flat_table(b, f, 4));
	return f[2].at;
}

/* Ends the message that begins at @begin. Returns the length of the metadata. */
static uint32_t end_message(struct ptc_buf *b, size_t begin)
{
	const uint64_t len = ptc_ipc_aligned(b->len - begin);

	ptc_buf_zero(b, (size_t)(begin + len - b->len));
	if (!ptc_buf_failed(b))
		ptc_buf_set_le64(b, begin, (len - PREFIX) << 32 | CONTINUATION);
	return (uint32_t)len;
}

uint32_t ptc_ipc_put_schema(struct ptc_buf *b, const struct ptc_ipc_column *columns, size_t n)
{
	const size_t begin = b->len, header = begin_message(b, HEADER_SCHEMA, 0);

	ptc_flat_refer(b, header, put_schema(b, columns, n));
	return end_message(b, begin);
}

static size_t put_rows(struct ptc_buf *b, const struct ptc_ipc_batch *batch)
{
	struct ptc_flat_field f[] = {
		{ 8, batch->rows, 0 }, /* length */
		{ REFERENCE, 0, 0 },   /* nodes */
		{ REFERENCE, 0, 0 },   /* buffers */
	};
	const size_t table = ptc_flat_table(b, f, 3);
	size_t i;

	ptc_flat_refer(b, f[1].at, ptc_flat_vector(b, batch->ncolumns, 8));
	for (i = 0; i < batch->ncolumns; i++) {
		ptc_buf_le64(b, batch->rows);
		ptc_buf_le64(b, batch->nulls[i]);
	}
	ptc_flat_refer(b, f[2].at, ptc_flat_vector(b, batch->nbuffers, 8));
	for (i = 0; i < batch->nbuffers; i++) {
		ptc_buf_le64(b, batch->buffers[i].off);
		ptc_buf_le64(b, batch->buffers[i].len);
	}
	return table;
}

uint32_t ptc_ipc_put_batch(struct ptc_buf *b, const struct ptc_ipc_batch *batch)
{
	const size_t begin = b->len, header = begin_message(b, HEADER_BATCH, batch->body);

	ptc_flat_refer(b, header, put_rows(b, batch));
	return end_message(b, begin);
}

uint32_t ptc_ipc_put_dictionary(struct ptc_buf *b, int dictionary,
				const struct ptc_ipc_batch *batch)
{
	struct ptc_flat_field f[] = {
		{ 8, (uint64_t)dictionary, 0 }, /* id */
		{ REFERENCE, 0, 0 },		/* data */
	};
	const size_t begin = b->len, header = begin_message(b, HEADER_DICTIONARY, batch->body);

	ptc_flat_refer(b, header, ptc_flat_table(b, f, 2));
	ptc_flat_refer(b, f[1].at, put_rows(b, batch));
	return end_message(b, begin);
}

void ptc_ipc_put_end(struct ptc_buf *b)
{
	ptc_buf_le32(b, CONTINUATION);
	ptc_buf_le32(b, 0);
}

/* --- footer --- */

static size_t put_blocks(struct ptc_buf *b, const struct ptc_ipc_block *blocks, size_t n)
{
	const size_t vector = ptc_flat_vector(b, n, 8);
	size_t i;

	for (i = 0; i < n; i++) {
		ptc_buf_le64(b, blocks[i].off);
		ptc_buf_le64(b, blocks[i].metadata); /* 4 bytes, and 4 of padding */
		ptc_buf_le64(b, blocks[i].body);
	}
	return vector;
}

void ptc_ipc_put_footer(struct ptc_buf *b, const struct ptc_ipc_column *columns, size_t n,
			const struct ptc_ipc_block *dictionaries, size_t ndictionaries,
			const struct ptc_ipc_block *batches, size_t nbatches)
{
	struct ptc_flat_field f[] = {
		{ 2, VERSION, 0 },   /* version */
		{ REFERENCE, 0, 0 }, /* schema */
		{ REFERENCE, 0, 0 }, /* dictionaries */
		{ REFERENCE, 0, 0 }, /* recordBatches */
	};
	const size_t begin = b->len, root = ptc_flat_root(b);

	ptc_flat_refer(b, root, ptc_flat_table(b, f, 4));
	ptc_flat_refer(b, f[1].at, put_schema(b, columns, n));
	ptc_flat_refer(b, f[2].at, put_blocks(b, dictionaries, ndictionaries));
	ptc_flat_refer(b, f[3].at, put_blocks(b, batches, nbatches));
	ptc_buf_le32(b, (uint32_t)(b->len - begin));
}
