/* SPDX-License-Identifier: MIT */
#include "cli/decode/empty_warnings.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/similar.h"
#include "cli/common/cli.h"
#include "ptcap/lookup.h"

int ptc_asked_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct ptc_asked *a = ctx;

	a->items += n;
	return a->inner.on_items(a->inner.ctx, items, n);
}

/* Stops at the wanted function itself: it exists, but no branch is in it. */
static int add_similar_function(void *ctx, const char *name)
{
	struct ptc_similar *s = ctx;

	if (ptc_is_function_name(s->wanted, name))
		return 1;
	ptc_similar_add_part(s, name, strcspn(name, "("));
	return 0;
}

int ptc_asked_say_none(const struct ptc_asked_part *p, const struct ptc_decode *d, const char *name)
{
	struct ptc_similar similar;

	if (p->sym && !p->tid && !p->cpu && !p->time) {
		ptc_similar_begin(&similar, p->sym);
		if (ptc_decode_each_function(d, add_similar_function, &similar))
			ptc_similar_begin(&similar, p->sym);
		ptc_say("no branch from or to a function '%s' in '%s'%s", p->sym, name,
			ptc_similar_text(&similar));
		return PTC_EXIT_NOTHING;
	}
	ptc_say("nothing in '%s' matches%s%s%s%s; `ptcap info` lists times and CPUs, "
		"`ptcap dump --type comm,fork` lists threads",
		name, p->tid ? " --tid" : "", p->cpu ? " --cpu" : "", p->time ? " --time" : "",
		p->sym ? " --sym" : "");
	return PTC_EXIT_NOTHING;
}

static bool is_there(const char *option, const char *path)
{
	if (!path || !access(path, R_OK))
		return true;
	ptc_say("cannot open '%s' (%s): %s", path, option, strerror(errno));
	return false;
}

bool ptc_asked_code_is_there(const struct ptc_code_opts *code)
{
	return is_there("--symfs", code->symfs) && is_there("--core", code->core) &&
	       is_there("--kcore", code->kcore) && is_there("--vmlinux", code->vmlinux);
}
