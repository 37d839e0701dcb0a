/* SPDX-License-Identifier: MIT */
/* What the programs here fail with. */
#ifndef PTC_TESTS_PLAIN_H
#define PTC_TESTS_PLAIN_H

#include <stdio.h>
#include <stdlib.h>

/* Aborts, with the place, the condition and a message. */
#define CHECK(cond, ...)                                                                           \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #cond);                 \
			fprintf(stderr, __VA_ARGS__);                                              \
			fputc('\n', stderr);                                                       \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

#endif
