/* SPDX-License-Identifier: MIT */
/* The source files of functions and places, for `ptcap view --sources`. */
#ifndef PTC_CLI_VIEW_VIEW_SOURCES_H
#define PTC_CLI_VIEW_VIEW_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "cli/common/string_pool.h"
#include "ptcap/decode.h"

struct ptc_view_sources {
	bool wanted;
	/* Owned; index: number of the name of a source file. Its folder + 1, or 0: not noted. */
	uint32_t *folders;
	size_t n, cap;
};

void ptc_view_sources_release(struct ptc_view_sources *s);

/*
 * Note that the code at @ip has lines of the source file with number @source in @texts (0: none).
 * To be called inside on_items. Returns false if out of memory.
 */
bool ptc_view_sources_note(struct ptc_view_sources *s, struct ptc_decode *d,
			   struct ptc_names *texts, const struct ptc_item *item, uint64_t ip,
			   uint32_t source);

/*
 * Read source file number @source below @symfs into @ret, if it was noted. Returns false if it
 * cannot be read. *@left: bytes that may be read, less those of the file.
 */
bool ptc_view_sources_read(const struct ptc_view_sources *s, const struct ptc_names *texts,
			   const char *symfs, uint32_t source, size_t *left, struct ptc_buf *ret);

#endif
