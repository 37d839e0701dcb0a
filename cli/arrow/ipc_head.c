/* SPDX-License-Identifier: MIT */
#include "cli/arrow/ipc_head.h"

#include <string.h>

#include "base/budget.h"
#include "base/err.h"

/* Returns the bits of the dictionaries that the columns use. */
static uint32_t used_dictionaries(const struct ptc_ipc_head *h)
{
	uint32_t used = 0;
	size_t i;

	for (i = 0; i < h->ncolumns; i++)
		if (h->columns[i].dictionary != PTC_IPC_NO_DICTIONARY)
			used |= UINT32_C(1) << h->columns[i].dictionary;
	return used;
}

/* Appends the body: the ends of the texts, and the texts. */
static void put_texts(struct ptc_buf *b, const struct ptc_names *texts)
{
	const size_t begin = b->len;
	uint32_t end = 0, i;

	ptc_buf_le32(b, 0);
	for (i = 1; i <= texts->n; i++) {
		end += (uint32_t)strlen(ptc_names_of(texts, i));
		ptc_buf_le32(b, end);
	}
	ptc_buf_zero(b, (size_t)(ptc_ipc_aligned(b->len - begin) - (b->len - begin)));
	for (i = 1; i <= texts->n; i++)
		ptc_buf_put(b, ptc_names_of(texts, i), strlen(ptc_names_of(texts, i)));
}

static int put_dictionary(struct ptc_ipc_head *h, int dictionary, uint64_t rest,
			  struct ptc_err *err)
{
	const struct ptc_names *texts = &h->names->texts[dictionary];
	const uint64_t ends = (texts->n + 1) * 4,
		       body = ptc_ipc_aligned(ends) + ptc_ipc_aligned(texts->bytes) + rest;
	/* The buffer of nulls is empty: there are none. */
	const struct ptc_ipc_batch batch = {
		.rows = texts->n,
		.body = body,
		.buffers = { { 0, 0 }, { 0, ends }, { ptc_ipc_aligned(ends), texts->bytes } },
		.ncolumns = 1,
		.nbuffers = 3,
	};
	struct ptc_buf *b = &h->bytes;
	const size_t begin = b->len;
	uint32_t metadata;

	if (texts->bytes > INT32_MAX)
		return ptc_fail(err, PTC_E_LIMIT,
				"the names of the recording are longer than 2 GiB");
	if (!ptc_budget_allows(body))
		return ptc_fail_mem(err);
	metadata = ptc_ipc_put_dictionary(b, dictionary, &batch);
	h->blocks[h->nblocks++] = (struct ptc_ipc_block){ begin, metadata, body };
	put_texts(b, texts);
	ptc_buf_zero(b, (size_t)(begin + metadata + body - b->len));
	return 0;
}

int ptc_ipc_head_put(struct ptc_ipc_head *h, uint64_t rest, struct ptc_err *err)
{
	const uint32_t used = used_dictionaries(h);
	int i, rc = 0;

	h->nblocks = 0;
	(void)ptc_ipc_put_schema(&h->bytes, h->columns, h->ncolumns);
	for (i = 0; i < PTC_ARROW_DICTIONARIES && !rc; i++)
		if (used >> i & 1)
			rc = put_dictionary(h, i, used >> i == 1 ? rest : 0, err);
	if (!rc && ptc_buf_failed(&h->bytes))
		rc = ptc_fail_mem(err);
	return rc;
}
