/* SPDX-License-Identifier: MIT */
/*
 * A name, and the bytes behind it: a regular file is mapped; what can be read
 * only once (a pipe, a FIFO, a socket) is read to its end first. Devices are
 * refused.
 */
#ifndef PTC_AUXTRACE_INPUT_H
#define PTC_AUXTRACE_INPUT_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/spool.h"
#include "ptcap/error.h"

struct ptc_input {
	const uint8_t *bytes; /* never NULL once opened */
	size_t len;
	void *map; /* NULL: spooled, or the caller's */
	struct ptc_spool spool;
};

#define PTC_INPUT_INIT                                                                             \
	{                                                                                          \
		NULL, 0, NULL, PTC_SPOOL_INIT                                                      \
	}

/*
 * Open @path, "-" being standard input. A folder is opened and not read:
 * *@ret_folder is its descriptor, the caller's to close, else -1. A FIFO is
 * waited for; what does not begin as a perf.data is not read on.
 */
int ptc_input_open(const char *path, struct ptc_input *ret, int *ret_folder, struct ptc_err *err);

/*
 * Open the regular file @entry of a folder. It must be one, not a symbolic link
 * to one, and belong to the folder's owner, to root or to us. @name is for
 * messages. PTC_E_NOT_EXIST: there is none.
 */
int ptc_input_open_at(int folder, const char *entry, const char *name, struct ptc_input *ret,
		      struct ptc_err *err);

/* Accepts PTC_INPUT_INIT. */
void ptc_input_release(struct ptc_input *in);

#endif
