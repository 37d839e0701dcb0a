/* SPDX-License-Identifier: MIT */
/*
 * Writes a table in Arrow's IPC format: as a file, or as a stream to standard output. Readers want
 * complete dictionaries in front of the first batch, but the texts are known at the end only. So a
 * file begins with a hole, which the head fills at the end. A stream collects its batches in a
 * temporary file. doc/adr/0036-arrow.md has the reasons.
 */
#ifndef PTC_CLI_ARROW_IPC_FILE_H
#define PTC_CLI_ARROW_IPC_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "cli/arrow/arrow_names.h"
#include "cli/arrow/ipc_message.h"
#include "ptcap/error.h"

/* Initialize with PTC_IPC_FILE_INIT. */
struct ptc_ipc_file {
	int fd;	    /* -1: none */
	char *path; /* owned; NULL: a stream to standard output */
	bool is_memory;
	uint64_t held;		      /* bytes counted in the budget */
	uint64_t len;		      /* bytes of all batches */
	struct ptc_ipc_block *blocks; /* owned; offsets count from the first batch */
	size_t n, cap;
};

#define PTC_IPC_FILE_INIT                                                                          \
	{                                                                                          \
		-1, NULL, false, 0, 0, NULL, 0, 0                                                  \
	}

/*
 * Creates the file @name in @folder, mode 0600. @folder NULL: a stream to standard output. On
 * failure nothing needs a release. PTC_E_IO, PTC_E_NO_MEMORY.
 */
int ptc_ipc_file_open(struct ptc_ipc_file *f, const char *folder, const char *name,
		      struct ptc_err *err);
/* Does not remove the file: that is up to the owner of the folder. */
void ptc_ipc_file_release(struct ptc_ipc_file *f);

/* Writes a batch, whose body has @n parts, at most IOV_MAX - 1. @parts is modified. */
int ptc_ipc_file_batch(struct ptc_ipc_file *f, const struct ptc_ipc_batch *batch,
		       struct iovec *parts, int n, struct ptc_err *err);

/*
 * Writes everything else, and closes the file. The dictionaries are those of the @n columns. To be
 * called once. PTC_E_LIMIT: the texts of a dictionary are longer than 2 GiB. PTC_E_IO,
 * PTC_E_NO_MEMORY.
 */
int ptc_ipc_file_finish(struct ptc_ipc_file *f, const struct ptc_ipc_column *columns, size_t n,
			const struct ptc_arrow_names *names, struct ptc_err *err);

#endif
