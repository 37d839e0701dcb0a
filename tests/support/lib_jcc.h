/* SPDX-License-Identifier: MIT */
/* Endless code that has only jccs. */
#ifndef PTC_TESTS_LIB_JCC_H
#define PTC_TESTS_LIB_JCC_H

#include <stddef.h>
#include <stdint.h>

/* A ptc_fast_read function: jne +14 at each even address. */
size_t jcc_read(const void *ctx, uint64_t ip, uint8_t *out, size_t len);

#endif
