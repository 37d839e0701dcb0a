/* SPDX-License-Identifier: MIT */
/* Names of code that is in no ELF file: kallsyms, perf-PID.map, jitdump. */
#ifndef PTC_DECODE_NAMES_H
#define PTC_DECODE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptc_name {
	uint64_t addr, size;
	uint64_t time; /* since when it is so; 0: always */
	char *name;    /* owned */
};

/* Zeroed: none. */
struct ptc_names {
	struct ptc_name *names; /* owned; sorted by ptc_names_sort */
	size_t n, cap;
};

/* More names than any program has: a file that goes on is not read further. */
enum { PTC_NAMES_MAX = 1 << 23 };

void ptc_names_release(struct ptc_names *t);

/* Add one; the first @len bytes of @name. False: out of memory, or too many. */
bool ptc_names_add(struct ptc_names *t, uint64_t addr, uint64_t size, uint64_t time,
		   const char *name, size_t len);
/* Before looking up. A size of 0 reaches up to the next name. */
void ptc_names_sort(struct ptc_names *t);

/*
 * The name at @ip at @time (UINT64_MAX: at the end): of those that hold it the
 * newest. Lent; NULL: none.
 */
const char *ptc_names_find(const struct ptc_names *t, uint64_t ip, uint64_t time,
			   uint64_t *ret_off);

/*
 * Add the lines of a /proc/kallsyms ("ADDR TYPE NAME [MODULE]") or of a
 * perf-PID.map ("ADDR SIZE NAME"). Lines that are neither are ignored. @text is
 * NUL-terminated. False: out of memory.
 */
bool ptc_names_kallsyms(struct ptc_names *t, const char *text);
bool ptc_names_perf_map(struct ptc_names *t, const char *text);

/* The address of @name, or 0. */
uint64_t ptc_names_addr(const struct ptc_names *t, const char *name);

#endif
