/* SPDX-License-Identifier: MIT */
/* `ptcap decode --format bin` (doc/format.md), written directly to stdout. */
#ifndef PTC_CLI_DECODE_OUT_BIN_H
#define PTC_CLI_DECODE_OUT_BIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "ptcap/decode.h"

enum { PTC_BIN_PARTS = 64, PTC_BIN_COUNTS = 256 };

struct ptc_bin_printer {
	bool failed; /* writing failed, and an error was printed */
	bool has_context;
	bool icount;	     /* write the instructions of each branch; excludes RUN items */
	uint8_t context[24]; /* of the last branch: time, pid, tid, cpu, queue */
	/* Instructions of the branches since the last record of counts. */
	uint32_t counts[PTC_BIN_COUNTS];
	size_t ncounts;

	/* Data to be written next: parts of buf, and runs borrowed from the sink's caller. */
	struct iovec iov[PTC_BIN_PARTS];
	size_t niov, nbuf;
	bool borrows;
	uint8_t buf[1 << 16];
};

/* @icount: items have their number of instructions, to be written. @head: write the head. */
void ptc_print_bin_begin(struct ptc_bin_printer *p, bool icount, bool head);
/* Takes the context of the last branch in front of a shard: it is written already. */
void ptc_print_bin_before(struct ptc_bin_printer *p, const struct ptc_item *items, size_t n);
/* Returns false if standard output failed. */
bool ptc_print_bin_end(struct ptc_bin_printer *p);
/* ptc_sink.on_items, RUN items included; ctx is a struct ptc_bin_printer. */
int ptc_print_bin(void *ctx, const struct ptc_item *items, size_t n);

#endif
