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
				"the size of the options is not set: begin with %s", init);
	for (i = known; i < size; i++)
		if (bytes[i])
			return ptc_fail(err, PTC_E_UNSUPPORTED,
					"the caller set an option newer than this library");
	memset(ret, 0, known);
	memcpy(ret, opts, size < known ? size : known);
	memcpy(ret, &known, sizeof(known));
	return 0;
}
