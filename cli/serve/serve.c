/* SPDX-License-Identifier: MIT */
#include "cli/serve/serve.h"

#include <stdio.h>

#include "base/err.h"
#include "cli/common/cli.h"
#include "cli/serve/answers.h"
#include "cli/view/page_writer.h"

static bool make_page(const struct ptc_buf *meta, struct ptc_buf *ret)
{
	ptc_buf_put(ret, ptc_served_head, ptc_served_head_size);
	if (!ptc_page_put_element(ret, "meta", meta->bytes, meta->len))
		return false;
	ptc_buf_put(ret, ptc_served_tail, ptc_served_tail_size);
	return !ptc_buf_failed(ret);
}

int ptc_serve(struct ptc_http_server *http, struct ptc_served_recording *recording,
	      const struct ptc_buf *meta, uint32_t nfunctions)
{
	struct ptc_buf page = PTC_BUF_INIT;
	struct ptc_answers answers = { recording, &page, nfunctions };
	struct ptc_err err;
	int code = 0;

	http->policy = (const char *)ptc_served_policy;
	if (!make_page(meta, &page)) {
		code = ptc_say_no_memory();
	} else {
		(void)printf("http://%s/%s/\n", http->hosts[0], http->token);
		code = ptc_finish_stdout(0);
	}
	if (!code) {
		ptc_say("open this address in a browser; Ctrl-C ends ptcap");
		if (ptc_http_serve(http, ptc_answers_give, &answers, &err))
			code = ptc_say_err(&err);
	}
	ptc_buf_release(&page);
	return code;
}
