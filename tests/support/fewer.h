/* SPDX-License-Identifier: MIT */
/* Number of repetitions of a test. A sanitizer makes each repetition ten times slower. */
#ifndef PTC_TESTS_FEWER_H
#define PTC_TESTS_FEWER_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FEWER(n, sanitized) (sanitized)
#else
#define FEWER(n, sanitized) (n)
#endif

#endif
