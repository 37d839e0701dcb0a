/* SPDX-License-Identifier: MIT */
#include "cli/common/jsontext.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/terminal_escape.h"
#include "cli/decode/line_buffer.h"

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

char *ptc_json_dumps(const json_t *j, size_t flags)
{
	char *text = j ? json_dumps(j, flags) : NULL, *plain = text ? ptc_plain_json(text) : NULL;

	free(text);
	return plain;
}

bool ptc_line_json(struct ptc_line *l, json_t *o)
{
	char *text = ptc_json_dumps(o, JSON_COMPACT);

	json_decref(o);
	if (!text)
		return false;
	ptc_line_str(l, text);
	ptc_line_char(l, '\n');
	free(text);
	return true;
}

json_t *ptc_json_uint(uint64_t v)
{
	return json_integer((json_int_t)v);
}

json_t *ptc_json_hex(uint64_t v)
{
	char text[19];

	(void)snprintf(text, sizeof(text), "0x%" PRIx64, v);
	return json_string(text);
}
