/* SPDX-License-Identifier: MIT */
#include "jsontext.h"

#include <stdlib.h>
#include <string.h>

#include "out.h"

json_t *ptc_json_text(const char *s)
{
	json_t *j = json_string(s);
	char *copy, *p;

	if (j)
		return j;
	copy = strdup(s);
	if (!copy)
		return NULL;
	for (p = copy; *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	j = json_string(copy);
	free(copy);
	return j;
}

bool ptc_line_json(struct ptc_line *l, json_t *o)
{
	char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;

	json_decref(o);
	if (!text)
		return false;
	ptc_line_str(l, text);
	ptc_line_char(l, '\n');
	free(text);
	return true;
}
