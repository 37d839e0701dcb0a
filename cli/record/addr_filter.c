/* SPDX-License-Identifier: MIT */
#include "cli/record/addr_filter.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/vec.h"
#include "ptcap/locate.h"

#define BLANK " \t\n"

enum { NAME = 1024 };

/* START or SIZE of a filter: a number, or a function name. */
struct place {
	char name[NAME]; /* "": use value */
	uint64_t value;
	int which;
};

struct parsed {
	enum ptc_filter_action action;
	bool range; /* the action is filter or tracestop, which take a SIZE */
	bool all;   /* START is "*" */
	bool sized;
	struct place start, end;
	char file[PATH_MAX]; /* "": none */
};

struct parser {
	const char *text, *at;
	const char *kallsyms;
	struct ptc_err *err;
};

static int bad(const struct parser *p, const char *what)
{
	return ptc_fail(p->err, PTC_E_USAGE,
			"invalid address filter '%s': %s at '%s'; expected filter, start, stop or "
			"tracestop, START, [/ SIZE], [@ FILE]",
			p->text, what, p->at);
}

/* --- parsing --- */

static void skip(struct parser *p, const char *what)
{
	p->at += strspn(p->at, what);
}

/* Copy the word up to one of @ends to @out. Returns false if it is empty or too long. */
static bool take_word(struct parser *p, const char *ends, char *out, size_t size)
{
	const size_t n = strcspn(p->at, ends);

	if (!n || n >= size)
		return false;
	memcpy(out, p->at, n);
	out[n] = '\0';
	p->at += n;
	return true;
}

static bool take_number(struct parser *p, uint64_t *ret)
{
	char *end;

	if (*p->at < '0' || *p->at > '9')
		return false;
	errno = 0;
	*ret = strtoull(p->at, &end, 0);
	if (errno || (*end && !strchr(BLANK ",/@", *end)))
		return false;
	p->at = end;
	return true;
}

static int take_action(struct parser *p, struct parsed *ret)
{
	static const struct {
		const char *name;
		enum ptc_filter_action action;
		bool range;
	} actions[] = {
		{ "filter", PTC_FILTER_WITHIN, true },
		{ "start", PTC_FILTER_START, false },
		{ "stop", PTC_FILTER_STOP, false },
		{ "tracestop", PTC_FILTER_STOP, true },
	};
	const char *begin = p->at;
	char word[16];
	size_t i;

	if (take_word(p, BLANK, word, sizeof(word))) {
		for (i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
			if (strcmp(word, actions[i].name) != 0)
				continue;
			ret->action = actions[i].action;
			ret->range = actions[i].range;
			return 0;
		}
	}
	p->at = begin;
	return bad(p, "no action");
}

/* Parse "#3" or "#g" after a name. */
static int take_which(struct parser *p, int *ret)
{
	uint64_t n;

	*ret = PTC_WHICH_ONLY;
	skip(p, BLANK);
	if (*p->at != '#')
		return 0;
	p->at++;
	if (*p->at == 'g' || *p->at == 'G') {
		p->at++;
		*ret = PTC_WHICH_GLOBAL;
		return 0;
	}
	if (!take_number(p, &n) || n > INT_MAX)
		return bad(p, "no number follows #");
	*ret = (int)n;
	return 0;
}

static int take_place(struct parser *p, struct place *ret)
{
	skip(p, BLANK);
	ret->name[0] = '\0';
	if (take_number(p, &ret->value))
		return 0;
	if (*p->at >= '0' && *p->at <= '9')
		return bad(p, "no number");
	if (!take_word(p, BLANK ",/@#", ret->name, sizeof(ret->name)))
		return bad(p, "no address and no function");
	return take_which(p, &ret->which);
}

static int take_one(struct parser *p, struct parsed *ret)
{
	int rc = take_action(p, ret);

	if (!rc)
		rc = take_place(p, &ret->start);
	if (rc)
		return rc;
	ret->all = !strcmp(ret->start.name, "*");
	ret->sized = false;
	ret->file[0] = '\0';
	skip(p, BLANK);
	if (*p->at == '/') {
		p->at++;
		ret->sized = ret->range = true;
		rc = take_place(p, &ret->end);
		skip(p, BLANK);
	}
	if (!rc && *p->at == '@') {
		p->at++;
		skip(p, BLANK);
		if (!take_word(p, BLANK ",", ret->file, sizeof(ret->file)))
			rc = bad(p, "no file");
	}
	return rc;
}

/* --- resolving --- */

static int find_place(const struct parser *p, const struct place *place, const char *file,
		      struct ptc_extent *ret)
{
	if (!place->name[0]) {
		*ret = (struct ptc_extent){ place->value, 0 };
		return 0;
	}
	return file ? ptc_locate_function(file, place->name, place->which, ret, p->err) :
		      ptc_locate_kernel(p->kallsyms, place->name, place->which, ret, p->err);
}

/* Resolve SIZE. On entry *@ret has START. */
static int find_end(const struct parser *p, const struct parsed *f, const char *file,
		    struct ptc_extent *ret)
{
	struct ptc_extent last;
	int rc = find_place(p, &f->end, file, &last);

	if (rc)
		return rc;
	if (!f->end.name[0]) {
		ret->size = last.start;
		return 0;
	}
	if (last.start < ret->start)
		return ptc_fail(p->err, PTC_E_USAGE,
				"invalid address filter '%s': the end '%s' (0x%" PRIx64
				") is before "
				"the start (0x%" PRIx64 ")",
				p->text, f->end.name, last.start, ret->start);
	ret->size = last.size ? last.start + last.size - ret->start : 0;
	return 0;
}

static int find_filter_extent(const struct parser *p, const struct parsed *f, const char *file,
			      struct ptc_extent *ret)
{
	int rc;

	if (f->all && !f->range)
		return ptc_fail(p->err, PTC_E_USAGE,
				"invalid address filter '%s': only filter and tracestop take *",
				p->text);
	if (f->all)
		return file ? ptc_locate_whole(file, ret, p->err) :
			      ptc_locate_kernel(p->kallsyms, NULL, 0, ret, p->err);
	rc = find_place(p, &f->start, file, ret);
	if (!rc && f->sized)
		rc = find_end(p, f, file, ret);
	if (rc)
		return rc;
	if (!f->range)
		ret->size = 0;
	else if (!ret->size)
		return ptc_fail(p->err, PTC_E_USAGE,
				"invalid address filter '%s': the size is not known; add / SIZE",
				p->text);
	return 0;
}

static int add_addr_filter(struct ptc_filter_list *l, const struct parser *p,
			   const struct parsed *f)
{
	struct ptc_extent e = { 0, 0 };
	char *file = NULL;
	int rc;

	if (f->file[0]) {
		file = realpath(f->file, NULL);
		if (!file)
			return ptc_fail_sys(p->err, errno, "cannot open '%s'", f->file);
	}
	rc = find_filter_extent(p, f, file, &e);
	if (!rc && !ptc_vec_reserve((void **)&l->items, &l->cap, l->n + 1, sizeof(*l->items)))
		rc = ptc_fail_mem(p->err);
	if (rc) {
		free(file);
		return rc;
	}
	l->items[l->n++] = (struct ptc_addr_filter){
		.action = f->action,
		.file = file,
		.addr = e.start,
		.size = e.size,
	};
	return 0;
}

int ptc_addr_filters_parse(struct ptc_filter_list *l, const char *text, const char *kallsyms,
			   struct ptc_err *err)
{
	struct parser p = { text, text, kallsyms, err };
	int rc = 0;

	skip(&p, BLANK ",");
	if (!*p.at)
		return bad(&p, "no filter");
	while (!rc && *p.at) {
		struct parsed f;

		rc = take_one(&p, &f);
		if (!rc)
			rc = add_addr_filter(l, &p, &f);
		skip(&p, BLANK ",");
	}
	return rc;
}

void ptc_addr_filters_release(struct ptc_filter_list *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		free((char *)l->items[i].file);
	free(l->items);
	*l = (struct ptc_filter_list){ NULL, 0, 0 };
}
