/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "auxtrace/bundle/bundle_write.h"
#include "base/err.h"
#include "base/opts.h"
#include "decode/archive/bundle_files.h"
#include "decode/archive/reached_files.h"
#include "decode/archive/reached_parts.h"
#include "ptcap/bundle.h"
#include "ptcap/lookup.h"

struct ptc_archive {
	struct ptc_archive_opts opts;
	struct ptc_decode *d; /* lent */
	struct ptc_reached reached;
	struct ptc_bundle_writer writer;
	bool written;
};

static void say_nothing(void *ctx, const char *why)
{
	(void)ctx;
	(void)why;
}

int ptc_archive_new(struct ptc_decode *d, const struct ptc_archive_opts *given,
		    struct ptc_archive **ret, struct ptc_err *err)
{
	struct ptc_archive_opts opts;
	struct ptc_archive *a;
	const int rc = ptc_opts_take(&opts, sizeof(opts), given, "PTC_ARCHIVE_OPTS_INIT", err);

	if (rc)
		return rc;
	if (opts.level > PTC_BUNDLE_LEVEL_MAX)
		return ptc_fail(err, PTC_E_USAGE, "the highest level of a bundle is %d",
				PTC_BUNDLE_LEVEL_MAX);
	if (!ptc_decode_recording(d))
		return ptc_fail(err, PTC_E_UNSUPPORTED, "a bare trace has no files to archive");
	if (!opts.level)
		opts.level = PTC_BUNDLE_LEVEL;
	if (!opts.left_out)
		opts.left_out = say_nothing;
	a = calloc(1, sizeof(*a));
	if (!a)
		return ptc_fail_mem(err);
	a->opts = opts;
	a->d = d;
	a->reached.d = d;
	if (opts.reached && !ptc_reached_parts_begin(d)) {
		ptc_archive_free(a);
		return ptc_fail_mem(err);
	}
	*ret = a;
	return 0;
}

void ptc_archive_free(struct ptc_archive *a)
{
	if (!a)
		return;
	ptc_bundle_writer_release(&a->writer);
	ptc_reached_release(&a->reached);
	free(a);
}

int ptc_archive_items(void *archive, const struct ptc_item *items, size_t n)
{
	struct ptc_archive *a = archive;

	return ptc_reached_items(&a->reached, items, n);
}

int ptc_archive_write(struct ptc_archive *a, const char *path, struct ptc_err *err)
{
	const struct ptc_bundle_files files = { .d = a->d,
						.reached = &a->reached,
						.writer = &a->writer,
						.all = a->opts.all,
						.debug = !a->opts.no_debug,
						.parts = a->opts.reached,
						.left_out = a->opts.left_out,
						.ctx = a->opts.ctx };
	int rc;

	if (a->written)
		return ptc_fail(err, PTC_E_USAGE, "the bundle was written before");
	a->written = true;
	rc = ptc_bundle_files_add(&files, err);
	return rc ? rc : ptc_bundle_write(&a->writer, path, a->opts.level, err);
}

size_t ptc_archive_nfiles(const struct ptc_archive *a)
{
	return a->writer.manifest.n ? a->writer.manifest.n - 1 : 0;
}

uint64_t ptc_archive_size(const struct ptc_archive *a)
{
	return a->writer.written;
}
