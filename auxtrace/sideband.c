/* SPDX-License-Identifier: MIT */
#include "auxtrace/sideband.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>

#include "auxtrace/layout.h"
#include "base/err.h"

static bool get_i32(struct ptc_cur *c, int32_t *ret)
{
	uint32_t v;

	if (!ptc_cur_le32(c, &v))
		return false;
	*ret = (int32_t)v;
	return true;
}

static bool get_build_id(struct ptc_cur *c, struct ptc_build_id *ret)
{
	const uint8_t *bytes;
	uint8_t len;

	if (!ptc_cur_u8(c, &len) || len > PTC_BUILD_ID_MAX || !ptc_cur_skip(c, 3) ||
	    !ptc_cur_bytes(c, PTC_BUILD_ID_MAX, &bytes))
		return false;
	memset(ret, 0, sizeof(*ret));
	memcpy(ret->bytes, bytes, len);
	ret->len = len;
	return true;
}

static bool get_mmap(struct ptc_cur *c, uint32_t type, uint16_t misc, struct ptc_sb_mmap *m)
{
	if (!get_i32(c, &m->pid) || !get_i32(c, &m->tid) || !ptc_cur_le64(c, &m->addr) ||
	    !ptc_cur_le64(c, &m->len) || !ptc_cur_le64(c, &m->pgoff))
		return false;
	if (type == PERF_RECORD_MMAP) {
		m->prot = misc & PERF_RECORD_MISC_MMAP_DATA ? PROT_READ : PROT_READ | PROT_EXEC;
		return ptc_cur_str(c, &m->filename);
	}
	if (misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		if (!get_build_id(c, &m->build_id))
			return false;
	} else if (!ptc_cur_le32(c, &m->maj) || !ptc_cur_le32(c, &m->min) ||
		   !ptc_cur_le64(c, &m->ino) || !ptc_cur_le64(c, &m->ino_generation)) {
		return false;
	}
	return ptc_cur_le32(c, &m->prot) && ptc_cur_le32(c, &m->flags) &&
	       ptc_cur_str(c, &m->filename);
}

static bool get_task(struct ptc_cur *c, struct ptc_sb_task *t)
{
	return get_i32(c, &t->pid) && get_i32(c, &t->ppid) && get_i32(c, &t->tid) &&
	       get_i32(c, &t->ptid) && ptc_cur_le64(c, &t->time);
}

static bool get_poke(struct ptc_cur *c, struct ptc_sb_poke *p)
{
	uint16_t old_len, new_len;

	return ptc_cur_le64(c, &p->addr) && ptc_cur_le16(c, &old_len) &&
	       ptc_cur_le16(c, &new_len) && ptc_cur_sub(c, old_len, &p->old_bytes) &&
	       ptc_cur_sub(c, new_len, &p->new_bytes);
}

static bool get_body(struct ptc_cur *c, struct ptc_sb *sb)
{
	switch (sb->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return get_mmap(c, sb->type, sb->misc, &sb->u.mmap);
	case PERF_RECORD_COMM:
		return get_i32(c, &sb->u.comm.pid) && get_i32(c, &sb->u.comm.tid) &&
		       ptc_cur_str(c, &sb->u.comm.comm);
	case PERF_RECORD_EXIT:
	case PERF_RECORD_FORK:
		return get_task(c, &sb->u.task);
	case PERF_RECORD_AUX:
		return ptc_cur_le64(c, &sb->u.aux.offset) && ptc_cur_le64(c, &sb->u.aux.size) &&
		       ptc_cur_le64(c, &sb->u.aux.flags);
	case PERF_RECORD_ITRACE_START:
		return get_i32(c, &sb->u.itrace_start.pid) && get_i32(c, &sb->u.itrace_start.tid);
	case PERF_RECORD_LOST:
		return ptc_cur_le64(c, &sb->u.lost.id) && ptc_cur_le64(c, &sb->u.lost.lost);
	case PERF_RECORD_LOST_SAMPLES:
		return ptc_cur_le64(c, &sb->u.lost.lost);
	case PERF_RECORD_SWITCH:
		sb->u.sw = (struct ptc_sb_switch){ -1, -1 };
		return true;
	case PERF_RECORD_TEXT_POKE:
		return get_poke(c, &sb->u.poke);
	default: /* SWITCH_CPU_WIDE */
		return get_i32(c, &sb->u.sw.next_prev_pid) && get_i32(c, &sb->u.sw.next_prev_tid);
	}
}

static bool is_sideband(uint32_t type)
{
	switch (type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_LOST:
	case PERF_RECORD_COMM:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_FORK:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_AUX:
	case PERF_RECORD_ITRACE_START:
	case PERF_RECORD_LOST_SAMPLES:
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
	case PERF_RECORD_TEXT_POKE:
		return true;
	default:
		return false;
	}
}

int ptc_sb_parse(const struct ptc_rec *rec, uint64_t sample_type, struct ptc_sb *ret,
		 struct ptc_err *err)
{
	struct ptc_cur body = rec->body;
	struct ptc_sb sb;

	if (!is_sideband(rec->type)) {
		ret->off = rec->off;
		ret->type = rec->type;
		ret->misc = rec->misc;
		return 0;
	}
	memset(&sb, 0, sizeof(sb));
	sb.off = rec->off;
	sb.type = rec->type;
	sb.misc = rec->misc;
	/* The trailer goes first: without it a string's end would not be known. */
	if (!ptc_sample_id_parse(&body, sample_type, &sb.id))
		return ptc_fail_at(err, PTC_E_FORMAT, rec->off,
				   "%s record is too short for its sample id",
				   ptc_rec_name(rec->type));
	if (!get_body(&body, &sb))
		return ptc_fail_at(err, PTC_E_FORMAT, rec->off,
				   "%s record is too short or its text does not end",
				   ptc_rec_name(rec->type));
	*ret = sb;
	return 1;
}

/* Strings in records are padded to 8 from the record's start, whatever comes before it in @b. */
static void put_str(struct ptc_buf *b, size_t start, const char *s)
{
	ptc_buf_put(b, s, strlen(s) + 1);
	if (!ptc_buf_failed(b))
		ptc_buf_zero(b, -(b->len - start) & 7);
}

static void put_mmap(struct ptc_buf *b, size_t start, uint32_t type, const struct ptc_sb_mmap *m)
{
	ptc_buf_le32(b, (uint32_t)m->pid);
	ptc_buf_le32(b, (uint32_t)m->tid);
	ptc_buf_le64(b, m->addr);
	ptc_buf_le64(b, m->len);
	ptc_buf_le64(b, m->pgoff);
	if (type == PERF_RECORD_MMAP2) {
		if (m->build_id.len) {
			ptc_buf_u8(b, m->build_id.len);
			ptc_buf_zero(b, 3);
			ptc_buf_put(b, m->build_id.bytes, PTC_BUILD_ID_MAX);
		} else {
			ptc_buf_le32(b, m->maj);
			ptc_buf_le32(b, m->min);
			ptc_buf_le64(b, m->ino);
			ptc_buf_le64(b, m->ino_generation);
		}
		ptc_buf_le32(b, m->prot);
		ptc_buf_le32(b, m->flags);
	}
	put_str(b, start, m->filename);
}

static void put_poke(struct ptc_buf *b, const struct ptc_sb_poke *p)
{
	const size_t old_len = ptc_cur_left(&p->old_bytes);
	const size_t new_len = ptc_cur_left(&p->new_bytes);

	if (old_len > UINT16_MAX || new_len > UINT16_MAX) {
		b->failed = true;
		return;
	}
	ptc_buf_le64(b, p->addr);
	ptc_buf_le16(b, (uint16_t)old_len);
	ptc_buf_le16(b, (uint16_t)new_len);
	ptc_buf_put(b, p->old_bytes.pos, old_len);
	ptc_buf_put(b, p->new_bytes.pos, new_len);
	ptc_buf_zero(b, -(8 + 2 + 2 + old_len + new_len) & 7);
}

void ptc_sb_put(struct ptc_buf *b, const struct ptc_sb *sb, uint64_t sample_type)
{
	uint16_t misc = sb->misc;
	size_t start;

	if (sb->type == PERF_RECORD_MMAP2) {
		misc &= (uint16_t)~PERF_RECORD_MISC_MMAP_BUILD_ID;
		if (sb->u.mmap.build_id.len)
			misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
	}
	start = ptc_rec_begin(b, sb->type, misc);
	switch (sb->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		put_mmap(b, start, sb->type, &sb->u.mmap);
		break;
	case PERF_RECORD_COMM:
		ptc_buf_le32(b, (uint32_t)sb->u.comm.pid);
		ptc_buf_le32(b, (uint32_t)sb->u.comm.tid);
		put_str(b, start, sb->u.comm.comm);
		break;
	case PERF_RECORD_EXIT:
	case PERF_RECORD_FORK:
		ptc_buf_le32(b, (uint32_t)sb->u.task.pid);
		ptc_buf_le32(b, (uint32_t)sb->u.task.ppid);
		ptc_buf_le32(b, (uint32_t)sb->u.task.tid);
		ptc_buf_le32(b, (uint32_t)sb->u.task.ptid);
		ptc_buf_le64(b, sb->u.task.time);
		break;
	case PERF_RECORD_AUX:
		ptc_buf_le64(b, sb->u.aux.offset);
		ptc_buf_le64(b, sb->u.aux.size);
		ptc_buf_le64(b, sb->u.aux.flags);
		break;
	case PERF_RECORD_ITRACE_START:
		ptc_buf_le32(b, (uint32_t)sb->u.itrace_start.pid);
		ptc_buf_le32(b, (uint32_t)sb->u.itrace_start.tid);
		break;
	case PERF_RECORD_LOST:
		ptc_buf_le64(b, sb->u.lost.id);
		ptc_buf_le64(b, sb->u.lost.lost);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		ptc_buf_le64(b, sb->u.lost.lost);
		break;
	case PERF_RECORD_SWITCH_CPU_WIDE:
		ptc_buf_le32(b, (uint32_t)sb->u.sw.next_prev_pid);
		ptc_buf_le32(b, (uint32_t)sb->u.sw.next_prev_tid);
		break;
	case PERF_RECORD_TEXT_POKE:
		put_poke(b, &sb->u.poke);
		break;
	default: /* SWITCH: the trailer is all it has */
		assert(sb->type == PERF_RECORD_SWITCH);
		break;
	}
	ptc_sample_id_put(b, sample_type, &sb->id);
	ptc_rec_end(b, start);
}
