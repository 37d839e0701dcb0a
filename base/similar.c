/* SPDX-License-Identifier: MIT */
#include "base/similar.h"

#include <stdio.h>
#include <string.h>

enum { EDITS_MAX = 3 }; /* more edits make another name */

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

unsigned int ptc_edit_distance(const char *a, size_t na, const char *b, size_t nb,
			       unsigned int limit)
{
	/* Rows i - 2, i - 1 and i of the matrix: edits of the first i bytes of @a. */
	unsigned int rows[3][PTC_SIMILAR_LEN + 1];
	size_t i, j;

	if (na > PTC_SIMILAR_LEN || nb > PTC_SIMILAR_LEN || (na > nb ? na - nb : nb - na) > limit)
		return limit + 1;
	for (j = 0; j <= nb; j++)
		rows[0][j] = (unsigned int)j;
	for (i = 1; i <= na; i++) {
		unsigned int *row = rows[i % 3];
		const unsigned int *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
		unsigned int best = row[0] = (unsigned int)i;

		for (j = 1; j <= nb; j++) {
			row[j] = last[j - 1] + (a[i - 1] != b[j - 1]);
			row[j] = least(row[j], least(last[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], before[j - 2] + 1);
			best = least(best, row[j]);
		}
		/* A swap reaches two rows back, at the cost of one edit. */
		if (best > limit + 1)
			return limit + 1;
	}
	return least(rows[na % 3][nb], limit + 1);
}

void ptc_similar_begin(struct ptc_similar *s, const char *wanted)
{
	s->wanted = wanted;
	s->n = 0;
	s->text[0] = '\0';
}

/* A third of a name may be wrong, at least one byte. */
static unsigned int limit_for(size_t len)
{
	return len < 2 ? 0 : len < 6 ? 1 : least((unsigned int)(len / 3), EDITS_MAX);
}

void ptc_similar_add_part(struct ptc_similar *s, const char *name, size_t len)
{
	const size_t wanted = strlen(s->wanted);
	const unsigned int limit = limit_for(wanted);
	unsigned int d;
	size_t i;

	if (!len || len > PTC_SIMILAR_LEN)
		return;
	d = ptc_edit_distance(s->wanted, wanted, name, len, limit);
	if (d > limit || d >= len)
		return;
	for (i = 0; i < s->n; i++)
		if (strlen(s->names[i].name) == len && !memcmp(s->names[i].name, name, len))
			return;
	for (i = s->n; i && s->names[i - 1].distance > d; i--)
		if (i < PTC_SIMILAR_NAMES)
			s->names[i] = s->names[i - 1];
	if (i == PTC_SIMILAR_NAMES)
		return;
	memcpy(s->names[i].name, name, len);
	s->names[i].name[len] = '\0';
	s->names[i].distance = d;
	s->n += s->n < PTC_SIMILAR_NAMES;
}

void ptc_similar_add(struct ptc_similar *s, const char *name)
{
	ptc_similar_add_part(s, name, strlen(name));
}

const char *ptc_similar_text(struct ptc_similar *s)
{
	size_t i, at = 0;

	for (i = 0; i < s->n; i++)
		at += (size_t)snprintf(s->text + at, sizeof(s->text) - at, "%s'%s'",
				       !i	     ? " (did you mean " :
				       i + 1 == s->n ? " or " :
						       ", ",
				       s->names[i].name);
	if (at)
		(void)snprintf(s->text + at, sizeof(s->text) - at, "?)");
	return s->text;
}
