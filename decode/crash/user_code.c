/* SPDX-License-Identifier: MIT */
/* Tells the code of a user from the C library and the runtimes of languages. */
#include <stddef.h>
#include <string.h>

#include "decode/crash/crash.h"
#include "decode/crash/runtime_frames.h"

/* Functions without a source line in a program without lines: parts of the C library. */
static bool is_libc_internal(const char *name)
{
	static const char *const prefixes[] = { "__",	"_IO_",		"_dl_",
						"_nl_", "operator new", "operator delete" };
	size_t i;

	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

/* A stub of the procedure linkage table leads into a library. */
static bool is_plt(const char *function)
{
	const size_t len = strlen(function);

	return len > 4 && !strcmp(function + len - 4, "@plt");
}

/*
 * Returns the source of the first line of a function, or NULL. Compilers give the code that they
 * add, such as clang's calls of __stack_chk_fail(), no line.
 */
static const char *source_of_function(const struct ptc_crash_report *r,
				      const struct ptc_crash_place *p)
{
	const struct ptc_item it = { .pid = (int32_t)r->dead.signal.pid,
				     .tid = (int32_t)r->dead.signal.tid,
				     .time = r->dead.signal.time_ns };
	int line;

	if (!p->function || p->inlined)
		return NULL;
	return ptc_decode_srcline(r->d, &it, p->ip - p->offset, &line);
}

bool ptc_crash_is_runtime(const struct ptc_crash_report *r, const struct ptc_crash_place *p)
{
	const char *source;

	if (ptc_runtime_of(p->file, p->function) != PTC_RUNTIME_NONE)
		return true;
	source = p->source ? p->source : source_of_function(r, p);
	if (source)
		return ptc_runtime_has_source(source);
	if (r->lined_file && p->file && !strcmp(p->file, r->lined_file))
		return true;
	return p->function && (is_plt(p->function) || is_libc_internal(p->function));
}

/* The caller's @p may have fewer members than this library's, so @p is not copied. */
bool ptc_crash_find_user_code(const struct ptc_crash_report *r, struct ptc_crash_place *p)
{
	const char *function = p->function, *source = p->source;
	const bool inlined = p->inlined;
	const int line = p->line;
	size_t i;

	for (i = 0; i < p->nfunctions; i++) {
		ptc_crash_place_level(p, i);
		if (!ptc_crash_is_runtime(r, p))
			return true;
		p->function = function;
		p->source = source;
		p->line = line;
		p->inlined = inlined;
	}
	return false;
}
