/* SPDX-License-Identifier: MIT */
#include "base/perf_cache.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/untrusted.h"

enum { CONFIG_MAX = 1 << 20 };

/* Returns buildid.dir from the text of a perfconfig, owned by the caller; NULL: none. */
static char *config_dir(const char *text)
{
	bool here = false;
	char key[32], value[1024];

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		const char *p = text + strspn(text, " \t");

		if (*p == '[')
			here = !strncmp(p, "[buildid]", 9);
		else if (here && sscanf(p, "%31[a-z] = %1023[^\n]", key, value) == 2 &&
			 !strcmp(key, "dir"))
			return strdup(value);
	}
	return NULL;
}

char *ptc_perf_cache_dir(void)
{
	const char *dir = getenv("PERF_BUILDID_DIR"), *home = getenv("HOME");
	const struct ptc_untrusted how = { .max = CONFIG_MAX };
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err err;
	char *path, *ret = NULL;
	struct stat st;

	if (dir && *dir)
		return strdup(dir);
	if (!home || !*home)
		return NULL;
	if (asprintf(&path, "%s/.perfconfig", home) < 0)
		return NULL;
	if (!ptc_untrusted_read(path, &how, &b, &st, &err))
		ret = config_dir((const char *)b.bytes);
	ptc_buf_release(&b);
	free(path);
	if (ret)
		return ret;
	return asprintf(&ret, "%s/.debug", home) < 0 ? NULL : ret;
}
