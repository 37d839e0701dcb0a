/* SPDX-License-Identifier: MIT */
/*
 * Prints items in several threads. The thread of the sink copies items into slots. It and the
 * helpers turn the items of one slot after the other into text. The text is written in order.
 *
 * Only one thread at a time looks up names. Between two calls of the functions below the decoder
 * may change what names mean, so no helper looks up names then.
 */
#ifndef PTC_CLI_DECODE_FORMAT_POOL_H
#define PTC_CLI_DECODE_FORMAT_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include "ptcap/decode.h"

struct ptc_format_pool;
struct ptc_printer;

/* ptc_print_text, ptc_print_insn or ptc_print_json. */
typedef int ptc_format_print(void *ctx, const struct ptc_item *items, size_t n);

/*
 * Starts @helpers threads, which print items with @print and the settings of @p. @p is lent until
 * ptc_format_pool_end; the sink's thread uses it. What was printed to p->line before comes first.
 * Returns NULL if there is no memory, or no thread can be started: then the caller prints alone.
 */
struct ptc_format_pool *ptc_format_pool_begin(struct ptc_printer *p, ptc_format_print *print,
					      unsigned int helpers);

/* ptc_sink.on_items; ctx is a struct ptc_format_pool. */
int ptc_format_pool_items(void *ctx, const struct ptc_item *items, size_t n);

/* For ptc_decode_on_change(): looks up all names that are still needed. */
void ptc_format_pool_before_change(void *ctx);

/* Writes everything, ends the threads, and frees @pool. A failure sets p->line->failed. */
void ptc_format_pool_end(struct ptc_format_pool *pool);

#endif
