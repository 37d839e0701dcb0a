/* SPDX-License-Identifier: MIT */
#include "ptcap/lookup.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

/* Longer ones are no names. A demangled name may be much longer than the mangled one. */
enum { NAME_MAX_LEN = 4096 };

/* Accept C++, Rust (both schemes) and D. Other schemes would accept plain C names. */
static bool may_be_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R' ||
				  (name[1] == 'D' && name[2] >= '0' && name[2] <= '9'));
}

char *ptc_demangle(const char *name)
{
	const size_t len = strcspn(name, "@");
	const char *rest = strncmp(name + len, "@@", 2) != 0 ? name + len : "";
	char *base, *plain = NULL, *ret = NULL;

	if (len > NAME_MAX_LEN)
		return NULL;
	base = strndup(name, len);
	if (base && may_be_mangled(base))
		plain = cplus_demangle(base, DMGL_AUTO | DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP);
	if (base && (plain || *rest != name[len]) &&
	    asprintf(&ret, "%s%s", plain ? plain : base, rest) < 0)
		ret = NULL;
	free(plain);
	free(base);
	return ret;
}
