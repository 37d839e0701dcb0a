/* SPDX-License-Identifier: MIT */
#include "cli/record/ground_truth_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "cli/record/lbr_args.h"

static int fail_truth_file(struct ptc_err *err, const char *what, const char *path)
{
	err->code = PTC_E_IO;
	(void)snprintf(err->msg, sizeof(err->msg), "cannot %s '%s': %s", what, path,
		       strerror(errno));
	return PTC_E_IO;
}

int ptc_truth_file_open(struct ptc_truth_file *t, struct ptc_err *err)
{
	int rc, fd;

	if (!t->path)
		return 0;
	rc = ptc_tmpfile_open(&t->file, t->path, err);
	if (rc)
		return rc;
	fd = fcntl(t->file.fd, F_DUPFD_CLOEXEC, 0);
	t->out = fd < 0 ? NULL : fdopen(fd, "w");
	if (t->out)
		return 0;
	rc = fail_truth_file(err, "open", t->path);
	ptc_tmpfile_release(&t->file);
	return rc;
}

/* Returns the slot of @tid in the index, or the free slot for it. */
static uint32_t *entry(const struct ptc_truth_file *t, int tid)
{
	uint32_t i = (uint32_t)tid * UINT32_C(0x9e3779b1);

	for (;; i++) {
		uint32_t *e = &t->index[i & (t->nindex - 1)];

		if (!*e || t->tids[*e - 1].tid == tid)
			return e;
	}
}

/* At least half of the index stays empty. */
static bool grow_index(struct ptc_truth_file *t)
{
	size_t i;

	if (2 * (t->ntids + 1) <= t->nindex)
		return true;
	free(t->index);
	t->nindex = t->nindex ? 2 * t->nindex : 64;
	t->index = calloc(t->nindex, sizeof(*t->index));
	if (!t->index) {
		t->nindex = 0;
		return false;
	}
	for (i = 0; i < t->ntids; i++)
		*entry(t, t->tids[i].tid) = (uint32_t)i + 1;
	return true;
}

/* Returns the entry of @tid. Fast path: usually the same thread as last time. */
static struct ptc_truth_tid *get_truth_thread(struct ptc_truth_file *t, int tid)
{
	uint32_t *e;

	if (t->last < t->ntids && t->tids[t->last].tid == tid)
		return &t->tids[t->last];
	if (!grow_index(t) ||
	    !ptc_vec_reserve((void **)&t->tids, &t->cap, t->ntids + 1, sizeof(*t->tids)))
		return NULL;
	e = entry(t, tid);
	if (!*e) {
		t->tids[t->ntids] = (struct ptc_truth_tid){ .tid = tid };
		*e = (uint32_t)++t->ntids;
	}
	t->last = *e - 1;
	return &t->tids[t->last];
}

/* Hash function, defined in ptcap-record(1). */
static uint64_t mix(uint64_t hash, uint64_t v)
{
	hash = (hash ^ v) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 29;
}

static void line(const struct ptc_truth_file *t, const struct ptc_truth_tid *k)
{
	fprintf(t->out, "%d %" PRIu64 " %016" PRIx64 "\n", k->tid, k->n, k->hash);
}

static void put_hash(struct ptc_truth_file *t, int tid, uint64_t from, uint64_t to,
		     enum ptc_kind kind)
{
	struct ptc_truth_tid *k = get_truth_thread(t, tid);

	if (!k) {
		t->failed = true;
		return;
	}
	k->hash = mix(mix(mix(k->hash, from), to), (uint64_t)kind);
	if (++k->n % PTC_TRUTH_EVERY == 0)
		line(t, k);
}

void ptc_truth_file_put(void *ctx, int tid, uint64_t from, uint64_t to, enum ptc_kind kind)
{
	struct ptc_truth_file *t = ctx;

	if (t->hash)
		put_hash(t, tid, from, to, kind);
	else
		fprintf(t->out, "%d %" PRIx64 " %" PRIx64 " %s\n", tid, from, to,
			ptc_kind_name(kind));
}

void ptc_truth_file_note(void *ctx, const struct ptc_lbr_note *note)
{
	const struct ptc_truth_file *t = ctx;

	if (t->hash) /* the hash covers branches only */
		return;
	if (note->mode == PTC_SPOIL_NONE)
		fprintf(t->out, "# sample %d %" PRIu64 " %" PRIx64 " %" PRIu32 "\n", note->tid,
			note->time_ns, note->ip, note->n);
	else
		fprintf(t->out, "# spoilt %d %" PRIu32 " %s %" PRIx64 " %" PRIx64 "\n", note->tid,
			note->index, ptc_lbr_spoil_name(note->mode), note->from, note->to);
}

int ptc_truth_file_close(struct ptc_truth_file *t, bool keep, struct ptc_err *err)
{
	int rc = 0;
	size_t i;

	if (!t->out)
		return 0;
	for (i = 0; i < t->ntids; i++)
		line(t, &t->tids[i]);
	free(t->tids);
	free(t->index);
	t->tids = NULL;
	t->index = NULL;
	t->nindex = 0;
	t->ntids = 0;
	if (t->failed)
		errno = ENOMEM;
	if ((fclose(t->out) || t->failed) && keep)
		rc = fail_truth_file(err, "write", t->path);
	t->out = NULL;
	if (!rc && keep)
		rc = ptc_tmpfile_commit(&t->file, err);
	ptc_tmpfile_release(&t->file);
	return rc;
}
