/* SPDX-License-Identifier: MIT */
/* perf's user-space records, laid out by hand in their published layout. */
#ifndef PTC_TESTS_USERREC_LAYOUT_H
#define PTC_TESTS_USERREC_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "auxtrace/record/userrec.h"

/* One record body in its published layout. */
struct ul_record {
	uint32_t type;
	uint16_t misc;
	const char *what;
	/* Lays out the body. Returns how many bytes at its end may be cut without an error. */
	size_t (*lay_out)(struct ptc_buf *b);
	void (*check)(struct ptc_user *u);
};

/* All records. */
enum { UL_N = 34 };
extern const struct ul_record ul_all[UL_N];

/* Appends @s in a field of @size bytes. */
void ul_text(struct ptc_buf *b, const char *s, size_t size);

/* Some functions of the table. */
size_t ul_lay_event_type(struct ptc_buf *b);
size_t ul_lay_attr(struct ptc_buf *b);
size_t ul_lay_build_id(struct ptc_buf *b);
size_t ul_lay_error2(struct ptc_buf *b);
size_t ul_lay_unit(struct ptc_buf *b);
size_t ul_lay_bpf(struct ptc_buf *b);
size_t ul_lay_id_index_guests(struct ptc_buf *b);
size_t ul_lay_sched_new(struct ptc_buf *b);
size_t ul_lay_conv(struct ptc_buf *b);

#endif
