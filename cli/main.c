/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "begin.h"
#include "cli.h"
#include "version.h"

static const struct command {
	const char *name;
	int (*fn)(int argc, char **argv);
} commands[] = {
	{ "record", ptc_cmd_record },	{ "snapshot", ptc_cmd_snapshot },
	{ "decode", ptc_cmd_decode },	{ "info", ptc_cmd_info },
	{ "dump", ptc_cmd_dump },	{ "convert", ptc_cmd_convert },
	{ "recover", ptc_cmd_recover }, { "crash", ptc_cmd_crash },
	{ "compare", ptc_cmd_compare },
};

static void help(void)
{
	fputs("usage: ptcap COMMAND [OPTIONS]\n"
	      "Record every branch that a program takes, with Intel PT or a software source.\n\n"
	      "Record:\n"
	      "  record      Record the branches of a command or of running processes.\n"
	      "  snapshot    Keep the newest trace in memory, and write it at a trigger.\n"
	      "  crash       Record a program until a signal kills it, and save its state.\n\n"
	      "Look:\n"
	      "  decode      Print every branch of a recording.\n"
	      "  crash show  Explain the crash in a recording.\n"
	      "  info        Summarise a recording.\n"
	      "  compare     Compare the branch stacks (LBR) of samples with the trace.\n"
	      "  dump        Print every record of a recording, in file order.\n\n"
	      "Files:\n"
	      "  convert     Write a recording again, in another form or in part.\n"
	      "  recover     Repair a damaged recording.\n\n"
	      "  -h, --help     Print this text.\n"
	      "      --version  Print the version.\n\n"
	      "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 done with findings, 4 nothing to\n"
	      "judge. With a CMD: the status of CMD (128+n: killed by signal n), 125 ptcap\n"
	      "failed, 126 CMD cannot run, 127 CMD not found.\n\n"
	      "Read `ptcap help COMMAND` for the options of a command, `man ptcap-COMMAND`\n"
	      "for the details and examples, and `man 7 ptcap` for the concepts and terms.\n",
	      stdout);
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
