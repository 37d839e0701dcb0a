/* SPDX-License-Identifier: MIT */
/* `ptcap decode --format bin`: doc/format.md. Straight to stdout. */
#ifndef PTC_CLI_OUT_BIN_H
#define PTC_CLI_OUT_BIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "ptcap/decode.h"

enum { PTC_BIN_PARTS = 64 };

struct ptc_bin_printer {
	bool failed; /* standard output does not take it; that has been said */
	bool has_context;
	uint8_t context[24]; /* of the last transfer: time, pid, tid, cpu, queue */

	/* What is to be written next: parts of buf, and runs, which are written before they go. */
	struct iovec iov[PTC_BIN_PARTS];
	size_t niov, nbuf;
	bool borrows;
	uint8_t buf[1 << 16];
};

void ptc_print_bin_begin(struct ptc_bin_printer *p);
/* False: standard output does not take it all. */
bool ptc_print_bin_end(struct ptc_bin_printer *p);
/* ptc_sink.on_items, RUN items included; ctx is a struct ptc_bin_printer. */
int ptc_print_bin(void *ctx, const struct ptc_item *items, size_t n);

#endif
