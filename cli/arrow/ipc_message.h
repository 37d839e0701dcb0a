/* SPDX-License-Identifier: MIT */
/*
 * Messages of Arrow's IPC format: the schema of a table, a dictionary, a batch of rows, and the
 * footer of a file. A message is metadata (a flatbuffer) and a body, which the caller writes.
 * Sources of the facts: arrow.apache.org, "Arrow Columnar Format"; Schema.fbs, Message.fbs,
 * File.fbs.
 */
#ifndef PTC_CLI_ARROW_IPC_MESSAGE_H
#define PTC_CLI_ARROW_IPC_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* PTC_IPC_ALIGN: of buffers in a body, and of bodies in a file. */
enum { PTC_IPC_ALIGN = 64, PTC_IPC_COLUMNS_MAX = 16, PTC_IPC_NO_DICTIONARY = -1 };

/* The type of a column's numbers. */
enum ptc_ipc_type { PTC_IPC_INT8, PTC_IPC_INT32, PTC_IPC_INT64, PTC_IPC_UINT64 };

struct ptc_ipc_column {
	const char *name;
	enum ptc_ipc_type type;
	/* The dictionary of a column of texts, whose numbers are indexes of it. */
	int dictionary;
	bool nullable; /* numbers with all bits set stand for null */
};

/* A part of a body. */
struct ptc_ipc_buffer {
	uint64_t off, len;
};

/* A batch of rows: each column has its nulls, and its buffers in the order of the format. */
struct ptc_ipc_batch {
	uint64_t rows, body;		     /* number of rows; bytes of the body */
	uint64_t nulls[PTC_IPC_COLUMNS_MAX]; /* number of nulls of each column */
	struct ptc_ipc_buffer buffers[PTC_IPC_COLUMNS_MAX * 2];
	size_t ncolumns, nbuffers;
};

/* The place of a batch in a file. */
struct ptc_ipc_block {
	uint64_t off;
	uint32_t metadata; /* bytes */
	uint64_t body;	   /* bytes */
};

/* Returns the bytes of a number. */
size_t ptc_ipc_size(enum ptc_ipc_type type);

/* Returns @n, rounded up to a multiple of PTC_IPC_ALIGN. */
static inline uint64_t ptc_ipc_aligned(uint64_t n)
{
	return (n + PTC_IPC_ALIGN - 1) / PTC_IPC_ALIGN * PTC_IPC_ALIGN;
}

/*
 * Append the metadata of a message. Its length is a multiple of PTC_IPC_ALIGN. Returns the length.
 * The buffer's memory grows with the number of columns only.
 */
uint32_t ptc_ipc_put_schema(struct ptc_buf *b, const struct ptc_ipc_column *columns, size_t n);
uint32_t ptc_ipc_put_batch(struct ptc_buf *b, const struct ptc_ipc_batch *batch);
uint32_t ptc_ipc_put_dictionary(struct ptc_buf *b, int dictionary,
				const struct ptc_ipc_batch *batch);

/* Append the mark at the end of a stream. */
void ptc_ipc_put_end(struct ptc_buf *b);

/* Append the footer of a file, with its length, and without the magic behind it. */
void ptc_ipc_put_footer(struct ptc_buf *b, const struct ptc_ipc_column *columns, size_t n,
			const struct ptc_ipc_block *dictionaries, size_t ndictionaries,
			const struct ptc_ipc_block *batches, size_t nbatches);

#endif
