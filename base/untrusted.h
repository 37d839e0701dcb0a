/* SPDX-License-Identifier: MIT */
/*
 * Opens names that others chose: a name out of a recording, of a process that is recorded, or in a
 * folder that another user may own. All of ptcap opens such names here and nowhere else
 * (tests/checks/opens.py).
 *
 * A regular file is opened, and nothing else: to open a FIFO blocks, to open a device acts on it.
 * So the name is first resolved to an O_PATH descriptor, which opens nothing. The file's kind, its
 * file system and its size are read from that descriptor, and the same file is then opened through
 * /proc/self/fd. A name that changes meanwhile changes nothing.
 */
#ifndef PTC_BASE_UNTRUSTED_H
#define PTC_BASE_UNTRUSTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "ptcap/error.h"

/* How a name is opened. Zeroed: any regular file of any size, from our root folder. */
struct ptc_untrusted {
	/*
	 * Bytes of the name that are a root (--symfs, /proc/PID/root, a recording's folder). The
	 * rest is resolved as if that folder were "/": no "..", no symbolic link leads out of it.
	 * 0: no root.
	 */
	size_t root;
	uint64_t max; /* bytes; 0: no limit */
	bool no_link; /* refuse a symbolic link as the last part of the name */
	bool kernel;  /* take files of proc, sysfs and the like, too: the user named this one */
	bool by_hand; /* for tests: without openat2(2) */
};

/*
 * Opens @path for reading: a descriptor with O_CLOEXEC and O_NONBLOCK, which the caller closes, and
 * *@ret_st. What is no regular file is PTC_E_UNSUPPORTED, a file above the limit PTC_E_LIMIT.
 */
int ptc_untrusted_open(const char *path, const struct ptc_untrusted *how, struct stat *ret_st,
		       struct ptc_err *err);

/*
 * The same for @entry in the open folder @folder, which is the root. @path is for messages;
 * how->root is ignored.
 */
int ptc_untrusted_open_at(int folder, const char *entry, const char *path,
			  const struct ptc_untrusted *how, struct stat *ret_st,
			  struct ptc_err *err);

/*
 * Reads all of @path into @out, which is reset first and gets a NUL behind its len. how->max is
 * also the limit for a file that grows meanwhile, or whose size is not known (proc); it is not 0.
 */
int ptc_untrusted_read(const char *path, const struct ptc_untrusted *how, struct ptc_buf *out,
		       struct stat *ret_st, struct ptc_err *err);

/* 0 if the file @st belongs to @user or to root, else PTC_E_PERM; @way_out ends the message. */
int ptc_untrusted_owner(const struct stat *st, uid_t user, const char *path, const char *way_out,
			struct ptc_err *err);

#endif
