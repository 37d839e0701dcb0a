/* SPDX-License-Identifier: MIT */
#include "cli/convert/call_chains.h"

#include <inttypes.h>

#include "base/plural.h"
#include "cli/common/cli.h"
#include "cli/decode/decode_findings.h"
#include "ptcap/writer.h"

bool ptc_call_chains_parse(const char *s, struct ptc_chains_opts *ret)
{
	ret->period = PTC_CHAINS_PERIOD;
	return !s || (ptc_parse_count(s, &ret->period) && ret->period);
}

struct chain_writing {
	struct ptc_call_chains *c;
	struct ptc_writer *w;
};

static int write_sample(void *ctx, uint16_t misc, const struct ptc_sample *s, struct ptc_err *err)
{
	struct chain_writing *w = ctx;

	w->c->written++;
	return ptc_writer_sample(w->w, &w->c->attr, misc, s, err);
}

static int put_all_chains(void *ctx, struct ptc_writer *w, struct ptc_err *err)
{
	struct ptc_call_chains *c = ctx;
	struct chain_writing writing = { c, w };

	c->opts.put = write_sample;
	c->opts.ctx = &writing;
	return ptc_chains_run(&c->opts, err);
}

/* Do all events exclude the kernel? */
static bool is_user_only(const struct ptc_file *f)
{
	size_t i;

	for (i = 0; i < ptc_file_nattrs(f); i++)
		if (!ptc_file_attr(f, i)->attr.exclude_kernel)
			return false;
	return true;
}

int ptc_call_chains_open(struct ptc_call_chains *c, const char *path, const struct ptc_file *f,
			 struct ptc_err *err)
{
	struct ptc_decode_opts opts = PTC_DECODE_OPTS_INIT;
	int rc;

	opts.lengths = opts.icount = true;
	rc = ptc_decode_open(path, &opts, &c->opts.d, err);
	if (rc) {
		c->opts.d = NULL;
		return rc;
	}
	c->opts.id = ptc_copy_new_id(f);
	c->opts.user_only = is_user_only(f);
	c->attr = ptc_chains_attr(&c->opts);
	c->more = (struct ptc_copy_more){ .attr = &c->attr,
					  .name = c->opts.user_only ? "instructions:u" :
								      "instructions",
					  .id = c->opts.id,
					  .put = put_all_chains,
					  .ctx = c };
	return 0;
}

void ptc_call_chains_close(struct ptc_call_chains *c, bool done)
{
	struct ptc_decode_stats stats = PTC_DECODE_STATS_INIT;

	if (!c->opts.d)
		return;
	ptc_decode_get_stats(c->opts.d, &stats);
	ptc_say_findings(c->opts.d, &stats);
	if (done)
		ptc_say("%" PRIu64 " sample%s with a call chain made from the trace", c->written,
			ptc_plural(c->written));
	ptc_decode_free(c->opts.d);
}
