/* SPDX-License-Identifier: MIT */
/* Deflated bytes in the temporary file. */
#ifndef PTC_CLI_SERVE_PACKED_CHUNK_H
#define PTC_CLI_SERVE_PACKED_CHUNK_H

#include <stdint.h>

#include "base/buf.h"
#include "cli/serve/temp_store.h"

struct ptc_packed_chunk {
	uint64_t at;	      /* in the file */
	uint32_t packed, raw; /* bytes, deflated and inflated */
};

/* Append the bytes of @raw to @s. PTC_E_LIMIT: more than 1 GiB, or the file is full. */
int ptc_packed_chunk_put(struct ptc_temp_store *s, const struct ptc_buf *raw,
			 struct ptc_packed_chunk *ret, struct ptc_err *err);

/* Replace @ret by the inflated bytes. PTC_E_FORMAT: they are damaged. */
int ptc_packed_chunk_get(struct ptc_temp_store *s, const struct ptc_packed_chunk *c,
			 struct ptc_buf *ret, struct ptc_err *err);

#endif
