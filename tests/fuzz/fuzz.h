/* SPDX-License-Identifier: MIT */
/* Common parts of all libFuzzer targets. */
#ifndef PTC_TESTS_FUZZ_H
#define PTC_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* libFuzzer saves the input that makes a target abort. */
#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond))                                                                       \
			abort();                                                                   \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

#endif
