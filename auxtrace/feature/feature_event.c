/* SPDX-License-Identifier: MIT */
#include "auxtrace/feature/feature_event.h"

#include "auxtrace/record/attr.h"
#include "base/err.h"

void ptc_feature_put_event_desc(struct ptc_buf *b, const struct ptc_event_desc *d, size_t n)
{
	uint32_t size = PERF_ATTR_SIZE_VER0;
	size_t i, j;

	for (i = 0; i < n; i++)
		if (ptc_attr_stored_size(d[i].attr) > size)
			size = ptc_attr_stored_size(d[i].attr);
	ptc_buf_le32(b, (uint32_t)n);
	ptc_buf_le32(b, size);
	for (i = 0; i < n; i++) {
		ptc_attr_put(b, d[i].attr, size);
		ptc_buf_le32(b, (uint32_t)d[i].nids);
		ptc_feature_put_string(b, d[i].name);
		for (j = 0; j < d[i].nids; j++)
			ptc_buf_le64(b, d[i].ids[j]);
	}
}

int ptc_feature_open_event_desc(struct ptc_cur section, uint64_t off,
				struct ptc_event_desc_iter *ret, struct ptc_err *err)
{
	struct ptc_event_desc_iter it = { .cur = section, .off = off };

	if (!ptc_cur_le32(&it.cur, &it.left) || !ptc_cur_le32(&it.cur, &it.attr_size))
		return ptc_fail_at(err, PTC_E_FORMAT, off, "EVENT_DESC feature is too short");
	*ret = it;
	return 0;
}

int ptc_feature_next_event_desc(struct ptc_event_desc_iter *it, struct ptc_event_desc_entry *ret,
				struct ptc_err *err)
{
	struct ptc_event_desc_entry e;
	struct ptc_cur c = it->cur;
	struct ptc_cur attr;
	bool unknown;
	uint32_t nids;
	int rc;

	if (!it->left)
		return 0;
	if (!ptc_cur_sub(&c, it->attr_size, &attr) || !ptc_cur_le32(&c, &nids) ||
	    !ptc_feature_get_string(&c, &e.name) || !ptc_cur_sub(&c, (size_t)nids * 8, &e.ids))
		return ptc_fail_at(err, PTC_E_FORMAT, it->off,
				   "EVENT_DESC feature ends inside an event");
	rc = ptc_attr_parse(attr, it->off, &e.attr, &unknown, err);
	if (rc)
		return rc;
	it->cur = c;
	it->left--;
	*ret = e;
	return 1;
}

int ptc_feature_next_group(struct ptc_feature_iter *it, struct ptc_group_desc *ret,
			   struct ptc_err *err)
{
	struct ptc_cur c = it->cur;
	struct ptc_group_desc g;

	if (!it->left)
		return 0;
	if (!ptc_feature_get_string(&c, &g.name) || !ptc_cur_le32(&c, &g.leader) ||
	    !ptc_cur_le32(&c, &g.members))
		return ptc_feature_broken(it->bit, it->off, err);
	*ret = g;
	return ptc_feature_took(it, c);
}

void ptc_feature_put_groups(struct ptc_buf *b, const struct ptc_group_desc *g, size_t n)
{
	size_t i;

	ptc_buf_le32(b, (uint32_t)n);
	for (i = 0; i < n; i++) {
		ptc_feature_put_string(b, g[i].name);
		ptc_buf_le32(b, g[i].leader);
		ptc_buf_le32(b, g[i].members);
	}
}

int ptc_feature_next_pmu_mapping(struct ptc_feature_iter *it, struct ptc_pmu_mapping *ret,
				 struct ptc_err *err)
{
	struct ptc_cur c = it->cur;
	struct ptc_pmu_mapping m;

	if (!it->left)
		return 0;
	if (!ptc_cur_le32(&c, &m.type) || !ptc_feature_get_string(&c, &m.name))
		return ptc_feature_broken(it->bit, it->off, err);
	*ret = m;
	return ptc_feature_took(it, c);
}

void ptc_feature_put_pmu_mappings(struct ptc_buf *b, const struct ptc_pmu_mapping *m, size_t n)
{
	size_t i;

	ptc_buf_le32(b, (uint32_t)n);
	for (i = 0; i < n; i++) {
		ptc_buf_le32(b, m[i].type);
		ptc_feature_put_string(b, m[i].name);
	}
}

int ptc_feature_next_pmu_cap(struct ptc_feature_iter *it, struct ptc_pmu_cap *ret,
			     struct ptc_err *err)
{
	struct ptc_cur c = it->cur;
	struct ptc_pmu_cap cap;

	if (!it->left)
		return 0;
	if (!ptc_feature_get_string(&c, &cap.name) || !ptc_feature_get_string(&c, &cap.value))
		return ptc_feature_broken(it->bit, it->off, err);
	*ret = cap;
	return ptc_feature_took(it, c);
}

void ptc_feature_put_cpu_pmu_caps(struct ptc_buf *b, const struct ptc_pmu_cap *caps, size_t n)
{
	size_t i;

	ptc_buf_le32(b, (uint32_t)n);
	for (i = 0; i < n; i++) {
		ptc_feature_put_string(b, caps[i].name);
		ptc_feature_put_string(b, caps[i].value);
	}
}

static int skip_cap(struct ptc_feature_iter *it, struct ptc_err *err)
{
	struct ptc_pmu_cap cap;

	return ptc_feature_next_pmu_cap(it, &cap, err);
}

/* The PMU's name follows its capabilities. */
int ptc_feature_next_pmu_caps(struct ptc_feature_iter *it, struct ptc_pmu_caps *ret,
			      struct ptc_err *err)
{
	struct ptc_pmu_caps p;
	struct ptc_cur c;
	int rc;

	if (!it->left)
		return 0;
	rc = ptc_feature_open(it->bit, it->cur, it->off, &p.caps, err);
	if (rc)
		return rc;
	c = p.caps.cur;
	rc = ptc_feature_span(&p.caps, &c, skip_cap, err);
	if (rc)
		return rc;
	if (!ptc_feature_get_string(&c, &p.pmu))
		return ptc_feature_broken(it->bit, it->off, err);
	*ret = p;
	return ptc_feature_took(it, c);
}

void ptc_feature_put_pmu_caps(struct ptc_buf *b, const struct ptc_pmu_caps_desc *d, size_t n)
{
	size_t i;

	ptc_buf_le32(b, (uint32_t)n);
	for (i = 0; i < n; i++) {
		ptc_feature_put_cpu_pmu_caps(b, d[i].caps, d[i].ncaps);
		ptc_feature_put_string(b, d[i].pmu);
	}
}
