/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as an ELF file of which a bundle keeps parts. Asserted: each byte of the part is the
 * file's, zero, or in the header of a section that loses its contents. Wanted pages are kept. The
 * input does not have ELF's magic number, because a source package must not contain programs.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "auxtrace/bundle/partial_file.h"
#include "decode/archive/kept_parts.h"
#include "fuzz.h"

enum { PAGES = 64 };

static bool is_patched(const struct ptc_partial *p, uint64_t off)
{
	size_t i;

	for (i = 0; i < p->npatches; i++)
		if (off >= p->patches[i].off && off - p->patches[i].off < 4)
			return true;
	return false;
}

static void check_parts(const struct ptc_partial *p, const struct ptc_kept_wanted *wanted,
			const uint8_t *bytes, size_t len)
{
	uint8_t *part = malloc(len);
	size_t i;

	CHECK(part);
	memcpy(part, bytes, len);
	ptc_partial_apply(p, 0, part, len);
	for (i = 0; i < len; i++) {
		const size_t page = i / PTC_KEPT_PAGE;
		const bool kept = page < PAGES && *wanted->pages >> page & 1;

		CHECK(part[i] == bytes[i] || (!part[i] && !kept) || is_patched(p, i));
	}
	free(part);
}

static void look_at(const uint8_t *bytes, size_t len)
{
	const uint64_t pages = 0x5; /* the first and the third */
	const struct ptc_kept_wanted wanted = { &pages, PAGES, bytes[len - 1] & 1 };
	struct ptc_partial *p;
	int fd, rc;

	fd = memfd_create("elf", MFD_CLOEXEC);
	CHECK(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
	rc = ptc_kept_parts(fd, len, "elf", &wanted, &p);
	CHECK(rc == 0 || rc == 1);
	if (rc) {
		check_parts(p, &wanted, bytes, len);
		ptc_partial_free(p);
	}
	(void)close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	uint8_t *file = malloc(SELFMAG + len);

	CHECK(file);
	memcpy(file, ELFMAG, SELFMAG);
	if (len)
		memcpy(file + SELFMAG, bytes, len);
	look_at(file, SELFMAG + len);
	free(file);
	return 0;
}
