/* SPDX-License-Identifier: MIT */
/*
 * Finds files that are installed with ptcap, relative to the executable or library that has this
 * code. So an installed prefix can be moved. A file that a stranger can replace is refused.
 */
#ifndef PTC_CAPTURE_HOST_OWN_FILE_H
#define PTC_CAPTURE_HOST_OWN_FILE_H

#include <limits.h>
#include <stdbool.h>

#include "ptcap/error.h"

/* The file that has this code. */
struct ptc_own_module {
	char path[PATH_MAX]; /* absolute, without links; "": unknown */
	bool is_library;     /* libptcap.so; else the executable */
};

/* Fills @ret. Linking libptcap statically makes the executable the module. */
void ptc_own_module_find(struct ptc_own_module *ret);

/*
 * Finds the file @name: absolute, or relative to the folder of @m with all "../" at its begin.
 * @mode: as for access(2). Caller frees *ret, an absolute path. PTC_E_NOT_EXIST: no such file.
 *
 * PTC_E_PERM: a stranger can replace the file. A stranger is any user except root, the effective
 * user and the owner of @m. The file and each folder on the way must not belong to a stranger, and
 * must not be writable for all users. A writable folder with the sticky bit is allowed, a symbolic
 * link is not. Folders that also contain @m are not checked: their owners can replace @m itself.
 *
 * Members of a group that may write to one of them are strangers, too, with three exceptions.
 * Root's group has the right. So has a group that may also write to @m or to its folder: its
 * members can replace @m itself. So the group staff is no stranger in Debian's older /usr/local,
 * where it may write to bin and to lib. And a user other than root decides about the user's own
 * files: many systems make these writable for the group of that user.
 */
int ptc_own_file_find(const struct ptc_own_module *m, const char *name, int mode, char **ret,
		      struct ptc_err *err);

#endif
