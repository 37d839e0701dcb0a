/* SPDX-License-Identifier: MIT */
/*
 * Prints items in several threads. The threads take turns. The thread with the turn runs the
 * decoder until there is a batch of items. Then another thread gets the turn, and this thread
 * prints its batch. So no item travels to another CPU. The text is written in order.
 *
 * Names are looked up by one thread at a time, also while another one decodes. Before the decoder
 * changes what names mean, all threads print what they have.
 */
#ifndef PTC_CLI_DECODE_PRINT_THREADS_H
#define PTC_CLI_DECODE_PRINT_THREADS_H

#include "ptcap/decode.h"

struct ptc_print_threads;
struct ptc_printer;

/* ptc_print_text, ptc_print_insn or ptc_print_json. */
typedef int ptc_print_items(void *ctx, const struct ptc_item *items, size_t n);

/*
 * Prepares @n threads, the caller's included, which print items with @print and the settings of @p.
 * @p is lent until ptc_print_threads_free. Returns NULL if there is not enough memory: then the
 * caller prints alone.
 */
struct ptc_print_threads *ptc_print_threads_new(struct ptc_printer *p, ptc_print_items *print,
						unsigned int n);
void ptc_print_threads_free(struct ptc_print_threads *o);

/* ptc_sink.on_items; ctx is a struct ptc_print_threads. */
int ptc_print_threads_items(void *ctx, const struct ptc_item *items, size_t n);

/* Takes items in front of a shard, which are not printed. They come before all other items. */
void ptc_print_threads_before(struct ptc_print_threads *o, const struct ptc_item *items, size_t n);

/*
 * As ptc_decode_run. The items must come from @sink to ptc_print_threads_items. The text in p->line
 * is written first. PTC_E_NO_MEMORY. If the output failed, p->line->failed is set, and errno.
 */
int ptc_print_threads_run(struct ptc_print_threads *o, const struct ptc_sink *sink,
			  struct ptc_err *err);

#endif
