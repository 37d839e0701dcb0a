/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "cli/common/text_escape.h"
#include "cli/dump/dump.h"
#include "cli/dump/dump_event.h"
#include "ptcap/file.h"

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

int ptc_dump_front(struct ptc_emit *e, const struct ptc_file *f, const struct ptc_dump_filter *d,
		   struct ptc_err *err)
{
	struct ptc_err later;
	unsigned int bit;
	int first = 0;
	size_t i;

	show_file(e, f);
	for (i = 0; i < ptc_file_nattrs(f) && (!d->by_type || d->events); i++)
		ptc_dump_event(e, f, i);
	for (bit = 0; bit < PTC_FEATURE_BITS && (!d->by_type || d->features); bit++) {
		const int rc = show_feature(e, f, bit, first ? &later : err);

		if (rc && !first)
			first = rc;
	}
	return first;
}
