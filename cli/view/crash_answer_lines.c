/* SPDX-License-Identifier: MIT */
#include "cli/view/crash_answer_lines.h"

#include "base/err.h"
#include "cli/crash/crash_out.h"

enum { WIDTH = 110, BRANCHES = 1 << 16, CALLS = 1024 };

int ptc_crash_lines_read(struct ptc_crash_lines *ret, const char *input,
			 const struct ptc_code_opts *code, bool mangled, struct ptc_err *err)
{
	const struct ptc_crash_opts opts = { .input = input,
					     .branches = BRANCHES,
					     .calls = CALLS,
					     .code = code,
					     .mangled = mangled };
	struct ptc_crash_report report = { .file = NULL };
	const struct ptc_crash_view view = { .r = &report, .width = WIDTH, .symfs = code->symfs };
	int rc = ptc_crash_explain(&report, &opts, err);

	if (!rc) {
		ret->screen.width = WIDTH;
		ret->tid = report.tid.first;
		ptc_crash_add_answer(&view, &ret->screen);
		rc = ret->screen.failed ? ptc_fail_mem(err) : 0;
	}
	ptc_crash_report_release(&report);
	return rc == PTC_E_NOT_EXIST ? 0 : rc;
}
