/* SPDX-License-Identifier: MIT */
#include "ptcap/copy.h"

#include "auxtrace/copy/added_event.h"
#include "auxtrace/copy/record_filter.h"
#include "auxtrace/copy/redact.h"
#include "auxtrace/record/auxtrace_rec.h"
#include "auxtrace/record/cutout.h"
#include "auxtrace/record/layout.h"
#include "auxtrace/record/sample.h"
#include "auxtrace/record/userrec.h"
#include "auxtrace/writer/compress.h"
#include "auxtrace/writer/pipe_writer.h"
#include "auxtrace/writer/writer.h"
#include "base/err.h"
#include "base/opts.h"

struct copying {
	const struct ptc_file *f;
	const struct ptc_copy_opts *opts;
	struct ptc_writer *w;
	struct ptc_select *select; /* NULL: copy everything */
	struct ptc_redact *redact; /* NULL: copy unchanged */
	struct ptc_added added;	   /* the event of opts->more */
	bool id_index;		   /* an ID_INDEX record was copied */
	struct ptc_copy_stats stats;
};

static bool from_pipe(const struct copying *c)
{
	return ptc_file_form(c->f) == PTC_FORM_PIPE;
}

/* Attrs and features are already records and can be copied in place, except after damage. */
static bool pipe_to_pipe(const struct copying *c)
{
	return from_pipe(c) && c->opts->pipe && !ptc_file_damage(c->f) && !c->opts->more;
}

/* Returns the compression level; 0: no compression. */
static unsigned int level(const struct copying *c)
{
	struct ptc_compressed said;
	struct ptc_cur bytes;

	if (c->opts->pack != PTC_COPY_PACK_KEEP)
		return c->opts->pack == PTC_COPY_PACK_ZSTD ? c->opts->level : 0;
	if (!ptc_file_compressed(c->f))
		return 0;
	if (ptc_file_feature(c->f, PTC_FEAT_COMPRESSED, &bytes, NULL) &&
	    ptc_feature_get_compressed(&bytes, &said) && said.level &&
	    said.level <= PTC_COMPRESS_LEVEL_MAX)
		return said.level;
	return 1;
}

uint64_t ptc_copy_new_id(const struct ptc_file *f)
{
	uint64_t id = 0;
	size_t i, k;

	for (i = 0; i < ptc_file_nattrs(f); i++) {
		const struct ptc_file_attr *a = ptc_file_attr(f, i);

		for (k = 0; k < a->nids; k++)
			id = a->ids[k] > id ? a->ids[k] : id;
	}
	return id + 1;
}

static int add_attr(struct copying *c, struct ptc_err *err)
{
	size_t i;

	for (i = 0; i < ptc_file_nattrs(c->f); i++)
		if (!(ptc_file_attr(c->f, i)->attr.sample_type & PERF_SAMPLE_IDENTIFIER))
			return ptc_fail(err, PTC_E_UNSUPPORTED,
					"cannot add an event to '%s': its records have no event id",
					ptc_file_name(c->f));
	return ptc_writer_attr(c->w, c->added.attr, c->added.name, &c->added.id, 1, err);
}

static int copy_attrs(struct copying *c, struct ptc_err *err)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < ptc_file_nattrs(c->f) && !rc; i++) {
		const struct ptc_file_attr *a = ptc_file_attr(c->f, i);

		rc = ptc_writer_attr_stored(c->w, a->stored, a->ids, a->nids, err);
	}
	return rc || !c->opts->more ? rc : add_attr(c, err);
}

/* Return whether the output must not copy this feature: it is regenerated, or no longer true. */
static bool is_stale(const struct copying *c, unsigned int bit)
{
	switch (bit) {
	case PTC_FEAT_COMPRESSED:
	case PTC_FEAT_DIR_FORMAT:
		return true;
	case PTC_FEAT_SAMPLE_TIME:
		return c->select || c->opts->more;
	case PTC_FEAT_EVENT_DESC:
		return c->opts->more;
	case PTC_FEAT_AUXTRACE:
		return c->opts->strip_aux || c->opts->pipe;
	default:
		return false;
	}
}

static int copy_feature(struct copying *c, unsigned int bit, struct ptc_cur bytes,
			struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	uint64_t zeroed = 0;
	int rc;

	if (c->redact)
		zeroed = ptc_redact_feature(bit, bytes, &b);
	c->stats.zeroed += zeroed;
	if (ptc_buf_failed(&b))
		rc = ptc_fail_mem(err);
	else
		rc = ptc_writer_feature(c->w, bit, zeroed ? b.bytes : bytes.pos,
					ptc_cur_left(&bytes), err);
	ptc_buf_release(&b);
	return rc;
}

static int copy_features(struct copying *c, struct ptc_err *err)
{
	struct ptc_cur bytes;
	unsigned int bit;
	int rc = 0;

	for (bit = 1; bit < PTC_FEATURE_BITS && !rc; bit++) {
		if (!ptc_file_feature(c->f, bit, &bytes, NULL) || is_stale(c, bit))
			continue;
		if (!c->opts->pipe || ptc_pipe_has_room(bit, ptc_cur_left(&bytes)))
			rc = copy_feature(c, bit, bytes, err);
		else
			c->stats.lost_feature[bit] = true;
	}
	return rc;
}

static int add_event_desc(struct copying *c, struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_cur bytes;
	int rc = 0;

	if (ptc_file_feature(c->f, PTC_FEAT_EVENT_DESC, &bytes, NULL) &&
	    ptc_added_event_desc(&b, bytes, &c->added))
		rc = ptc_buf_failed(&b) ?
			     ptc_fail_mem(err) :
			     ptc_writer_feature(c->w, PTC_FEAT_EVENT_DESC, b.bytes, b.len, err);
	ptc_buf_release(&b);
	return rc;
}

static int add_id_index(struct copying *c, struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	int rc;

	ptc_added_id_index(&b, &c->added);
	rc = ptc_buf_failed(&b) ? ptc_fail_mem(err) :
				  ptc_writer_stored(c->w, b.bytes, b.len, false, err);
	ptc_buf_release(&b);
	return rc;
}

/*
 * perf does not wait for EVENT_DESC in pipe mode. Names are sent as EVENT_UPDATE, by the first id.
 */
static int put_names(struct copying *c, struct ptc_err *err)
{
	struct ptc_event_desc_iter it;
	struct ptc_event_desc_entry e;
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_cur bytes;
	struct ptc_err bad;
	uint64_t off;
	int rc = 0;

	if (!ptc_file_feature(c->f, PTC_FEAT_EVENT_DESC, &bytes, &off) ||
	    ptc_feature_open_event_desc(bytes, off, &it, &bad))
		return 0;
	while (ptc_feature_next_event_desc(&it, &e, &bad) > 0) {
		struct ptc_user u = { .type = PTC_REC_EVENT_UPDATE };

		u.u.event_update.type = PTC_UPDATE_NAME;
		u.u.event_update.text = e.name;
		if (ptc_cur_le64(&e.ids, &u.u.event_update.id))
			ptc_user_put(&b, &u);
	}
	/* A name that is too long for a record has set b to failed. */
	if (!ptc_buf_failed(&b) && b.len)
		rc = ptc_writer_stored(c->w, b.bytes, b.len, false, err);
	ptc_buf_release(&b);
	return rc;
}

/* Set SAMPLE_TIME to the copied records. Pipe mode would need it before the first record. */
static int update_sample_time(struct copying *c, struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	uint64_t first, last;
	struct ptc_cur bytes;
	int rc;

	if (!c->select || c->opts->pipe ||
	    !ptc_file_feature(c->f, PTC_FEAT_SAMPLE_TIME, &bytes, NULL) ||
	    !ptc_select_times(c->select, &first, &last))
		return 0;
	ptc_feature_put_sample_time(&b, first, last);
	rc = ptc_buf_failed(&b) ?
		     ptc_fail_mem(err) :
		     ptc_writer_feature(c->w, PTC_FEAT_SAMPLE_TIME, b.bytes, b.len, err);
	ptc_buf_release(&b);
	return rc;
}

/* Returns the bytes of @rec with its header. */
static struct ptc_cur whole(const struct ptc_rec *rec)
{
	struct ptc_cur c = rec->body;

	c.pos -= PTC_REC_HEADER_SIZE;
	return c;
}

static int write_stored_bytes(struct copying *c, struct ptc_cur bytes, struct ptc_err *err)
{
	return ptc_writer_stored(c->w, bytes.pos, ptc_cur_left(&bytes), false, err);
}

/* Writes a chunk that is a part of a recorded one. */
static int write_piece(struct copying *c, const struct ptc_auxtrace *a, struct ptc_cur trace,
		       struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	int rc;

	c->stats.pieces++;
	c->stats.piece_bytes += a->size;
	ptc_auxtrace_put(&b, a);
	rc = ptc_buf_failed(&b) ? ptc_fail_mem(err) :
				  ptc_writer_piece(c->w, ptc_cur_init(b.bytes, b.len), trace, err);
	ptc_buf_release(&b);
	return rc;
}

static int copy_piece(struct copying *c, const struct ptc_rec *rec, struct ptc_err *err)
{
	struct ptc_auxtrace a;
	struct ptc_cur payload;
	int rc = ptc_file_auxtrace(c->f, rec, &a, &payload, err);
	const struct ptc_trim *trim = c->select ? ptc_select_trim(c->select, rec) : NULL;

	if (rc)
		return rc;
	if (trim && ptc_trim_piece(trim, &a, &payload))
		return write_piece(c, &a, payload, err);
	c->stats.pieces++;
	c->stats.piece_bytes += a.size;
	return ptc_writer_piece(c->w, whole(rec), payload, err);
}

/* Copies an AUX record, of a cutout in part. */
static int copy_aux(struct copying *c, const struct ptc_rec *rec, struct ptc_err *err)
{
	const struct ptc_trim *trim = c->select ? ptc_select_trim(c->select, rec) : NULL;
	const struct ptc_cur bytes = whole(rec);
	struct ptc_buf b = PTC_BUF_INIT;
	int rc;

	if (!trim)
		return ptc_writer_stored(c->w, bytes.pos, ptc_cur_left(&bytes), true, err);
	ptc_trim_aux(trim, rec, &b);
	rc = ptc_buf_failed(&b) ? ptc_fail_mem(err) :
				  ptc_writer_stored(c->w, b.bytes, b.len, true, err);
	ptc_buf_release(&b);
	return rc;
}

/* Copy the existing part of a cut-off AUXTRACE chunk as a chunk. */
static int copy_cut_piece(struct copying *c, size_t part, struct ptc_err *err)
{
	struct ptc_auxtrace a;
	struct ptc_cur trace;

	if (c->select || c->opts->strip_aux || !ptc_file_cut_trace(c->f, part, &a, &trace))
		return 0;
	c->stats.records++;
	return write_piece(c, &a, trace, err);
}

static int copy_tracing_data(struct copying *c, const struct ptc_rec *rec, struct ptc_err *err)
{
	const uint64_t end = rec->off + PTC_REC_HEADER_SIZE + ptc_cur_left(&rec->body);
	struct ptc_cur text;
	int rc = write_stored_bytes(c, whole(rec), err);

	/* ptc_file_next has checked that the text is complete. */
	if (!rc && ptc_file_bytes(c->f, end, ptc_rec_trailing(rec), &text))
		rc = write_stored_bytes(c, text, err);
	return rc;
}

static bool is_front(uint32_t type)
{
	return type == PTC_REC_HEADER_ATTR || type == PTC_REC_HEADER_FEATURE ||
	       type == PTC_REC_HEADER_BUILD_ID || type == PTC_REC_HEADER_TRACING_DATA;
}

/* Return whether @rec is about the trace, including the ledger of the trace. */
static bool is_trace(const struct ptc_rec *rec)
{
	const uint32_t type = rec->type;
	struct ptc_ledger ledger;
	struct ptc_err err;

	if (ptc_ledger_parse(rec, &ledger, &err) == 1)
		return ledger.kind != PTC_LEDGER_CLOCKS && ledger.kind != PTC_LEDGER_PROCESSORS;
	return type == PTC_REC_AUXTRACE || type == PTC_REC_AUXTRACE_INFO ||
	       type == PTC_REC_AUXTRACE_ERROR || type == PERF_RECORD_AUX ||
	       type == PERF_RECORD_AUX_OUTPUT_HW_ID || type == PERF_RECORD_ITRACE_START;
}

static bool is_stale_record(const struct copying *c, const struct ptc_rec *rec)
{
	struct ptc_cur body = rec->body;
	uint64_t bit;

	if (rec->type == PTC_REC_FINISHED_ROUND)
		return ptc_file_form(c->f) == PTC_FORM_FOLDER || c->opts->more;
	if (!is_front(rec->type))
		return false;
	if ((from_pipe(c) || c->opts->pipe) && !pipe_to_pipe(c))
		return true; /* moved to the new front, or not a record of file mode */
	if (c->opts->pipe && rec->off & PTC_OFF_INFLATED)
		return true; /* inside a COMPRESSED record it had no effect, and must not get one */
	return rec->type == PTC_REC_HEADER_FEATURE && ptc_cur_le64(&body, &bit) &&
	       bit < PTC_FEATURE_BITS && is_stale(c, (unsigned int)bit);
}

/* Copy a sample that contains trace, with an aux size of 0. */
static int copy_without_aux(struct copying *c, const struct ptc_rec *rec,
			    const struct ptc_sample *s, struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	size_t start;
	int rc;

	start = ptc_rec_begin(&b, rec->type, rec->misc);
	ptc_buf_put(&b, rec->body.pos, (size_t)(s->aux.pos - rec->body.pos) - 8);
	ptc_buf_le64(&b, 0);
	ptc_buf_put(&b, s->aux.end, (size_t)(rec->body.end - s->aux.end));
	ptc_rec_end(&b, start);
	rc = ptc_buf_failed(&b) ? ptc_fail_mem(err) :
				  ptc_writer_stored(c->w, b.bytes, b.len, true, err);
	ptc_buf_release(&b);
	return rc;
}

static int copy_sample(struct copying *c, const struct ptc_rec *rec, struct ptc_err *err)
{
	const struct ptc_file_attr *a = ptc_file_sample_attr(c->f, rec);
	const struct ptc_cur bytes = whole(rec);
	struct ptc_sample s;
	struct ptc_err e;

	if (c->opts->strip_aux && a && (a->attr.sample_type & PERF_SAMPLE_AUX) &&
	    !ptc_sample_parse(rec, &a->attr, &s, &e) && ptc_cur_left(&s.aux))
		return copy_without_aux(c, rec, &s, err);
	return ptc_writer_stored(c->w, bytes.pos, ptc_cur_left(&bytes), true, err);
}

static int copy_as_it_is(struct copying *c, const struct ptc_rec *rec, struct ptc_err *err)
{
	const struct ptc_cur bytes = whole(rec);

	switch (rec->type) {
	case PTC_REC_AUXTRACE:
		return copy_piece(c, rec, err);
	case PERF_RECORD_AUX:
		return copy_aux(c, rec, err);
	case PTC_REC_HEADER_TRACING_DATA:
		return copy_tracing_data(c, rec, err);
	case PERF_RECORD_SAMPLE:
		return copy_sample(c, rec, err);
	default:
		/* perf's own records are never compressed: readers need them for orientation. */
		return ptc_writer_stored(c->w, bytes.pos, ptc_cur_left(&bytes),
					 rec->type < PTC_REC_USER_START, err);
	}
}

static int copy_redacted(struct copying *c, const struct ptc_rec *rec, struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_rec zeroed = *rec;
	const uint64_t n = ptc_redact_record(c->redact, rec, &b);
	int rc;

	c->stats.zeroed += n;
	if (n && !ptc_buf_failed(&b))
		zeroed.body =
			ptc_cur_init(b.bytes + PTC_REC_HEADER_SIZE, b.len - PTC_REC_HEADER_SIZE);
	rc = ptc_buf_failed(&b) ? ptc_fail_mem(err) : copy_as_it_is(c, &zeroed, err);
	ptc_buf_release(&b);
	return rc;
}

static int copy_record(struct copying *c, const struct ptc_rec *rec, struct ptc_err *err)
{
	if (is_stale_record(c, rec))
		return 0;
	if ((c->select && !ptc_select_has(c->select, rec)) ||
	    (c->opts->strip_aux && is_trace(rec))) {
		c->stats.left_out++;
		return 0;
	}
	c->stats.records++;
	c->id_index |= rec->type == PTC_REC_ID_INDEX;
	return c->redact ? copy_redacted(c, rec, err) : copy_as_it_is(c, rec, err);
}

static int put_more(struct copying *c, struct ptc_err *err)
{
	const struct ptc_copy_more *more = c->opts->more;
	int rc = c->id_index ? add_id_index(c, err) : 0;

	if (!rc)
		rc = more->put(more->ctx, c->w, err);
	if (!rc && !c->opts->pipe && more->attr->sample_type & PERF_SAMPLE_BRANCH_STACK)
		rc = ptc_writer_feature(c->w, PTC_FEAT_BRANCH_STACK, "", 0, err);
	return rc;
}

static int put_cutout(struct copying *c, struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	int rc;

	ptc_cutout_put(&b, c->opts->cutout);
	rc = ptc_buf_failed(&b) ? ptc_fail_mem(err) :
				  ptc_writer_stored(c->w, b.bytes, b.len, false, err);
	ptc_buf_release(&b);
	return rc;
}

static int copy_all(struct copying *c, struct ptc_err *err)
{
	uint64_t pos = 0;
	struct ptc_rec rec;
	int rc = 0;
	size_t i;

	if (level(c))
		rc = ptc_writer_compress(c->w, level(c), err);
	if (!rc && !pipe_to_pipe(c)) {
		rc = copy_attrs(c, err);
		if (!rc)
			rc = copy_features(c, err);
		if (!rc && c->opts->more)
			rc = add_event_desc(c, err);
		if (!rc && c->opts->pipe)
			rc = put_names(c, err);
	}
	if (!rc && c->opts->cutout)
		rc = put_cutout(c, err);
	if (rc)
		return rc;
	while ((rc = ptc_file_next(c->f, &pos, &rec, err)) > 0) {
		rc = copy_record(c, &rec, err);
		if (rc)
			return rc;
	}
	for (i = 0; i < ptc_file_nparts(c->f) && !rc; i++)
		rc = copy_cut_piece(c, i, err);
	/* A header with a data size of 0 would mean a killed writer. */
	if (!rc && !c->stats.records)
		rc = ptc_fail(err, PTC_E_NOT_EXIST, "cannot copy '%s': no record %s",
			      ptc_file_name(c->f),
			      c->stats.left_out ? "matches the options" : "is undamaged");
	if (!rc && c->opts->more)
		rc = put_more(c, err);
	return rc ? rc : update_sample_time(c, err);
}

static struct ptc_select_opts selection_of(const struct ptc_copy_opts *o)
{
	return (struct ptc_select_opts){ .cpus = o->cpus,
					 .ncpus = o->ncpus,
					 .tids = o->tids,
					 .ntids = o->ntids,
					 .from_ns = o->from_ns,
					 .to_ns = o->to_ns,
					 .cutout = o->cutout };
}

int ptc_copy(const struct ptc_file *f, const char *path, const struct ptc_copy_opts *given,
	     struct ptc_copy_stats *ret, struct ptc_err *err)
{
	struct ptc_writer_opts wopts = { .size = sizeof(wopts), .copy = true };
	struct ptc_select_opts select;
	struct ptc_copy_opts opts;
	struct copying c = { .f = f, .opts = &opts };
	int rc = ptc_opts_take(&opts, sizeof(opts), given, "PTC_COPY_OPTS_INIT", err);

	if (rc)
		return rc;
	wopts.pipe = opts.pipe;
	select = selection_of(&opts);
	if (opts.more)
		c.added = (struct ptc_added){ opts.more->attr, opts.more->name, opts.more->id };
	if (!ptc_select_is_all(&select))
		rc = ptc_select_new(f, &select, &c.select, err);
	if (!rc && opts.redact)
		rc = ptc_redact_new(f, &c.redact, err);
	if (!rc)
		rc = ptc_writer_new_as(path, &wopts, &c.w, err);
	if (!rc)
		rc = copy_all(&c, err);
	if (!rc) {
		rc = ptc_writer_commit(c.w, err);
		c.w = NULL;
	}
	ptc_writer_free(c.w);
	ptc_redact_free(c.redact);
	ptc_select_free(c.select);
	if (!rc)
		ptc_opts_give(ret, &c.stats, sizeof(c.stats));
	return rc;
}
