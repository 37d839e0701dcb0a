/* SPDX-License-Identifier: MIT */
/*
 * What a reader of the recording knows of a program's code, page by page: what
 * the mapped file has, or what was saved since. Where the memory says
 * otherwise, the difference is saved.
 */
#ifndef PTC_CAPTURE_STEP_SAVED_H
#define PTC_CAPTURE_STEP_SAVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PTC_SAVED_PAGE = 4096 };

struct ptc_saved_page;

struct ptc_saved {
	struct ptc_saved_page *pages; /* owned; ascending */
	size_t n, cap;
	uint64_t generation; /* of what was looked at; a page of an older one is looked at again */
};

/* Where the bytes come from and go to. Addresses are those of the program. */
struct ptc_saved_io {
	/* Up to @len bytes of its memory; returns how many could be read. */
	size_t (*read)(void *ctx, uint64_t addr, uint8_t *out, size_t len);
	/* The page at @addr as the mapped file has it; false: it is in no file, or not wholly. */
	bool (*read_file)(void *ctx, uint64_t addr, uint8_t out[PTC_SAVED_PAGE]);
	/* @bytes are at @addr from now on. */
	void (*save)(void *ctx, uint64_t addr, const uint8_t *bytes, size_t len);
	void *ctx;
};

/* A range of addresses, [start, end). */
struct ptc_saved_range {
	uint64_t start, end;
};

/* A struct of zeros knows nothing. */
void ptc_saved_release(struct ptc_saved *s);

/* Begin with what @from knows, none of it looked at. False: out of memory. */
bool ptc_saved_copy(struct ptc_saved *s, const struct ptc_saved *from);

/* The memory may have changed: look at each page again. */
void ptc_saved_flush(struct ptc_saved *s);

/* The reader forgets what is not in one of @ranges (ascending, whole pages). */
void ptc_saved_keep(struct ptc_saved *s, const struct ptc_saved_range *ranges, size_t n);

/*
 * Look at the page of @addr, unless that was done since the last flush, and
 * save what the reader does not know. @watch: it may change without a flush.
 * False: out of memory.
 */
bool ptc_saved_look(struct ptc_saved *s, const struct ptc_saved_io *io, uint64_t addr, bool watch);

/*
 * @bytes of one page, just read at @addr: if they are not what is known of a
 * watched page, look at all of it. False: out of memory.
 */
bool ptc_saved_check(struct ptc_saved *s, const struct ptc_saved_io *io, uint64_t addr,
		     const uint8_t *bytes, size_t len);

#endif
