/* SPDX-License-Identifier: MIT */
/* Opening a recording: one pass over its records. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "decode/grow.h"
#include "decode/run.h"

#include <linux/perf_event.h>

struct opening {
	struct ptc_decode *d;
	struct ptc_pt_info info;
	bool has_info;
	struct ptc_time_conv conv;
	bool has_conv;
	struct ptc_sb *aux; /* owned: AUX records with a loss */
	size_t naux, aux_cap;
};

static int keep_sb(struct opening *o, const struct ptc_rec *rec, struct ptc_err *err)
{
	struct ptc_sb sb;
	int r = ptc_sb_parse(rec, ptc_file_trailer_type(o->d->file, rec), &sb, err);

	if (r <= 0)
		return r;
	if (sb.type != PERF_RECORD_AUX)
		return ptc_sideband_add(&o->d->sideband, &sb, err);
	/* In overwrite mode the offset is not one of the stream. */
	if (!(sb.u.aux.flags & (PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL)) ||
	    (sb.u.aux.flags & PERF_AUX_FLAG_OVERWRITE))
		return 0;
	if (!ptc_grow(&o->aux, &o->aux_cap, o->naux + 1, sizeof(*o->aux)))
		return ptc_fail_mem(err);
	o->aux[o->naux++] = sb;
	return 0;
}

static int take_record(struct opening *o, const struct ptc_rec *rec, struct ptc_err *err)
{
	int r;

	switch (rec->type) {
	case PTC_REC_AUXTRACE:
		return ptc_index_add(&o->d->index, o->d->file, rec, err);
	case PTC_REC_AUXTRACE_INFO:
		r = ptc_pt_info_parse(rec, &o->info, err);
		o->has_info = !r;
		return r;
	case PTC_REC_TIME_CONV:
		r = ptc_time_conv_parse(rec, &o->conv, err);
		o->has_conv = !r;
		return r;
	default:
		return rec->type < PTC_REC_USER_START ? keep_sb(o, rec, err) : 0;
	}
}

static int take_records(struct opening *o, struct ptc_err *err)
{
	struct ptc_rec rec;
	uint64_t pos = 0;
	int r;

	while ((r = ptc_file_next(o->d->file, &pos, &rec, err)) > 0) {
		r = take_record(o, &rec, err);
		if (r < 0)
			return ptc_file_err_name(o->d->file, err);
	}
	return r; /* the reader names the file itself */
}

/* "GenuineIntel,6,158,10" */
static struct ptc_cpu_id recorded_cpu(const struct ptc_file *f)
{
	struct ptc_cpu_id id = { 0, 0, 0 };
	unsigned int family, model, stepping;
	struct ptc_cur c;
	const char *s;

	if (!ptc_file_feature(f, PTC_FEAT_CPUID, &c, NULL) || !ptc_feature_get_string(&c, &s))
		return id;
	/* NOLINTNEXTLINE(cert-err34-c): a number that does not fit is caught below */
	if (sscanf(s, "GenuineIntel,%5u,%5u,%5u", &family, &model, &stepping) == 3 &&
	    model <= UINT8_MAX && stepping <= UINT8_MAX) {
		id.family = (uint16_t)family;
		id.model = (uint8_t)model;
		id.stepping = (uint8_t)stepping;
	}
	return id;
}

static const struct perf_event_attr *pt_attr(const struct opening *o)
{
	size_t i;

	for (i = 0; i < ptc_file_nattrs(o->d->file); i++) {
		const struct perf_event_attr *a = &ptc_file_attr(o->d->file, i)->attr;

		if (a->type == o->info.pmu_type)
			return a;
	}
	return NULL;
}

static int set_up_engine(struct opening *o, struct ptc_err *err)
{
	const struct perf_event_attr *attr = pt_attr(o);
	struct ptc_decode *d = o->d;
	struct ptc_ipt_params params = { .cpu = d->opts.cpu_id_set ? d->opts.cpu_id :
								     recorded_cpu(d->file) };
	int r;

	if (!attr)
		return ptc_fail(err, PTC_E_FORMAT,
				"'%s': no event has the PMU type %u that AUXTRACE_INFO names",
				ptc_file_name(d->file), o->info.pmu_type);
	if (attr->config & o->info.mtc_bit)
		params.mtc_freq = (uint8_t)ptc_config_field(attr->config, o->info.mtc_freq_bits);
	params.nom_freq = (uint8_t)o->info.max_nonturbo_ratio;
	params.tsc_ctc_n = o->info.tsc_ctc_n;
	params.tsc_ctc_d = o->info.tsc_ctc_d;
	d->clock.conv = o->info.cap_user_time_zero || !o->has_conv ? o->info.time : o->conv;
	d->clock.valid = (attr->config & o->info.tsc_bit) && d->clock.conv.mult &&
			 (o->info.cap_user_time_zero || o->has_conv);
	r = ptc_ipt_init(&d->ipt, &params, err);
	d->ipt_ready = true;
	return r;
}

static int by_offset(const void *pa, const void *pb)
{
	const struct ptc_mark *a = pa, *b = pb;

	return a->off < b->off ? -1 : a->off > b->off;
}

static bool is_about(const struct ptc_sb *sb, const struct ptc_lane *l)
{
	if (l->tid != -1 && (sb->id.has & PERF_SAMPLE_TID))
		return sb->id.tid == l->tid;
	if (l->cpu != -1 && (sb->id.has & PERF_SAMPLE_CPU))
		return (int32_t)sb->id.cpu == l->cpu;
	return true;
}

static int set_marks(const struct opening *o, struct ptc_lane *l, struct ptc_err *err)
{
	size_t i;

	for (i = 0; i < o->naux; i++) {
		const struct ptc_sb_aux *a = &o->aux[i].u.aux;
		struct ptc_mark m = {
			.off = a->offset + a->size,
			.cause = a->flags & PERF_AUX_FLAG_TRUNCATED ? PTC_GAP_TRUNCATED :
								      PTC_GAP_PARTIAL,
		};

		if (!is_about(&o->aux[i], l))
			continue;
		if (!ptc_grow(&l->marks, &l->marks_cap, l->nmarks + 1, sizeof(*l->marks)))
			return ptc_fail_mem(err);
		l->marks[l->nmarks++] = m;
	}
	if (l->nmarks)
		qsort(l->marks, l->nmarks, sizeof(*l->marks), by_offset);
	return 0;
}

static bool is_wanted(const struct ptc_decode *d, const struct ptc_queue *q)
{
	return (d->opts.tid == -1 || q->tid == -1 || q->tid == d->opts.tid) &&
	       (d->opts.cpu == -1 || q->cpu == -1 || q->cpu == d->opts.cpu);
}

static int set_up_lanes(const struct opening *o, struct ptc_err *err)
{
	struct ptc_decode *d = o->d;
	size_t i;
	int r;

	d->lanes = calloc(d->index.nqueues ? d->index.nqueues : 1, sizeof(*d->lanes));
	if (!d->lanes)
		return ptc_fail_mem(err);
	for (i = 0; i < d->index.nqueues; i++) {
		const struct ptc_queue *q = &d->index.queues[i];
		struct ptc_lane *l = &d->lanes[d->nlanes];

		if (!is_wanted(d, q))
			continue;
		d->nlanes++;
		l->idx = q->idx;
		l->cpu = q->cpu;
		/*
		 * With switch records the tid of a per-cpu piece is no more than
		 * who ran when it was copied.
		 */
		l->tid = q->cpu != -1 && o->info.have_sched_switch ? -1 : q->tid;
		r = ptc_stream_join(&l->stream, d->file, q, err);
		if (!r)
			r = set_marks(o, l, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int open_file(struct opening *o, const char *path, struct ptc_err *err)
{
	struct ptc_decode *d = o->d;
	int r;

	d->resync = d->opts.resync == PTC_RESYNC_PSB ? PTC_RESYNC_PSB : PTC_RESYNC_PACKET;
	r = ptc_file_open(path, &d->file, err);
	if (!r)
		r = take_records(o, err);
	if (r < 0)
		return r;
	if (!o->has_info)
		return ptc_fail(err, PTC_E_NOT_EXIST, "'%s' holds no AUX trace", path);
	if (o->info.type != PTC_AUXTRACE_TYPE_INTEL_PT)
		return ptc_fail(err, PTC_E_UNSUPPORTED,
				"'%s' holds AUX trace of type %u, which is not Intel PT", path,
				o->info.type);
	d->snapshots = o->info.snapshot_mode;
	r = set_up_engine(o, err);
	if (r < 0)
		return r;
	r = ptc_sideband_features(&d->sideband, d->file, err);
	if (r < 0)
		return ptc_file_err_name(d->file, err);
	r = set_up_lanes(o, err);
	if (!r)
		ptc_sideband_sort(&d->sideband);
	return r;
}

int ptc_decode_open(const char *path, const struct ptc_decode_opts *opts, struct ptc_decode **ret,
		    struct ptc_err *err)
{
	struct opening o = { .d = calloc(1, sizeof(struct ptc_decode)) };
	int r;

	if (!o.d)
		return ptc_fail_mem(err);
	r = ptc_decode_take_opts(o.d, opts, err);
	if (!r)
		r = open_file(&o, path, err);
	free(o.aux);
	if (r < 0) {
		ptc_decode_free(o.d);
		return r;
	}
	*ret = o.d;
	return 0;
}
