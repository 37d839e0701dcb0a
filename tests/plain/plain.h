/* SPDX-License-Identifier: MIT */
/* The assertion of the programs in this folder. */
#ifndef PTC_TESTS_PLAIN_H
#define PTC_TESTS_PLAIN_H

#include <stdio.h>
#include <stdlib.h>

/* Aborts after printing the place, the condition and a message. */
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
