/* SPDX-License-Identifier: MIT */
/* Description: what cannot become a bundle is refused before the decode. */
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "ptcap/bundle.h"
#include "recording.h"

/* Returns a decoder of a bare trace. */
static struct ptc_decode *open_bare(void)
{
	static const uint8_t psb[16] = { 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
					 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82 };
	const struct rec_file f = rec_make_file(psb, sizeof(psb));
	struct ptc_decode *d;
	struct ptc_err err;

	cr_assert_eq(ptc_decode_open_raw(f.path, NULL, 0, NULL, &d, &err), 0, "%s", err.msg);
	(void)close(f.fd);
	return d;
}

static void refused(struct ptc_decode *d, const struct ptc_archive_opts *opts, int code,
		    const char *why)
{
	struct ptc_archive *a = NULL;
	struct ptc_err err = { .code = 0 };

	cr_assert_eq(ptc_archive_new(d, opts, &a, &err), code);
	cr_assert(strstr(err.msg, why), "%s", err.msg);
	cr_assert_null(a);
}

Test(archive, a_bare_trace_or_wrong_options_are_refused)
{
	struct ptc_archive_opts opts = PTC_ARCHIVE_OPTS_INIT;
	struct ptc_decode *d = open_bare();

	refused(d, &opts, PTC_E_UNSUPPORTED, "bare trace");
	opts.level = PTC_BUNDLE_LEVEL_MAX + 1;
	refused(d, &opts, PTC_E_USAGE, "level");
	opts.size = 0;
	refused(d, &opts, PTC_E_USAGE, "PTC_ARCHIVE_OPTS_INIT");
	ptc_decode_free(d);
	ptc_archive_free(NULL);
}
