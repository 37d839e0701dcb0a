/* SPDX-License-Identifier: MIT */
#include "auxtrace/feature/feature_base.h"

#include <string.h>

#include "base/err.h"

enum { STRING_ALIGN = 64 }; /* perf pads strings to this size */

const char *ptc_feature_name(unsigned int bit)
{
	static const char *const names[] = {
		[PTC_FEAT_TRACING_DATA] = "TRACING_DATA",
		[PTC_FEAT_BUILD_ID] = "BUILD_ID",
		[PTC_FEAT_HOSTNAME] = "HOSTNAME",
		[PTC_FEAT_OSRELEASE] = "OSRELEASE",
		[PTC_FEAT_VERSION] = "VERSION",
		[PTC_FEAT_ARCH] = "ARCH",
		[PTC_FEAT_NRCPUS] = "NRCPUS",
		[PTC_FEAT_CPUDESC] = "CPUDESC",
		[PTC_FEAT_CPUID] = "CPUID",
		[PTC_FEAT_TOTAL_MEM] = "TOTAL_MEM",
		[PTC_FEAT_CMDLINE] = "CMDLINE",
		[PTC_FEAT_EVENT_DESC] = "EVENT_DESC",
		[PTC_FEAT_CPU_TOPOLOGY] = "CPU_TOPOLOGY",
		[PTC_FEAT_NUMA_TOPOLOGY] = "NUMA_TOPOLOGY",
		[PTC_FEAT_BRANCH_STACK] = "BRANCH_STACK",
		[PTC_FEAT_PMU_MAPPINGS] = "PMU_MAPPINGS",
		[PTC_FEAT_GROUP_DESC] = "GROUP_DESC",
		[PTC_FEAT_AUXTRACE] = "AUXTRACE",
		[PTC_FEAT_STAT] = "STAT",
		[PTC_FEAT_CACHE] = "CACHE",
		[PTC_FEAT_SAMPLE_TIME] = "SAMPLE_TIME",
		[PTC_FEAT_MEM_TOPOLOGY] = "MEM_TOPOLOGY",
		[PTC_FEAT_CLOCKID] = "CLOCKID",
		[PTC_FEAT_DIR_FORMAT] = "DIR_FORMAT",
		[PTC_FEAT_BPF_PROG_INFO] = "BPF_PROG_INFO",
		[PTC_FEAT_BPF_BTF] = "BPF_BTF",
		[PTC_FEAT_COMPRESSED] = "COMPRESSED",
		[PTC_FEAT_CPU_PMU_CAPS] = "CPU_PMU_CAPS",
		[PTC_FEAT_CLOCK_DATA] = "CLOCK_DATA",
		[PTC_FEAT_HYBRID_TOPOLOGY] = "HYBRID_TOPOLOGY",
		[PTC_FEAT_PMU_CAPS] = "PMU_CAPS",
		[PTC_FEAT_CPU_DOMAIN_INFO] = "CPU_DOMAIN_INFO",
	};

	return bit < sizeof(names) / sizeof(names[0]) ? names[bit] : NULL;
}

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
