/* SPDX-License-Identifier: MIT */
/* SHA-256 (FIPS 180-4), to compare the bytes of a file with a manifest. */
#ifndef PTC_BASE_SHA256_H
#define PTC_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { PTC_SHA256_SIZE = 32, PTC_SHA256_HEX = 2 * PTC_SHA256_SIZE + 1 };

struct ptc_sha256 {
	uint32_t state[8];
	uint64_t len;	   /* bytes so far */
	uint8_t block[64]; /* the last len % 64 bytes */
};

void ptc_sha256_init(struct ptc_sha256 *s);
void ptc_sha256_put(struct ptc_sha256 *s, const void *bytes, size_t n);

/* Finish. @s must be initialized again before its next use. */
void ptc_sha256_finish(struct ptc_sha256 *s, uint8_t ret[PTC_SHA256_SIZE]);

/* Write a sum as lower-case hexadecimal digits and a NUL. */
void ptc_sha256_hex(const uint8_t sum[PTC_SHA256_SIZE], char ret[PTC_SHA256_HEX]);

#endif
