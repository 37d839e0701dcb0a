/* SPDX-License-Identifier: MIT */
/* Opens a recording of any form: reads its header, and the parts that the form adds. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auxtrace/bundle/bundle.h"
#include "auxtrace/reader/dir_reader.h"
#include "auxtrace/reader/file_private.h"
#include "auxtrace/reader/inflate.h"
#include "auxtrace/reader/pipe.h"
#include "auxtrace/reader/salvage.h"
#include "base/err.h"

static struct ptc_file *new_file(const char *name, bool tolerant)
{
	struct ptc_file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->tolerant = tolerant;
	f->spool = (struct ptc_spool)PTC_SPOOL_INIT;
	f->name = strdup(name);
	f->parts = calloc(1, sizeof(*f->parts));
	if (f->name && f->parts) {
		f->parts[0].in = (struct ptc_input)PTC_INPUT_INIT;
		f->nparts = 1;
		return f;
	}
	ptc_file_free(f);
	return NULL;
}

static int read_forms(struct ptc_file *f, int folder, struct ptc_err *err)
{
	int rc = ptc_header_read(f, err);

	if (!rc && f->form == PTC_FORM_PIPE)
		rc = ptc_pipe_read(f, err);
	else if (!rc)
		ptc_pipe_updates(f, 0, true);
	if (rc)
		return ptc_file_err_name(f, err);
	if (f->form == PTC_FORM_FOLDER) {
		rc = ptc_folder_parts(f, folder, err);
		if (rc)
			return rc;
	}
	if (f->features[PTC_FEAT_COMPRESSED].has)
		f->compressed = true;
	if (f->tolerant && f->form != PTC_FORM_PIPE)
		rc = ptc_salvage(f, err);
	/* All records have been read already, so reading them again costs little. */
	if (!rc && f->tolerant && f->form != PTC_FORM_PIPE)
		ptc_pipe_updates(f, 0, false);
	if (!rc && f->compressed)
		rc = ptc_inflate(f, err);
	return rc ? ptc_file_err_name(f, err) : 0;
}

/* If the bytes of the only part are a bundle, replace them by the bytes of its recording. */
static int open_bundle(struct ptc_file *f, struct ptc_err *err)
{
	struct ptc_input *in = &f->parts[0].in;
	struct ptc_cur recording;
	int rc;

	if (in->len < PTC_BUNDLE_MAGIC || !ptc_bundle_is(in->bytes, in->len))
		return 0;
	rc = ptc_bundle_open(in->bytes, in->len, f->name, &f->bundle, err);
	if (rc)
		return rc;
	ptc_input_release(in);
	recording = ptc_bundle_bytes(f->bundle, 0);
	in->bytes = recording.pos;
	in->len = ptc_cur_left(&recording);
	if (ptc_bundle_manifest(f->bundle)->members[0].kind == PTC_MEMBER_FOLDER)
		f->form = PTC_FORM_FOLDER;
	return 0;
}

/* Read the recording. All bytes of its first file are already in memory. */
static int read_file(struct ptc_file *f, int folder, struct ptc_err *err)
{
	struct ptc_err e; /* also receives damage, which is not a failure */
	const int rc = read_forms(f, folder, &e);

	if (rc)
		*err = e;
	return rc;
}

static int open_bytes(const void *bytes, size_t len, const char *name, bool tolerant,
		      struct ptc_file **ret, struct ptc_err *err)
{
	struct ptc_file *f = new_file(name, tolerant);
	int rc;

	if (!f)
		return ptc_fail_mem(err);
	f->parts[0].in.bytes = bytes;
	f->parts[0].in.len = len;
	f->parts[0].name = strdup(name);
	rc = f->parts[0].name ? open_bundle(f, err) : ptc_fail_mem(err);
	if (!rc)
		rc = read_file(f, -1, err);
	if (rc)
		ptc_file_free(f);
	else
		*ret = f;
	return rc;
}

int ptc_file_open_bytes(const void *bytes, size_t len, const char *name, struct ptc_file **ret,
			struct ptc_err *err)
{
	return open_bytes(bytes, len, name, false, ret, err);
}

int ptc_file_open_damaged_bytes(const void *bytes, size_t len, const char *name,
				struct ptc_file **ret, struct ptc_err *err)
{
	return open_bytes(bytes, len, name, true, ret, err);
}

static int open_path(const char *path, bool tolerant, struct ptc_file **ret, struct ptc_err *err)
{
	struct ptc_file *f = new_file(path, tolerant);
	int folder = -1;
	int rc;

	if (!f)
		return ptc_fail_mem(err);
	rc = ptc_input_open(path, &f->parts[0].in, &folder, err);
	if (!rc && folder >= 0) {
		rc = ptc_folder_head(f, folder, err);
	} else if (!rc) {
		f->parts[0].name = strdup(path);
		rc = f->parts[0].name ? open_bundle(f, err) : ptc_fail_mem(err);
	}
	if (!rc)
		rc = read_file(f, folder, err);
	if (folder >= 0)
		(void)close(folder);
	if (rc)
		ptc_file_free(f);
	else
		*ret = f;
	return rc;
}

int ptc_file_open(const char *path, struct ptc_file **ret, struct ptc_err *err)
{
	return open_path(path, false, ret, err);
}

int ptc_file_open_damaged(const char *path, struct ptc_file **ret, struct ptc_err *err)
{
	return open_path(path, true, ret, err);
}

void ptc_file_free(struct ptc_file *f)
{
	size_t i;

	if (!f)
		return;
	for (i = 0; i < f->nparts; i++) {
		ptc_input_release(&f->parts[i].in);
		free(f->parts[i].name);
	}
	free(f->parts);
	ptc_bundle_free(f->bundle);
	ptc_spool_release(&f->spool);
	free(f->pieces);
	ptc_buf_release(&f->build_ids);
	free(f->by_id);
	free(f->ids);
	free(f->attrs);
	free(f->name);
	free(f);
}
