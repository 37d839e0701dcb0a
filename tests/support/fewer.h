/* SPDX-License-Identifier: MIT */
/* Number of repetitions of a test. AddressSanitizer makes each repetition ten times slower. */
#ifndef PTC_TESTS_FEWER_H
#define PTC_TESTS_FEWER_H

#ifdef __SANITIZE_ADDRESS__
#define FEWER(n, sanitized) (sanitized)
#else
#define FEWER(n, sanitized) (n)
#endif

#endif
