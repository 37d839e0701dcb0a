/* SPDX-License-Identifier: MIT */
#include "cli/sum/sum.h"

#include <stdlib.h>

#include "base/budget.h"
#include "base/err.h"
#include "cli/sum/sum_lines.h"

/* Decides the format of the first line of a file. */
static int begin_file(struct ptc_sum *s, const struct ptc_sum_line *l, struct ptc_err *err)
{
	const struct ptc_sum_format *format = ptc_sum_recognise(l->text);

	if (!format)
		return ptc_sum_fail(err, l,
				    "not an output that can be added; `ptcap help sum` lists the "
				    "formats");
	if (!s->format) {
		s->state = calloc(1, format->size);
		if (!s->state)
			return ptc_fail_mem(err);
		s->format = format;
		s->format_of = l->file;
	}
	if (s->format == format)
		return 0;
	return ptc_sum_fail(err, l, "%s, but '%s' is %s; add files of one format", format->name,
			    s->format_of, s->format->name);
}

/* Parses the line, if the format is JSON. Caller releases l->json. */
static int parse_line(const struct ptc_sum *s, struct ptc_sum_line *l, struct ptc_err *err)
{
	json_error_t why;

	l->json = NULL;
	if (!s->format->is_json)
		return 0;
	l->json = json_loadb(l->text, l->len, JSON_REJECT_DUPLICATES, &why);
	if (json_is_object(l->json))
		return 0;
	if (!l->json && json_error_code(&why) == json_error_out_of_memory)
		return ptc_fail_mem(err);
	return ptc_sum_fail(err, l, "not a JSON object%s%s; write the file again",
			    l->json ? "" : ": ", l->json ? "" : why.text);
}

static int add_line(struct ptc_sum *s, struct ptc_sum_line *l, struct ptc_err *err)
{
	int rc = 0;

	if (l->number == 1)
		rc = begin_file(s, l, err);
	/* Adders keep at most a few times the bytes of a line. */
	if (!rc && !ptc_budget_allows(l->len + 256))
		rc = ptc_fail_mem(err);
	if (!rc)
		rc = parse_line(s, l, err);
	if (!rc)
		rc = s->format->add_line(s->state, l, err);
	json_decref(l->json);
	l->json = NULL;
	return rc;
}

int ptc_sum_add_file(struct ptc_sum *s, int fd, const char *name, struct ptc_err *err)
{
	struct ptc_sum_lines lines = { .fd = fd };
	struct ptc_sum_line l = { .file = name };
	int rc, next;

	do {
		next = ptc_sum_lines_next(&lines, &l, err);
		rc = next > 0 ? add_line(s, &l, err) : next;
	} while (!rc && next);
	/* An empty file has no format of its own: the other files decide whether it is whole. */
	if (!rc && s->format && (l.number || !s->format->may_be_empty))
		rc = s->format->end_file(s->state, &l, err);
	ptc_sum_lines_release(&lines);
	return rc;
}

int ptc_sum_finish(struct ptc_sum *s, struct ptc_err *err)
{
	return s->format->finish ? s->format->finish(s->state, err) : 0;
}

void ptc_sum_release(struct ptc_sum *s)
{
	if (s->state)
		s->format->release(s->state);
	free(s->state);
	*s = (struct ptc_sum){ .format = NULL };
}
