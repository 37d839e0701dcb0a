/* SPDX-License-Identifier: MIT */
#include "cli/dump/dump_verify.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/plural.h"
#include "cli/common/cli.h"
#include "cli/common/text_escape.h"
#include "cli/dump/dump.h"
#include "ptcap/verify.h"

struct verify_out {
	struct ptc_emit e;
	const struct ptc_file *f;
};

static void json_finding(struct verify_out *o, const struct ptc_finding *finding)
{
	ptc_emit_object(&o->e, NULL);
	ptc_emit_word(&o->e, "type", "finding");
	ptc_emit_word(&o->e, "check", finding->check);
	ptc_emit_place(&o->e, o->f, finding->off);
	ptc_emit_text(&o->e, "message", finding->msg);
	ptc_emit_end(&o->e);
	printf("\n");
}

static void say(void *arg, const struct ptc_finding *finding)
{
	struct verify_out *o = arg;

	if (o->e.json) {
		json_finding(o, finding);
		return;
	}
	ptc_show_place(o->f, finding->off);
	printf("%s: ", finding->check);
	ptc_show_plain(finding->msg);
	printf("\n");
}

static void tell_end(struct ptc_emit *e, const struct ptc_verify_stats *s)
{
	if (e->json) {
		ptc_emit_object(e, NULL);
		ptc_emit_word(e, "type", "verified");
		ptc_emit_u64(e, "findings", s->findings);
		ptc_emit_u64(e, "records", s->records);
		ptc_emit_u64(e, "unknown", s->unknown_records);
		ptc_emit_u64(e, "features", s->features);
		ptc_emit_u64(e, "unknown_features", s->unknown_features);
		ptc_emit_u64(e, "trace_bytes", s->trace_bytes);
		ptc_emit_end(e);
		printf("\n");
		return;
	}
	if (s->findings)
		printf("%" PRIu64 " finding%s in ", s->findings, ptc_plural(s->findings));
	else
		printf("verified: ");
	printf("%" PRIu64 " records, %" PRIu64 " of unknown type; %" PRIu64 " features, %" PRIu64
	       " unknown; %" PRIu64 " bytes of trace\n",
	       s->records, s->unknown_records, s->features, s->unknown_features, s->trace_bytes);
}

int ptc_verify_file(const char *path, bool json)
{
	struct verify_out o = { .e = { .json = json } };
	struct ptc_verify_stats stats = PTC_VERIFY_STATS_INIT;
	struct ptc_file *f;
	struct ptc_err err;
	int code;

	if (ptc_file_open_damaged(path, &f, &err))
		return ptc_say_err(&err);
	o.f = f;
	if (ptc_verify(f, say, &o, &stats, &err)) {
		code = ptc_say_err(&err);
	} else {
		tell_end(&o.e, &stats);
		code = stats.findings ? PTC_EXIT_FINDINGS : PTC_EXIT_OK;
	}
	ptc_file_free(f);
	if (!o.e.failed)
		return code;
	return ptc_say_no_memory();
}
