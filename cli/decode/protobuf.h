/* SPDX-License-Identifier: MIT */
/*
 * Fields of a message of Protocol Buffers: a varint, or bytes with their length. Source of the
 * facts: protobuf.dev, "Encoding".
 */
#ifndef PTC_CLI_DECODE_PROTOBUF_H
#define PTC_CLI_DECODE_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Append @v in groups of 7 bits, the lowest first. The highest bit of a byte: more bytes follow. */
static inline void ptc_protobuf_varint(struct ptc_buf *b, uint64_t v)
{
	for (; v > 0x7f; v >>= 7)
		ptc_buf_u8(b, (uint8_t)(v | 0x80));
	ptc_buf_u8(b, (uint8_t)v);
}

/* Append field @number with a number. */
static inline void ptc_protobuf_number(struct ptc_buf *b, uint32_t number, uint64_t v)
{
	ptc_protobuf_varint(b, (uint64_t)number << 3);
	ptc_protobuf_varint(b, v);
}

/* Append field @number with @n bytes: a string, a message, or packed numbers. */
static inline void ptc_protobuf_bytes(struct ptc_buf *b, uint32_t number, const void *bytes,
				      size_t n)
{
	ptc_protobuf_varint(b, (uint64_t)number << 3 | 2);
	ptc_protobuf_varint(b, n);
	ptc_buf_put(b, bytes, n);
}

#endif
