/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a core. Asserted: segments and mappings ascend. The code at each of them has at most
 * the file's size. An error has a text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "decode/image/codefile.h"
#include "decode/image/core.h"
#include "fuzz.h"

enum { MAX = 1 << 16 };

static void take_code(struct ptc_core *c, struct ptc_codefiles *files, uint64_t addr, size_t len)
{
	static volatile uint8_t sink;
	struct ptc_codefile *f;
	uint64_t off, n, i;
	uint8_t sum = 0;

	n = ptc_core_code(c, files, "core", addr, UINT64_MAX, &f, &off);
	CHECK(n <= len);
	for (i = 0; i < n; i++)
		sum ^= f->bytes[off + i];
	sink = sum;
	(void)sink;
}

static void walk(struct ptc_core *c, size_t len)
{
	struct ptc_codefiles files = { .n = 0 };
	struct ptc_build_id id;
	size_t i;

	for (i = 0; i < c->nloads; i++) {
		CHECK(!i || c->loads[i].addr >= c->loads[i - 1].addr);
		CHECK(ptc_core_next(c, c->loads[i].addr) > c->loads[i].addr);
		take_code(c, &files, c->loads[i].addr, len);
	}
	for (i = 0; i < c->nmaps; i++) {
		CHECK(!i || c->maps[i].start >= c->maps[i - 1].start);
		CHECK(strlen(c->maps[i].name) < len);
		CHECK(!ptc_core_build_id(c, &c->maps[i], &id) || id.len <= sizeof(id.bytes));
		(void)ptc_core_map_at(c, c->maps[i].start);
	}
	ptc_codefiles_release(&files);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	const int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct ptc_core *c;
	struct ptc_err err;
	char path[32];

	CHECK(fd >= 0);
	if (len && len <= MAX) {
		CHECK(write(fd, bytes, len) == (ssize_t)len);
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (!ptc_core_open(path, &(struct ptc_untrusted){ .root = 0 }, &c, &err)) {
			walk(c, len);
			ptc_core_free(c);
		} else {
			CHECK(*err.msg);
		}
	}
	CHECK(!close(fd));
	return 0;
}
