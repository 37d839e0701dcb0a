/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a jitdump. Asserted: its code and names are in bounds. It yields no more records
 * than the bytes can hold. An error has a text.
 */
#include <stdlib.h>
#include <string.h>

#include "decode/sideband/jitdump_parse.h"
#include "fuzz.h"

enum { RECORD_MIN = 16 };

static void take(const struct ptc_jit_code *j, const uint8_t *bytes, size_t len)
{
	static volatile uint8_t sink;
	const uint8_t *name = (const uint8_t *)j->name;
	struct ptc_cur c = j->code;
	uint8_t sum = 0;

	CHECK(c.pos >= bytes && c.end >= c.pos && c.end <= bytes + len);
	CHECK(name >= bytes && name < bytes + len);
	CHECK(memchr(name, 0, (size_t)(bytes + len - name)));
	while (c.pos < c.end)
		sum ^= *c.pos++;
	sink = sum;
	(void)sink;
}

static void walk(const uint8_t *bytes, size_t len)
{
	struct ptc_jit_code j;
	struct ptc_jit_head head;
	struct ptc_jit_iter it;
	struct ptc_err err;
	size_t n = 0;
	int rc = ptc_jit_begin(&it, bytes, len, &head, &err);

	if (!rc)
		while ((rc = ptc_jit_next(&it, &j, &err)) > 0) {
			CHECK(++n <= len / RECORD_MIN);
			take(&j, bytes, len);
		}
	CHECK(!rc || ((rc == PTC_E_FORMAT || rc == PTC_E_UNSUPPORTED) && *err.msg));
	ptc_jit_end(&it);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1); /* exact size: ASan sees an overread */

	CHECK(copy);
	if (len)
		memcpy(copy, bytes, len);
	walk(copy, len);
	free(copy);
	return 0;
}
