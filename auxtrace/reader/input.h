/* SPDX-License-Identifier: MIT */
/*
 * An input file and its bytes: a regular file is mapped. Input that can be read only once (a pipe,
 * a FIFO, a socket) is first read to its end. Devices are refused.
 */
#ifndef PTC_AUXTRACE_READER_INPUT_H
#define PTC_AUXTRACE_READER_INPUT_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/spool.h"
#include "ptcap/error.h"

struct ptc_input {
	const uint8_t *bytes; /* never NULL after a successful open */
	size_t len;
	void *map; /* NULL: spooled, or owned by the caller */
	struct ptc_spool spool;
};

#define PTC_INPUT_INIT                                                                             \
	{                                                                                          \
		NULL, 0, NULL, PTC_SPOOL_INIT                                                      \
	}

/*
 * Open @path; "-" is standard input. A folder is opened but not read: *@ret_folder is its
 * descriptor, which the caller closes; otherwise -1. For a FIFO the call waits for a writer.
 * Reading stops early if the first bytes are not those of a perf.data.
 */
int ptc_input_open(const char *path, struct ptc_input *ret, int *ret_folder, struct ptc_err *err);

/*
 * Open the regular file @entry of a folder. It must not be a symbolic link. Its owner must be the
 * folder's owner, root, or the current user. @name is for messages. PTC_E_NOT_EXIST: no such file.
 */
int ptc_input_open_at(int folder, const char *entry, const char *name, struct ptc_input *ret,
		      struct ptc_err *err);

/* Free all resources of @in. Accepts PTC_INPUT_INIT. */
void ptc_input_release(struct ptc_input *in);

#endif
