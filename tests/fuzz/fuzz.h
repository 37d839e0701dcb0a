/* SPDX-License-Identifier: MIT */
/* What every libFuzzer target has. */
#ifndef PTC_TESTS_FUZZ_H
#define PTC_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* libFuzzer keeps the bytes for which a target aborts. */
#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond))                                                                       \
			abort();                                                                   \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

#endif
