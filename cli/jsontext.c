/* SPDX-License-Identifier: MIT */
#include "jsontext.h"

#include <stdlib.h>
#include <string.h>

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
