/* SPDX-License-Identifier: MIT */
#include "auxtrace/feature/feature_base.h"

#include <string.h>

#include "auxtrace/feature/feature.h"
#include "base/err.h"

enum { STRING_ALIGN = 64 }; /* perf pads strings to this size */

void ptc_feature_put_string(struct ptc_buf *b, const char *s)
{
	const size_t len = strlen(s) + 1;
	const size_t pad = -len % STRING_ALIGN;

	ptc_buf_le32(b, (uint32_t)(len + pad));
	ptc_buf_put(b, s, len);
	ptc_buf_zero(b, pad);
}

bool ptc_feature_get_string(struct ptc_cur *c, const char **ret)
{
	struct ptc_cur pos = *c;
	struct ptc_cur text;
	uint32_t len;

	if (!ptc_cur_le32(&pos, &len) || !ptc_cur_sub(&pos, len, &text) || !ptc_cur_str(&text, ret))
		return false;
	*c = pos;
	return true;
}

int ptc_feature_broken(enum ptc_feature bit, uint64_t off, struct ptc_err *err)
{
	const char *name = ptc_feature_name(bit);

	return ptc_fail_at(err, PTC_E_FORMAT, off, "feature %s is too short", name ? name : "?");
}

int ptc_feature_took(struct ptc_feature_iter *it, struct ptc_cur c)
{
	it->cur = c;
	it->left--;
	return 1;
}

int ptc_feature_span(struct ptc_feature_iter *it, struct ptc_cur *c,
		     int (*skip)(struct ptc_feature_iter *, struct ptc_err *), struct ptc_err *err)
{
	struct ptc_feature_iter walk = *it;
	int rc;

	walk.cur = *c;
	while ((rc = skip(&walk, err)) > 0)
		;
	if (rc)
		return rc;
	it->cur = (struct ptc_cur){ .pos = c->pos, .end = walk.cur.pos };
	*c = walk.cur;
	return 0;
}

int ptc_feature_open(enum ptc_feature bit, struct ptc_cur section, uint64_t off,
		     struct ptc_feature_iter *ret, struct ptc_err *err)
{
	struct ptc_feature_iter it = { .cur = section, .off = off, .bit = bit };
	uint32_t n;

	if (bit == PTC_FEAT_AUXTRACE) {
		if (!ptc_cur_le64(&it.cur, &it.left))
			return ptc_feature_broken(bit, off, err);
	} else {
		if (!ptc_cur_le32(&it.cur, &n))
			return ptc_feature_broken(bit, off, err);
		it.left = n;
	}
	*ret = it;
	return 0;
}

int ptc_feature_next_string(struct ptc_feature_iter *it, const char **ret, struct ptc_err *err)
{
	struct ptc_cur c = it->cur;

	if (!it->left)
		return 0;
	if (!ptc_feature_get_string(&c, ret))
		return ptc_feature_broken(it->bit, it->off, err);
	return ptc_feature_took(it, c);
}

void ptc_feature_put_strings(struct ptc_buf *b, const char *const *list, size_t n)
{
	size_t i;

	ptc_buf_le32(b, (uint32_t)n);
	for (i = 0; i < n; i++)
		ptc_feature_put_string(b, list[i]);
}
