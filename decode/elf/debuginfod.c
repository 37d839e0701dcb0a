/* SPDX-License-Identifier: MIT */
#include "decode/elf/debuginfod.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Loaded, not linked, as in elfutils and perf: it needs libcurl and more. See
 * debuginfod_find_debuginfo(3).
 */
static const char soname[] = "libdebuginfod.so.1";

typedef void *begin_fn(void);
typedef void end_fn(void *client);
typedef int find_fn(void *client, const unsigned char *id, int len, char **ret_path);

/*
 * POSIX requires dlsym() to work with function pointers of the size of data pointers. ISO C does
 * not, hence memcpy().
 */
static bool function(const struct ptc_debuginfod *d, const char *name, void *ret_fn)
{
	void *p = dlsym(d->lib, name);

	memcpy(ret_fn, &p, sizeof(p));
	return p;
}

struct ptc_debuginfod *ptc_debuginfod_new(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls && urls[strspn(urls, " ")] ? calloc(1, sizeof(struct ptc_debuginfod)) : NULL;
}

void ptc_debuginfod_free(struct ptc_debuginfod *d)
{
	end_fn *end;

	if (!d)
		return;
	if (d->client && function(d, "debuginfod_end", &end))
		end(d->client);
	/* The library must stay loaded, because the data that curl has set up stay. */
	free(d);
}

static void start(struct ptc_debuginfod *d)
{
	begin_fn *begin;

	d->tried = true;
	d->lib = dlopen(soname, RTLD_LAZY);
	if (d->lib && function(d, "debuginfod_begin", &begin))
		d->client = begin();
}

char *ptc_debuginfod_get(struct ptc_debuginfod *d, const struct ptc_build_id *id, bool debug)
{
	const char *name = debug ? "debuginfod_find_debuginfo" : "debuginfod_find_executable";
	char *path = NULL;
	find_fn *find;
	int fd;

	if (!d->tried)
		start(d);
	if (!d->client || !id->len || !function(d, name, &find))
		return NULL;
	fd = find(d->client, id->bytes, (int)id->len, &path);
	if (fd < 0)
		return NULL;
	(void)close(fd);
	d->fetched += path != NULL;
	return path;
}
