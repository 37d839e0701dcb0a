/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "auxtrace/layout.h"
#include "base/err.h"
#include "dump.h"
#include "show.h"

static void show_event(const struct ptc_file *f, size_t i)
{
	const struct ptc_file_attr *a = ptc_file_attr(f, i);
	size_t j;

	printf("# event %zu: type=%u size=%u config=0x%" PRIx64 " period=%" PRIu64 " sample_type=",
	       i, a->attr.type, a->attr.size, (uint64_t)a->attr.config,
	       (uint64_t)a->attr.sample_period);
	ptc_show_sample_type(a->attr.sample_type);
	if (a->attr.sample_id_all)
		printf(" sample_id_all");
	if (a->attr.context_switch)
		printf(" context_switch");
	if (a->attr.exclude_kernel)
		printf(" exclude_kernel");
	if (a->attr.exclude_user)
		printf(" exclude_user");
	if (a->attr.aux_watermark)
		printf(" aux_watermark=%u", a->attr.aux_watermark);
	if (a->unknown_bytes)
		printf(" (has fields of a newer perf_event.h)");
	printf(" ids=");
	for (j = 0; j < a->nids; j++)
		printf("%s%" PRIu64, j ? "," : "", a->ids[j]);
	printf("\n");
}

static int broken(uint64_t off, unsigned int bit, struct ptc_err *err)
{
	return ptc_fail_at(err, PTC_E_FORMAT, off, "feature %s is too short",
			   ptc_feature_name(bit));
}

static bool show_strings(struct ptc_cur *c, uint32_t n)
{
	const char *text;

	while (n--) {
		if (!ptc_feature_get_string(c, &text))
			return false;
		printf(" ");
		ptc_show_text(text);
	}
	return true;
}

static bool show_pmus(struct ptc_cur *c)
{
	const char *name;
	uint32_t n, type;

	if (!ptc_cur_le32(c, &n))
		return false;
	while (n--) {
		if (!ptc_cur_le32(c, &type) || !ptc_feature_get_string(c, &name))
			return false;
		printf(" %u=", type);
		ptc_show_text(name);
	}
	return true;
}

static bool show_index(struct ptc_cur *c)
{
	uint64_t n, off, size;

	if (!ptc_cur_le64(c, &n))
		return false;
	printf(" n=%" PRIu64, n);
	while (n--) {
		if (!ptc_cur_le64(c, &off) || !ptc_cur_le64(c, &size))
			return false;
		printf(" 0x%" PRIx64 "+%" PRIu64, off, size);
	}
	return true;
}

static int show_build_ids(struct ptc_cur c, uint64_t off, struct ptc_err *err)
{
	struct ptc_build_id_entry e;
	int rc;

	while ((rc = ptc_feature_next_build_id(&c, off, &e, err)) > 0) {
		char hex[2 * PTC_BUILD_ID_MAX + 1];

		ptc_build_id_hex(&e.id, hex);
		printf("\n#   %s pid=%d ", hex, e.pid);
		ptc_show_text(e.filename);
	}
	return rc;
}

static int show_event_desc(struct ptc_cur c, uint64_t off, struct ptc_err *err)
{
	struct ptc_event_desc_entry e;
	struct ptc_event_desc_iter it;
	int rc = ptc_feature_open_event_desc(c, off, &it, err);

	while (!rc && (rc = ptc_feature_next_event_desc(&it, &e, err)) > 0) {
		rc = 0;
		printf(" ");
		ptc_show_text(e.name);
	}
	return rc;
}

static int show_feature(unsigned int bit, struct ptc_cur c, uint64_t off, struct ptc_err *err)
{
	uint64_t first, last;
	uint32_t n, online;
	bool ok = true;

	switch (bit) {
	case PTC_FEAT_HOSTNAME:
	case PTC_FEAT_OSRELEASE:
	case PTC_FEAT_VERSION:
	case PTC_FEAT_ARCH:
	case PTC_FEAT_CPUDESC:
	case PTC_FEAT_CPUID:
		ok = show_strings(&c, 1);
		break;
	case PTC_FEAT_CMDLINE:
		ok = ptc_cur_le32(&c, &n) && show_strings(&c, n);
		break;
	case PTC_FEAT_NRCPUS:
		ok = ptc_cur_le32(&c, &n) && ptc_cur_le32(&c, &online);
		if (ok)
			printf(" available=%u online=%u", n, online);
		break;
	case PTC_FEAT_TOTAL_MEM:
		ok = ptc_cur_le64(&c, &first);
		if (ok)
			printf(" kib=%" PRIu64, first);
		break;
	case PTC_FEAT_SAMPLE_TIME:
		ok = ptc_cur_le64(&c, &first) && ptc_cur_le64(&c, &last);
		if (ok) {
			printf(" ");
			ptc_show_time(first);
			printf(" ");
			ptc_show_time(last);
		}
		break;
	case PTC_FEAT_PMU_MAPPINGS:
		ok = show_pmus(&c);
		break;
	case PTC_FEAT_AUXTRACE:
		ok = show_index(&c);
		break;
	case PTC_FEAT_BUILD_ID:
		return show_build_ids(c, off, err);
	case PTC_FEAT_EVENT_DESC:
		return show_event_desc(c, off, err);
	default:
		break;
	}
	return ok ? 0 : broken(off, bit, err);
}

int ptc_dump_front(const struct ptc_file *f, struct ptc_err *err)
{
	struct ptc_err later;
	unsigned int bit;
	int first = 0;
	size_t i;

	printf("# file ");
	ptc_show_text(ptc_file_name(f));
	printf(": %" PRIu64 " bytes, data at 0x%" PRIx64 "+0x%" PRIx64 "\n", ptc_file_size(f),
	       ptc_file_data_off(f), ptc_file_data_size(f));
	for (i = 0; i < ptc_file_nattrs(f); i++)
		show_event(f, i);
	for (bit = 0; bit < PTC_FEATURE_BITS; bit++) {
		const char *name = ptc_feature_name(bit);
		struct ptc_cur c;
		uint64_t off;
		int rc;

		if (!ptc_file_feature(f, bit, &c, &off))
			continue;
		printf("# feature %u %s: 0x%" PRIx64 "+0x%zx", bit, name ? name : "UNKNOWN", off,
		       ptc_cur_left(&c));
		rc = show_feature(bit, c, off, first ? &later : err);
		printf("%s\n", rc ? " DAMAGED" : "");
		if (rc && !first)
			first = rc;
	}
	return first;
}
