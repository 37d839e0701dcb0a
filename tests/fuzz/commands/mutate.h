/* SPDX-License-Identifier: MIT */
/*
 * Mutations of files, with knowledge of their format. Each function makes one change, or none if
 * there is nothing to change. Data behind a change keeps the place that the file states. No part
 * becomes longer than MU_MAX.
 */
#ifndef PTC_TESTS_FUZZ_MUTATE_H
#define PTC_TESTS_FUZZ_MUTATE_H

#include "archive.h"

enum { MU_MAX = 64 << 10 };

/* Random numbers, the same for each seed. */
struct mu_random {
	uint64_t state; /* not 0 */
};

uint64_t mu_next(struct mu_random *r);
/* Returns a number below @n, which is not 0. */
size_t mu_below(struct mu_random *r, size_t n);
/* Returns true once in @n times. */
bool mu_once_in(struct mu_random *r, size_t n);
/* Returns a number of @width bytes at a boundary, or with a meaning in the seeds. */
uint64_t mu_number(struct mu_random *r, unsigned int width);

/*
 * Replaces [off, off + del) by the @n bytes @by, NULL: zeros. False: the result would be too long.
 */
bool mu_splice(struct ptc_buf *b, size_t off, size_t del, const void *by, size_t n);
/* Sets a number of 1, 2, 4 or 8 bytes somewhere in [off, off + len). */
void mu_set_number(struct mu_random *r, struct ptc_buf *b, size_t off, size_t len);
/* Applies libFuzzer's own mutations to [off, off + len); fills up with zeros. */
void mu_bytes(struct ptc_buf *b, size_t off, size_t len);

/* Changes a recording, as a file or a pipe. */
void mu_recording(struct mu_random *r, struct ptc_buf *b);
/* Changes the packets in [off, off + len). Returns the new length. */
size_t mu_packets(struct mu_random *r, struct ptc_buf *b, size_t off, size_t len);
/* Changes a program, its debug file, or a core. */
void mu_elf(struct mu_random *r, struct ptc_buf *b);
void mu_jitdump(struct mu_random *r, struct ptc_buf *b);
/* Changes lines of text. */
void mu_text(struct mu_random *r, struct ptc_buf *b);

#endif
