/* SPDX-License-Identifier: MIT */
#include "auxtrace/record/filecode.h"

#include <string.h>

#include "auxtrace/record/record.h"
#include "auxtrace/record/userrec.h"
#include "base/err.h"

enum { WORD = 8 };

void ptc_filecode_put(struct ptc_buf *b, const struct ptc_filecode *c)
{
	struct ptc_user u = { .type = PTC_REC_HEADER_EVENT_TYPE };
	const size_t name = strlen(c->name) + 1, n = ptc_cur_left(&c->bytes);
	struct ptc_buf more = PTC_BUF_INIT;

	ptc_buf_le32(&more, (uint32_t)name);
	ptc_buf_le32(&more, (uint32_t)n);
	ptc_buf_le64(&more, c->maj);
	ptc_buf_le64(&more, c->min);
	ptc_buf_le64(&more, c->ino);
	ptc_buf_le64(&more, c->size);
	ptc_buf_le64(&more, c->off);
	ptc_buf_u8(&more, c->id.len);
	ptc_buf_zero(&more, 3);
	ptc_buf_put(&more, c->id.bytes, PTC_BUILD_ID_MAX);
	ptc_buf_put(&more, c->name, name);
	ptc_buf_zero(&more, -more.len % WORD);
	ptc_buf_put(&more, c->bytes.pos, n);
	ptc_buf_zero(&more, -more.len % WORD);
	u.u.event_type.event_id = PTC_FILECODE_ID;
	u.u.event_type.name = "ptcap code";
	u.u.event_type.more = ptc_cur_init(more.bytes, more.len);
	ptc_user_put(b, &u);
	b->failed |= ptc_buf_failed(&more) || n > PTC_FILECODE_MAX;
	ptc_buf_release(&more);
}

static bool get_filecode_fields(struct ptc_cur *cur, struct ptc_filecode *c)
{
	uint32_t name, n;
	struct ptc_cur text, id;
	uint8_t len;

	if (!ptc_cur_le32(cur, &name) || !ptc_cur_le32(cur, &n) || !ptc_cur_le64(cur, &c->maj) ||
	    !ptc_cur_le64(cur, &c->min) || !ptc_cur_le64(cur, &c->ino) ||
	    !ptc_cur_le64(cur, &c->size) || !ptc_cur_le64(cur, &c->off) || !ptc_cur_u8(cur, &len) ||
	    len > PTC_BUILD_ID_MAX || !ptc_cur_skip(cur, 3) ||
	    !ptc_cur_sub(cur, PTC_BUILD_ID_MAX, &id))
		return false;
	c->id.len = len;
	memcpy(c->id.bytes, id.pos, PTC_BUILD_ID_MAX);
	if (!name || !ptc_cur_sub(cur, name, &text) || text.pos[name - 1] ||
	    !ptc_cur_skip(cur, -(size_t)name % WORD) || !ptc_cur_sub(cur, n, &c->bytes))
		return false;
	c->name = (const char *)text.pos;
	return strlen(c->name) + 1 == name;
}

int ptc_filecode_parse(const struct ptc_rec *rec, struct ptc_filecode *ret, struct ptc_err *err)
{
	struct ptc_filecode c = { .name = NULL };
	struct ptc_cur cur;
	int rc;

	rc = ptc_user_own(rec, PTC_FILECODE_ID, &cur, err);
	if (rc <= 0)
		return rc;
	if (!get_filecode_fields(&cur, &c))
		return ptc_fail_at(err, PTC_E_FORMAT, rec->off,
				   "the code of a file is too short for what it claims");
	*ret = c;
	return 1;
}
