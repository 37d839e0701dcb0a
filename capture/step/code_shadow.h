/* SPDX-License-Identifier: MIT */
/*
 * Tracks, page by page, the code that a reader of the recording knows: the mapped file's bytes, or
 * bytes saved since. Differences in memory are saved.
 */
#ifndef PTC_CAPTURE_STEP_CODE_SHADOW_H
#define PTC_CAPTURE_STEP_CODE_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PTC_SAVED_PAGE = 4096 };

struct ptc_saved_page;

struct ptc_saved {
	struct ptc_saved_page *pages; /* owned; ascending */
	size_t n, cap;
	/* incremented by each flush; pages checked in an older generation are checked again */
	uint64_t generation;
};

/* Callbacks for the bytes. Addresses are those of the program. */
struct ptc_saved_io {
	/* Reads up to @len bytes of the program's memory. Returns the number of bytes read. */
	size_t (*read)(void *ctx, uint64_t addr, uint8_t *out, size_t len);
	/*
	 * Reads the page at @addr from the mapped file. Returns false if no file has the whole
	 * page.
	 */
	bool (*read_file)(void *ctx, uint64_t addr, uint8_t out[PTC_SAVED_PAGE]);
	/* Records that @bytes are at @addr from now on. */
	void (*save)(void *ctx, uint64_t addr, const uint8_t *bytes, size_t len);
	void *ctx;
};

/* A range of addresses, [start, end). */
struct ptc_saved_range {
	uint64_t start, end;
};

/* A zeroed struct is empty. */
void ptc_saved_release(struct ptc_saved *s);

/* Initialises @s with the contents of @from, with all pages unchecked. False: out of memory. */
bool ptc_saved_copy(struct ptc_saved *s, const struct ptc_saved *from);

/* The memory may have changed: every page must be checked again. */
void ptc_saved_flush(struct ptc_saved *s);

/*
 * Drops the pages that are not in one of @ranges (ascending, whole pages): the reader has forgotten
 * them.
 */
void ptc_saved_keep(struct ptc_saved *s, const struct ptc_saved_range *ranges, size_t n);

/*
 * Checks the page of @addr, unless it was checked since the last flush, and saves what the reader
 * does not know. @watch: the page may change without a flush. False: out of memory.
 */
bool ptc_saved_look(struct ptc_saved *s, const struct ptc_saved_io *io, uint64_t addr, bool watch);

/*
 * Compares @bytes of one page, just read at @addr, with the saved bytes of a watched page. If they
 * differ, checks the whole page. False: out of memory.
 */
bool ptc_saved_check(struct ptc_saved *s, const struct ptc_saved_io *io, uint64_t addr,
		     const uint8_t *bytes, size_t len);

#endif
