/* SPDX-License-Identifier: MIT */
#include "cli/convert/branch_stacks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "cli/common/cli.h"
#include "cli/decode/decode_findings.h"
#include "ptcap/decode.h"
#include "ptcap/writer.h"

bool ptc_branch_stacks_parse(const char *s, struct ptc_synth_stacks_opts *ret)
{
	uint64_t depth = PTC_SYNTH_DEPTH, period = PTC_SYNTH_PERIOD;
	char word[24];
	const size_t len = s ? strcspn(s, ",") : 0;

	if (s && len) {
		if (len >= sizeof(word))
			return false;
		memcpy(word, s, len);
		word[len] = '\0';
		if (!ptc_parse_u64(word, &depth))
			return false;
	}
	if (s && s[len] && !ptc_parse_count(s + len + 1, &period))
		return false;
	if (!depth || depth > PTC_SYNTH_DEPTH_MAX || !period)
		return false;
	ret->depth = (uint32_t)depth;
	ret->period = period;
	return true;
}

struct writing {
	struct ptc_branch_stacks *b;
	struct ptc_writer *w;
};

static int put_record(void *ctx, struct ptc_cur rec, struct ptc_err *err)
{
	struct writing *w = ctx;

	w->b->written++;
	return ptc_writer_stored(w->w, rec.pos, ptc_cur_left(&rec), true, err);
}

static int put_all(void *ctx, struct ptc_writer *w, struct ptc_err *err)
{
	struct ptc_branch_stacks *b = ctx;
	struct writing writing = { b, w };

	b->opts.put = put_record;
	b->opts.ctx = &writing;
	return ptc_synth_stacks_run(&b->opts, err);
}

int ptc_branch_stacks_open(struct ptc_branch_stacks *b, const char *path, const struct ptc_file *f,
			   struct ptc_err *err)
{
	const int rc = ptc_decode_open(path, NULL, &b->opts.d, err);

	if (rc) {
		b->opts.d = NULL;
		return rc;
	}
	b->opts.id = ptc_copy_new_id(f);
	(void)ptc_synth_stacks_attr(&b->opts, &b->attr, sizeof(b->attr));
	b->more = (struct ptc_copy_more){
		.attr = &b->attr, .name = "branches", .id = b->opts.id, .put = put_all, .ctx = b
	};
	return 0;
}

void ptc_branch_stacks_close(struct ptc_branch_stacks *b, bool done)
{
	struct ptc_decode_stats stats = PTC_DECODE_STATS_INIT;

	if (!b->opts.d)
		return;
	ptc_decode_get_stats(b->opts.d, &stats);
	ptc_say_findings(b->opts.d, &stats);
	if (done)
		ptc_say("%" PRIu64 " branch stack%s made from the trace", b->written,
			ptc_plural(b->written));
	ptc_decode_free(b->opts.d);
}
