/* SPDX-License-Identifier: MIT */
/* Repetitions of a test. AddressSanitizer takes ten times as long for each. */
#ifndef PTC_TESTS_FEWER_H
#define PTC_TESTS_FEWER_H

#ifdef __SANITIZE_ADDRESS__
#define FEWER(n, sanitized) (sanitized)
#else
#define FEWER(n, sanitized) (n)
#endif

#endif
