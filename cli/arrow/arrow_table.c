/* SPDX-License-Identifier: MIT */
#include "cli/arrow/arrow_table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* BITS_LEN: bytes for the bits of one column. */
enum { BITS_LEN = PTC_ARROW_ROWS / 8 };

int ptc_arrow_table_open(struct ptc_arrow_table *t, const char *folder, const char *name,
			 const struct ptc_ipc_column *columns, size_t n, struct ptc_err *err)
{
	bool ok;
	size_t i;
	int rc;

	assert(n <= PTC_IPC_COLUMNS_MAX);
	*t = (struct ptc_arrow_table){ .columns = columns,
				       .ncolumns = n,
				       .file = PTC_IPC_FILE_INIT };
	t->bits = calloc(n, BITS_LEN);
	ok = t->bits != NULL;
	for (i = 0; i < n; i++) {
		t->v[i].all = calloc(PTC_ARROW_ROWS, ptc_ipc_size(columns[i].type));
		ok = ok && t->v[i].all;
	}
	rc = ok ? ptc_ipc_file_open(&t->file, folder, name, err) : ptc_fail_mem(err);
	if (rc)
		ptc_arrow_table_release(t);
	return rc;
}

void ptc_arrow_table_release(struct ptc_arrow_table *t)
{
	size_t i;

	for (i = 0; i < t->ncolumns; i++)
		free(t->v[i].all);
	free(t->bits);
	ptc_ipc_file_release(&t->file);
	*t = (struct ptc_arrow_table)PTC_ARROW_TABLE_INIT;
}

/* Returns the number of nulls in @rows numbers of @size bytes. */
static ALWAYS_INLINE uint64_t count_nulls(const uint8_t *numbers, size_t size, size_t rows)
{
	uint64_t nulls = 0, null = 0, v = 0;
	size_t i;

	memset(&null, 0xff, size);
	for (i = 0; i < rows; i++, numbers += size) {
		memcpy(&v, numbers, size);
		nulls += v == null;
	}
	return nulls;
}

/*
 * Sets the bits of the numbers that are not null, and makes the others 0. Returns the number of
 * nulls. Inlined for each size, so that the loops have no calls.
 */
static ALWAYS_INLINE uint64_t find_nulls(uint8_t *bits, uint8_t *numbers, size_t size, size_t rows)
{
	const uint64_t nulls = count_nulls(numbers, size, rows);
	uint64_t null = 0, v = 0;
	size_t i;

	if (!nulls)
		return 0;
	memset(&null, 0xff, size);
	memset(bits, 0, BITS_LEN);
	for (i = 0; i < rows; i++, numbers += size) {
		memcpy(&v, numbers, size);
		bits[i / 8] |= (uint8_t)((v != null) << i % 8);
		if (v == null)
			memset(numbers, 0, size);
	}
	return nulls;
}

static uint64_t nulls_of_column(const struct ptc_arrow_table *t, size_t column, uint8_t *bits)
{
	uint8_t *numbers = t->v[column].all;

	if (!t->columns[column].nullable)
		return 0;
	switch (ptc_ipc_size(t->columns[column].type)) {
	case 1:
		return find_nulls(bits, numbers, 1, t->rows);
	case 4:
		return find_nulls(bits, numbers, 4, t->rows);
	default:
		return find_nulls(bits, numbers, 8, t->rows);
	}
}

/* Parts of a batch's body. Each is followed by zeros, unless it is aligned. */
struct parts {
	struct ptc_ipc_batch *batch;
	struct iovec v[PTC_IPC_COLUMNS_MAX * 4];
	int n;
};

static void add_part(struct parts *p, void *bytes, size_t len)
{
	static const uint8_t zeros[PTC_IPC_ALIGN];
	struct ptc_ipc_batch *b = p->batch;
	const size_t rest = (size_t)ptc_ipc_aligned(len) - len;

	b->buffers[b->nbuffers++] = (struct ptc_ipc_buffer){ b->body, len };
	b->body += len + rest;
	if (len)
		p->v[p->n++] = (struct iovec){ bytes, len };
	if (rest)
		p->v[p->n++] = (struct iovec){ (void *)(uintptr_t)zeros, rest };
}

int ptc_arrow_table_flush(struct ptc_arrow_table *t, struct ptc_err *err)
{
	struct ptc_ipc_batch batch = { .rows = t->rows, .ncolumns = t->ncolumns };
	struct parts parts = { .batch = &batch };
	size_t i;

	if (!t->rows)
		return 0;
	for (i = 0; i < t->ncolumns; i++) {
		uint8_t *bits = t->bits + i * BITS_LEN;

		batch.nulls[i] = nulls_of_column(t, i, bits);
		add_part(&parts, bits, batch.nulls[i] ? (t->rows + 7) / 8 : 0);
		add_part(&parts, t->v[i].all, t->rows * ptc_ipc_size(t->columns[i].type));
	}
	t->written += t->rows;
	t->rows = 0;
	return ptc_ipc_file_batch(&t->file, &batch, parts.v, parts.n, err);
}

int ptc_arrow_table_finish(struct ptc_arrow_table *t, const struct ptc_arrow_names *names,
			   struct ptc_err *err)
{
	const int rc = ptc_arrow_table_flush(t, err);

	return rc ? rc : ptc_ipc_file_finish(&t->file, t->columns, t->ncolumns, names, err);
}
