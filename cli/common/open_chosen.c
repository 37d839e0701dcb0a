/* SPDX-License-Identifier: MIT */
#include "cli/common/open_chosen.h"

#include <stdlib.h>

#include "cli/common/cli.h"
#include "cli/decode/empty_warnings.h"

int ptc_choose_code(const char *urls, const struct ptc_code_opts *code)
{
	if (urls && setenv("DEBUGINFOD_URLS", urls, 1))
		return ptc_say_no_memory();
	return ptc_asked_code_is_there(code) ? 0 : PTC_EXIT_FAIL;
}

int ptc_open_chosen(const struct ptc_sandbox *sandbox, const struct ptc_chosen *c,
		    struct ptc_decode **ret)
{
	int code = sandbox ? ptc_sandbox_enter(sandbox) : 0;
	struct ptc_decode *d;
	struct ptc_err err;

	if (code)
		return code;
	if (c->pt ? ptc_decode_open_raw(c->pt, c->raw, c->nraw, c->opts, &d, &err) :
		    ptc_decode_open(c->input, c->opts, &d, &err))
		return ptc_say_input_err(c->pt ? NULL : c->input, &err);
	if ((c->time && ptc_time_choice_apply(c->time, d, &err)) ||
	    (c->shard.n && ptc_decode_choose_shard(d, c->shard.i, c->shard.n, &err))) {
		code = ptc_say_err(&err);
		ptc_decode_free(d);
		return code;
	}
	*ret = d;
	return 0;
}
