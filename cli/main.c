/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/similar.h"
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

/* `ptcap help [COMMAND]` and `ptcap help crash show`: @words are what follows "help". */
static int help_on(int n, char **words)
{
	char option[] = "--help", *args[] = { NULL, option, NULL, NULL };
	const struct command *c;

	if (!n || is_help(words[0])) {
		help();
		return PTC_EXIT_OK;
	}
	c = find_command(words[0]);
	if (!c)
		return unknown_command(words[0]);
	args[0] = words[0];
	if (n > 1 && !strcmp(words[0], "crash") && !strcmp(words[1], "show")) {
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
		printf("ptcap %s\n", PTCAP_VERSION);
		return ptc_finish_stdout(PTC_EXIT_OK);
	}
	c = find_command(argv[1]);
	if (!c)
		return unknown_command(argv[1]);
	return ptc_finish_stdout(c->fn(argc - 1, argv + 1));
}
