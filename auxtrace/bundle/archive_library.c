/* SPDX-License-Identifier: MIT */
#include "auxtrace/bundle/archive_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "base/err.h"
#include "ptcap/bundle.h"

#define LIBRARY "libarchive.so.13" /* the SONAME since libarchive 3.0 */

struct ptc_archive_library ptc_la;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct ptc_err why; /* code 0: it is loaded */

/* Returns false if the library lacks the function. */
static bool find_function(void *library, const char *name, void *ret, size_t size)
{
	void *found = dlsym(library, name);

	memcpy(ret, &found, size); /* ISO C has no cast from an object to a function */
	return found;
}

static void load_library(void)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	bool whole = library;

#define FIND(name)                                                                                 \
	whole = whole && find_function(library, #name, &ptc_la.name, sizeof(ptc_la.name));
	PTC_ARCHIVE_FUNCTIONS(FIND)
#undef FIND
	if (!whole)
		(void)ptc_fail(&why, PTC_E_UNSUPPORTED, "bundles need the library " LIBRARY ": %s",
			       library ? "it is too old" : dlerror());
}

int ptc_bundle_load_library(struct ptc_err *err)
{
	(void)pthread_once(&once, load_library);
	if (why.code)
		*err = why;
	return why.code;
}
