/* SPDX-License-Identifier: MIT */
#include "cli/serve/packed_chunk.h"

#include <stdlib.h>
#include <zlib.h>

#include "base/err.h"

enum { RAW_MAX = 1 << 30 };

int ptc_packed_chunk_put(struct ptc_temp_store *s, const struct ptc_buf *raw,
			 struct ptc_packed_chunk *ret, struct ptc_err *err)
{
	uLongf size = compressBound(raw->len);
	uint8_t *packed;
	int rc;

	if (raw->len > RAW_MAX)
		return ptc_fail(err, PTC_E_LIMIT, "a chunk of calls is larger than %d MiB",
				RAW_MAX >> 20);
	packed = malloc(size);
	if (!packed || compress2(packed, &size, raw->bytes, raw->len, Z_BEST_SPEED) != Z_OK) {
		free(packed);
		return ptc_fail_mem(err);
	}
	*ret = (struct ptc_packed_chunk){ .packed = (uint32_t)size, .raw = (uint32_t)raw->len };
	rc = ptc_temp_store_append(s, packed, size, &ret->at, err);
	free(packed);
	return rc;
}

int ptc_packed_chunk_get(struct ptc_temp_store *s, const struct ptc_packed_chunk *c,
			 struct ptc_buf *ret, struct ptc_err *err)
{
	uint8_t *packed = malloc(c->packed ? c->packed : 1), *to;
	uLongf size = c->raw;
	int rc;

	ptc_buf_reset(ret);
	to = ptc_buf_grow(ret, c->raw ? c->raw : 1);
	rc = packed && to ? ptc_temp_store_read(s, c->at, packed, c->packed, err) :
			    ptc_fail_mem(err);
	if (!rc && (uncompress(to, &size, packed, c->packed) != Z_OK || size != c->raw))
		rc = ptc_fail(err, PTC_E_FORMAT, "a chunk of the temporary file is damaged");
	free(packed);
	ret->len = rc ? 0 : c->raw;
	return rc;
}
