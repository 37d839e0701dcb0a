/* SPDX-License-Identifier: MIT */
#include "capture/session/file_metadata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "auxtrace/feature/feature.h"
#include "auxtrace/feature/feature_file.h"
#include "auxtrace/record/ledger.h"
#include "base/err.h"
#include "capture/host/clock.h"
#include "capture/host/hostinfo.h"
#include "capture/host/processor_kinds.h"
#include "capture/session/initial_records.h"
#include "ptcap/version.h"

#define NS_PER_S UINT64_C(1000000000)

/* Lists the ids of a source that has one event of each kind per ring. */
static void ids_of_rings(struct ptc_filing *f, struct ptc_source *source, size_t nrings)
{
	const struct ptc_source_ring *rings;
	size_t e, i;

	(void)source->ops->rings(source, &rings);
	f->nids = 0;
	for (e = 0; e < f->desc.nevents; e++) {
		for (i = 0; i < nrings; i++) {
			const struct ptc_source_ring *d = &rings[i];

			f->ids[f->nids++] =
				(struct ptc_source_id){ e, d->id[e], d->idx, d->cpu, d->tid };
		}
	}
}

/* Returns the current time in the records' clock and in CLOCK_MONOTONIC. */
static struct ptc_ledger_clock clocks_of(const struct ptc_filing *f)
{
	struct ptc_ledger_clock c = { .time_ns = 0 };

	if (!f->desc.no_info && f->desc.info.time.mult)
		ptc_clock_pair(&f->desc.info.time, &c.time_ns, &c.monotonic_ns);
	return c;
}

int ptc_filing_init(struct ptc_filing *f, const struct ptc_record_opts *opts,
		    struct ptc_source *source, size_t nrings, struct ptc_err *err)
{
	*f = (struct ptc_filing){ .opts = opts };
	source->ops->describe(source, &f->desc);
	if (!f->desc.nevents)
		f->desc.nevents = PTC_SOURCE_EVENTS_USUAL;
	f->begin = clocks_of(f);
	f->nids = f->desc.ids ? f->desc.nids : nrings * f->desc.nevents;
	f->ids = calloc(f->nids + 1, sizeof(*f->ids));
	if (!f->ids)
		return ptc_fail_mem(err);
	if (f->desc.ids)
		memcpy(f->ids, f->desc.ids, f->nids * sizeof(*f->ids));
	else
		ids_of_rings(f, source, nrings);
	if (opts->snapshot.enabled) {
		f->desc.info.snapshot_mode = true;
		f->desc.attr[0].aux_watermark = 0; /* overwrite mode has no watermark */
	}
	return 0;
}

void ptc_filing_release(struct ptc_filing *f)
{
	free(f->ids);
	f->ids = NULL;
}

uint64_t ptc_filing_sample_type(const struct ptc_filing *f)
{
	return f->desc.attr[f->desc.nevents - 1].sample_type;
}

uint64_t ptc_filing_side_id(const struct ptc_filing *f)
{
	return f->nids ? f->ids[f->nids - 1].id : 0;
}

int ptc_filing_refresh(struct ptc_filing *f, struct ptc_source *source, struct ptc_err *err)
{
	struct ptc_source_desc now;
	struct ptc_source_id *ids;

	if (!f->desc.ids)
		return 0;
	source->ops->describe(source, &now);
	ids = now.ids ? calloc(now.nids + 1, sizeof(*ids)) : NULL;
	if (!ids)
		return ptc_fail_mem(err);
	memcpy(ids, now.ids, now.nids * sizeof(*ids));
	free(f->ids);
	f->ids = ids;
	f->nids = now.nids;
	f->desc.ids = now.ids;
	return 0;
}

/* Copies the ids of event @event into ids[0..]. Returns their number. */
static size_t ids_of(const struct ptc_filing *f, size_t event, uint64_t *ids)
{
	size_t k, n = 0;

	for (k = 0; k < f->nids; k++)
		if (f->ids[k].event == event)
			ids[n++] = f->ids[k].id;
	return n;
}

/* Writes an ID_INDEX for each id after the first @known[] ids of its event. */
static int write_late_index(const struct ptc_filing *f, const size_t *known, struct ptc_writer *w,
			    struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	size_t k, of_event[PTC_SOURCE_EVENTS] = { 0 };
	int rc;

	for (k = 0; k < f->nids; k++)
		if (of_event[f->ids[k].event]++ >= known[f->ids[k].event])
			ptc_prologue_put_ids(&b, &f->ids[k], 1);
	rc = ptc_buf_failed(&b) ? ptc_fail_mem(err) : ptc_writer_plain(w, b.bytes, b.len, err);
	ptc_buf_release(&b);
	return rc;
}

int ptc_filing_late(struct ptc_filing *f, struct ptc_source *source, struct ptc_writer *w,
		    struct ptc_err *err)
{
	size_t i, known[PTC_SOURCE_EVENTS] = { 0 };
	const size_t before = f->nids;
	uint64_t *ids;
	int rc;

	for (i = 0; i < before; i++)
		known[f->ids[i].event]++;
	rc = ptc_filing_refresh(f, source, err);
	if (rc || f->nids == before)
		return rc;
	ids = calloc(f->nids, sizeof(*ids));
	if (!ids)
		return ptc_fail_mem(err);
	for (i = 0; !rc && i < f->desc.nevents; i++)
		rc = ptc_writer_late_ids(w, i, ids, ids_of(f, i, ids), err);
	free(ids);
	return rc ? rc : write_late_index(f, known, w, err);
}

int ptc_filing_attrs(const struct ptc_filing *f, struct ptc_writer *w, struct ptc_err *err)
{
	uint64_t *ids = calloc(f->nids + 1, sizeof(*ids));
	size_t i, n;
	int rc = 0;

	if (!ids)
		return ptc_fail_mem(err);
	for (i = 0; !rc && i < f->desc.nevents; i++) {
		n = ids_of(f, i, ids);
		rc = ptc_writer_attr(w, &f->desc.attr[i], f->desc.name[i], ids, n, err);
	}
	free(ids);
	return rc;
}

static int write_buf(struct ptc_writer *w, const struct ptc_buf *b, struct ptc_err *err)
{
	return ptc_buf_failed(b) ? ptc_fail_mem(err) : ptc_writer_plain(w, b->bytes, b->len, err);
}

int ptc_filing_prologue(const struct ptc_filing *f, struct ptc_writer *w,
			const struct ptc_buf *running, struct ptc_err *err)
{
	const struct ptc_prologue p = {
		.desc = &f->desc,
		.ids = f->ids,
		.nids = f->nids,
		.running = running,
		.pid = f->pid,
		.is_command = f->opts->target.argv != NULL,
	};
	struct ptc_buf b = PTC_BUF_INIT;
	int rc;

	ptc_prologue_put(&b, &p);
	rc = write_buf(w, &b, err);
	ptc_buf_release(&b);
	return rc;
}

int ptc_filing_ledger(const struct ptc_filing *f, struct ptc_writer *w,
		      const struct ptc_account *account, struct ptc_err *err)
{
	const struct ptc_ledger_clock clocks[2] = { f->begin, clocks_of(f) };
	struct ptc_processor_kinds processors = { .n = 0 };
	struct ptc_buf b = PTC_BUF_INIT;
	int rc;

	if (!ptc_processor_kinds_read(&processors, ""))
		b.failed = true;
	ptc_ledger_put_rings(&b, account->rings, account->nrings);
	ptc_ledger_put_events(&b, account->events, account->nevents);
	if (f->begin.time_ns)
		ptc_ledger_put_clocks(&b, clocks, 2);
	if (account->source.insns)
		ptc_ledger_put_source(&b, &account->source);
	ptc_ledger_put_processors(&b, processors.items, processors.n);
	rc = write_buf(w, &b, err);
	ptc_buf_release(&b);
	ptc_processor_kinds_release(&processors);
	return rc;
}

static int write_sample_time(struct ptc_writer *w, const struct ptc_noted *noted,
			     struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	int rc;

	ptc_feature_put_sample_time(&b, noted->first_ns, noted->last_ns);
	rc = ptc_buf_failed(&b) ? ptc_fail_mem(err) :
				  ptc_writer_feature(w, PTC_FEAT_SAMPLE_TIME, b.bytes, b.len, err);
	ptc_buf_release(&b);
	return rc;
}

/* Same as perf record -k: the clock of the records, and the time of day. */
static int write_clock(const struct ptc_filing *f, struct ptc_writer *w, struct ptc_err *err)
{
	struct ptc_clock_data now = { .version = 1, .clockid = (uint32_t)f->desc.attr[0].clockid };
	struct ptc_buf res = PTC_BUF_INIT, data = PTC_BUF_INIT;
	struct timespec wall;
	int rc = 0;

	if (!f->desc.attr[0].use_clockid)
		return 0;
	(void)clock_gettime(CLOCK_REALTIME, &wall);
	now.clock_ns = clocks_of(f).time_ns;
	now.wall_ns = (uint64_t)wall.tv_sec * NS_PER_S + (uint64_t)wall.tv_nsec;
	ptc_feature_put_clockid(&res, 1);
	ptc_feature_put_clock_data(&data, &now);
	if (ptc_buf_failed(&res) || ptc_buf_failed(&data))
		rc = ptc_fail_mem(err);
	if (!rc)
		rc = ptc_writer_feature(w, PTC_FEAT_CLOCKID, res.bytes, res.len, err);
	if (!rc)
		rc = ptc_writer_feature(w, PTC_FEAT_CLOCK_DATA, data.bytes, data.len, err);
	ptc_buf_release(&res);
	ptc_buf_release(&data);
	return rc;
}

/* Writes DIR_FORMAT for a directory: its data is in a single file. */
static int write_dir_format(const struct ptc_filing *f, struct ptc_writer *w, struct ptc_err *err)
{
	static const uint8_t single[8];

	return f->opts->source.kcore ?
		       ptc_writer_feature(w, PTC_FEAT_DIR_FORMAT, single, sizeof(single), err) :
		       0;
}

int ptc_filing_features(const struct ptc_filing *f, struct ptc_writer *w,
			const struct ptc_noted *noted, struct ptc_err *err)
{
	char version[64];
	int rc;

	(void)snprintf(version, sizeof(version), "ptcap %s (%s)", ptc_version(), f->desc.label);
	rc = ptc_hostinfo_write(w, "", version, f->opts->output.cmdline,
				f->desc.no_info ? 0 : f->desc.info.pmu_type, err);
	if (!rc)
		rc = ptc_noted_write_build_ids(noted, w, err);
	if (!rc)
		rc = write_sample_time(w, noted, err);
	if (!rc)
		rc = write_clock(f, w, err);
	if (!rc)
		rc = write_dir_format(f, w, err);
	return rc;
}
