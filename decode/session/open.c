/* SPDX-License-Identifier: MIT */
/* Opens a recording: one pass over its records. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/reader/aux_join.h"
#include "auxtrace/reader/time_order.h"
#include "auxtrace/record/cutout.h"
#include "auxtrace/record/filecode.h"
#include "auxtrace/record/sample.h"
#include "base/err.h"
#include "base/grow.h"
#include "decode/session/decode_input.h"

#include <linux/perf_event.h>

struct opening {
	struct ptc_decode_input *in;
	struct ptc_pt_info info;
	bool has_info;
	struct ptc_time_conv conv;
	bool has_conv;
	struct ptc_aux_join aux; /* owned */
	struct ptc_order_stats order;
};

/* Checks a sideband record. Sideband records are read again, one by one, when their time comes. */
static int check_sb(struct opening *o, const struct ptc_rec *rec, struct ptc_err *err)
{
	struct ptc_sb sb;
	int r = ptc_sb_parse(rec, ptc_file_trailer_type(o->in->file, rec), &sb, err);

	if (r <= 0)
		return r;
	if (sb.type == PERF_RECORD_AUX)
		return ptc_aux_join_add(&o->aux, &sb, err);
	return o->has_info ? ptc_origin_see(&o->in->origin, &o->in->sideband, &sb, err) : 0;
}

/* A sample may contain trace. It belongs to the queue of its event, or of its cpu or thread. */
static int take_sample(struct opening *o, const struct ptc_rec *rec, struct ptc_err *err)
{
	const struct ptc_file_attr *a = ptc_file_sample_attr(o->in->file, rec);
	struct ptc_aux_sample t = { .tid = -1, .cpu = -1 };
	struct ptc_sample s;
	int r;

	if (!a || !(a->attr.sample_type & PERF_SAMPLE_AUX))
		return 0;
	r = ptc_sample_parse(rec, &a->attr, &s, err);
	t.size = r ? 0 : ptc_cur_left(&s.aux);
	if (!t.size)
		return r;
	t.file_off = rec->off + PTC_REC_HEADER_SIZE + (uint64_t)(s.aux.pos - rec->body.pos);
	if (s.id.has & PERF_SAMPLE_CPU)
		t.cpu = (int32_t)s.id.cpu;
	else if (s.id.has & PERF_SAMPLE_TID)
		t.tid = s.id.tid;
	t.idx = (uint32_t)(t.cpu != -1 ? t.cpu : t.tid);
	(void)ptc_aux_join_idx(&o->aux, s.id.id, &t.idx);
	if ((s.id.has & PERF_SAMPLE_TIME) && o->has_info && o->info.time.mult)
		t.reference = ptc_ns_to_tsc(&o->info.time, s.id.time);
	return ptc_index_add_sample(&o->in->index, o->in->file, &t, err);
}

/*
 * Takes code of a file that was gone when the recording ended. Other records of this type are not
 * needed for decoding.
 */
static int take_code(struct opening *o, const struct ptc_rec *rec, struct ptc_err *err)
{
	struct ptc_filecode c;
	struct ptc_file_mark mark;
	struct ptc_codefile *f;
	const int r = ptc_filecode_parse(rec, &c, err);

	if (r <= 0)
		return r;
	mark = (struct ptc_file_mark){ .ino = c.ino,
				       .maj = (uint32_t)c.maj,
				       .min = (uint32_t)c.min };
	f = ptc_codefiles_get_mapped(&o->in->origin.files, c.name, &c.id, &mark, -1);
	if (!f)
		return ptc_fail_mem(err);
	(void)ptc_codefile_give(f, c.size, c.off, c.bytes.pos, ptc_cur_left(&c.bytes));
	return 0;
}

/* Takes the borders of a cutout. */
static int take_cutout(struct opening *o, const struct ptc_rec *rec, struct ptc_err *err)
{
	struct ptc_cutout_record r;
	const int rc = ptc_cutout_parse(rec, &r, err);

	return rc <= 0 ? rc : ptc_cutout_add(&o->in->cutout, &r, err);
}

static int take_record(struct opening *o, const struct ptc_rec *rec, struct ptc_err *err)
{
	int r;

	switch (rec->type) {
	case PTC_REC_AUXTRACE:
		return ptc_index_add(&o->in->index, o->in->file, rec, err);
	case PTC_REC_AUXTRACE_INFO:
		r = ptc_pt_info_parse(rec, &o->info, err);
		o->has_info = !r;
		return r;
	case PTC_REC_TIME_CONV:
		r = ptc_time_conv_parse(rec, &o->conv, err);
		o->has_conv = !r;
		return r;
	case PTC_REC_HEADER_EVENT_TYPE:
		r = take_code(o, rec, err);
		return r ? r : take_cutout(o, rec, err);
	case PTC_REC_ID_INDEX:
		return ptc_aux_join_ids(&o->aux, rec, err);
	case PERF_RECORD_SAMPLE:
		return take_sample(o, rec, err);
	default:
		return rec->type < PTC_REC_USER_START ? check_sb(o, rec, err) : 0;
	}
}

/* Reads all records in order, which also shows whether FINISHED_ROUND can be trusted. */
static int take_records(struct opening *o, struct ptc_err *err)
{
	struct ptc_order *order;
	struct ptc_rec rec;
	uint64_t time;
	int r, rc = 0;

	r = ptc_order_new(o->in->file, NULL, &order, err);
	if (r < 0)
		return r;
	while (!rc && (r = ptc_order_next(order, &rec, &time, err)) > 0)
		rc = take_record(o, &rec, err) < 0 ? ptc_file_err_name(o->in->file, err) : 0;
	ptc_index_sort(&o->in->index);
	o->order = (struct ptc_order_stats)PTC_ORDER_STATS_INIT;
	ptc_order_get_stats(order, &o->order);
	ptc_order_free(order);
	return rc ? rc : r; /* the reader adds the file name itself */
}

/* Parses, for example, "GenuineIntel,6,158,10". */
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

	for (i = 0; i < ptc_file_nattrs(o->in->file); i++) {
		const struct perf_event_attr *a = &ptc_file_attr(o->in->file, i)->attr;

		if (a->type == o->info.pmu_type)
			return a;
	}
	return NULL;
}

static int set_up_engine(struct opening *o, struct ptc_err *err)
{
	const struct perf_event_attr *attr = pt_attr(o);
	struct ptc_decode_input *in = o->in;
	struct ptc_ipt_params params = { .cpu = in->opts.cpu_id_set ? in->opts.cpu_id :
								      recorded_cpu(in->file) };
	int r;

	if (!attr)
		return ptc_fail(err, PTC_E_FORMAT,
				"'%s': no event has the PMU type %u that AUXTRACE_INFO names",
				ptc_file_name(in->file), o->info.pmu_type);
	if (attr->config & o->info.mtc_bit)
		params.mtc_freq = (uint8_t)ptc_config_field(attr->config, o->info.mtc_freq_bits);
	params.nom_freq = (uint8_t)o->info.max_nonturbo_ratio;
	params.tsc_ctc_n = o->info.tsc_ctc_n;
	params.tsc_ctc_d = o->info.tsc_ctc_d;
	in->clock.conv = o->info.cap_user_time_zero || !o->has_conv ? o->info.time : o->conv;
	in->clock.valid = (attr->config & o->info.tsc_bit) && in->clock.conv.mult &&
			  (o->info.cap_user_time_zero || o->has_conv);
	in->cycles = attr->config & o->info.cyc_bit;
	r = ptc_ipt_init(&in->ipt, &params, err);
	in->ipt_ready = true;
	return r;
}

/* Returns true if the CPU is known, or is not from Intel: then software made the trace. */
static bool cpu_is_known(const struct ptc_decode_input *in)
{
	const struct ptc_cpu_id id = recorded_cpu(in->file);
	struct ptc_cur c;
	const char *s;

	return in->opts.cpu_id_set || id.family ||
	       (ptc_file_feature(in->file, PTC_FEAT_CPUID, &c, NULL) &&
		ptc_feature_get_string(&c, &s) && *s && strncmp(s, "GenuineIntel", 12) != 0);
}

/* Reports the assumptions that replace information missing in the recording. */
static void tell_assumptions(const struct opening *o)
{
	const struct perf_event_attr *attr = pt_attr(o);
	struct ptc_decode_input *in = o->in;
	size_t i;

	if (!cpu_is_known(in))
		ptc_origin_remark(&in->origin, "assumed: no errata: the recording does not "
					       "say which CPU it is of");
	if (!in->clock.valid)
		ptc_origin_remark(&in->origin,
				  "assumed: all that was mapped was so from the start: there are "
				  "no times, as %s",
				  attr->config & o->info.tsc_bit ?
					  "the recording does not say how the TSC counts" :
					  "TSC packets were off");
	else if ((attr->config & o->info.mtc_bit) && (!o->info.tsc_ctc_n || !o->info.tsc_ctc_d))
		ptc_origin_remark(&in->origin,
				  "MTC packets give no times: the recording does not say how they "
				  "count");
	for (i = 0; i < in->nlanes && !o->info.have_sched_switch; i++)
		if (in->lanes[i].cpu != -1) {
			ptc_origin_remark(&in->origin,
					  "assumed: a CPU ran one thread only: the recording has "
					  "no context switches");
			break;
		}
}

static int by_mark(const void *pa, const void *pb)
{
	const struct ptc_mark *a = pa, *b = pb;

	return a->off < b->off ? -1 : a->off > b->off;
}

static int add_mark(struct ptc_queue_decoder *l, uint64_t off, enum ptc_gap_cause cause,
		    uint64_t len, struct ptc_err *err)
{
	if (!ptc_grow(&l->marks, &l->marks_cap, l->nmarks + 1, sizeof(*l->marks)))
		return ptc_fail_mem(err);
	l->marks[l->nmarks++] = (struct ptc_mark){ off, cause, len };
	return 0;
}

/* AUX records may report trace behind the end of the trace in the file: lists a gap for it. */
static int set_lost_end(const struct ptc_aux_spans *s, struct ptc_queue_decoder *l,
			struct ptc_err *err)
{
	const struct ptc_span *sp = l->stream.n ? &l->stream.spans[l->stream.n - 1] : NULL;
	uint64_t end, told = 0;
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->spans[i].told && s->spans[i].off + s->spans[i].size > told)
			told = s->spans[i].off + s->spans[i].size;
	end = sp ? sp->base + sp->len : told;
	return told > end ? add_mark(l, end, PTC_GAP_LOST, told - end, err) : 0;
}

/*
 * TRUNCATED ends a span, or becomes a mark if there is no span to end. PARTIAL always becomes a
 * mark.
 */
static int set_losses(const struct ptc_aux_spans *s, struct ptc_queue_decoder *l,
		      struct ptc_cut *cuts, struct ptc_err *err)
{
	size_t i, k, n = 0;
	int r;

	for (i = 0; i < s->n; i++)
		if (s->spans[i].flags & PERF_AUX_FLAG_TRUNCATED)
			cuts[n++].off = s->spans[i].off + s->spans[i].size;
	r = ptc_stream_cut(&l->stream, cuts, n, err);
	for (i = 0; i < n && !r; i++)
		if (!cuts[i].done)
			r = add_mark(l, cuts[i].off, PTC_GAP_TRUNCATED, 0, err);
	for (k = 0; k < s->n && !r; k++)
		if ((s->spans[k].flags & PERF_AUX_FLAG_PARTIAL) &&
		    !(s->spans[k].flags & PERF_AUX_FLAG_TRUNCATED))
			r = add_mark(l, s->spans[k].off + s->spans[k].size, PTC_GAP_PARTIAL, 0,
				     err);
	if (l->nmarks)
		qsort(l->marks, l->nmarks, sizeof(*l->marks), by_mark);
	return r;
}

static int set_up_stream(const struct opening *o, struct ptc_queue_decoder *l, size_t queue,
			 struct ptc_err *err)
{
	const struct ptc_queue *q = &o->in->index.queues[queue];
	struct ptc_aux_spans spans = { NULL, 0, 0 };
	struct ptc_cut *cuts = NULL;
	int r;

	r = ptc_stream_join(&l->stream, o->in->file, q, o->info.snapshot_mode, err);
	if (!r)
		r = ptc_aux_join_queue(&o->aux, &o->in->index, queue, NULL, &spans, err);
	if (!r && !o->info.snapshot_mode && !q->samples)
		r = set_lost_end(&spans, l, err);
	if (!r) {
		cuts = calloc(spans.n ? spans.n : 1, sizeof(*cuts));
		r = cuts ? set_losses(&spans, l, cuts, err) : ptc_fail_mem(err);
	}
	free(cuts);
	ptc_aux_spans_release(&spans);
	return r;
}

/*
 * Returns the thread that all trace of @q belongs to, or -1. With switch records, the tid of a
 * per-cpu AUXTRACE record only says which thread ran when the record was copied.
 */
static int32_t tid_of(const struct opening *o, const struct ptc_queue *q)
{
	return q->cpu != -1 && o->info.have_sched_switch ? -1 : q->tid;
}

static bool is_queue_selected(const struct ptc_decode_opts *o, int32_t tid, int32_t cpu)
{
	return (tid == -1 || ptc_ids_have(&o->tids, tid)) &&
	       (cpu == -1 || ptc_ids_have(&o->cpus, cpu));
}

static int set_up_lanes(struct opening *o, struct ptc_err *err)
{
	struct ptc_decode_input *in = o->in;
	size_t i;
	int r;

	in->lanes = calloc(in->index.nqueues ? in->index.nqueues : 1, sizeof(*in->lanes));
	if (!in->lanes)
		return ptc_fail_mem(err);
	r = ptc_aux_join_sort(&o->aux, &in->index, err);
	if (r < 0)
		return r;
	for (i = 0; i < in->index.nqueues; i++) {
		const struct ptc_queue *q = &in->index.queues[i];
		struct ptc_queue_decoder *l = &in->lanes[in->nlanes];
		const int32_t tid = tid_of(o, q);

		if (!is_queue_selected(&in->opts, tid, q->cpu))
			continue;
		in->nlanes++;
		l->idx = q->idx;
		l->cpu = q->cpu;
		l->tid = tid;
		l->samples = q->samples;
		l->snapshots = o->info.snapshot_mode || q->samples;
		r = ptc_queue_map_add(&in->queues, tid, q->cpu) ? set_up_stream(o, l, i, err) :
								  ptc_fail_mem(err);
		if (r < 0)
			return r;
	}
	return 0;
}

/*
 * Remembers which times @l has trace for, span by span. Trace is missing behind the last sample,
 * too.
 */
static bool keep_times(struct ptc_decode_input *in, const struct ptc_queue_decoder *l)
{
	struct ptc_kept_time k = { .cpu = l->cpu, .queue = l->idx };
	const size_t open_end = in->joint.samples ? SIZE_MAX : l->stream.n - 1;
	bool ok = true, any = false;
	size_t i;

	for (i = 0; ok && i < l->stream.n; i++) {
		const struct ptc_span *sp = &l->stream.spans[i];

		if (ptc_range_next_timed(sp, &in->clock, 0, &k.from_ns) == sp->len)
			continue;
		k.upto_ns = i == open_end || !sp->reference ?
				    UINT64_MAX :
				    ptc_tsc_clock_ns(&in->clock, sp->reference, sp->reference);
		ok = ptc_discontinuity_keep(&in->joint, k);
		any = true;
	}
	k.from_ns = k.upto_ns = UINT64_MAX;
	return ok && (any || ptc_discontinuity_keep(&in->joint, k));
}

static int lane_by_cpu(const void *pa, const void *pb)
{
	const struct ptc_queue_decoder *a = *(const struct ptc_queue_decoder *const *)pa;
	const struct ptc_queue_decoder *b = *(const struct ptc_queue_decoder *const *)pb;

	return (a->cpu > b->cpu) - (a->cpu < b->cpu);
}

/*
 * Sets up the join of several CPUs' snapshots. With one CPU, the gap in front of each snapshot is
 * enough. Samples may cover only some CPUs.
 */
static int set_up_joint(struct opening *o, struct ptc_err *err)
{
	struct ptc_decode_input *in = o->in;
	const struct ptc_queue_decoder **lanes;
	size_t i, n = 0;
	bool ok = true;

	for (i = 0; i < in->nlanes; i++)
		in->joint.samples |= in->lanes[i].samples;
	if (!in->joint.samples && (!o->info.snapshot_mode || in->nlanes < 2))
		return 0;
	if (!in->nlanes || !in->clock.valid)
		return 0;
	lanes = calloc(in->nlanes, sizeof(const struct ptc_queue_decoder *));
	if (!lanes)
		return ptc_fail_mem(err);
	for (i = 0; i < in->nlanes; i++)
		if (in->lanes[i].cpu != -1 && in->lanes[i].tid == -1)
			lanes[n++] = &in->lanes[i];
	qsort(lanes, n, sizeof(const struct ptc_queue_decoder *), lane_by_cpu);
	for (i = 0; ok && i < n; i++)
		ok = keep_times(in, lanes[i]);
	free(lanes);
	return ok ? 0 : ptc_fail_mem(err);
}

static int open_file(struct opening *o, const char *path, struct ptc_err *err)
{
	struct ptc_decode_input *in = o->in;
	struct ptc_err complaint;
	int r;

	in->resync = in->opts.resync == PTC_RESYNC_PSB ? PTC_RESYNC_PSB : PTC_RESYNC_PACKET;
	r = ptc_file_open(path, &in->file, err);
	if (r < 0)
		return r;
	r = ptc_sideband_features(&in->sideband, in->file, err);
	if (r < 0)
		return ptc_file_err_name(in->file, err);
	r = ptc_origin_begin(&in->origin, in->file, in->opts.code, err);
	if (!r)
		r = take_records(o, err);
	if (r < 0)
		return r;
	if (!o->has_info && !in->opts.untraced)
		return ptc_fail(err, PTC_E_NOT_EXIST, "'%s' holds no AUX trace", path);
	if (o->has_info && o->info.type != PTC_AUXTRACE_TYPE_INTEL_PT)
		return ptc_fail(err, PTC_E_UNSUPPORTED,
				"'%s' holds AUX trace of type %u, which is not Intel PT", path,
				o->info.type);
	r = o->has_info ? set_up_engine(o, err) : 0;
	if (r < 0)
		return r;
	r = ptc_origin_prepare(&in->procs, &in->sideband, in->file, in->opts.code, &in->clock,
			       o->has_info && !pt_attr(o)->exclude_kernel, err);
	in->opts.code = NULL; /* lent only until opening is done */
	if (!r && o->has_info)
		r = set_up_lanes(o, err);
	if (!r && o->has_info)
		r = set_up_joint(o, err);
	if (r < 0)
		return r;
	if (o->has_info)
		tell_assumptions(o);
	if (!ptc_index_agrees(&in->index, in->file, &complaint))
		ptc_notes_add(&in->notes, "%s", complaint.msg);
	return ptc_sideband_open(&in->sideband, in->file, o->order.unordered || o->order.late, err);
}

int ptc_decode_input_open(struct ptc_decode_input *in, const char *path, struct ptc_err *err)
{
	struct opening o = { .in = in };
	const int r = open_file(&o, path, err);

	ptc_aux_join_release(&o.aux);
	return r;
}
