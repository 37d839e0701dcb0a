/* SPDX-License-Identifier: MIT */
/*
 * Changes to files that know what the files are made of. Each function makes one change, or none
 * where there is nothing to change; what is behind a change stays where the file says it is. No
 * part gets longer than MU_MAX.
 */
#ifndef PTC_TESTS_FUZZ_MUTATE_H
#define PTC_TESTS_FUZZ_MUTATE_H

#include "archive.h"

enum { MU_MAX = 64 << 10 };

/* Numbers at random, the same for a seed. */
struct mu_random {
	uint64_t state; /* not 0 */
};

uint64_t mu_next(struct mu_random *r);
/* Below @n, which is not 0. */
size_t mu_below(struct mu_random *r, size_t n);
/* True once in @n times. */
bool mu_once_in(struct mu_random *r, size_t n);
/* A number of @width bytes that is at the edge of something, or means something in seeds. */
uint64_t mu_number(struct mu_random *r, unsigned int width);

/* [off, off + del) becomes the @n bytes @by, NULL: zeros. False: that would be too long. */
bool mu_splice(struct ptc_buf *b, size_t off, size_t del, const void *by, size_t n);
/* A number of 1, 2, 4 or 8 bytes somewhere in [off, off + len). */
void mu_set_number(struct mu_random *r, struct ptc_buf *b, size_t off, size_t len);
/* libFuzzer's own changes to [off, off + len); what gets shorter has zeros at its end. */
void mu_bytes(struct ptc_buf *b, size_t off, size_t len);

/* A recording, as a file or a pipe. */
void mu_recording(struct mu_random *r, struct ptc_buf *b);
/* Of the packets in [off, off + len). Returns how long that is now. */
size_t mu_packets(struct mu_random *r, struct ptc_buf *b, size_t off, size_t len);
/* A program, its debug file, a core. */
void mu_elf(struct mu_random *r, struct ptc_buf *b);
void mu_jitdump(struct mu_random *r, struct ptc_buf *b);
/* Lines of text. */
void mu_text(struct mu_random *r, struct ptc_buf *b);

#endif
