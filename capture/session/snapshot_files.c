/* SPDX-License-Identifier: MIT */
#include "capture/session/snapshot_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "auxtrace/record/filecode.h"
#include "auxtrace/record/layout.h"
#include "auxtrace/record/record.h"
#include "base/err.h"
#include "capture/host/clock.h"
#include "capture/rings/first_psb.h"
#include "capture/session/ring_copy.h"
#include "ptcap/crash.h"

/* Copy of the contents of one ring. */
struct ptc_series_copy {
	struct ptc_ring_copy bytes;
	uint64_t start; /* position of bytes in the AUX stream */
	size_t from;	/* offset of the first decodable byte */
};

/* The parts of one file. */
struct file {
	struct ptc_writer *writer;
	struct ptc_buf state, records;
	struct ptc_noted noted; /* scan of state and records */
	struct ptc_ledger_ring *ledger;
	uint64_t trace;
};

char *ptc_series_path(const struct ptc_record_opts *opts, uint64_t n)
{
	char *path;

	if (opts->snapshot.count == 1)
		return strdup(opts->output.path);
	return asprintf(&path, "%s.%03" PRIu64, opts->output.path, n - 1) < 0 ? NULL : path;
}

/* --- preparation --- */

/* Checks early that the first file can be created. */
static int try_file(const struct ptc_series *s, struct ptc_err *err)
{
	char *path = ptc_series_path(s->filing->opts, 1);
	struct ptc_writer *w = NULL;
	const int rc = path ? ptc_writer_new(path, &w, err) : ptc_fail_mem(err);

	ptc_writer_free(w);
	free(path);
	return rc;
}

/* Makes memory ready for the window of ring @i. */
static bool reserve_copy(struct ptc_series *s, size_t i)
{
	const size_t most = (size_t)s->drain->snapshot_size;
	const struct ptc_source_ring *rings;
	size_t size;

	(void)s->drain->source->ops->rings(s->drain->source, &rings);
	size = rings[i].aux_size;
	return ptc_ring_copy_reserve(&s->copies[i].bytes, most && most < size ? most : size);
}

static int reserve_copies(struct ptc_series *s, struct ptc_err *err)
{
	size_t i;

	for (i = 0; i < s->drain->n; i++)
		if (!reserve_copy(s, i))
			return ptc_fail_mem(err);
	return 0;
}

int ptc_series_init(struct ptc_series *s, struct ptc_filing *filing, struct ptc_drain *drain,
		    struct ptc_err *err)
{
	const struct ptc_source_ring *rings;
	struct ptc_kept_opts opts = { .sample_type = ptc_filing_sample_type(filing),
				      .id = ptc_filing_side_id(filing),
				      .proc = filing->desc.proc };
	int rc;

	*s = (struct ptc_series){ .filing = filing, .drain = drain };
	opts.nrings = drain->source->ops->rings(drain->source, &rings);
	opts.rings = rings;
	s->copies = calloc(drain->n + 1, sizeof(*s->copies));
	if (!s->copies)
		return ptc_fail_mem(err);
	rc = ptc_kept_new(&opts, &s->kept, err);
	drain->kept = s->kept;
	if (!rc)
		rc = reserve_copies(s, err);
	return rc ? rc : try_file(s, err);
}

static void forget_copies(struct ptc_series *s)
{
	size_t i;

	for (i = 0; s->copies && i < s->drain->n; i++) {
		ptc_ring_copy_clear(&s->copies[i].bytes);
		s->copies[i].start = 0;
		s->copies[i].from = 0;
	}
}

void ptc_series_release(struct ptc_series *s)
{
	size_t i;

	for (i = 0; s->copies && i < s->drain->n; i++)
		ptc_ring_copy_release(&s->copies[i].bytes);
	ptc_kept_free(s->kept);
	ptc_buf_release(&s->states);
	ptc_buf_release(&s->code);
	free(s->copies);
	*s = (struct ptc_series){ .n = 0 };
}

/* --- while the rings stand still --- */

int ptc_series_copy(struct ptc_series *s, struct ptc_err *err)
{
	struct ptc_source *source = s->drain->source;
	size_t i;
	int rc = 0;

	for (i = 0; i < s->drain->n; i++) {
		struct ptc_series_copy *c = &s->copies[i];
		struct ptc_seg seg[2];

		c->bytes.len = 0;
		if (!ptc_drain_window(s->drain, i, seg, &c->start))
			continue;
		/* A ring of a CPU that came online later has no memory yet. */
		if (!reserve_copy(s, i))
			return ptc_fail_mem(err);
		ptc_ring_copy_set(&c->bytes, seg);
	}
	ptc_buf_reset(&s->code);
	if (source->ops->code)
		rc = source->ops->code(source, &s->code, err);
	if (!rc && s->filing->opts->snapshot.crash)
		rc = source->ops->states(source, &s->states, err);
	return rc;
}

/* --- writing the file --- */

/*
 * Finds the first usable PSB in each copy: the sideband records must reach back to its time. Folds
 * records from before the earliest such PSB. A trace that is not Intel PT is used whole.
 */
static int find_begins(struct ptc_series *s, struct ptc_err *err)
{
	const struct ptc_source_desc *d = &s->filing->desc;
	const bool timed = d->info.cap_user_time_zero;
	const uint64_t now = ptc_rdtsc(), since = timed ? ptc_kept_since(s->kept) : 0;
	uint64_t oldest = UINT64_MAX;
	size_t i;

	for (i = 0; !d->no_info && i < s->drain->n; i++) {
		struct ptc_series_copy *c = &s->copies[i];
		struct ptc_begin b;

		if (!c->bytes.len)
			continue;
		b = ptc_begin_find(c->bytes.bytes, c->bytes.len, &d->info.time, now, since);
		c->from = b.at;
		if (b.at < c->bytes.len && b.time < oldest)
			oldest = b.time;
	}
	return timed && oldest != UINT64_MAX ? ptc_kept_fold(s->kept, oldest, err) : 0;
}

/* Scans the kept records before they are written: for the files they name, and for the vdso. */
static int scan(struct ptc_series *s, struct file *f, struct ptc_err *err)
{
	const struct ptc_seg state[2] = { { f->state.bytes, f->state.len }, { NULL, 0 } };
	const struct ptc_seg records[2] = { { f->records.bytes, f->records.len }, { NULL, 0 } };
	struct ptc_ledger_ring none = { .idx = 0 };
	int rc;

	ptc_noted_init(&f->noted, ptc_filing_sample_type(s->filing));
	f->noted.keep_vdso = s->filing->desc.keep_vdso;
	rc = ptc_noted_scan(&f->noted, state, &none, err);
	if (!rc)
		rc = ptc_noted_scan(&f->noted, records, &none, err);
	if (ptc_buf_failed(&f->noted.pokes))
		return ptc_fail_mem(err);
	return rc;
}

static int write_records(struct file *f, struct ptc_err *err)
{
	const struct ptc_seg records[2] = { { f->records.bytes, f->records.len }, { NULL, 0 } };
	const struct ptc_seg pokes[2] = { { f->noted.pokes.bytes, f->noted.pokes.len },
					  { NULL, 0 } };
	const int rc = f->records.len ? ptc_writer_records(f->writer, records, err) : 0;

	return rc || !f->noted.pokes.len ? rc : ptc_writer_records(f->writer, pokes, err);
}

static int write_trace(struct ptc_series *s, struct file *f, struct ptc_err *err)
{
	const struct ptc_source_ring *rings;
	struct ptc_buf mark = PTC_BUF_INIT;
	size_t i;
	int rc = 0;

	(void)s->drain->source->ops->rings(s->drain->source, &rings);
	for (i = 0; !rc && i < s->drain->n; i++) {
		const struct ptc_series_copy *c = &s->copies[i];
		const size_t n = c->bytes.len - c->from;
		const struct ptc_seg seg[2] = { { c->bytes.bytes + c->from, n }, { NULL, 0 } };
		const struct ptc_auxtrace a = {
			.offset = c->start + c->from,
			.reference = ptc_rdtsc(),
			.idx = rings[i].idx,
			.tid = rings[i].tid,
			.cpu = rings[i].cpu,
		};

		if (!n)
			continue;
		rc = ptc_writer_auxtrace(f->writer, &a, seg, err);
		f->trace += n;
		f->ledger[i].aux_read = f->ledger[i].aux_stored = n;
	}
	ptc_rec_end(&mark, ptc_rec_begin(&mark, PTC_REC_FINISHED_ROUND, 0));
	if (!rc)
		rc = ptc_buf_failed(&mark) ? ptc_fail_mem(err) :
					     ptc_writer_plain(f->writer, mark.bytes, mark.len, err);
	ptc_buf_release(&mark);
	return rc;
}

/* Writes code of those files that the records of @f name. */
static int write_code(const struct ptc_series *s, const struct file *f, struct ptc_err *err)
{
	struct ptc_cur c = ptc_cur_init(s->code.bytes, s->code.len);
	const uint8_t *from = c.pos;
	struct ptc_filecode code;
	struct ptc_rec rec;
	int rc;

	while ((rc = ptc_rec_next(&c, 0, &rec, err)) > 0) {
		rc = ptc_filecode_parse(&rec, &code, err);
		if (rc > 0 && ptc_noted_has(&f->noted, &code))
			rc = ptc_writer_plain(f->writer, from, (size_t)(c.pos - from), err);
		if (rc < 0)
			break;
		from = c.pos;
	}
	return rc;
}

/* Counts the states of killed processes that a file has. */
static int count_states(struct ptc_series *s, struct ptc_err *err)
{
	struct ptc_cur c = ptc_cur_init(s->states.bytes, s->states.len);
	struct ptc_crash state;
	struct ptc_rec rec;
	int rc;

	while ((rc = ptc_rec_next(&c, 0, &rec, err)) > 0) {
		rc = ptc_crash_parse(&rec, &state, err);
		if (rc < 0)
			break;
		if (!rc || state.kind != PTC_CRASH_SIGNAL || !state.u.signal.signo)
			continue;
		s->handled += state.u.signal.exit_status != 0;
		s->crashes += !state.u.signal.exit_status;
	}
	return rc;
}

static int write_file(struct ptc_series *s, struct file *f, const char *path, struct ptc_err *err)
{
	const struct ptc_record_opts *o = s->filing->opts;
	struct ptc_filing *g = s->filing;
	struct stat st;
	int rc = ptc_filing_refresh(g, s->drain->source, err);

	if (!rc)
		rc = ptc_writer_new(path, &f->writer, err);
	if (!rc && o->output.compression)
		rc = ptc_writer_compress(f->writer, o->output.compression, err);
	if (!rc)
		rc = ptc_filing_attrs(g, f->writer, err);
	if (!rc)
		rc = ptc_filing_prologue(g, f->writer, &f->state, err);
	if (!rc)
		rc = write_records(f, err);
	if (!rc)
		rc = write_trace(s, f, err);
	if (!rc && s->states.len)
		rc = ptc_writer_plain(f->writer, s->states.bytes, s->states.len, err);
	if (!rc)
		rc = write_code(s, f, err);
	if (!rc)
		rc = ptc_filing_ledger(
			g, f->writer,
			&(struct ptc_account){ .rings = f->ledger, .nrings = s->drain->n }, err);
	if (!rc)
		rc = ptc_filing_features(g, f->writer, &f->noted, err);
	if (!rc) {
		rc = ptc_writer_commit(f->writer, err);
		f->writer = NULL;
		if (!rc && path && !stat(path, &st))
			s->file_bytes += (uint64_t)st.st_size;
	}
	return rc;
}

static int prepare(struct ptc_series *s, struct file *f, struct ptc_err *err)
{
	const size_t size = s->drain->n * sizeof(*f->ledger);
	int rc = find_begins(s, err);
	size_t i;

	if (!rc)
		rc = ptc_kept_put(s->kept, &f->state, &f->records, err);
	if (!rc)
		rc = scan(s, f, err);
	f->ledger = malloc(size + 1);
	if (!rc && !f->ledger)
		return ptc_fail_mem(err);
	if (f->ledger)
		memcpy(f->ledger, s->drain->ledger, size);
	for (i = 0; !rc && i < s->drain->n; i++)
		f->ledger[i].data_stored = ptc_kept_bytes(s->kept, i);
	return rc;
}

int ptc_series_write(struct ptc_series *s, uint64_t *ret_bytes, struct ptc_err *err)
{
	struct file f = { .state = PTC_BUF_INIT, .records = PTC_BUF_INIT };
	char *path = ptc_series_path(s->filing->opts, s->n + 1);
	int rc = path ? prepare(s, &f, err) : ptc_fail_mem(err);

	if (!rc)
		rc = write_file(s, &f, path, err);
	if (!rc)
		rc = count_states(s, err);
	if (!rc) {
		ptc_buf_reset(&s->states);
		s->n++;
		s->trace += f.trace;
		*ret_bytes = f.trace;
	}
	ptc_writer_free(f.writer);
	ptc_noted_release(&f.noted);
	ptc_buf_release(&f.state);
	ptc_buf_release(&f.records);
	free(f.ledger);
	free(path);
	forget_copies(s);
	return rc;
}
