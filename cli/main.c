/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "begin.h"
#include "cli.h"
#include "version.h"

static const struct command {
	const char *name;
	int (*fn)(int argc, char **argv);
	const char *what;
} commands[] = {
	{ "record", ptc_cmd_record, "run a command and record its control flow" },
	{ "snapshot", ptc_cmd_snapshot,
	  "keep the newest trace, and write it when it is asked for" },
	{ "decode", ptc_cmd_decode, "replay a recording: every branch that was taken" },
	{ "info", ptc_cmd_info, "what a recording holds, in short" },
	{ "dump", ptc_cmd_dump, "every record of a recording, in file order" },
	{ "convert", ptc_cmd_convert, "write a recording again: in another form, or a part of it" },
	{ "recover", ptc_cmd_recover, "make a proper recording of a damaged one" },
	{ "crash", ptc_cmd_crash, "run a command until a signal kills it, and explain why" },
	{ "compare", ptc_cmd_compare, "branch stacks of samples, held against the trace" },
};

static void help(void)
{
	size_t i;

	printf("usage: ptcap COMMAND [OPTIONS]\n"
	       "Record what a program really executed, with Intel PT, and replay it.\n\n"
	       "commands:\n");
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		printf("  %-8s %s\n", commands[i].name, commands[i].what);
	printf("\n"
	       "  -h, --help     this text; `ptcap COMMAND --help` explains a command\n"
	       "      --version  the version\n\n"
	       "exit codes: 0 done, 1 failed, 2 usage, 3 done with findings, 4 nothing to judge;\n"
	       "  record -- CMD passes CMD's status (128+n: signal n), 125 ptcap failed,\n"
	       "  126 CMD cannot be run, 127 CMD not found\n");
}

int main(int argc, char **argv)
{
	size_t i;

	ptc_begin();
	if (argc < 2) {
		ptc_say("no command given; `ptcap --help` lists them");
		return PTC_EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		help();
		return ptc_finish_stdout(PTC_EXIT_OK);
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "version")) {
		printf("ptcap %s\n", PTCAP_VERSION);
		return ptc_finish_stdout(PTC_EXIT_OK);
	}
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(argv[1], commands[i].name))
			return ptc_finish_stdout(commands[i].fn(argc - 1, argv + 1));
	ptc_say("'%s' is not a ptcap command; `ptcap --help` lists them", argv[1]);
	return PTC_EXIT_USAGE;
}
