/* SPDX-License-Identifier: MIT */
/* `ptcap crash core`: writes the saved state of a process as a core. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/plural.h"
#include "cli/common/cli.h"
#include "cli/common/option_table.h"
#include "cli/common/sandbox.h"
#include "cli/convert/copy_common.h"
#include "cli/crash/crash_out.h"
#include "ptcap/crash_state.h"
#include "ptcap/file.h"

struct core_args {
	const char *input, *output;
	uint64_t pid; /* 0: any */
	struct ptc_sandbox sandbox;
};

static const struct ptc_option options[] = {
	PTC_OPTION_INPUT(struct core_args, input),
	{ "pid", 'p', "PID",
	  "Write the core of this process (default: the process that died last, or the only one "
	  "that "
	  "lived on).",
	  PTC_PARSED(struct core_args, pid, ptc_take_crash_pid, "a process ID") },
	{ "output", 'o', "FILE",
	  "Write the core to FILE (default: core). An existing FILE becomes FILE.old. -: write to "
	  "standard output.",
	  PTC_TEXT(struct core_args, output) },
	PTC_OPTION_MAX_MEMORY_WHOLE,
	PTC_OPTION_NO_SANDBOX(struct core_args, sandbox.off),
	PTC_OPTION_HELP,
	PTC_OPTIONS_END,
};

static const struct ptc_option_table option_table = {
	.command = "crash core",
	.usage = "usage: ptcap crash core [OPTIONS] [FILE]\n"
		 "Write the state of a process, saved by `ptcap crash`, `snapshot` or `stacks`,\n"
		 "as a core for debuggers: gdb PROG core, or eu-stack --core=core -e PROG. The\n"
		 "core has the threads, their registers and stacks, and no other memory.\n",
	.options = options,
};

static void say_written(const struct ptc_crash_state *d, const char *output,
			const struct ptc_core_size *size)
{
	const struct ptc_crash_signal *signal = ptc_crash_state_signal(d);

	if (strcmp(output, "-") != 0)
		ptc_say("wrote '%s': process %" PRIu64 ", %zu thread%s, %" PRIu64
			" byte%s of memory",
			output, signal->pid, size->threads, ptc_plural(size->threads), size->memory,
			ptc_plural(size->memory));
	if (signal->no_memory)
		ptc_say("the core has no memory, because the recording has none (--no-memory)");
}

static int write_core(const struct core_args *a)
{
	struct ptc_core_size size = PTC_CORE_SIZE_INIT;
	struct ptc_crash_state *d = NULL;
	int code = PTC_EXIT_OK;
	struct ptc_file *f;
	struct ptc_err err;

	if (ptc_file_open(a->input, &f, &err))
		return ptc_say_input_err(a->input, &err);
	if (ptc_crash_state_open(f, a->pid, &d, &err)) {
		code = ptc_say_input_err(a->input, &err);
	} else if (strcmp(a->output, "-") != 0 ?
			   ptc_core_write_file(d, a->output, &size, &err) :
			   ptc_core_write(d, STDOUT_FILENO, "standard output", &size, &err)) {
		code = ptc_say_err(&err);
	} else {
		say_written(d, a->output, &size);
	}
	ptc_crash_state_free(d);
	ptc_file_free(f);
	return code;
}

int ptc_cmd_crash_core(int argc, char **argv)
{
	struct core_args a = { .output = "core" };
	int code = ptc_options_parse(&option_table, argc, argv, &a);

	if (code >= 0)
		return code;
	if (ptc_take_input("crash core", argc, argv, &a.input))
		return PTC_EXIT_USAGE;
	if (!a.input)
		a.input = PTC_INPUT_DEFAULT;
	if (!strcmp(a.output, "-") && isatty(STDOUT_FILENO))
		return ptc_usage_error(
			"crash core", "standard output is a terminal; redirect it, or use -o FILE");
	if (ptc_copying_clash("crash core", a.input, a.output))
		return PTC_EXIT_USAGE;
	a.sandbox.output = a.output;
	code = ptc_sandbox_enter(&a.sandbox);
	return code ? code : write_core(&a);
}
