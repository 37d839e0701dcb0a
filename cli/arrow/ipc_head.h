/* SPDX-License-Identifier: MIT */
/* The head of a table in Arrow's IPC format: its schema, and its dictionaries. */
#ifndef PTC_CLI_ARROW_IPC_HEAD_H
#define PTC_CLI_ARROW_IPC_HEAD_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "cli/arrow/arrow_names.h"
#include "cli/arrow/ipc_message.h"
#include "ptcap/error.h"

/* Initialize with zeros, columns, ncolumns and names, which are borrowed. */
struct ptc_ipc_head {
	const struct ptc_ipc_column *columns;
	size_t ncolumns;
	const struct ptc_arrow_names *names;
	struct ptc_buf bytes;				     /* owned */
	struct ptc_ipc_block blocks[PTC_ARROW_DICTIONARIES]; /* places of dictionaries in bytes */
	size_t nblocks;
};

/*
 * Append the head to @h->bytes. The last dictionary gets @rest more bytes, a multiple of 8, at the
 * end of its body. PTC_E_LIMIT: the texts of a dictionary are longer than 2 GiB. PTC_E_NO_MEMORY.
 */
int ptc_ipc_head_put(struct ptc_ipc_head *h, uint64_t rest, struct ptc_err *err);

#endif
