/* SPDX-License-Identifier: MIT */
#include "base/opts.h"

#include <stdint.h>
#include <string.h>

#include "base/err.h"

enum { SIZE_LIMIT = 1 << 16 }; /* larger than any options struct: the size is not set */

int ptc_opts_take(void *ret, size_t known, const void *opts, const char *init, struct ptc_err *err)
{
	const uint8_t *bytes = opts;
	size_t size = 0, i;

	if (opts)
		memcpy(&size, opts, sizeof(size));
	if (size < sizeof(size) || size > SIZE_LIMIT)
		return ptc_fail(err, PTC_E_USAGE,
				"the size of the options is not set; initialize them with %s",
				init);
	for (i = known; i < size; i++)
		if (bytes[i])
			return ptc_fail(err, PTC_E_UNSUPPORTED,
					"the caller sets an option that this version of the "
					"library does not support");
	memset(ret, 0, known);
	memcpy(ret, opts, size < known ? size : known);
	memcpy(ret, &known, sizeof(known));
	return 0;
}

void ptc_opts_give(void *ret, const void *from, size_t known)
{
	size_t size;

	memcpy(&size, ret, sizeof(size));
	if (size < sizeof(size) || size > SIZE_LIMIT)
		return;
	memcpy(ret, from, size < known ? size : known);
	memcpy(ret, &size, sizeof(size));
}
