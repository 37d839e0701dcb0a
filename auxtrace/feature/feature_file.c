/* SPDX-License-Identifier: MIT */
#include "auxtrace/feature/feature_file.h"

#include <string.h>

#include "base/err.h"

enum {
	STRING_ALIGN = 64,
	/* Bytes of a BUILD_ID entry: header, pid, 20 bytes of id, size, padding. */
	BUILD_ID_FIXED = 36,
	BUILD_ID_OLD_NAME = 24,	     /* offset of the name in the body of an entry without pid */
	BUILD_ID_HAS_SIZE = 1 << 15, /* misc: the byte after the id is its length */
};

void ptc_feature_put_cmdline(struct ptc_buf *b, const char *const *argv, size_t n)
{
	ptc_feature_put_strings(b, argv, n);
}

/*
 * Shaped like a record, but its size is not a multiple of 8, because the padding counts from the
 * name.
 */
void ptc_feature_put_build_id(struct ptc_buf *b, const struct ptc_build_id_entry *e)
{
	const size_t len = strlen(e->filename) + 1;
	const size_t pad = -len % STRING_ALIGN;

	if (BUILD_ID_FIXED + len + pad > UINT16_MAX) {
		b->failed = true;
		return;
	}
	ptc_buf_le32(b, PTC_REC_HEADER_BUILD_ID);
	ptc_buf_le16(b, e->misc | BUILD_ID_HAS_SIZE);
	ptc_buf_le16(b, (uint16_t)(BUILD_ID_FIXED + len + pad));
	ptc_buf_le32(b, (uint32_t)e->pid);
	ptc_buf_put(b, e->id.bytes, PTC_BUILD_ID_MAX);
	ptc_buf_u8(b, e->id.len);
	ptc_buf_zero(b, 3);
	ptc_buf_put(b, e->filename, len);
	ptc_buf_zero(b, pad);
}

/*
 * perf of 2010 (2.6.33 to 2.6.34) wrote no pid, so the name is 4 bytes earlier. perf detects this
 * by the kernel's name (perf_header__read_build_ids). The check here is equivalent and does not
 * need the kernel's entry: after the id there are 4 zeros and a name. In the new layout there are
 * the last bytes of the id and zeros.
 */
bool ptc_feature_is_old_build_id(uint16_t misc, struct ptc_cur body)
{
	static const uint8_t zeros[4];
	const uint8_t *p = body.pos;

	return !(misc & BUILD_ID_HAS_SIZE) && ptc_cur_left(&body) > BUILD_ID_OLD_NAME &&
	       !memcmp(p + PTC_BUILD_ID_MAX, zeros, sizeof(zeros)) &&
	       (p[BUILD_ID_OLD_NAME] == '/' || p[BUILD_ID_OLD_NAME] == '[');
}

int32_t ptc_feature_old_build_id_pid(uint16_t misc)
{
	return misc == PERF_RECORD_MISC_GUEST_KERNEL || misc == PERF_RECORD_MISC_GUEST_USER ? 0 :
											      -1;
}

static int broken_build_id(uint64_t off, struct ptc_err *err)
{
	return ptc_fail_at(err, PTC_E_FORMAT, off, "BUILD_ID feature has a broken entry");
}

int ptc_feature_next_build_id(struct ptc_cur *c, uint64_t off, struct ptc_build_id_entry *ret,
			      struct ptc_err *err)
{
	struct ptc_build_id_entry e = { .id.len = PTC_BUILD_ID_MAX };
	struct ptc_cur pos = *c;
	struct ptc_cur body;
	uint32_t type, pid = 0;
	const uint8_t *id;
	uint16_t size;
	uint8_t len;
	bool old;

	if (!ptc_cur_left(&pos))
		return 0;
	if (!ptc_cur_le32(&pos, &type) || !ptc_cur_le16(&pos, &e.misc) ||
	    !ptc_cur_le16(&pos, &size) || size < BUILD_ID_FIXED ||
	    !ptc_cur_sub(&pos, size - (size_t)PTC_REC_HEADER_SIZE, &body))
		return broken_build_id(off, err);
	old = ptc_feature_is_old_build_id(e.misc, body);
	if ((!old && !ptc_cur_le32(&body, &pid)) || !ptc_cur_bytes(&body, PTC_BUILD_ID_MAX, &id) ||
	    !ptc_cur_u8(&body, &len) || !ptc_cur_skip(&body, 3) || !ptc_cur_str(&body, &e.filename))
		return broken_build_id(off, err);
	if (e.misc & BUILD_ID_HAS_SIZE) {
		if (len > PTC_BUILD_ID_MAX)
			return ptc_fail_at(err, PTC_E_FORMAT, off,
					   "BUILD_ID feature has an id of %u bytes", len);
		e.id.len = len;
	}
	memcpy(e.id.bytes, id, e.id.len);
	e.misc &= (uint16_t)~BUILD_ID_HAS_SIZE;
	e.pid = old ? ptc_feature_old_build_id_pid(e.misc) : (int32_t)pid;
	*c = pos;
	*ret = e;
	return 1;
}

int ptc_feature_next_auxtrace(struct ptc_feature_iter *it, struct ptc_auxtrace_entry *ret,
			      struct ptc_err *err)
{
	struct ptc_cur c = it->cur;
	struct ptc_auxtrace_entry e;

	if (!it->left)
		return 0;
	if (!ptc_cur_le64(&c, &e.off) || !ptc_cur_le64(&c, &e.size))
		return ptc_feature_broken(it->bit, it->off, err);
	*ret = e;
	return ptc_feature_took(it, c);
}

void ptc_feature_put_auxtrace(struct ptc_buf *b, const struct ptc_auxtrace_entry *e, size_t n)
{
	size_t i;

	ptc_buf_le64(b, n);
	for (i = 0; i < n; i++) {
		ptc_buf_le64(b, e[i].off);
		ptc_buf_le64(b, e[i].size);
	}
}

bool ptc_feature_get_sample_time(struct ptc_cur *c, struct ptc_sample_time *ret)
{
	struct ptc_cur pos = *c;
	struct ptc_sample_time t;

	if (!ptc_cur_le64(&pos, &t.first_ns) || !ptc_cur_le64(&pos, &t.last_ns))
		return false;
	*c = pos;
	*ret = t;
	return true;
}

void ptc_feature_put_sample_time(struct ptc_buf *b, uint64_t first_ns, uint64_t last_ns)
{
	ptc_buf_le64(b, first_ns);
	ptc_buf_le64(b, last_ns);
}

bool ptc_feature_get_clockid(struct ptc_cur *c, uint64_t *ret_res_ns)
{
	return ptc_cur_le64(c, ret_res_ns);
}

void ptc_feature_put_clockid(struct ptc_buf *b, uint64_t res_ns)
{
	ptc_buf_le64(b, res_ns);
}

bool ptc_feature_get_dir_format(struct ptc_cur *c, uint64_t *ret_version)
{
	return ptc_cur_le64(c, ret_version);
}

void ptc_feature_put_dir_format(struct ptc_buf *b, uint64_t version)
{
	ptc_buf_le64(b, version);
}

bool ptc_feature_get_compressed(struct ptc_cur *c, struct ptc_compressed *ret)
{
	struct ptc_cur pos = *c;
	struct ptc_compressed v;

	if (!ptc_cur_le32(&pos, &v.version) || !ptc_cur_le32(&pos, &v.type) ||
	    !ptc_cur_le32(&pos, &v.level) || !ptc_cur_le32(&pos, &v.ratio) ||
	    !ptc_cur_le32(&pos, &v.mmap_len))
		return false;
	*c = pos;
	*ret = v;
	return true;
}

void ptc_feature_put_compressed(struct ptc_buf *b, const struct ptc_compressed *v)
{
	ptc_buf_le32(b, v->version);
	ptc_buf_le32(b, v->type);
	ptc_buf_le32(b, v->level);
	ptc_buf_le32(b, v->ratio);
	ptc_buf_le32(b, v->mmap_len);
}

bool ptc_feature_get_clock_data(struct ptc_cur *c, struct ptc_clock_data *ret)
{
	struct ptc_cur pos = *c;
	struct ptc_clock_data v;

	if (!ptc_cur_le32(&pos, &v.version) || !ptc_cur_le32(&pos, &v.clockid) ||
	    !ptc_cur_le64(&pos, &v.wall_ns) || !ptc_cur_le64(&pos, &v.clock_ns))
		return false;
	*c = pos;
	*ret = v;
	return true;
}

void ptc_feature_put_clock_data(struct ptc_buf *b, const struct ptc_clock_data *v)
{
	ptc_buf_le32(b, v->version);
	ptc_buf_le32(b, v->clockid);
	ptc_buf_le64(b, v->wall_ns);
	ptc_buf_le64(b, v->clock_ns);
}
