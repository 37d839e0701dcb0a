/* SPDX-License-Identifier: MIT */
#include "auxtrace/feature/feature_kernel.h"

#include <string.h>

#include "base/err.h"

static const uint8_t TRACING_MAGIC[10] = { 23, 8, 68, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
static const char PAGE_NAME[12] = "header_page";
static const char EVENT_NAME[13] = "header_event";

static bool take_blob(struct ptc_cur *c, struct ptc_cur *ret)
{
	struct ptc_cur pos = *c;
	uint64_t size;

	if (!ptc_cur_le64(&pos, &size) || !ptc_cur_sub(&pos, size, ret))
		return false;
	*c = pos;
	return true;
}

static bool take_short_blob(struct ptc_cur *c, struct ptc_cur *ret)
{
	uint32_t size;

	return ptc_cur_le32(c, &size) && ptc_cur_sub(c, size, ret);
}

int ptc_feature_next_blob(struct ptc_feature_iter *it, struct ptc_cur *ret, struct ptc_err *err)
{
	struct ptc_cur c = it->cur;

	if (!it->left)
		return 0;
	if (!take_blob(&c, ret))
		return ptc_feature_broken(it->bit, it->off, err);
	return ptc_feature_took(it, c);
}

static int skip_blob(struct ptc_feature_iter *it, struct ptc_err *err)
{
	struct ptc_cur blob;

	return ptc_feature_next_blob(it, &blob, err);
}

/* Take a list, a u32 count and entries, from the front of @c. */
static int take_list(struct ptc_cur *c, uint64_t off,
		     int (*skip)(struct ptc_feature_iter *, struct ptc_err *),
		     struct ptc_feature_iter *ret, struct ptc_err *err)
{
	struct ptc_cur pos;
	int rc = ptc_feature_open(PTC_FEAT_TRACING_DATA, *c, off, ret, err);

	if (rc)
		return rc;
	pos = ret->cur;
	rc = ptc_feature_span(ret, &pos, skip, err);
	if (!rc)
		*c = pos;
	return rc;
}

int ptc_feature_next_trace_system(struct ptc_feature_iter *it, struct ptc_trace_system *ret,
				  struct ptc_err *err)
{
	struct ptc_cur c = it->cur;
	struct ptc_trace_system s;
	int rc;

	if (!it->left)
		return 0;
	if (!ptc_cur_str(&c, &s.name))
		return ptc_feature_broken(it->bit, it->off, err);
	rc = take_list(&c, it->off, skip_blob, &s.formats, err);
	if (rc)
		return rc;
	*ret = s;
	return ptc_feature_took(it, c);
}

static int skip_system(struct ptc_feature_iter *it, struct ptc_err *err)
{
	struct ptc_trace_system s;

	return ptc_feature_next_trace_system(it, &s, err);
}

static bool take_name(struct ptc_cur *c, const void *name, size_t len)
{
	const uint8_t *p;

	return ptc_cur_bytes(c, len, &p) && !memcmp(p, name, len);
}

/* "0.6" is the first version with saved_cmdlines. */
static bool has_cmdlines(const char *version)
{
	return strcmp(version, "0.6") >= 0;
}

static bool take_head(struct ptc_cur *c, struct ptc_tracing_data *t)
{
	return take_name(c, PAGE_NAME, sizeof(PAGE_NAME)) && take_blob(c, &t->header_page) &&
	       take_name(c, EVENT_NAME, sizeof(EVENT_NAME)) && take_blob(c, &t->header_event);
}

int ptc_feature_parse_tracing_data(struct ptc_cur section, uint64_t off,
				   struct ptc_tracing_data *ret, struct ptc_err *err)
{
	struct ptc_tracing_data t = { .cmdlines = { NULL, NULL } };
	struct ptc_cur c = section;
	uint8_t big_endian;
	int rc;

	if (!take_name(&c, TRACING_MAGIC, sizeof(TRACING_MAGIC)) || !ptc_cur_str(&c, &t.version) ||
	    !ptc_cur_u8(&c, &big_endian))
		return ptc_feature_broken(PTC_FEAT_TRACING_DATA, off, err);
	if (big_endian)
		return ptc_fail_at(err, PTC_E_UNSUPPORTED, off,
				   "feature TRACING_DATA of a big-endian machine");
	if (!ptc_cur_u8(&c, &t.long_size) || !ptc_cur_le32(&c, &t.page_size) || !take_head(&c, &t))
		return ptc_feature_broken(PTC_FEAT_TRACING_DATA, off, err);
	rc = take_list(&c, off, skip_blob, &t.ftrace, err);
	if (!rc)
		rc = take_list(&c, off, skip_system, &t.systems, err);
	if (rc)
		return rc;
	if (!take_short_blob(&c, &t.kallsyms) || !take_short_blob(&c, &t.printk) ||
	    (has_cmdlines(t.version) && !take_blob(&c, &t.cmdlines)))
		return ptc_feature_broken(PTC_FEAT_TRACING_DATA, off, err);
	t.rest = c;
	*ret = t;
	return 0;
}

static void append_cursor_bytes(struct ptc_buf *b, struct ptc_cur c)
{
	ptc_buf_put(b, c.pos, ptc_cur_left(&c));
}

static void put_blob(struct ptc_buf *b, struct ptc_cur c)
{
	ptc_buf_le64(b, ptc_cur_left(&c));
	append_cursor_bytes(b, c);
}

static void put_short_blob(struct ptc_buf *b, struct ptc_cur c)
{
	ptc_buf_le32(b, (uint32_t)ptc_cur_left(&c));
	append_cursor_bytes(b, c);
}

static void put_list(struct ptc_buf *b, const struct ptc_feature_iter *it)
{
	ptc_buf_le32(b, (uint32_t)it->left);
	append_cursor_bytes(b, it->cur);
}

void ptc_feature_put_tracing_data(struct ptc_buf *b, const struct ptc_tracing_data *t)
{
	ptc_buf_put(b, TRACING_MAGIC, sizeof(TRACING_MAGIC));
	ptc_buf_str(b, t->version, 0);
	ptc_buf_u8(b, 0); /* little-endian */
	ptc_buf_u8(b, t->long_size);
	ptc_buf_le32(b, t->page_size);
	ptc_buf_put(b, PAGE_NAME, sizeof(PAGE_NAME));
	put_blob(b, t->header_page);
	ptc_buf_put(b, EVENT_NAME, sizeof(EVENT_NAME));
	put_blob(b, t->header_event);
	put_list(b, &t->ftrace);
	put_list(b, &t->systems);
	put_short_blob(b, t->kallsyms);
	put_short_blob(b, t->printk);
	if (has_cmdlines(t->version))
		put_blob(b, t->cmdlines);
	append_cursor_bytes(b, t->rest);
}

/* --- BPF --- */

/* linux/bpf.h, struct bpf_prog_info, which grows at its end. */
static void read_info(struct ptc_cur c, struct ptc_bpf_prog *p)
{
	const uint8_t *bytes;

	if (!ptc_cur_le32(&c, &p->type) || !ptc_cur_le32(&c, &p->id) ||
	    !ptc_cur_bytes(&c, sizeof(p->tag), &bytes))
		return;
	memcpy(p->tag, bytes, sizeof(p->tag));
	if (!ptc_cur_le32(&c, &p->jited_len) || !ptc_cur_le32(&c, &p->xlated_len) ||
	    !ptc_cur_skip(&c, 16) || /* pointers to the instructions */
	    !ptc_cur_le64(&c, &p->load_time_ns) || !ptc_cur_le32(&c, &p->uid) ||
	    !ptc_cur_skip(&c, 12) || /* maps */
	    !ptc_cur_bytes(&c, sizeof(p->name) - 1, &bytes))
		return;
	memcpy(p->name, bytes, sizeof(p->name) - 1);
}

int ptc_feature_next_bpf_prog(struct ptc_feature_iter *it, struct ptc_bpf_prog *ret,
			      struct ptc_err *err)
{
	struct ptc_bpf_prog p = { .arrays = 0 };
	struct ptc_cur c = it->cur;
	uint32_t info_len, data_len;

	if (!it->left)
		return 0;
	if (!ptc_cur_le32(&c, &info_len) || !ptc_cur_le32(&c, &data_len) ||
	    !ptc_cur_le64(&c, &p.arrays) || !ptc_cur_sub(&c, info_len, &p.info) ||
	    !ptc_cur_sub(&c, data_len, &p.data))
		return ptc_feature_broken(it->bit, it->off, err);
	read_info(p.info, &p);
	*ret = p;
	return ptc_feature_took(it, c);
}

void ptc_feature_put_bpf_progs(struct ptc_buf *b, const struct ptc_bpf_prog *p, size_t n)
{
	size_t i;

	ptc_buf_le32(b, (uint32_t)n);
	for (i = 0; i < n; i++) {
		ptc_buf_le32(b, (uint32_t)ptc_cur_left(&p[i].info));
		ptc_buf_le32(b, (uint32_t)ptc_cur_left(&p[i].data));
		ptc_buf_le64(b, p[i].arrays);
		append_cursor_bytes(b, p[i].info);
		append_cursor_bytes(b, p[i].data);
	}
}

int ptc_feature_next_bpf_btf(struct ptc_feature_iter *it, struct ptc_bpf_btf *ret,
			     struct ptc_err *err)
{
	struct ptc_cur c = it->cur;
	struct ptc_bpf_btf e;
	uint32_t size;

	if (!it->left)
		return 0;
	if (!ptc_cur_le32(&c, &e.id) || !ptc_cur_le32(&c, &size) || !ptc_cur_sub(&c, size, &e.data))
		return ptc_feature_broken(it->bit, it->off, err);
	*ret = e;
	return ptc_feature_took(it, c);
}

void ptc_feature_put_bpf_btfs(struct ptc_buf *b, const struct ptc_bpf_btf *p, size_t n)
{
	size_t i;

	ptc_buf_le32(b, (uint32_t)n);
	for (i = 0; i < n; i++) {
		ptc_buf_le32(b, p[i].id);
		put_short_blob(b, p[i].data);
	}
}
