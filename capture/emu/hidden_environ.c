/* SPDX-License-Identifier: MIT */
#include "capture/emu/hidden_environ.h"

#include <stdlib.h>
#include <string.h>

enum { TOP_BIT = 0x80 };

/*
 * Inverts the top bit. A byte that ends a name ('=' or NUL), or would become one, stays unchanged.
 */
void ptc_emu_environ_flip(char *string)
{
	const unsigned char low = (unsigned char)*string & (TOP_BIT - 1);

	if (low && low != '=')
		*string = (char)(*string ^ TOP_BIT);
}

char **ptc_emu_environ_hide(char *const *env, bool turn)
{
	size_t n = 0, len = 0, i, size;
	char **ret, *text;

	for (; env[n]; n++)
		len += strlen(env[n]) + 1;
	ret = malloc((n + 1) * sizeof(*ret) + len);
	if (!ret)
		return NULL;
	text = (char *)(ret + n + 1);
	for (i = 0; i < n; i++) {
		const char *string = env[turn ? n - 1 - i : i];

		size = strlen(string) + 1;
		memcpy(text, string, size);
		ptc_emu_environ_flip(text);
		ret[i] = text;
		text += size;
	}
	ret[n] = NULL;
	return ret;
}
