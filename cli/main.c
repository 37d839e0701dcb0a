/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/similar.h"
#include "cli/common/bundle_input.h"
#include "cli/common/cli.h"
#include "cli/common/option_list.h"
#include "cli/common/process_setup.h"
#include "ptcap/version.h"

static const struct command {
	const char *name;
	int (*fn)(int argc, char **argv);
} commands[] = {
	{ "record", ptc_cmd_record },	{ "snapshot", ptc_cmd_snapshot },
	{ "decode", ptc_cmd_decode },	{ "info", ptc_cmd_info },
	{ "dump", ptc_cmd_dump },	{ "convert", ptc_cmd_convert },
	{ "recover", ptc_cmd_recover }, { "crash", ptc_cmd_crash },
	{ "compare", ptc_cmd_compare }, { "stacks", ptc_cmd_stacks },
	{ "report", ptc_cmd_report },	{ "view", ptc_cmd_view },
	{ "doctor", ptc_cmd_doctor },	{ "archive", ptc_cmd_archive },
	{ "sum", ptc_cmd_sum },
};

static void help_commands(void)
{
	fputs("usage: ptcap COMMAND [OPTIONS]\n"
	      "Record every branch that a program takes, with Intel PT or a software source.\n\n"
	      "Record:\n"
	      "  record      Record the branches of a command or of running processes.\n"
	      "  snapshot    Keep the newest trace in memory, and write it at a trigger.\n"
	      "  crash       Record a program until a signal kills it, and save its state.\n"
	      "  stacks      Show what each thread of a process waits for, and its stack.\n\n"
	      "Machine:\n"
	      "  doctor      Check what this machine and user can record, and how to mend it.\n\n"
	      "Look:\n"
	      "  decode      Print every branch of a recording.\n"
	      "  report      Sum calls, instructions and time by function.\n"
	      "  view        Write the calls of a recording as a page for a browser.\n"
	      "  crash show  Explain the crash in a recording.\n"
	      "  crash core  Write the state of a process in a recording as a core.\n"
	      "  info        Summarise a recording.\n"
	      "  compare     Compare the branch stacks (LBR) of samples with the trace.\n"
	      "  dump        Print every record of a recording, in file order.\n"
	      "  sum         Add outputs of these commands, of several recordings.\n\n"
	      "Files:\n"
	      "  convert     Write a recording again, in another form or in part.\n"
	      "  recover     Repair a damaged recording.\n"
	      "  archive     Write a recording with its files as one bundle.\n\n"
	      "  -h, --help     Print this text.\n"
	      "      --version  Print the version.\n\n"
	      "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 done with findings, 4 no data or\n"
	      "not enough data. With a CMD: the status of CMD (128+n: killed by signal n), 125\n"
	      "ptcap failed, 126 CMD cannot run, 127 CMD not found.\n\n"
	      "Read `ptcap help COMMAND` for the options of a command, `man ptcap-COMMAND`\n"
	      "for the details and examples, and `man 7 ptcap` for the concepts and terms.\n",
	      stdout);
}

static const struct command *find_command(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(name, commands[i].name))
			return &commands[i];
	return NULL;
}

static int unknown_command(const char *name)
{
	const bool option = name[0] == '-';
	struct ptc_similar similar;
	size_t i;

	ptc_similar_begin(&similar, name);
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]) && !option; i++)
		ptc_similar_add(&similar, commands[i].name);
	ptc_similar_add(&similar, option ? "--help" : "help");
	ptc_similar_add(&similar, option ? "--version" : "version");
	ptc_say("unknown %s '%s'%s; `ptcap --help` lists the commands",
		option ? "option" : "command", name, ptc_similar_text(&similar));
	return PTC_EXIT_USAGE;
}

static bool is_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help");
}

/* `ptcap help --list-options`: all option tables, for the completion scripts. */
static int list_all_options(void)
{
	char option[] = PTC_LIST_OPTIONS, name[] = "crash", show[] = "show", core[] = "core";
	char *one[] = { name, option, NULL }, *two[] = { name, show, option, NULL };
	int code = PTC_EXIT_OK;
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]) && !code; i++)
		code = commands[i].fn(2, one);
	if (!code)
		code = ptc_cmd_crash(3, two);
	two[1] = core;
	return code ? code : ptc_cmd_crash(3, two);
}

/* `ptcap help [COMMAND]`, `ptcap help crash show` and `core`: @words are the words behind "help".
 */
static int help_on(int n, char **words)
{
	char option[] = "--help", *args[] = { NULL, option, NULL, NULL };
	const struct command *c;

	if (!n || is_help(words[0])) {
		help_commands();
		return PTC_EXIT_OK;
	}
	if (!strcmp(words[0], PTC_LIST_OPTIONS) && n == 1)
		return list_all_options();
	c = find_command(words[0]);
	if (!c)
		return unknown_command(words[0]);
	args[0] = words[0];
	if (n > 1 && !strcmp(words[0], "crash") &&
	    (!strcmp(words[1], "show") || !strcmp(words[1], "core"))) {
		args[1] = words[1];
		args[2] = option;
		words++;
		n--;
	}
	if (n > 1) {
		ptc_say("unexpected argument '%s'; see `ptcap help`", words[1]);
		return PTC_EXIT_USAGE;
	}
	return c->fn(args[2] ? 3 : 2, args);
}

int main(int argc, char **argv)
{
	const struct command *c;

	ptc_begin();
	if (argc < 2) {
		ptc_say("no command given; `ptcap --help` lists the commands");
		return PTC_EXIT_USAGE;
	}
	if (is_help(argv[1]))
		return ptc_finish_stdout(help_on(argc - 2, argv + 2));
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "version")) {
		printf("ptcap %s\n", ptc_version());
		return ptc_finish_stdout(PTC_EXIT_OK);
	}
	c = find_command(argv[1]);
	if (!c)
		return unknown_command(argv[1]);
	ptc_prepare_for_bundles(argc - 1, argv + 1);
	return ptc_finish_stdout(c->fn(argc - 1, argv + 1));
}
