/* SPDX-License-Identifier: MIT */
#include "capture/session/record_scan.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auxtrace/record/sideband.h"
#include "base/err.h"
#include "base/vec.h"
#include "capture/host/vdso_record.h"
#include "capture/rings/ring.h"

/* Returns the offset of the time in a sample; 0: samples have no time. */
static size_t time_in_sample(uint64_t sample_type)
{
	size_t at = PTC_REC_HEADER_SIZE;

	at += sample_type & PERF_SAMPLE_IDENTIFIER ? 8 : 0;
	at += sample_type & PERF_SAMPLE_IP ? 8 : 0;
	at += sample_type & PERF_SAMPLE_TID ? 8 : 0;
	return sample_type & PERF_SAMPLE_TIME ? at : 0;
}

void ptc_noted_init(struct ptc_noted *n, uint64_t sample_type)
{
	*n = (struct ptc_noted){ .sample_type = sample_type,
				 .time_at = time_in_sample(sample_type) };
}

void ptc_noted_release(struct ptc_noted *n)
{
	size_t i;

	for (i = 0; i < n->nfiles; i++)
		free(n->files[i].name);
	ptc_buf_release(&n->pokes);
	free(n->files);
	n->files = NULL;
	n->nfiles = 0;
	n->cap = 0;
}

static bool is_same(const struct ptc_noted_file *f, const struct ptc_sb_mmap *m)
{
	const bool id = f->id.len || m->build_id.len;

	return (id ? ptc_build_id_same(&f->id, &m->build_id) :
		     f->inode.ino == m->ino && f->inode.maj == m->maj && f->inode.min == m->min) &&
	       !strcmp(f->name, m->filename);
}

static int note_file(struct ptc_noted *n, const struct ptc_sb_mmap *m, struct ptc_err *err)
{
	const char *name = m->filename;
	struct ptc_noted_file *f;
	size_t i;

	/* "//anon", "[vdso]" and "anon_inode:..." are no files. */
	if (name[0] != '/' || name[1] == '/')
		return 0;
	for (i = n->nfiles; i--;)
		if (is_same(&n->files[i], m))
			return 0;
	if (!ptc_vec_reserve((void **)&n->files, &n->cap, n->nfiles + 1, sizeof(*n->files)))
		return ptc_fail_mem(err);
	f = &n->files[n->nfiles];
	*f = (struct ptc_noted_file){ .inode = { m->maj, m->min, m->ino }, .id = m->build_id };
	f->name = strdup(name);
	if (!f->name)
		return ptc_fail_mem(err);
	n->nfiles++;
	return 0;
}

static void note_record_time(struct ptc_noted *n, uint64_t time)
{
	if (time && (!n->first_ns || time < n->first_ns))
		n->first_ns = time;
	if (time > n->last_ns)
		n->last_ns = time;
}

static int note_sideband_record(struct ptc_noted *n, const struct ptc_sb *sb, struct ptc_err *err)
{
	if (sb->id.has & PERF_SAMPLE_TIME)
		note_record_time(n, sb->id.time);
	switch (sb->type) {
	case PERF_RECORD_FORK:
		n->forks++;
		return 0;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		if (n->keep_vdso)
			ptc_ownvdso_put(&n->pokes, sb, n->sample_type);
		/* Kernel mappings have records of their own about their build-ids. */
		if ((sb->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL)
			return 0;
		return note_file(n, &sb->u.mmap, err);
	default:
		return 0;
	}
}

/* Counts a sample and its time. Nothing else in a sample matters here. */
static void note_sample(struct ptc_noted *n, const uint8_t *rec, size_t size)
{
	n->samples++;
	if (n->time_at && size >= n->time_at + sizeof(uint64_t))
		note_record_time(n, ptc_le64(rec + n->time_at));
}

/*
 * Fast path for consecutive samples, of which there may be millions. *@pos moves past the last one.
 */
static void note_samples(struct ptc_noted *n, struct ptc_seg seg, size_t *pos)
{
	while (*pos < seg.len && seg.len - *pos >= PTC_REC_HEADER_SIZE) {
		const uint8_t *rec = (const uint8_t *)seg.bytes + *pos;
		const size_t size = ptc_le16(rec + offsetof(struct perf_event_header, size));

		if (ptc_le32(rec) != PERF_RECORD_SAMPLE || size < PTC_REC_HEADER_SIZE ||
		    size > seg.len - *pos)
			break;
		note_sample(n, rec, size);
		*pos += size;
	}
}

static int note_record(struct ptc_noted *n, const uint8_t *bytes, size_t len, size_t pos,
		       struct ptc_ledger_ring *ledger, struct ptc_err *err)
{
	struct ptc_cur c = ptc_cur_init(bytes, len);
	struct ptc_rec rec;
	struct ptc_sb sb;
	int rc = ptc_rec_next(&c, pos, &rec, err);

	if (rc > 0 && rec.type == PERF_RECORD_SAMPLE) {
		note_sample(n, bytes, len);
		return 0;
	}
	if (rc > 0)
		rc = ptc_sb_parse(&rec, n->sample_type, &sb, err);
	if (rc > 0)
		rc = note_sideband_record(n, &sb, err);
	if (rc >= 0)
		ptc_ledger_note(ledger, &sb);
	return rc;
}

int ptc_noted_scan(struct ptc_noted *n, const struct ptc_seg seg[2], struct ptc_ledger_ring *ledger,
		   struct ptc_err *err)
{
	uint8_t bytes[PTC_REC_MAX + 8];
	size_t pos = 0, len;

	do {
		size_t in_second = pos > seg[0].len ? pos - seg[0].len : 0;
		int rc = 0;

		note_samples(n, seg[0], &pos);
		if (pos >= seg[0].len) {
			note_samples(n, seg[1], &in_second);
			pos = seg[0].len + in_second;
		}
		len = ptc_ring_record(seg, pos, bytes);
		if (len)
			rc = note_record(n, bytes, len, pos, ledger, err);
		if (rc < 0)
			return rc;
		pos += len;
	} while (len);
	return 0;
}

bool ptc_noted_has(const struct ptc_noted *n, const struct ptc_filecode *c)
{
	const struct ptc_sb_mmap m = { .maj = (uint32_t)c->maj,
				       .min = (uint32_t)c->min,
				       .ino = c->ino,
				       .build_id = c->id,
				       .filename = c->name };
	size_t i;

	for (i = 0; i < n->nfiles; i++)
		if (is_same(&n->files[i], &m))
			return true;
	return false;
}

static void put_file_build_id(struct ptc_buf *b, const char *name, const struct ptc_build_id *id)
{
	const struct ptc_build_id_entry e = {
		.misc = PERF_RECORD_MISC_USER, .pid = -1, .id = *id, .filename = name
	};

	ptc_feature_put_build_id(b, &e);
}

/* Returns false if the file has no build-id, or is not the file that was mapped. */
static bool read_id(const struct ptc_noted_file *f, struct ptc_build_id *ret)
{
	struct stat st;
	const int fd = ptc_samefile_open(f->name, 0, &f->inode, &st);
	const bool has = fd >= 0 && ptc_elf_build_id_fd(fd, (uint64_t)st.st_size, ret) == 1;

	if (fd >= 0)
		(void)close(fd);
	return has;
}

int ptc_noted_write_build_ids(const struct ptc_noted *n, struct ptc_writer *w, struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_build_id id;
	size_t i;
	int rc = 0;

	for (i = 0; i < n->nfiles; i++) {
		id = n->files[i].id;
		if (id.len || read_id(&n->files[i], &id))
			put_file_build_id(&b, n->files[i].name, &id);
	}
	if (ptc_buf_failed(&b))
		rc = ptc_fail_mem(err);
	else if (b.len)
		rc = ptc_writer_feature(w, PTC_FEAT_BUILD_ID, b.bytes, b.len, err);
	ptc_buf_release(&b);
	return rc;
}
