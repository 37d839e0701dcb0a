/* SPDX-License-Identifier: MIT */
/*
 * Opens files whose names are untrusted: from a recording, from a recorded process, or in a folder
 * that another user may own. All of ptcap opens such files only here (tests/checks/opens.py).
 *
 * Only regular files are opened, because opening a FIFO blocks and opening a device can have side
 * effects. The name is first resolved to an O_PATH descriptor, which has no effect on the file.
 * Kind, file system and size are checked on that descriptor. The same file is then opened through
 * /proc/self/fd, so a name that changes meanwhile has no effect.
 */
#ifndef PTC_BASE_UNTRUSTED_H
#define PTC_BASE_UNTRUSTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "ptcap/error.h"

/* How to open a name. All zero: any regular file of any size, from the process's root folder. */
struct ptc_untrusted {
	/*
	 * Length of the part of the name that is a root (--symfs, /proc/PID/root, a recording's
	 * folder). The rest is resolved as if that folder were "/": neither ".." nor a symbolic
	 * link leads out of it. 0: no root.
	 */
	size_t root;
	uint64_t max; /* bytes; 0: no limit */
	bool no_link; /* refuse a symbolic link as the last part of the name */
	/* Also accept files of proc, sysfs and similar, because the user named this file. */
	bool kernel;
	bool by_hand; /* for tests: do not use openat2(2) */
};

/*
 * Open @path for reading. Returns a descriptor with O_CLOEXEC and O_NONBLOCK, which the caller
 * closes, and *@ret_st. PTC_E_UNSUPPORTED: not a regular file. PTC_E_LIMIT: larger than the limit.
 */
int ptc_untrusted_open(const char *path, const struct ptc_untrusted *how, struct stat *ret_st,
		       struct ptc_err *err);

/*
 * As ptc_untrusted_open, for @entry in the open folder @folder, which is the root. @path is for
 * messages. how->root is ignored.
 */
int ptc_untrusted_open_at(int folder, const char *entry, const char *path,
			  const struct ptc_untrusted *how, struct stat *ret_st,
			  struct ptc_err *err);

/*
 * Read all of @path into @out. @out is reset first, and a NUL follows its len bytes. how->max must
 * not be 0. It also limits a file that grows meanwhile, or whose size is unknown (proc).
 */
int ptc_untrusted_read(const char *path, const struct ptc_untrusted *how, struct ptc_buf *out,
		       struct stat *ret_st, struct ptc_err *err);

/*
 * Returns 0 if the file @st belongs to @user or to root, else PTC_E_PERM. @way_out ends the
 * message.
 */
int ptc_untrusted_owner(const struct stat *st, uid_t user, const char *path, const char *way_out,
			struct ptc_err *err);

#endif
