/* SPDX-License-Identifier: MIT */
#include "lib_walk.h"

#include <stdlib.h>
#include <string.h>

#include "auxtrace/reader/aux_index.h"
#include "auxtrace/record/auxtrace_info.h"
#include "auxtrace/record/crash_record.h"
#include "auxtrace/record/filecode.h"
#include "auxtrace/record/ledger.h"
#include "auxtrace/record/sideband.h"
#include "auxtrace/record/userrec.h"

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond))                                                                       \
			abort();                                                                   \
	} while (0)

enum {
	FEW = 7, /* records at a time */
	NCPUS = 4,
};

/* Reads every byte, so that a sanitizer reports bytes out of bounds. */
static void inside(struct ptc_cur c)
{
	static volatile uint8_t sink;
	uint8_t sum = 0;

	CHECK(c.pos <= c.end);
	while (c.pos < c.end)
		sum ^= *c.pos++;
	sink = sum;
	(void)sink;
}

/* Reads every byte of a text, so that a sanitizer reports a missing end. */
static size_t read_text(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

static size_t read_sample(const struct ptc_rec *rec, const struct ptc_sample *s)
{
	struct ptc_branches branches = s->branches;
	struct ptc_read read = s->read;
	struct ptc_read_value v;
	struct ptc_branch b;
	size_t n = 0, i;

	while (ptc_read_next(&read, &v))
		n += v.value & 1;
	while (ptc_branches_next(&branches, &b))
		n += b.mispred;
	CHECK(!read.n && !branches.n);
	CHECK(ptc_cur_left(&s->callchain) % 8 == 0);
	CHECK(s->stack_user_dyn <= ptc_cur_left(&s->stack_user));
	for (i = 0; i < ptc_cur_left(&s->aux); i++)
		n += s->aux.pos[i];
	CHECK(s->rest.end == rec->body.end);
	return n;
}

static size_t walk_user(struct ptc_user *u)
{
	struct ptc_thread_map_entry t;
	struct ptc_stat_config_entry c;
	struct ptc_id_index_entry x;
	struct ptc_bpf_metadata_entry m;
	uint64_t v;
	size_t n = 0;
	int32_t cpu;

	switch (u->type) {
	case PTC_REC_ID_INDEX:
		while (ptc_id_index_next(&u->u.id_index, &x))
			n++;
		CHECK(!u->u.id_index.n);
		break;
	case PTC_REC_THREAD_MAP:
		while (ptc_thread_map_next(&u->u.thread_map, &t))
			n += read_text(t.comm);
		CHECK(!u->u.thread_map.n);
		break;
	case PTC_REC_CPU_MAP:
		while (ptc_cpu_map_next(&u->u.cpu_map, &cpu))
			CHECK(cpu >= -1);
		break;
	case PTC_REC_STAT_CONFIG:
		while (ptc_stat_config_next(&u->u.stat_config, &c))
			n++;
		CHECK(!u->u.stat_config.n);
		break;
	case PTC_REC_BPF_METADATA:
		while (ptc_bpf_metadata_next(&u->u.bpf_metadata, &m))
			n += read_text(m.key) + read_text(m.value);
		CHECK(!u->u.bpf_metadata.n);
		break;
	case PTC_REC_SCHEDSTAT_CPU:
	case PTC_REC_SCHEDSTAT_DOMAIN:
		while (ptc_schedstat_next(&u->u.schedstat, &v))
			n++;
		break;
	case PTC_REC_AUXTRACE_ERROR:
		n += read_text(u->u.auxtrace_error.msg);
		break;
	default:
		break;
	}
	return n;
}

/* Writes the parsed record and parses it again. */
static size_t read_user(const struct ptc_rec *rec)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_rec again = *rec;
	struct ptc_user u;
	struct ptc_err err;
	size_t n;

	if (ptc_user_parse(rec, &u, &err) != 1)
		return 0;
	ptc_user_put(&b, &u);
	n = walk_user(&u);
	if (!ptc_buf_failed(&b)) {
		again.misc = ptc_le16(b.bytes + 4);
		again.body = ptc_cur_init(b.bytes + 8, b.len - 8);
		CHECK(ptc_user_parse(&again, &u, &err) == 1);
		CHECK(walk_user(&u) == n);
	}
	ptc_buf_release(&b);
	return n;
}

/* Written records must parse to the same record, and so be written as the same bytes again. */
static void check_again(const struct ptc_buf *a, const struct ptc_buf *b)
{
	CHECK(!ptc_buf_failed(b) && a->len == b->len && !memcmp(a->bytes, b->bytes, a->len));
}

static struct ptc_rec rec_of(const struct ptc_buf *b)
{
	struct ptc_cur c = ptc_cur_init(b->bytes, b->len);
	struct ptc_rec rec;
	struct ptc_err err;

	CHECK(ptc_rec_next(&c, 0, &rec, &err) == 1 && !ptc_cur_left(&c));
	return rec;
}

static size_t read_side(const struct ptc_rec *rec, uint64_t trailer_type)
{
	struct ptc_buf a = PTC_BUF_INIT, b = PTC_BUF_INIT;
	struct ptc_rec again;
	struct ptc_err err;
	struct ptc_sb sb;
	size_t n = 0;

	if (ptc_sb_parse(rec, trailer_type, &sb, &err) != 1)
		return 0;
	if (sb.type == PERF_RECORD_COMM)
		n += read_text(sb.u.comm.comm);
	if (sb.type == PERF_RECORD_MMAP || sb.type == PERF_RECORD_MMAP2) {
		CHECK(sb.u.mmap.build_id.len <= PTC_BUILD_ID_MAX);
		n += read_text(sb.u.mmap.filename);
	}
	if (sb.type == PERF_RECORD_TEXT_POKE) {
		CHECK(sb.u.poke.old_bytes.pos >= rec->body.pos);
		CHECK(sb.u.poke.old_bytes.end == sb.u.poke.new_bytes.pos);
		CHECK(sb.u.poke.new_bytes.end <= rec->body.end);
	}
	ptc_sb_put(&a, &sb, trailer_type);
	if (!ptc_buf_failed(&a)) {
		again = rec_of(&a);
		CHECK(ptc_sb_parse(&again, trailer_type, &sb, &err) == 1);
		ptc_sb_put(&b, &sb, trailer_type);
		check_again(&a, &b);
	}
	ptc_buf_release(&a);
	ptc_buf_release(&b);
	return n;
}

/* Writes the code of a file and parses it again. */
static size_t read_filecode(const struct ptc_rec *rec)
{
	struct ptc_filecode c, again;
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_rec put;
	struct ptc_err err;
	size_t len;

	if (ptc_filecode_parse(rec, &c, &err) != 1)
		return 0;
	inside(c.bytes);
	len = ptc_cur_left(&c.bytes);
	if (len > PTC_FILECODE_MAX)
		return 1;
	ptc_filecode_put(&b, &c);
	if (!ptc_buf_failed(&b)) { /* a long name and much code may not fit together */
		put = rec_of(&b);
		CHECK(ptc_filecode_parse(&put, &again, &err) == 1 && !strcmp(again.name, c.name));
		CHECK(again.off == c.off && again.size == c.size && again.ino == c.ino);
		CHECK(ptc_build_id_same(&again.id, &c.id) || !c.id.len);
		CHECK(ptc_cur_left(&again.bytes) == len &&
		      (!len || !memcmp(again.bytes.pos, c.bytes.pos, len)));
	}
	ptc_buf_release(&b);
	return 1;
}

/*
 * Writes the state of a dead process and parses it again. A state larger than one record is split.
 */
static size_t read_crash(const struct ptc_rec *rec)
{
	struct ptc_ledger_field f, f2;
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_crash c, again;
	struct ptc_rec put;
	struct ptc_err err;
	size_t i, len;

	if (ptc_crash_parse(rec, &c, &err) != 1)
		return 0;
	inside(c.bytes);
	len = ptc_cur_left(&c.bytes);
	if (len > PTC_CRASH_BYTES_MAX || !ptc_crash_field(&c, 0, &f))
		return 1;
	ptc_crash_put(&b, &c);
	CHECK(!ptc_buf_failed(&b));
	put = rec_of(&b);
	CHECK(ptc_crash_parse(&put, &again, &err) == 1 && again.kind == c.kind);
	for (i = 0; ptc_crash_field(&c, i, &f); i++)
		CHECK(ptc_crash_field(&again, i, &f2) && f.value == f2.value);
	CHECK(ptc_cur_left(&again.bytes) == len &&
	      (!len || !memcmp(again.bytes.pos, c.bytes.pos, len)));
	ptc_buf_release(&b);
	return 1;
}

/* Writes the parsed ledger, which must parse to the same ledger. */
static size_t read_ledger(const struct ptc_rec *rec)
{
	struct ptc_ledger_event e, e2;
	struct ptc_ledger_ring r, r2;
	struct ptc_ledger l, again;
	struct ptc_rec put;
	struct ptc_err err;
	size_t n = 0;

	if (ptc_ledger_parse(rec, &l, &err) != 1)
		return 0;
	while (ptc_ledger_next_ring(&l, &r) || ptc_ledger_next_event(&l, &e)) {
		struct ptc_buf b = PTC_BUF_INIT;
		const bool ring = l.kind == PTC_LEDGER_RINGS;

		if (ring)
			ptc_ledger_put_rings(&b, &r, 1);
		else
			ptc_ledger_put_events(&b, &e, 1);
		CHECK(!ptc_buf_failed(&b));
		put = rec_of(&b);
		CHECK(ptc_ledger_parse(&put, &again, &err) == 1);
		CHECK(ring ? ptc_ledger_next_ring(&again, &r2) && !memcmp(&r, &r2, sizeof(r)) :
			     ptc_ledger_next_event(&again, &e2) && !memcmp(&e, &e2, sizeof(e)));
		ptc_buf_release(&b);
		n++;
	}
	return n;
}

static size_t read_pt_info(const struct ptc_rec *rec)
{
	struct ptc_buf a = PTC_BUF_INIT, b = PTC_BUF_INIT;
	struct ptc_pt_info info;
	struct ptc_rec again;
	struct ptc_err err;
	size_t n;

	if (ptc_pt_info_parse(rec, &info, &err) || info.type != PTC_AUXTRACE_TYPE_INTEL_PT)
		return 0;
	n = read_text(info.filter);
	n += (size_t)ptc_tsc_to_ns(&info.time, ptc_ns_to_tsc(&info.time, 1)) & 1;
	ptc_pt_info_put(&a, &info);
	if (!ptc_buf_failed(&a)) {
		again = rec_of(&a);
		CHECK(!ptc_pt_info_parse(&again, &info, &err));
		ptc_pt_info_put(&b, &info);
		check_again(&a, &b);
	}
	ptc_buf_release(&a);
	ptc_buf_release(&b);
	return n;
}

static size_t read_whole_sample(const struct ptc_rec *rec, const struct perf_event_attr *attr)
{
	struct ptc_buf a = PTC_BUF_INIT, b = PTC_BUF_INIT;
	struct ptc_rec again;
	struct ptc_sample s;
	struct ptc_err err;
	size_t n;

	if (ptc_sample_parse(rec, attr, &s, &err))
		return 0;
	n = read_sample(rec, &s);
	ptc_sample_put(&a, rec->misc, &s, attr);
	/* The padding of the kernel's record can be read as hw_idx, which may be missing here. */
	if (!ptc_buf_failed(&a) && a.len == PTC_REC_HEADER_SIZE + ptc_cur_left(&rec->body)) {
		again = rec_of(&a);
		CHECK(!ptc_sample_parse(&again, attr, &s, &err));
		ptc_sample_put(&b, rec->misc, &s, attr);
		check_again(&a, &b);
	}
	ptc_buf_release(&a);
	ptc_buf_release(&b);
	return n;
}

size_t wk_record(const struct ptc_rec *rec, uint64_t trailer_type,
		 const struct perf_event_attr *attr)
{
	struct ptc_cur body = rec->body;
	struct ptc_time_conv tc;
	struct ptc_sample s;
	struct ptc_err err;
	size_t n;

	inside(rec->body);
	n = read_side(rec, trailer_type);
	/* These parsers look at the body, for any record type. */
	n += read_pt_info(rec) + read_ledger(rec) + read_crash(rec) + read_filecode(rec);
	if (!ptc_time_conv_parse(rec, &tc, &err))
		CHECK(tc.shift < 64);
	if (attr && ptc_sample_parse_front(&body, attr->sample_type, &s))
		CHECK(body.end == rec->body.end);
	if (attr)
		n += read_whole_sample(rec, attr);
	return n + read_user(rec);
}

static size_t read_record(const struct ptc_file *f, const struct ptc_rec *rec)
{
	const struct ptc_file_attr *a = ptc_file_sample_attr(f, rec);

	return wk_record(rec, ptc_file_trailer_type(f, rec), a ? &a->attr : NULL);
}

static size_t read_features(const struct ptc_file *f)
{
	unsigned int bit;
	size_t n = 0;

	for (bit = 0; bit < 256; bit++) {
		struct ptc_event_desc_iter it;
		struct ptc_event_desc_entry event;
		struct ptc_build_id_entry id;
		struct ptc_cur section, c;
		struct ptc_err err;
		const char *text;
		uint64_t off;

		if (!ptc_file_feature(f, bit, &section, &off))
			continue;
		inside(section);
		if (!ptc_feature_check((enum ptc_feature)bit, section, off, NCPUS, &c, &err))
			CHECK(c.end == section.end);
		c = section;
		while (ptc_feature_get_string(&c, &text))
			n += read_text(text);
		c = section;
		while (ptc_feature_next_build_id(&c, off, &id, &err) > 0)
			n += read_text(id.filename) + id.id.len;
		if (!ptc_feature_open_event_desc(section, off, &it, &err)) {
			/* An event takes at least one byte, so a count of 2^32 ends soon. */
			while (ptc_feature_next_event_desc(&it, &event, &err) > 0) {
				inside(event.ids);
				n += read_text(event.name);
			}
		}
	}
	return n;
}

static void check_index(const struct ptc_file *f, const struct ptc_index *ix)
{
	size_t i, j;

	for (i = 0; i < ix->nqueues; i++) {
		uint64_t sum = 0;

		CHECK(!i || ix->queues[i].idx > ix->queues[i - 1].idx);
		for (j = 0; j < ix->queues[i].nchunks; j++) {
			inside(ptc_chunk_bytes(f, &ix->queues[i].chunks[j]));
			sum += ix->queues[i].chunks[j].size;
		}
		CHECK(sum == ix->queues[i].bytes);
	}
}

/* The record must be at the position that ptc_file_bytes returns. */
static void check_place(const struct ptc_file *f, const struct ptc_rec *rec)
{
	struct ptc_file_place place;
	struct ptc_cur c;

	CHECK(ptc_file_bytes(f, rec->off, 8, &c) && c.end == rec->body.pos);
	ptc_file_place(f, rec->off, &place);
	CHECK(place.name && place.off < ptc_file_size(f));
	CHECK(place.inflated || place.off == rec->off);
}

/* Both walks must give the same records. The walk of the damaged file may end earlier. */
static void check_salvage(const uint8_t *bytes, size_t len, const struct ptc_file *f)
{
	uint64_t pos = 0, at = 0;
	struct ptc_rec a, b;
	struct ptc_file *d;
	struct ptc_err err;

	CHECK(!ptc_file_open_damaged_bytes(bytes, len, "fuzz", &d, &err));
	for (;;) {
		const int rc = ptc_file_next(d, &at, &b, &err);

		CHECK(rc >= 0);
		if (!rc)
			break;
		if (ptc_file_next(f, &pos, &a, &err) <= 0)
			break; /* compressed, but not declared in the header */
		CHECK(a.type == b.type && a.off == b.off);
	}
	ptc_file_free(d);
}

/* A batch must have the same records as single reads. */
static void check_batches(const struct ptc_file *f)
{
	struct ptc_rec recs[FEW], rec;
	uint64_t pos = 0, at = 0;
	struct ptc_err err;
	int i, n;

	while ((n = ptc_file_next_batch(f, &pos, recs, FEW, &err)) > 0)
		for (i = 0; i < n; i++) {
			CHECK(ptc_file_next(f, &at, &rec, &err) == 1);
			CHECK(rec.off == recs[i].off && rec.body.end == recs[i].body.end);
		}
	CHECK(ptc_file_next(f, &at, &rec, &err) == n);
}

/* Reads all records and all trace. */
static void walk_good(const struct ptc_file *f)
{
	struct ptc_index ix = PTC_INDEX_INIT;
	uint64_t pos = 0, before = 0;
	struct ptc_err err;
	struct ptc_rec rec;
	volatile size_t sink;

	while (ptc_file_next(f, &pos, &rec, &err) > 0) {
		if (!ptc_file_compressed(f)) {
			CHECK(pos >= before + 8 && pos <= ptc_file_data_size(f));
			CHECK(rec.off == ptc_file_data_off(f) + before);
		}
		CHECK(pos != before);
		check_place(f, &rec);
		before = pos;
		sink = read_record(f, &rec);
		if (rec.type == PTC_REC_AUXTRACE)
			CHECK(!ptc_index_add(&ix, f, &rec, &err) || err.code == PTC_E_LIMIT);
	}
	sink = read_features(f);
	(void)sink;
	ptc_index_sort(&ix);
	check_index(f, &ix);
	ptc_index_release(&ix);
	check_batches(f);
}

int wk_file(const uint8_t *bytes, size_t len)
{
	struct ptc_file *f;
	struct ptc_err err;
	struct ptc_rec rec;
	uint64_t pos = 0;
	int rc;

	rc = ptc_file_open_bytes(bytes, len, "fuzz", &f, &err);
	if (!rc) {
		walk_good(f);
		check_salvage(bytes, len, f);
		ptc_file_free(f);
		return 0;
	}
	CHECK(err.code == rc && rc < 0 && err.msg[0]);
	CHECK(rc != PTC_E_NO_MEMORY);
	if (ptc_file_open_damaged_bytes(bytes, len, "fuzz", &f, &err)) {
		CHECK(err.code != PTC_E_NO_MEMORY);
		return rc;
	}
	while (ptc_file_next(f, &pos, &rec, &err) > 0)
		inside(rec.body);
	check_batches(f);
	ptc_file_free(f);
	return rc;
}
