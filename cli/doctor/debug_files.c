/* SPDX-License-Identifier: MIT */
#include "cli/doctor/debug_files.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "ptcap/debug_state.h"

enum { ID_TEXT = 2 * 64 + 1 };

static void put_id(const struct ptc_build_id *id, char text[ID_TEXT])
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < id->len && 2 * i + 2 < ID_TEXT; i++) {
		text[2 * i] = digits[id->bytes[i] >> 4];
		text[2 * i + 1] = digits[id->bytes[i] & 15];
	}
	text[2 * i] = '\0';
}

/* The remedy for missing debug information. */
static void mend_debug(const struct ptc_debug_state *d, struct ptc_file_check *c)
{
	const char *servers = getenv("DEBUGINFOD_URLS");
	char id[ID_TEXT];

	put_id(&d->id, id);
	if (!d->id.len)
		(void)snprintf(c->mend, sizeof(c->mend), "build it with -g -Wl,--build-id");
	else
		(void)snprintf(c->mend, sizeof(c->mend), "%sdebuginfod-find debuginfo %s",
			       servers && *servers ?
				       "" :
				       "DEBUGINFOD_URLS=https://debuginfod.elfutils.org/ ",
			       id);
}

static void judge_debug(const struct ptc_debug_state *d, struct ptc_file_check *c)
{
	static const char *const has[] = {
		[PTC_DEBUG_UNREADABLE] = "cannot be read, or is no ELF file",
		[PTC_DEBUG_EXPORTS] = "only exported names, no source lines",
		[PTC_DEBUG_NAMES] = "names of functions, no source lines",
		[PTC_DEBUG_LINES] = "names of functions and source lines",
	};

	c->check.state = d->has == PTC_DEBUG_LINES	? PTC_CHECK_OK :
			 d->has == PTC_DEBUG_UNREADABLE ? PTC_CHECK_UNKNOWN :
							  PTC_CHECK_NOTE;
	(void)snprintf(c->value, sizeof(c->value), "%s%s%s%s", has[d->has], d->path ? " (" : "",
		       d->path ? d->path : "", d->path ? ")" : "");
	if (c->check.state == PTC_CHECK_NOTE)
		mend_debug(d, c);
}

static void check_file(struct ptc_debug_search *s, const struct ptc_doctor *d,
		       const struct ptc_doctor_file *f, struct ptc_file_check *c)
{
	c->check = (struct ptc_doctor_check){ .name = f->name, .value = c->value, .mend = c->mend };
	if (f->in_memory) {
		c->check.state = PTC_CHECK_NOTE;
		c->check.value = "code in no file, but in memory: Intel PT does not save this code";
	} else if (f->gone) {
		c->check.state = PTC_CHECK_BROKEN;
		c->check.value =
			"cannot be read, or the process runs a file of this name that is gone: "
			"Intel PT does not save its code";
		c->check.mend = "restart the process";
	} else {
		judge_debug(ptc_debug_search_file(s, f->name, ptc_doctor_process(d)->pid), c);
	}
}

int ptc_debug_files_check(const struct ptc_doctor *d, const char *symfs,
			  struct ptc_file_check **ret, struct ptc_err *err)
{
	const size_t n = ptc_doctor_nfiles(d);
	struct ptc_file_check *all = calloc(n + 1, sizeof(*all));
	struct ptc_debug_search *search = NULL;
	size_t i;
	int rc;

	if (!all)
		return ptc_fail_mem(err);
	rc = ptc_debug_search_new(symfs, &search, err);
	for (i = 0; !rc && i < n; i++)
		check_file(search, d, ptc_doctor_file(d, i), &all[i]);
	ptc_debug_search_free(search);
	if (rc)
		free(all);
	else
		*ret = all;
	return rc;
}
