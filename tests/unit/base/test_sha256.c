/* SPDX-License-Identifier: MIT */
/* Description: SHA-256 of the examples of FIPS 180-4, in pieces of each size. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/sha256.h"

static void sum_is(const char *text, size_t piece, const char *want)
{
	const size_t len = strlen(text);
	uint8_t sum[PTC_SHA256_SIZE];
	char hex[PTC_SHA256_HEX];
	struct ptc_sha256 s;
	size_t i;

	ptc_sha256_init(&s);
	for (i = 0; i < len; i += piece)
		ptc_sha256_put(&s, text + i, len - i < piece ? len - i : piece);
	ptc_sha256_finish(&s, sum);
	ptc_sha256_hex(sum, hex);
	cr_assert_str_eq(hex, want, "pieces of %zu", piece);
}

Test(sha256, the_examples_have_their_sums)
{
	size_t piece;

	for (piece = 1; piece < 150; piece++) {
		sum_is("", piece,
		       "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
		sum_is("abc", piece,
		       "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
		sum_is("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", piece,
		       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
		sum_is("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjk"
		       "lmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
		       piece, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
	}
}
