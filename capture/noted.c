/* SPDX-License-Identifier: MIT */
#include "capture/noted.h"

#include <stdlib.h>
#include <string.h>

#include "auxtrace/sideband.h"
#include "base/err.h"
#include "base/vec.h"
#include "capture/ownvdso.h"
#include "capture/ring.h"

void ptc_noted_init(struct ptc_noted *n, uint64_t sample_type)
{
	*n = (struct ptc_noted){ .sample_type = sample_type };
}

void ptc_noted_release(struct ptc_noted *n)
{
	size_t i;

	for (i = 0; i < n->nfiles; i++)
		free(n->files[i]);
	ptc_buf_release(&n->pokes);
	free(n->files);
	n->files = NULL;
	n->nfiles = 0;
	n->cap = 0;
}

static int note_file(struct ptc_noted *n, const char *name, struct ptc_err *err)
{
	size_t i;

	if (name[0] != '/' ||
	    name[1] == '/') /* "//anon", "[vdso]", "anon_inode:..." are no files */
		return 0;
	for (i = 0; i < n->nfiles; i++)
		if (!strcmp(n->files[i], name))
			return 0;
	if (!ptc_vec_reserve((void **)&n->files, &n->cap, n->nfiles + 1, sizeof(*n->files)))
		return ptc_fail_mem(err);
	n->files[n->nfiles] = strdup(name);
	if (!n->files[n->nfiles])
		return ptc_fail_mem(err);
	n->nfiles++;
	return 0;
}

static int note(struct ptc_noted *n, const struct ptc_sb *sb, struct ptc_err *err)
{
	if ((sb->id.has & PERF_SAMPLE_TIME) && sb->id.time) {
		if (!n->first_ns || sb->id.time < n->first_ns)
			n->first_ns = sb->id.time;
		if (sb->id.time > n->last_ns)
			n->last_ns = sb->id.time;
	}
	switch (sb->type) {
	case PERF_RECORD_FORK:
		n->forks++;
		return 0;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		if (n->keep_vdso)
			ptc_ownvdso_put(&n->pokes, sb, n->sample_type);
		/* The kernel's own say themselves of what build they are. */
		if ((sb->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL)
			return 0;
		return note_file(n, sb->u.mmap.filename, err);
	default:
		return 0;
	}
}

int ptc_noted_scan(struct ptc_noted *n, const struct ptc_seg seg[2], struct ptc_ledger_ring *ledger,
		   struct ptc_err *err)
{
	uint8_t bytes[PTC_REC_MAX + 8];
	size_t pos = 0, len;

	while ((len = ptc_ring_record(seg, pos, bytes))) {
		struct ptc_cur c = ptc_cur_init(bytes, len);
		struct ptc_rec rec;
		struct ptc_sb sb;
		int rc = ptc_rec_next(&c, pos, &rec, err);

		if (rc > 0) {
			n->samples += rec.type == PERF_RECORD_SAMPLE;
			rc = ptc_sb_parse(&rec, n->sample_type, &sb, err);
		}
		if (rc > 0)
			rc = note(n, &sb, err);
		if (rc >= 0)
			ptc_ledger_note(ledger, &sb);
		if (rc < 0)
			return rc;
		pos += len;
	}
	return 0;
}

static void put(struct ptc_buf *b, const char *name, const struct ptc_build_id *id)
{
	const struct ptc_build_id_entry e = {
		.misc = PERF_RECORD_MISC_USER, .pid = -1, .id = *id, .filename = name
	};

	ptc_feature_put_build_id(b, &e);
}

int ptc_noted_write_build_ids(const struct ptc_noted *n, struct ptc_writer *w, struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_build_id id;
	struct ptc_err ignored;
	size_t i;
	int rc = 0;

	for (i = 0; i < n->nfiles; i++)
		if (ptc_elf_build_id_file(n->files[i], &id, &ignored) == 1)
			put(&b, n->files[i], &id);
	if (ptc_buf_failed(&b))
		rc = ptc_fail_mem(err);
	else if (b.len)
		rc = ptc_writer_feature(w, PTC_FEAT_BUILD_ID, b.bytes, b.len, err);
	ptc_buf_release(&b);
	return rc;
}
