/* SPDX-License-Identifier: MIT */
/*
 * The files that code is mapped from, as the recording's reader will find them: by name, from
 * here. A few stay open while pages are compared with them.
 */
#ifndef PTC_CAPTURE_SOFT_OPENFILES_H
#define PTC_CAPTURE_SOFT_OPENFILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PTC_OPENFILES = 8 };

/* A struct of zeros has none. */
struct ptc_openfiles {
	struct {
		char *name; /* owned; NULL: free */
		int fd;	    /* -1: cannot be read */
	} files[PTC_OPENFILES];
	unsigned int next; /* to be replaced */
};

/* All of [off, off + len) of the file @name; false if that cannot be had. */
bool ptc_openfiles_read(struct ptc_openfiles *c, const char *name, uint64_t off, uint8_t *out,
			size_t len);

/* Names may mean other files from now on; also the end. */
void ptc_openfiles_close(struct ptc_openfiles *c);

#endif
