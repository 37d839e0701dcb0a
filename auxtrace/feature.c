/* SPDX-License-Identifier: MIT */
#include "auxtrace/feature.h"

#include <string.h>

#include "auxtrace/attr.h"
#include "base/err.h"

enum {
	STRING_ALIGN = 64,   /* what perf pads strings to */
	BUILD_ID_FIXED = 36, /* of a BUILD_ID entry: header, pid, 20 bytes of id, size, padding */
	BUILD_ID_HAS_SIZE = 1 << 15, /* misc: the byte behind the id is its length */
};

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

void ptc_feature_put_nrcpus(struct ptc_buf *b, uint32_t avail, uint32_t online)
{
	ptc_buf_le32(b, avail);
	ptc_buf_le32(b, online);
}

void ptc_feature_put_total_mem(struct ptc_buf *b, uint64_t kib)
{
	ptc_buf_le64(b, kib);
}

void ptc_feature_put_cmdline(struct ptc_buf *b, const char *const *argv, size_t n)
{
	size_t i;

	ptc_buf_le32(b, (uint32_t)n);
	for (i = 0; i < n; i++)
		ptc_feature_put_string(b, argv[i]);
}

void ptc_feature_put_sample_time(struct ptc_buf *b, uint64_t first_ns, uint64_t last_ns)
{
	ptc_buf_le64(b, first_ns);
	ptc_buf_le64(b, last_ns);
}

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

void ptc_feature_put_pmu_mappings(struct ptc_buf *b, const struct ptc_pmu_mapping *m, size_t n)
{
	size_t i;

	ptc_buf_le32(b, (uint32_t)n);
	for (i = 0; i < n; i++) {
		ptc_buf_le32(b, m[i].type);
		ptc_feature_put_string(b, m[i].name);
	}
}

/* Shaped like a record, but its size is no multiple of 8: the strings' padding counts from the
 * name. */
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

int ptc_feature_next_build_id(struct ptc_cur *c, uint64_t off, struct ptc_build_id_entry *ret,
			      struct ptc_err *err)
{
	struct ptc_build_id_entry e = { .id.len = PTC_BUILD_ID_MAX };
	struct ptc_cur pos = *c;
	struct ptc_cur body;
	const uint8_t *id;
	uint32_t type, pid;
	uint16_t size;
	uint8_t len;

	if (!ptc_cur_left(&pos))
		return 0;
	if (!ptc_cur_le32(&pos, &type) || !ptc_cur_le16(&pos, &e.misc) ||
	    !ptc_cur_le16(&pos, &size) || size < BUILD_ID_FIXED ||
	    !ptc_cur_sub(&pos, size - (size_t)PTC_REC_HEADER_SIZE, &body) ||
	    !ptc_cur_le32(&body, &pid) || !ptc_cur_bytes(&body, PTC_BUILD_ID_MAX, &id) ||
	    !ptc_cur_u8(&body, &len) || !ptc_cur_skip(&body, 3) || !ptc_cur_str(&body, &e.filename))
		return ptc_fail_at(err, PTC_E_FORMAT, off, "BUILD_ID feature has a broken entry");
	if (e.misc & BUILD_ID_HAS_SIZE) {
		if (len > PTC_BUILD_ID_MAX)
			return ptc_fail_at(err, PTC_E_FORMAT, off,
					   "BUILD_ID feature has an id of %u bytes", len);
		e.id.len = len;
	}
	memcpy(e.id.bytes, id, e.id.len);
	e.misc &= (uint16_t)~BUILD_ID_HAS_SIZE;
	e.pid = (int32_t)pid;
	*c = pos;
	*ret = e;
	return 1;
}
