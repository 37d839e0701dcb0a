/* SPDX-License-Identifier: MIT */
#include "base/sha256.h"

#include <string.h>

enum { BLOCK = 64 };

/* FIPS 180-4, 4.2.2. */
static const uint32_t round_constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

void ptc_sha256_init(struct ptc_sha256 *s)
{
	static const uint32_t first[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

	memcpy(s->state, first, sizeof(first));
	s->len = 0;
}

static inline uint32_t rotate(uint32_t v, unsigned int n)
{
	return v >> n | v << (32 - n);
}

static inline uint32_t load_be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* FIPS 180-4, 6.2.2, step 1. */
static void expand(const uint8_t *block, uint32_t w[64])
{
	unsigned int i;

	for (i = 0; i < 16; i++)
		w[i] = load_be32(block + (size_t)4 * i);
	for (; i < 64; i++) {
		const uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] +
		       (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
	}
}

/* FIPS 180-4, 6.2.2, steps 2 to 4, with the names of its variables. */
static void compress(struct ptc_sha256 *s, const uint8_t *block)
{
	uint32_t *const v = s->state;
	uint32_t a = v[0], b = v[1], c = v[2], d = v[3], e = v[4], f = v[5], g = v[6], h = v[7];
	uint32_t w[64], t1, t2;
	unsigned int i;

	expand(block, w);
	for (i = 0; i < 64; i++) {
		t1 = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) +
		     round_constants[i] + w[i];
		t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
		h = g;
		g = f;
		f = e;
		e = d + t1;
		d = c;
		c = b;
		b = a;
		a = t1 + t2;
	}
	v[0] += a;
	v[1] += b;
	v[2] += c;
	v[3] += d;
	v[4] += e;
	v[5] += f;
	v[6] += g;
	v[7] += h;
}

void ptc_sha256_put(struct ptc_sha256 *s, const void *bytes, size_t n)
{
	const size_t had = s->len % BLOCK;
	const uint8_t *p = bytes;
	size_t part = BLOCK - had < n ? BLOCK - had : n;

	s->len += n;
	if (had) {
		memcpy(s->block + had, p, part);
		if (had + part < BLOCK)
			return;
		compress(s, s->block);
		p += part;
		n -= part;
	}
	for (; n >= BLOCK; p += BLOCK, n -= BLOCK)
		compress(s, p);
	if (n)
		memcpy(s->block, p, n);
}

void ptc_sha256_finish(struct ptc_sha256 *s, uint8_t ret[PTC_SHA256_SIZE])
{
	static const uint8_t padding[BLOCK] = { 0x80 };
	const uint64_t bits = s->len * 8;
	const size_t had = s->len % BLOCK;
	uint8_t end[8];
	unsigned int i;

	ptc_sha256_put(s, padding, (had < 56 ? 56 : 120) - had);
	for (i = 0; i < 8; i++)
		end[i] = (uint8_t)(bits >> (56 - 8 * i));
	ptc_sha256_put(s, end, sizeof(end));
	for (i = 0; i < PTC_SHA256_SIZE; i++)
		ret[i] = (uint8_t)(s->state[i / 4] >> (24 - 8 * (i % 4)));
}

void ptc_sha256_hex(const uint8_t sum[PTC_SHA256_SIZE], char ret[PTC_SHA256_HEX])
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < PTC_SHA256_SIZE; i++) {
		ret[2 * i] = digits[sum[i] >> 4];
		ret[2 * i + 1] = digits[sum[i] & 15];
	}
	ret[2 * i] = '\0';
}
