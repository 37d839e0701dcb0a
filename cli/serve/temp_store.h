/* SPDX-License-Identifier: MIT */
/* A nameless temporary file of bytes that are written once and read in any order. */
#ifndef PTC_CLI_SERVE_TEMP_STORE_H
#define PTC_CLI_SERVE_TEMP_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/error.h"

enum { PTC_STORE_BLOCK = 1 << 16 };

struct ptc_temp_store {
	int fd; /* -1: none */
	bool is_memory;
	uint64_t size, limit; /* bytes */
	uint64_t held;	      /* bytes counted in the memory budget */
	/* The block that was read last, for small reads near each other. */
	uint8_t *block; /* owned */
	uint64_t block_at;
	size_t block_len;
};

/*
 * Create the file, which may grow to @limit bytes. Offset 0 belongs to no caller, so it can mean
 * "none". Caller releases @s, also on failure.
 */
int ptc_temp_store_open(struct ptc_temp_store *s, uint64_t limit, struct ptc_err *err);
void ptc_temp_store_release(struct ptc_temp_store *s);

/* Append bytes. *@ret_at: their offset. PTC_E_LIMIT: the file would be larger than its limit. */
int ptc_temp_store_append(struct ptc_temp_store *s, const void *bytes, size_t n, uint64_t *ret_at,
			  struct ptc_err *err);

/* Replace bytes that were appended. */
int ptc_temp_store_replace(struct ptc_temp_store *s, uint64_t at, const void *bytes, size_t n,
			   struct ptc_err *err);

/* Read @n bytes at @at. PTC_E_FORMAT: the file does not have them. */
int ptc_temp_store_read(struct ptc_temp_store *s, uint64_t at, void *bytes, size_t n,
			struct ptc_err *err);

#endif
