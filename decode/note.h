/* SPDX-License-Identifier: MIT */
/* What was missing, to be told in words at the end. */
#ifndef PTC_DECODE_NOTE_H
#define PTC_DECODE_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptc_addrspace;
struct ptc_codefiles;

struct ptc_notes {
	uint64_t unmapped, unmapped_ip; /* gaps at addresses that no mapping covers; the first */
	uint64_t kernel, kernel_ip;	/* the same for kernel addresses */
	uint64_t lost_records;
	char **lines; /* owned; the rest are made by ptc_notes_line */
	size_t n, cap;
	bool made;
};

/* A line to come first. One that does not fit in memory is a line less. */
void ptc_notes_add(struct ptc_notes *n, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Code was missing at @ip. */
void ptc_notes_nocode(struct ptc_notes *n, const struct ptc_addrspace *as, uint64_t ip);

/* Line @i, or NULL. The lines are made at the first call. */
const char *ptc_notes_line(struct ptc_notes *n, const struct ptc_codefiles *files, size_t i);

void ptc_notes_release(struct ptc_notes *n);

#endif
