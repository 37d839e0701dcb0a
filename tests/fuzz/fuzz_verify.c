/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a perf.data that is verified, as a whole or a damaged file. Asserted: it ends; each
 * finding has a text and a name from the list in verify.h; the counts of findings and records are
 * right.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "ptcap/verify.h"

static const char *const checks[] = { "header",	    "layout",	  "attr",   "feature",
				      "event_desc", "dir_format", "record", "trailing",
				      "id",	    "id_index",	  "info",   "index",
				      "aux",	    "order",	  "time",   "compressed" };

static void take(void *arg, const struct ptc_finding *finding)
{
	const size_t n = sizeof(checks) / sizeof(checks[0]);
	uint64_t *found = arg;
	size_t i;

	for (i = 0; i < n && strcmp(checks[i], finding->check) != 0; i++)
		;
	CHECK(i < n && *finding->msg);
	++*found;
}

static void verify(const struct ptc_file *f)
{
	struct ptc_verify_stats st = PTC_VERIFY_STATS_INIT;
	struct ptc_err err;
	struct ptc_rec rec;
	uint64_t found = 0, pos = 0, records = 0;
	const int rc = ptc_verify(f, take, &found, &st, &err);

	if (rc) {
		CHECK(rc == PTC_E_LIMIT && *err.msg);
		return;
	}
	while (ptc_file_next(f, &pos, &rec, &err) > 0)
		records++;
	CHECK(st.findings == found && st.records == records);
	CHECK(st.unknown_records <= records && st.unknown_features <= st.features);
	CHECK(st.trace_bytes <= ptc_file_size(f) || ptc_file_compressed(f));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct ptc_file *f;
	struct ptc_err err;

	if (ptc_file_open_damaged_bytes(bytes, len, "fuzz", &f, &err))
		return 0;
	verify(f);
	ptc_file_free(f);
	return 0;
}
