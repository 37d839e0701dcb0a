/* SPDX-License-Identifier: MIT */
#include "auxtrace/record/userrec.h"

#include <assert.h>
#include <string.h>

#include "auxtrace/record/crash_record.h"
#include "auxtrace/record/cutout.h"
#include "auxtrace/record/filecode.h"
#include "auxtrace/record/layout.h"
#include "auxtrace/record/ledger.h"
#include "auxtrace/record/userrec_field.h"
#include "auxtrace/record/userrec_stat.h"
#include "base/err.h"

/* Sizes of entries, in bytes. */
enum {
	ID_ENTRY = 32,
	ID_GUEST = 16,
	BPF_ENTRY = PTC_BPF_KEY_MAX + PTC_BPF_VALUE_MAX,
	BUILD_ID_HAS_SIZE = 1 << 15, /* PERF_RECORD_MISC_BUILD_ID_SIZE */
};

static bool get_nothing(struct ptc_cur *c, struct ptc_user *u)
{
	(void)c;
	(void)u;
	return true;
}

static void put_nothing(struct ptc_buf *b, const struct ptc_user *u)
{
	(void)b;
	(void)u;
}

static bool get_attr(struct ptc_cur *c, struct ptc_user *u)
{
	struct ptc_user_attr *a = &u->u.attr;
	struct ptc_err ignored; /* ptc_user_parse reports its own error */

	if (ptc_attr_parse(*c, u->off, &a->attr, &a->unknown_bytes, &ignored) ||
	    !ptc_cur_skip(c, a->attr.size))
		return false;
	return ptc_cur_sub(c, ptc_cur_left(c) / 8 * 8, &a->ids);
}

static void put_attr(struct ptc_buf *b, const struct ptc_user *u)
{
	const uint32_t size = u->u.attr.attr.size;

	if (size < PERF_ATTR_SIZE_VER0 || size % 8 || size > PTC_REC_MAX) {
		b->failed = true;
		return;
	}
	ptc_attr_put(b, &u->u.attr.attr, size);
	put_rest(b, u->u.attr.ids);
}

/* Return whether the record is ptcap's own, with data after the name. */
static bool is_own(uint64_t event_id)
{
	return event_id == PTC_LEDGER_ID || event_id == PTC_CRASH_ID ||
	       event_id == PTC_FILECODE_ID || event_id == PTC_CUTOUT_ID;
}

/* Read a short record of perf up to 3.10, which ends with the name, padded to 8, without a NUL. */
static bool get_short_name(struct ptc_cur *c, struct ptc_user_event_type *t)
{
	const size_t n = ptc_cur_left(c);

	if (!n || n % 8 || is_own(t->event_id))
		return false;
	memcpy(t->room, c->pos, n);
	t->room[n] = 0;
	t->name = NULL; /* set by ptc_user_parse */
	return ptc_cur_skip(c, n);
}

static bool get_event_type(struct ptc_cur *c, struct ptc_user *u)
{
	struct ptc_user_event_type *t = &u->u.event_type;

	if (!ptc_cur_le64(c, &t->event_id))
		return false;
	if (ptc_cur_left(c) < PTC_EVENT_TYPE_NAME_MAX)
		return get_short_name(c, t);
	return get_field(c, PTC_EVENT_TYPE_NAME_MAX, &t->name) &&
	       (!is_own(t->event_id) || get_rest(c, &t->more));
}

static void put_event_type(struct ptc_buf *b, const struct ptc_user *u)
{
	ptc_buf_le64(b, u->u.event_type.event_id);
	put_field(b, PTC_EVENT_TYPE_NAME_MAX, u->u.event_type.name);
	put_rest(b, u->u.event_type.more);
}

static bool get_tracing_data(struct ptc_cur *c, struct ptc_user *u)
{
	return ptc_cur_le32(c, &u->u.tracing_data.size);
}

static void put_tracing_data(struct ptc_buf *b, const struct ptc_user *u)
{
	ptc_buf_le32(b, u->u.tracing_data.size);
}

static bool get_build_id(struct ptc_cur *c, struct ptc_user *u)
{
	struct ptc_build_id_entry *e = &u->u.build_id;
	const uint8_t *id;
	uint8_t len;

	if (!get_i32(c, &e->pid) || !ptc_cur_bytes(c, PTC_BUILD_ID_MAX, &id) ||
	    !ptc_cur_u8(c, &len) || !ptc_cur_skip(c, 3) || !ptc_cur_str(c, &e->filename))
		return false;
	if (!(u->misc & BUILD_ID_HAS_SIZE)) /* versions of perf that knew only ids of 20 bytes */
		len = PTC_BUILD_ID_MAX;
	if (len > PTC_BUILD_ID_MAX)
		return false;
	e->misc = u->misc & (uint16_t)~BUILD_ID_HAS_SIZE;
	e->id.len = len;
	memcpy(e->id.bytes, id, len);
	return true;
}

static void put_build_id(struct ptc_buf *b, const struct ptc_user *u)
{
	const struct ptc_build_id_entry *e = &u->u.build_id;
	const size_t len = strlen(e->filename) + 1;

	ptc_buf_le32(b, (uint32_t)e->pid);
	ptc_buf_put(b, e->id.bytes, PTC_BUILD_ID_MAX);
	ptc_buf_u8(b, e->id.len);
	ptc_buf_zero(b, 3);
	ptc_buf_put(b, e->filename, len);
}

static bool get_id_index(struct ptc_cur *c, struct ptc_user *u)
{
	struct ptc_user_id_index *x = &u->u.id_index;

	if (!get_array(c, ID_ENTRY, &x->n, &x->entries))
		return false;
	/* Guests are present if there are bytes left for them. */
	if (x->n && x->n <= ptc_cur_left(c) / ID_GUEST)
		return ptc_cur_sub(c, (size_t)x->n * ID_GUEST, &x->guests);
	return true;
}

static void put_id_index(struct ptc_buf *b, const struct ptc_user *u)
{
	const struct ptc_user_id_index *x = &u->u.id_index;
	const size_t guests = ptc_cur_left(&x->guests);

	if (guests && guests / ID_GUEST * ID_ENTRY != ptc_cur_left(&x->entries))
		b->failed = true;
	put_array(b, ID_ENTRY, x->entries);
	put_rest(b, x->guests);
}

static bool get_auxtrace_info(struct ptc_cur *c, struct ptc_user *u)
{
	return ptc_cur_le32(c, &u->u.auxtrace_info.type) && ptc_cur_skip(c, 4) &&
	       get_rest(c, &u->u.auxtrace_info.words);
}

static void put_auxtrace_info(struct ptc_buf *b, const struct ptc_user *u)
{
	ptc_buf_le32(b, u->u.auxtrace_info.type);
	ptc_buf_le32(b, 0);
	put_rest(b, u->u.auxtrace_info.words);
}

static bool get_auxtrace(struct ptc_cur *c, struct ptc_user *u)
{
	struct ptc_err ignored;

	return !ptc_auxtrace_parse(*c, u->off, UINT64_MAX, &u->u.auxtrace, &ignored);
}

static void put_auxtrace(struct ptc_buf *b, const struct ptc_user *u)
{
	const struct ptc_auxtrace *a = &u->u.auxtrace;

	ptc_buf_le64(b, a->size);
	ptc_buf_le64(b, a->offset);
	ptc_buf_le64(b, a->reference);
	ptc_buf_le32(b, a->idx);
	ptc_buf_le32(b, (uint32_t)a->tid);
	ptc_buf_le32(b, (uint32_t)a->cpu);
	ptc_buf_le32(b, 0);
}

static bool get_auxtrace_error(struct ptc_cur *c, struct ptc_user *u)
{
	struct ptc_user_auxtrace_error *e = &u->u.auxtrace_error;

	if (!ptc_cur_le32(c, &e->type) || !ptc_cur_le32(c, &e->code) || !get_i32(c, &e->cpu) ||
	    !get_i32(c, &e->pid) || !get_i32(c, &e->tid) || !ptc_cur_le32(c, &e->fmt) ||
	    !ptc_cur_le64(c, &e->ip))
		return false;
	if (e->fmt && !ptc_cur_le64(c, &e->time))
		return false;
	if (e->fmt < 2) /* the text ends with the record */
		return ptc_cur_str(c, &e->msg);
	return get_field(c, PTC_AUXTRACE_ERROR_MSG_MAX, &e->msg) && get_i32(c, &e->machine_pid) &&
	       get_i32(c, &e->vcpu);
}

static void put_auxtrace_error(struct ptc_buf *b, const struct ptc_user *u)
{
	const struct ptc_user_auxtrace_error *e = &u->u.auxtrace_error;

	ptc_buf_le32(b, e->type);
	ptc_buf_le32(b, e->code);
	ptc_buf_le32(b, (uint32_t)e->cpu);
	ptc_buf_le32(b, (uint32_t)e->pid);
	ptc_buf_le32(b, (uint32_t)e->tid);
	ptc_buf_le32(b, e->fmt);
	ptc_buf_le64(b, e->ip);
	if (e->fmt)
		ptc_buf_le64(b, e->time);
	put_field(b, PTC_AUXTRACE_ERROR_MSG_MAX, e->msg);
	if (e->fmt >= 2) {
		ptc_buf_le32(b, (uint32_t)e->machine_pid);
		ptc_buf_le32(b, (uint32_t)e->vcpu);
	}
}

static bool get_time_conv(struct ptc_cur *c, struct ptc_user *u)
{
	struct ptc_user_time_conv *t = &u->u.time_conv;
	uint8_t zero, is_short;

	if (!ptc_cur_le64(c, &t->shift) || !ptc_cur_le64(c, &t->mult) || !ptc_cur_le64(c, &t->zero))
		return false;
	if (!ptc_cur_left(c))
		return true;
	if (!ptc_cur_le64(c, &t->cycles) || !ptc_cur_le64(c, &t->mask) || !ptc_cur_u8(c, &zero) ||
	    !ptc_cur_u8(c, &is_short))
		return false;
	t->is_long = true;
	t->cap_user_time_zero = zero != 0;
	t->cap_user_time_short = is_short != 0;
	return true;
}

static void put_time_conv(struct ptc_buf *b, const struct ptc_user *u)
{
	const struct ptc_user_time_conv *t = &u->u.time_conv;

	ptc_buf_le64(b, t->shift);
	ptc_buf_le64(b, t->mult);
	ptc_buf_le64(b, t->zero);
	if (!t->is_long)
		return;
	ptc_buf_le64(b, t->cycles);
	ptc_buf_le64(b, t->mask);
	ptc_buf_u8(b, t->cap_user_time_zero);
	ptc_buf_u8(b, t->cap_user_time_short);
}

static bool get_feature(struct ptc_cur *c, struct ptc_user *u)
{
	return ptc_cur_le64(c, &u->u.feature.id) && get_rest(c, &u->u.feature.data);
}

static void put_feature(struct ptc_buf *b, const struct ptc_user *u)
{
	ptc_buf_le64(b, u->u.feature.id);
	put_rest(b, u->u.feature.data);
}

static bool get_compressed(struct ptc_cur *c, struct ptc_user *u)
{
	return get_rest(c, &u->u.compressed.data);
}

static void put_compressed(struct ptc_buf *b, const struct ptc_user *u)
{
	put_rest(b, u->u.compressed.data);
}

static bool get_compressed2(struct ptc_cur *c, struct ptc_user *u)
{
	uint64_t n;

	return get_array(c, 1, &n, &u->u.compressed.data);
}

static void put_compressed2(struct ptc_buf *b, const struct ptc_user *u)
{
	put_array(b, 1, u->u.compressed.data);
}

static bool get_bpf_metadata(struct ptc_cur *c, struct ptc_user *u)
{
	struct ptc_user_bpf_metadata *m = &u->u.bpf_metadata;
	struct ptc_user_bpf_metadata walk;
	struct ptc_bpf_metadata_entry e;
	uint64_t i;

	if (!get_field(c, PTC_BPF_PROG_NAME_MAX, &m->prog_name) ||
	    !get_array(c, BPF_ENTRY, &m->n, &m->entries))
		return false;
	walk = *m;
	for (i = 0; i < m->n; i++)
		if (!ptc_bpf_metadata_next(&walk, &e)) /* a string without NUL */
			return false;
	return true;
}

static void put_bpf_metadata(struct ptc_buf *b, const struct ptc_user *u)
{
	put_field(b, PTC_BPF_PROG_NAME_MAX, u->u.bpf_metadata.prog_name);
	put_array(b, BPF_ENTRY, u->u.bpf_metadata.entries);
}

static bool get_schedstat(struct ptc_cur *c, struct ptc_user *u)
{
	return ptc_schedstat_parse(*c, u->type == PTC_REC_SCHEDSTAT_DOMAIN, &u->u.schedstat);
}

static void put_schedstat(struct ptc_buf *b, const struct ptc_user *u)
{
	struct ptc_schedstat s = u->u.schedstat;

	s.of_domain = u->type == PTC_REC_SCHEDSTAT_DOMAIN;
	ptc_schedstat_put(b, &s);
}

#define KIND(type, name) [PTC_REC_##type - PTC_REC_USER_START] = { get_##name, put_##name, true }
#define STAT(type, name)                                                                           \
	[PTC_REC_##type - PTC_REC_USER_START] = { ptc_user_get_##name, ptc_user_put_##name, true }
/* perf writes these records without padding, and their size gives the length of the contents. */
#define EXACT(type, name) [PTC_REC_##type - PTC_REC_USER_START] = { get_##name, put_##name, false }

static const struct kind {
	bool (*get)(struct ptc_cur *c, struct ptc_user *u);
	void (*put)(struct ptc_buf *b, const struct ptc_user *u);
	bool padded; /* padded to 8 */
} kinds[] = {
	KIND(HEADER_ATTR, attr),
	KIND(HEADER_EVENT_TYPE, event_type),
	KIND(HEADER_TRACING_DATA, tracing_data),
	KIND(HEADER_BUILD_ID, build_id),
	KIND(FINISHED_ROUND, nothing),
	KIND(ID_INDEX, id_index),
	KIND(AUXTRACE_INFO, auxtrace_info),
	KIND(AUXTRACE, auxtrace),
	KIND(AUXTRACE_ERROR, auxtrace_error),
	STAT(THREAD_MAP, thread_map),
	STAT(CPU_MAP, cpu_map),
	STAT(STAT_CONFIG, stat_config),
	STAT(STAT, stat),
	STAT(STAT_ROUND, stat_round),
	STAT(EVENT_UPDATE, event_update),
	KIND(TIME_CONV, time_conv),
	EXACT(HEADER_FEATURE, feature),
	EXACT(COMPRESSED, compressed),
	KIND(FINISHED_INIT, nothing),
	KIND(COMPRESSED2, compressed2),
	KIND(BPF_METADATA, bpf_metadata),
	KIND(SCHEDSTAT_CPU, schedstat),
	KIND(SCHEDSTAT_DOMAIN, schedstat),
};

static const struct kind *find_kind(uint32_t type)
{
	const uint32_t i = type - PTC_REC_USER_START;

	if (type < PTC_REC_USER_START || i >= sizeof(kinds) / sizeof(kinds[0]))
		return NULL;
	return &kinds[i];
}

int ptc_user_parse(const struct ptc_rec *rec, struct ptc_user *ret, struct ptc_err *err)
{
	const struct kind *kind = find_kind(rec->type);
	struct ptc_cur body = rec->body;
	struct ptc_user u;

	if (!kind) {
		ret->off = rec->off;
		ret->type = rec->type;
		ret->misc = rec->misc;
		return 0;
	}
	memset(&u, 0, sizeof(u));
	u.off = rec->off;
	u.type = rec->type;
	u.misc = rec->misc;
	if (!kind->get(&body, &u))
		return ptc_fail_at(err, PTC_E_FORMAT, rec->off,
				   "%s record is too short for what it claims, or makes no sense",
				   ptc_rec_name(rec->type));
	*ret = u;
	if (u.type == PTC_REC_HEADER_EVENT_TYPE && !u.u.event_type.name)
		ret->u.event_type.name = ret->u.event_type.room;
	return 1;
}

/* As ptc_rec_end, but without padding. */
static void end_exact(struct ptc_buf *b, size_t start)
{
	if (ptc_buf_failed(b))
		return;
	if (b->len - start > UINT16_MAX)
		b->failed = true;
	else
		ptc_buf_set_le16(b, start + 6, (uint16_t)(b->len - start));
}

void ptc_user_put(struct ptc_buf *b, const struct ptc_user *u)
{
	const struct kind *kind = find_kind(u->type);
	uint16_t misc = u->misc;
	size_t start;

	assert(kind);
	if (u->type == PTC_REC_HEADER_BUILD_ID)
		misc |= BUILD_ID_HAS_SIZE;
	start = ptc_rec_begin(b, u->type, misc);
	kind->put(b, u);
	if (kind->padded)
		ptc_rec_end(b, start);
	else
		end_exact(b, start);
}

int ptc_user_own(const struct ptc_rec *rec, uint64_t event_id, struct ptc_cur *ret,
		 struct ptc_err *err)
{
	struct ptc_user u = { 0 };
	int rc;

	if (rec->type != PTC_REC_HEADER_EVENT_TYPE)
		return 0;
	rc = ptc_user_parse(rec, &u, err);
	if (rc < 0)
		return rc;
	if (u.u.event_type.event_id != event_id)
		return 0;
	*ret = u.u.event_type.more;
	return 1;
}
