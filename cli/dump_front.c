/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "dump.h"
#include "ptcap/file.h"
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

static void json_event(struct ptc_emit *e, const struct ptc_file *f, size_t i)
{
	const struct ptc_file_attr *a = ptc_file_attr(f, i);
	size_t j;

	ptc_emit_object(e, NULL);
	ptc_emit_word(e, "type", "event");
	ptc_emit_u64(e, "index", i);
	ptc_emit_u64(e, "pmu", a->attr.type);
	ptc_emit_u64(e, "size", a->attr.size);
	ptc_emit_hex(e, "config", a->attr.config);
	ptc_emit_u64(e, "period", a->attr.sample_period);
	ptc_emit_hex(e, "sample_type", a->attr.sample_type);
	ptc_emit_bool(e, "sample_id_all", a->attr.sample_id_all);
	ptc_emit_bool(e, "context_switch", a->attr.context_switch);
	ptc_emit_bool(e, "exclude_kernel", a->attr.exclude_kernel);
	ptc_emit_bool(e, "exclude_user", a->attr.exclude_user);
	ptc_emit_u64(e, "aux_watermark", a->attr.aux_watermark);
	ptc_emit_bool(e, "unknown_bytes", a->unknown_bytes);
	ptc_emit_list(e, "ids");
	for (j = 0; j < a->nids; j++)
		ptc_emit_u64(e, NULL, a->ids[j]);
	ptc_emit_end(e);
	ptc_emit_end(e);
	printf("\n");
}

static int show_feature(struct ptc_emit *e, const struct ptc_file *f, unsigned int bit,
			struct ptc_err *err)
{
	const char *name = ptc_feature_name(bit);
	struct ptc_nrcpus cpus = { 0, 0 };
	struct ptc_cur c, nrcpus;
	uint64_t off;
	int rc;

	if (!ptc_file_feature(f, bit, &c, &off))
		return 0;
	if (ptc_file_feature(f, PTC_FEAT_NRCPUS, &nrcpus, NULL))
		(void)ptc_feature_get_nrcpus(&nrcpus, &cpus);
	ptc_emit_object(e, NULL);
	if (e->json) {
		ptc_emit_word(e, "type", "feature");
		ptc_emit_u64(e, "bit", bit);
		ptc_emit_text(e, "name", name);
		ptc_emit_hex(e, "offset", off);
		ptc_emit_u64(e, "size", ptc_cur_left(&c));
	} else {
		printf("# feature %u %s: 0x%" PRIx64 "+0x%zx", bit, name ? name : "UNKNOWN", off,
		       ptc_cur_left(&c));
	}
	ptc_emit_object(e, "fields");
	rc = ptc_dump_feature(e, bit, c, off, cpus.available, err);
	ptc_emit_end(e);
	if (e->json && rc)
		ptc_emit_text(e, "damage", err->msg);
	ptc_emit_end(e);
	printf("%s\n", rc && !e->json ? " DAMAGED" : "");
	return rc;
}

static void show_file(struct ptc_emit *e, const struct ptc_file *f)
{
	if (e->json) {
		ptc_emit_object(e, NULL);
		ptc_emit_word(e, "type", "file");
		ptc_emit_word(e, "schema", "ptcap-dump");
		ptc_emit_u64(e, "version", 1);
		ptc_emit_text(e, "name", ptc_file_name(f));
		ptc_emit_u64(e, "size", ptc_file_size(f));
		ptc_emit_hex(e, "data_offset", ptc_file_data_off(f));
		ptc_emit_u64(e, "data_size", ptc_file_data_size(f));
		ptc_emit_end(e);
		printf("\n");
		return;
	}
	printf("# file ");
	ptc_show_text(ptc_file_name(f));
	printf(": %" PRIu64 " bytes, data at 0x%" PRIx64 "+0x%" PRIx64 "\n", ptc_file_size(f),
	       ptc_file_data_off(f), ptc_file_data_size(f));
}

int ptc_dump_front(struct ptc_emit *e, const struct ptc_file *f, struct ptc_err *err)
{
	struct ptc_err later;
	unsigned int bit;
	int first = 0;
	size_t i;

	show_file(e, f);
	for (i = 0; i < ptc_file_nattrs(f); i++) {
		if (e->json)
			json_event(e, f, i);
		else
			show_event(f, i);
	}
	for (bit = 0; bit < PTC_FEATURE_BITS; bit++) {
		const int rc = show_feature(e, f, bit, first ? &later : err);

		if (rc && !first)
			first = rc;
	}
	return first;
}
