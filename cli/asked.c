/* SPDX-License-Identifier: MIT */
#include "asked.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

int ptc_asked_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct ptc_asked *a = ctx;

	a->items += n;
	return a->inner.on_items(a->inner.ctx, items, n);
}

int ptc_asked_say_none(const struct ptc_asked_part *p, const char *name)
{
	ptc_say("nothing in '%s' is what was asked for with%s%s%s%s: see `ptcap info` for times "
		"and "
		"CPUs, `ptcap dump --type comm,fork` for threads",
		name, p->tid ? " --tid" : "", p->cpu ? " --cpu" : "", p->time ? " --time" : "",
		p->sym ? " --sym" : "");
	return PTC_EXIT_NOTHING;
}

static bool is_there(const char *option, const char *path)
{
	if (!path || !access(path, R_OK))
		return true;
	ptc_say("cannot read '%s' (%s): %s", path, option, strerror(errno));
	return false;
}

bool ptc_asked_code_is_there(const struct ptc_code_opts *code)
{
	return is_there("--symfs", code->symfs) && is_there("--core", code->core) &&
	       is_there("--kcore", code->kcore) && is_there("--vmlinux", code->vmlinux);
}
