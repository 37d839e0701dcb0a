/* SPDX-License-Identifier: MIT */
/* Reads a recording with states of processes, in the sandbox, and prints them. */
#include <stdio.h>

#include "cli/common/cli.h"
#include "cli/common/sandbox.h"
#include "cli/common/stream_copy.h"
#include "cli/common/terminal.h"
#include "cli/stacks/stacks_out.h"

/* Start the pager only when there is output, so that errors do not disappear in it. */
static int print_report(const struct ptc_stacks_show_args *a, const struct ptc_stacks_report *r,
			struct ptc_pager *pager)
{
	struct ptc_stacks_view v = a->view;
	bool whole;

	v.color = ptc_terminal_has_colors();
	ptc_pager_start(pager);
	whole = a->json ? ptc_stacks_json(r, &v) : ptc_stacks_text(r, &v);
	if (!ptc_pager_finish(pager))
		return PTC_EXIT_FAIL;
	return whole ? PTC_EXIT_OK : ptc_say_no_memory();
}

static void say_notes(const struct ptc_stacks_report *r)
{
	const char *note;
	size_t i;

	(void)fflush(stdout);
	for (i = 0; (note = ptc_stacks_report_note(r, i)) != NULL; i++)
		ptc_say("%s", note);
}

static int explain(const struct ptc_stacks_show_args *a, struct ptc_pager *pager)
{
	struct ptc_stacks_report *report = NULL;
	struct ptc_err err;
	int code;

	if (!ptc_stacks_explain(a->input, &a->opts, &report, &err)) {
		code = print_report(a, report, pager);
		say_notes(report);
	} else {
		(void)ptc_say_input_err(a->input, &err);
		/* A missing file is another error. */
		code = err.code == PTC_E_NOT_EXIST && !err.sys ? PTC_EXIT_NOTHING : PTC_EXIT_FAIL;
	}
	ptc_stacks_report_free(report);
	return code;
}

int ptc_stacks_show(struct ptc_stacks_show_args *a)
{
	const struct ptc_sandbox sandbox = { .off = a->no_sandbox, .finds_code = true };
	struct ptc_pager pager = PTC_PAGER_INIT;
	int code;

	if (!a->no_pager && !a->json)
		ptc_pager_prepare(&pager);
	code = ptc_sandbox_enter_with_copy(&sandbox, &a->input);
	return code ? code : explain(a, &pager);
}
