/* SPDX-License-Identifier: MIT */
#include "cli/view/crash_answer_lines.h"

#include "base/err.h"
#include "cli/crash/crash_out.h"

enum { WIDTH = 110, BRANCHES = 1 << 16, CALLS = 1024 };

int ptc_crash_lines_read(struct ptc_crash_lines *ret, const char *input,
			 const struct ptc_code_opts *code, bool mangled, struct ptc_err *err)
{
	struct ptc_crash_view view = { .width = WIDTH, .symfs = code->symfs };
	struct ptc_crash_opts opts = PTC_CRASH_OPTS_INIT;
	struct ptc_crash_report *report = NULL;
	int rc;

	opts.branches = BRANCHES;
	opts.calls = CALLS;
	opts.code = code;
	opts.mangled = mangled;
	rc = ptc_crash_explain(input, &opts, &report, err);
	if (!rc) {
		view.r = report;
		ret->screen.width = WIDTH;
		ret->tid = (int32_t)ptc_crash_state_signal(ptc_crash_report_state(report))->tid;
		ptc_crash_add_answer(&view, &ret->screen);
		rc = ret->screen.failed ? ptc_fail_mem(err) : 0;
	}
	ptc_crash_report_free(report);
	return rc == PTC_E_NOT_EXIST ? 0 : rc;
}
