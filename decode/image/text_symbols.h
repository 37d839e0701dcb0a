/* SPDX-License-Identifier: MIT */
/* Names of code that is in no ELF file: from kallsyms, perf-PID.map, jitdump. */
#ifndef PTC_DECODE_IMAGE_TEXT_SYMBOLS_H
#define PTC_DECODE_IMAGE_TEXT_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptc_label {
	uint64_t addr, size;
	uint64_t time;	  /* valid since then; 0: always */
	bool global;	  /* from kallsyms: its type is a capital letter */
	bool lent;	  /* the name is not owned */
	const char *name; /* owned, unless lent */
};

/* Zeroed: none. */
struct ptc_text_symbols {
	struct ptc_label *names; /* owned; sorted by ptc_text_symbols_sort */
	size_t n, cap;
};

/*
 * Limits: names, more than any program has (the rest of a file is not read); bytes of a kallsyms.
 */
enum { PTC_TEXT_SYMBOLS_MAX = 1 << 23, PTC_KALLSYMS_MAX = 64 << 20 };

void ptc_text_symbols_release(struct ptc_text_symbols *t);

/* Add a name: the first @len bytes of @name. Returns false if out of memory, or too many names. */
bool ptc_text_symbols_add(struct ptc_text_symbols *t, uint64_t addr, uint64_t size, uint64_t time,
			  const char *name, size_t len);
/* Same; @name must outlive @t. */
bool ptc_text_symbols_lend(struct ptc_text_symbols *t, uint64_t addr, uint64_t size, uint64_t time,
			   const char *name);
/* Sort before looking up. A size of 0 extends to the next name. */
void ptc_text_symbols_sort(struct ptc_text_symbols *t);

/* Returns the newest name that contains @ip at @time (UINT64_MAX: at the end). Lent; NULL: none. */
const char *ptc_text_symbols_find(const struct ptc_text_symbols *t, uint64_t ip, uint64_t time,
				  uint64_t *ret_off);

/* Same, for names that began at @since or later, or have no time. */
const char *ptc_text_symbols_find_since(const struct ptc_text_symbols *t, uint64_t ip,
					uint64_t since, uint64_t time, uint64_t *ret_off);

/*
 * Add the lines of a /proc/kallsyms ("ADDR TYPE NAME [MODULE]") or of a perf-PID.map ("ADDR SIZE
 * NAME"). Other lines are ignored. @text is NUL-terminated. Returns false if out of memory.
 */
bool ptc_text_symbols_kallsyms(struct ptc_text_symbols *t, const char *text);
bool ptc_text_symbols_perf_map(struct ptc_text_symbols *t, const char *text);

/* Returns the address of @name, or 0. */
uint64_t ptc_text_symbols_addr(const struct ptc_text_symbols *t, const char *name);

#endif
