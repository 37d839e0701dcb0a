/* SPDX-License-Identifier: MIT */
/*
 * Lists the files of a bundle, or writes a recording with its files as a bundle. Valid C and C++.
 *
 *	cc bundle.c -lptcap -o bundle (README.md: without an installed ptcap)
 *	./bundle perf.data NEW
 *	./bundle NEW
 */
#include <inttypes.h>
#include <stdio.h>

#include "ptcap/bundle.h"
#include "ptcap/decode.h"
#include "ptcap/file.h"

static void on_left_out(void *ctx, const char *why)
{
	(void)ctx;
	fprintf(stderr, "bundle: %s\n", why);
}

/* The decode finds the files that the trace reached. */
static int write_decoded(struct ptc_decode *d, const char *path, struct ptc_err *err)
{
	struct ptc_archive_opts opts = PTC_ARCHIVE_OPTS_INIT;
	struct ptc_archive *a;
	struct ptc_sink sink;
	int rc;

	opts.left_out = on_left_out;
	rc = ptc_archive_new(d, &opts, &a, err);
	if (rc)
		return rc;
	sink.on_items = ptc_archive_items;
	sink.ctx = a;
	rc = ptc_decode_run(d, &sink, err);
	if (!rc)
		rc = ptc_archive_write(a, path, err);
	if (!rc)
		printf("files: %zu\nbytes: %" PRIu64 "\n", ptc_archive_nfiles(a),
		       ptc_archive_size(a));
	ptc_archive_free(a);
	return rc;
}

static int write_bundle(const char *recording, const char *path, struct ptc_err *err)
{
	struct ptc_decode_opts opts = PTC_DECODE_OPTS_INIT;
	struct ptc_decode *d;
	int rc = ptc_decode_open(recording, &opts, &d, err);

	if (rc)
		return rc;
	rc = write_decoded(d, path, err);
	ptc_decode_free(d);
	return rc;
}

static int list_bundle(const char *path, struct ptc_err *err)
{
	const struct ptc_bundle *b;
	struct ptc_file *f;
	size_t i;

	if (ptc_file_open(path, &f, err))
		return err->code;
	b = ptc_file_bundle(f);
	if (!b)
		printf("%s is no bundle\n", path);
	for (i = 0; b && i < ptc_bundle_nmembers(b); i++) {
		/* Lent until ptc_file_free. */
		const struct ptc_bundle_member *m = ptc_bundle_member(b, i);

		printf("%" PRIu64 " %s %s\n", m->size, m->name, m->path ? m->path : "-");
	}
	ptc_file_free(f);
	return 0;
}

int main(int argc, char **argv)
{
	struct ptc_err err;

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: bundle FILE [NEW]\n");
		return 2;
	}
	if (argc > 2 ? write_bundle(argv[1], argv[2], &err) : list_bundle(argv[1], &err)) {
		fprintf(stderr, "bundle: %s\n", err.msg);
		return 1;
	}
	return 0;
}
