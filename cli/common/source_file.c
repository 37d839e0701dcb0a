/* SPDX-License-Identifier: MIT */
#include "cli/common/source_file.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/untrusted.h"

enum { SOURCE_MAX = 16 << 20 };

static bool has_suffix(const char *path)
{
	static const char *const suffixes[] = {
		"c",   "h",   "cc",  "cp",    "cpp",  "cxx", "c++", "C",   "hh",  "hpp",
		"hxx", "h++", "H",   "inl",   "ipp",  "tcc", "tpp", "inc", "ixx", "cppm",
		"rs",  "go",  "d",   "di",    "s",    "S",   "asm", "f",   "for", "f77",
		"f90", "f95", "f03", "f08",   "F",    "F90", "adb", "ads", "pas", "m",
		"mm",  "zig", "nim", "swift", "hs",   "ml",  "y",   "yy",  "l",	  "ll",
		"re",  "rl",  "v",   "cr",    "vala", "cu",  "kt",  "def",
	};
	const char *base = strrchr(path, '/');
	const char *dot = strrchr(base ? base : path, '.');
	size_t i;

	for (i = 0; dot && i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (!strcmp(dot + 1, suffixes[i]))
			return true;
	return false;
}

char *ptc_source_file_name(const char *symfs, const char *folder, const char *path)
{
	char *ret = NULL;

	if (path[0] == '/')
		folder = "";
	if (!folder || (path[0] != '/' && folder[0] != '/'))
		return NULL;
	return asprintf(&ret, "%s%s/%s", symfs ? symfs : "", folder, path) < 0 ? NULL : ret;
}

bool ptc_source_file_read(const char *symfs, const char *folder, const char *path,
			  struct ptc_buf *ret, struct stat *ret_st)
{
	const struct ptc_untrusted how = { .root = symfs ? strlen(symfs) : 0, .max = SOURCE_MAX };
	char *name = has_suffix(path) ? ptc_source_file_name(symfs, folder, path) : NULL;
	struct ptc_err err;
	const bool done = name && !ptc_untrusted_read(name, &how, ret, ret_st, &err);

	free(name);
	return done;
}
