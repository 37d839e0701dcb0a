/* SPDX-License-Identifier: MIT */
#include "decode/crash/signature_reason.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/crash/crash.h"
#include "decode/crash/signature_name.h"

struct word {
	const char *part, *kind;
};

/* Returns the kind of the first part that is in @text, or at its front. */
static const char *find_word(const struct word *words, size_t n, const char *text, bool front)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (front ? !strncmp(text, words[i].part, strlen(words[i].part)) :
			    strstr(text, words[i].part) != NULL)
			return words[i].kind;
	return NULL;
}

#define COUNT(of) (sizeof(of) / sizeof((of)[0]))

/*
 * Any of malloc's checks may find a damaged heap, so all of them are one kind. A smashed stack and
 * a failed check of a buffer's size both end in __fortify_fail(), so they are one kind, too.
 */
const char *ptc_signature_abort(const char *text, const char *by)
{
	/* malloc/malloc.c of the GNU C library */
	static const struct word fronts[] = {
		{ "double free", "heap" },    { "corrupted ", "heap" },
		{ "free(): ", "heap" },	      { "malloc(): ", "heap" },
		{ "malloc_", "heap" },	      { "realloc(): ", "heap" },
		{ "calloc(): ", "heap" },     { "mremap_", "heap" },
		{ "munmap_chunk", "heap" },   { "invalid fastbin", "heap" },
		{ "break adjusted", "heap" },
	};
	static const struct word parts[] = {
		{ "stack smashing", "buffer" },
		{ "buffer overflow", "buffer" },
		{ "Assertion ", "assertion" },
	};
	static const struct word functions[] = {
		{ "runtime.", "go-panic" }, /* a stripped program has no other message */
		{ "assert", "assertion" },    { "stack_chk", "buffer" },
		{ "chk_fail", "buffer" },     { "fortify", "buffer" },
		{ "free", "heap" },	      { "alloc", "heap" },
		{ "throw", "exception" },     { "terminate", "exception" },
		{ "Unwind", "exception" },    { "panic", "panic" },
		{ "unwrap_failed", "panic" }, { "expect_failed", "panic" },
	};
	const char *ret = text ? find_word(fronts, COUNT(fronts), text, true) : NULL;

	if (!ret && text)
		ret = find_word(parts, COUNT(parts), text, false);
	if (!ret && by)
		ret = find_word(functions, COUNT(functions), by, false);
	return ret ? ret : "";
}

/* Returns "SIGSEGV NAME", or "SIGSEGV" if @kind is "", and @name behind it if not "". */
static char *name_reason(const struct ptc_crash_report *r, const char *kind, const char *name)
{
	const uint64_t signo = r->dead.signal.signo;
	const char *abbrev = signo < 65 ? sigabbrev_np((int)signo) : NULL;
	char number[16], *ret = NULL;

	(void)snprintf(number, sizeof(number), "%u", (unsigned int)(signo & 0xffff));
	if (asprintf(&ret, "SIG%s%s%s%s%s", abbrev ? abbrev : number, *kind ? " " : "", kind,
		     *name ? " " : "", name) < 0)
		return NULL;
	return ret;
}

static char *of_abort(const struct ptc_crash_report *r)
{
	const struct ptc_runtime_text *text = NULL;
	char *type, *ret;
	size_t i;

	/* A message of a language is more exact than one of the C library. */
	for (i = 0; i < r->nmessages; i++)
		if (!text || text->kind == PTC_CRASH_ABORT_MSG)
			text = &r->texts[i];
	if (!text || text->kind == PTC_CRASH_ABORT_MSG)
		return name_reason(r, ptc_signature_abort(text ? text->text : NULL, r->given_up_by),
				   "");
	type = ptc_signature_function(text->type);
	if (!type)
		return NULL;
	ret = name_reason(r, ptc_runtime_message_name(text->kind), type);
	free(type);
	return ret;
}

char *ptc_signature_reason(const struct ptc_crash_report *r)
{
	const char *access = ptc_access_name(r->why.access);

	switch (r->why.reason) {
	case PTC_REASON_ABORT:
		return of_abort(r);
	case PTC_REASON_OTHER:
		return name_reason(r, "", "");
	case PTC_REASON_STACK_OVERFLOW: /* a push, or a check that reads */
		return name_reason(r, ptc_reason_name(r->why.reason), "");
	default:
		return name_reason(r, access ? access : ptc_reason_name(r->why.reason), "");
	}
}
