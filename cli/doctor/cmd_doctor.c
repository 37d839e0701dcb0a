/* SPDX-License-Identifier: MIT */
/* `ptcap doctor`: what of ptcap works on this machine, for this user, and what mends the rest. */
#include <getopt.h>
#include <stdlib.h>

#include "cli/common/cli.h"
#include "cli/common/option_table.h"
#include "cli/common/terminal.h"
#include "cli/doctor/doctor_out.h"

struct doctor_args {
	struct ptc_doctor_opts run;
	bool json;
};

static const struct ptc_option options[] = {
	PTC_HEADING("What to check:"),
	{ "quick", 0, NULL,
	  "Measure nothing: neither the cost of the software sources nor the speed of the disk. "
	  "Default: measure both, in about two seconds.",
	  PTC_FLAG(struct doctor_args, run.quick) },
	PTC_HEADING("Output:"),
	PTC_OPTION_FORMAT(struct doctor_args, json,
			  "Print text (default) or json (one object, see doc/json.md)."),
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

/* Prints the report. Returns the exit code. */
static int print_report(const struct doctor_args *a, const struct ptc_doctor *d)
{
	if (!a->json)
		ptc_doctor_text(d, ptc_terminal_has_colors());
	else if (!ptc_doctor_json(d))
		return ptc_say_no_memory();
	return d->verdict == PTC_DOCTOR_HARDWARE ? PTC_EXIT_OK :
	       d->verdict == PTC_DOCTOR_SOFTWARE ? PTC_EXIT_FINDINGS :
						   PTC_EXIT_FAIL;
}

int ptc_cmd_doctor(int argc, char **argv)
{
	struct doctor_args a = { .run.folder = "." };
	struct ptc_doctor *d;
	int code = ptc_options_parse(&option_table, argc, argv, &a);

	if (code >= 0)
		return code;
	if (optind < argc)
		return ptc_argument_error("doctor", argv + optind);
	d = malloc(sizeof(*d));
	if (!d)
		return ptc_say_no_memory();
	ptc_doctor_run(&a.run, d);
	code = print_report(&a, d);
	free(d);
	return code;
}
