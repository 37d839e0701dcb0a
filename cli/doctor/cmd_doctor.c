/* SPDX-License-Identifier: MIT */
/* `ptcap doctor`: what of ptcap works on this machine, for this user, and what mends the rest. */
#include <getopt.h>
#include <stdlib.h>

#include "cli/common/args.h"
#include "cli/common/cli.h"
#include "cli/common/option_table.h"
#include "cli/common/process_root.h"
#include "cli/common/sandbox.h"
#include "cli/doctor/debug_files.h"
#include "cli/doctor/doctor_out.h"

struct doctor_args {
	struct ptc_doctor_opts run;
	bool json, no_sandbox;
};

static bool take_pid(const char *s, void *ret)
{
	pid_t list[PTC_MAX_TARGETS];
	size_t n = 0;

	if (!ptc_args_ids(s, list, &n) || n != 1)
		return false;
	*(pid_t *)ret = list[0];
	return true;
}

static const struct ptc_option options[] = {
	PTC_HEADING("What to check:"),
	{ "pid", 'p', "PID",
	  "Also check this running process: the right to trace it, its files with code and their "
	  "debug files. The process runs on undisturbed. Default: only the machine.",
	  PTC_PARSED(struct doctor_args, run.pid, take_pid, "one process ID") },
	{ "quick", 0, NULL,
	  "Measure nothing: neither the cost of the software sources nor the speed of the disk. "
	  "Default: measure both, in about two seconds.",
	  PTC_FLAG(struct doctor_args, run.quick) },
	PTC_HEADING("Output:"),
	PTC_OPTION_FORMAT(struct doctor_args, json,
			  "Print text (default) or json (one object, see doc/json.md)."),
	PTC_HEADING("Limits:"),
	PTC_OPTION_MAX_MEMORY,
	{ "no-sandbox", 0, NULL,
	  "With -p: read the files of the process without seccomp and Landlock, which protect "
	  "against hostile files (SECURITY.md). Default: read them in the sandbox.",
	  PTC_FLAG(struct doctor_args, no_sandbox) },
	PTC_OPTION_HELP,
	PTC_OPTIONS_END,
};

static const struct ptc_option_table option_table = {
	.command = "doctor",
	.usage = "usage: ptcap doctor [OPTIONS]\n"
		 "Check what this machine and this user can record. Each line has a state, the\n"
		 "name of a check, a finding, and often the command that mends the machine.\n",
	.options = options,
	.notes = "\nExit codes: 0 Intel PT works for this user, 3 only a software source works,\n"
		 "1 no source works, 2 wrong usage.\n",
};

static int exit_code_of(enum ptc_doctor_verdict v)
{
	return v == PTC_DOCTOR_HARDWARE ? PTC_EXIT_OK :
	       v == PTC_DOCTOR_SOFTWARE ? PTC_EXIT_FINDINGS :
					  PTC_EXIT_FAIL;
}

/*
 * Checks the files of the process, in the sandbox, and prints the report. Returns the exit code.
 */
static int report_all(const struct doctor_args *a, const struct ptc_doctor *d)
{
	const struct ptc_sandbox sandbox = { .off = a->no_sandbox };
	const struct ptc_doctor_process *process = ptc_doctor_process(d);
	struct ptc_file_check *files = NULL;
	char root[PTC_PROCESS_ROOT];
	struct ptc_err err;
	bool whole = true;
	int code = 0;

	if (process)
		code = ptc_sandbox_enter(&sandbox);
	if (code)
		return code;
	if (process && ptc_debug_files_check(d, ptc_process_root(process->pid, root) ? root : NULL,
					     &files, &err))
		return ptc_say_err(&err);
	if (a->json)
		whole = ptc_doctor_json(d, files);
	else
		ptc_doctor_text(d, files);
	free(files);
	return whole ? exit_code_of(ptc_doctor_verdict(d)) : ptc_say_no_memory();
}

int ptc_cmd_doctor(int argc, char **argv)
{
	struct doctor_args a = { .run = PTC_DOCTOR_OPTS_INIT };
	struct ptc_doctor *d;
	struct ptc_err err;
	int code = ptc_options_parse(&option_table, argc, argv, &a);

	if (code >= 0)
		return code;
	if (optind < argc)
		return ptc_argument_error("doctor", argv + optind);
	if (ptc_doctor_new(&a.run, &d, &err))
		return ptc_say_err(&err);
	code = report_all(&a, d);
	ptc_doctor_free(d);
	return code;
}
