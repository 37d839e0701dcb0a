/* SPDX-License-Identifier: MIT */
#include "cli/doctor/debug_files.h"

#include <stdlib.h>

#include "base/err.h"
#include "decode/elf/debug_state.h"

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
static void mend_debug(const struct ptc_debug_state *d, struct ptc_check *c)
{
	const char *servers = getenv("DEBUGINFOD_URLS");
	char id[ID_TEXT];

	put_id(&d->id, id);
	if (!d->id.len)
		ptc_check_mend(c, "build it with -g -Wl,--build-id");
	else if (servers && *servers)
		ptc_check_mend(c, "debuginfod-find debuginfo %s", id);
	else
		ptc_check_mend(c,
			       "DEBUGINFOD_URLS=https://debuginfod.elfutils.org/ debuginfod-find "
			       "debuginfo %s",
			       id);
}

static void judge_debug(const struct ptc_debug_state *d, struct ptc_check *c)
{
	static const char *const has[] = {
		[PTC_DEBUG_UNREADABLE] = "cannot be read, or is no ELF file",
		[PTC_DEBUG_EXPORTS] = "only exported names, no source lines",
		[PTC_DEBUG_NAMES] = "names of functions, no source lines",
		[PTC_DEBUG_LINES] = "names of functions and source lines",
	};

	ptc_check_set(c, d->has == PTC_DEBUG_LINES ? PTC_CHECK_OK : PTC_CHECK_NOTE, "%s",
		      has[d->has]);
	if (d->path)
		ptc_check_add(c, " (%s)", d->path);
	if (d->has == PTC_DEBUG_UNREADABLE)
		c->state = PTC_CHECK_UNKNOWN;
	else if (d->has != PTC_DEBUG_LINES)
		mend_debug(d, c);
}

static void check_file(const struct ptc_search *s, const struct ptc_target *t,
		       const struct ptc_target_file *f, struct ptc_check *c)
{
	struct ptc_debug_state d;

	c->name = f->name;
	if (f->in_memory) {
		ptc_check_set(c, PTC_CHECK_NOTE,
			      "code in no file, but in memory: Intel PT does not save this code");
		return;
	}
	if (f->gone) {
		ptc_check_set(
			c, PTC_CHECK_BROKEN,
			"cannot be read, or the process runs a file of this name that is gone: "
			"Intel PT does not save its code");
		ptc_check_mend(c, "restart the process");
		return;
	}
	ptc_debug_state_find(s, f->name, (int32_t)t->pid, &d);
	judge_debug(&d, c);
	ptc_debug_state_release(&d);
}

int ptc_debug_files_check(const struct ptc_target *t, const char *symfs, struct ptc_check **ret,
			  struct ptc_err *err)
{
	struct ptc_check *all = calloc(t->nfiles + 1, sizeof(*all));
	struct ptc_search search;
	size_t i;
	int rc;

	if (!all)
		return ptc_fail_mem(err);
	rc = ptc_search_init(&search, symfs, NULL, NULL, err);
	for (i = 0; !rc && i < t->nfiles; i++)
		check_file(&search, t, &t->files[i], &all[i]);
	ptc_search_release(&search);
	if (rc)
		free(all);
	else
		*ret = all;
	return rc;
}
