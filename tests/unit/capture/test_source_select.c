/* SPDX-License-Identifier: MIT */
/* Description: which source is chosen, for given machine features and options. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/emu/command_check.h"
#include "capture/host/processor.h"
#include "capture/perf/open_error_text.h"
#include "capture/session/source_select.h"

enum { REFUSED = -1 };

static char *const command[] = { (char *)"/bin/sh", NULL };

/* Returns the chosen kind, or REFUSED. */
static int chosen(enum ptc_source_kind want, char *const *argv, const char *no_pt,
		  const char *no_emu, const char *ret_why[2])
{
	static struct ptc_source_choice c;
	static struct ptc_err err;
	const struct ptc_record_opts o = { .size = sizeof(o),
					   .source.kind = want,
					   .target.argv = argv };
	const struct ptc_offer offer = { no_pt, no_emu };

	memset(&c, 0, sizeof(c));
	memset(&err, 0, sizeof(err));
	ret_why[0] = c.why;
	ret_why[1] = err.msg;
	return ptc_choose(&o, &offer, &c, &err) ? REFUSED : (int)c.kind;
}

Test(source_select, the_best_that_is_there_is_taken)
{
	static const struct {
		const char *no_pt, *no_emu;
		int command, attach;
	} table[] = {
		{ NULL, NULL, PTC_SOURCE_PT, PTC_SOURCE_PT },
		{ NULL, "E", PTC_SOURCE_PT, PTC_SOURCE_PT },
		{ "P", NULL, PTC_SOURCE_EMU, REFUSED },
		{ "P", "E", PTC_SOURCE_STEP, REFUSED },
	};
	const char *why[2];
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		cr_assert_eq(chosen(PTC_SOURCE_AUTO, command, table[i].no_pt, table[i].no_emu, why),
			     table[i].command, "row %zu", i);
		cr_assert_eq(chosen(PTC_SOURCE_AUTO, NULL, table[i].no_pt, table[i].no_emu, why),
			     table[i].attach, "row %zu", i);
	}
}

Test(source_select, what_is_asked_for_is_taken_or_refused_but_never_exchanged)
{
	const char *why[2];

	cr_assert_eq(chosen(PTC_SOURCE_STEP, command, NULL, NULL, why), PTC_SOURCE_STEP);
	cr_assert_eq(chosen(PTC_SOURCE_STEP, NULL, "P", "E", why), PTC_SOURCE_STEP);
	cr_assert_eq(chosen(PTC_SOURCE_EMU, command, NULL, NULL, why), PTC_SOURCE_EMU);
	cr_assert_eq(chosen(PTC_SOURCE_EMU, NULL, "P", "E", why), PTC_SOURCE_EMU);
	cr_assert_str_eq(why[0], "selected with --source");
	cr_assert_eq(chosen(PTC_SOURCE_PT, command, NULL, NULL, why), PTC_SOURCE_PT);
	cr_assert_eq(chosen(PTC_SOURCE_PT, command, "no P", NULL, why), REFUSED);
	cr_assert(strstr(why[1], "no P"));
}

Test(source_select, each_refusal_ends_with_the_command_that_checks_the_machine)
{
	static const pid_t largest = 4194304;
	const struct ptc_offer offer = { ptc_processor_why_no_pt(true, false), NULL };
	struct ptc_record_opts o = PTC_RECORD_OPTS_INIT;
	struct ptc_source_choice c;
	struct ptc_err err;

	o.target.pids = &largest;
	o.target.npids = 1;
	cr_assert(ptc_choose(&o, &offer, &c, &err));
	cr_assert(strstr(err.msg, PTC_SEE_DOCTOR), "it is whole: %s", err.msg);
	o.target.npids = 0;
	cr_assert(ptc_choose(&o, &offer, &c, &err));
	cr_assert(strstr(err.msg, PTC_SEE_DOCTOR), "%s", err.msg);
	o.source.kind = PTC_SOURCE_PT;
	cr_assert(ptc_choose(&o, &offer, &c, &err));
	cr_assert(strstr(err.msg, "--source step" PTC_SEE_DOCTOR), "%s", err.msg);
}

Test(source_select, it_says_why_nothing_better)
{
	const char *why[2];

	(void)chosen(PTC_SOURCE_AUTO, command, "no P", NULL, why);
	cr_assert_str_eq(why[0], "no P");
	(void)chosen(PTC_SOURCE_AUTO, command, "no P", "no E", why);
	cr_assert(strstr(why[0], "no P") && strstr(why[0], "no E"));
	(void)chosen(PTC_SOURCE_AUTO, NULL, "no P", NULL, why);
	cr_assert(strstr(why[1], "no P") && strstr(why[1], "--source step"));
}

Test(source_select, for_a_process_it_names_all_choices_with_their_costs)
{
	static const char *const parts[] = { "`ptcap stacks -p 4194304`",
					     "milliseconds",
					     "`ptcap crash -e dummy:u -p 4194304`",
					     "full speed",
					     "--source step",
					     "thousands of times slower)" };
	const pid_t pid = 4194304; /* the longest number */
	const struct ptc_record_opts o = { .size = sizeof(o),
					   .target.pids = &pid,
					   .target.npids = 1 };
	const struct ptc_offer offer = {
		"the CPU has Intel PT, but the kernel has no PMU 'intel_pt'", NULL
	};
	struct ptc_source_choice c;
	struct ptc_err err;
	size_t i;

	cr_assert_eq(ptc_choose(&o, &offer, &c, &err), PTC_E_UNSUPPORTED);
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		cr_assert(strstr(err.msg, parts[i]), "no %s in %s", parts[i], err.msg);
}

Test(fits, options_that_the_emulated_source_does_not_have_are_refused_before_anything_is_looked_for)
{
	static const struct ptc_place place;
	struct ptc_record_opts o = { .size = sizeof(o), .target.argv = command };
	struct ptc_err err;

	cr_assert_null(ptc_emu_cannot(&o));
	cr_assert_eq(setenv("PATH", "/nowhere", 1), 0);
	o.range.max_steps = 1;
	cr_assert_eq(ptc_emu_fits(&o, &err), PTC_E_USAGE);
	cr_assert(strstr(err.msg, "--max-steps"));
	o.range.max_steps = 0;
	o.range.from = &place;
	cr_assert_eq(ptc_emu_fits(&o, &err), PTC_E_USAGE);
	o.range.from = NULL;
	o.range.to = &place;
	cr_assert_eq(ptc_emu_fits(&o, &err), PTC_E_USAGE);
	o.range.to = NULL;
	cr_assert_eq(ptc_emu_fits(&o, &err), PTC_E_UNSUPPORTED);
	cr_assert(strstr(err.msg, "qemu-x86_64"));
	o.target.argv = NULL;
	cr_assert_eq(ptc_emu_fits(&o, &err), PTC_E_USAGE);
}

Test(fits, a_qemu_that_does_not_load_the_plugin_is_none)
{
	const struct ptc_record_opts o = { .size = sizeof(o), .target.argv = command };
	char folder[] = "/tmp/ptcap-unit-XXXXXX", path[64];
	struct ptc_err err;

	cr_assert_not_null(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/qemu-x86_64", folder);
	cr_assert_eq(symlink("/bin/true", path), 0);
	cr_assert_eq(setenv("PATH", folder, 1), 0);
	cr_assert_eq(setenv("PTCAP_EMU_PLUGIN", "/etc/passwd", 1), 0);
	cr_assert_eq(ptc_emu_fits(&o, &err), PTC_E_UNSUPPORTED);
	cr_assert(strstr(err.msg, "cannot load the plugin '/etc/passwd'"));
	cr_assert_eq(waitpid(-1, NULL, WNOHANG), -1, "a child is left");
	(void)unlink(path);
	(void)rmdir(folder);
}

static void goes_to_the_kernel(struct ptc_record_opts o)
{
	const struct ptc_offer offer = { "no P", NULL };
	struct ptc_source_choice c;
	struct ptc_err err;

	cr_assert_eq(ptc_choose(&o, &offer, &c, &err), 0, "%s", err.msg);
	cr_assert_eq(c.kind, PTC_SOURCE_PT);
	cr_assert_not_null(strstr(c.why, "needed for "));
}

static void needs_pt(struct ptc_record_opts o)
{
	const struct ptc_offer offer = { "no P", NULL };
	struct ptc_source_choice c;
	struct ptc_err err;

	cr_assert_eq(ptc_choose(&o, &offer, &c, &err), PTC_E_UNSUPPORTED);
	cr_assert_not_null(strstr(err.msg, "no P"));
	cr_assert_null(strstr(err.msg, "step"), "which cannot do that");
}

Test(source_select, what_only_the_kernel_has_is_the_kernels)
{
	goes_to_the_kernel((struct ptc_record_opts){ .source.event = "dummy:u" });
	goes_to_the_kernel(
		(struct ptc_record_opts){ .source.event = "dummy:u", .target.all_cpus = true });
	goes_to_the_kernel(
		(struct ptc_record_opts){ .source.event = "other/x/", .target.cgroup = "a" });
	needs_pt((struct ptc_record_opts){ .target.all_cpus = true });
	needs_pt((struct ptc_record_opts){ .target.cpus = "0" });
	needs_pt((struct ptc_record_opts){ .target.cgroup = "a" });
	needs_pt((struct ptc_record_opts){ .target.per_thread = true });
	needs_pt((struct ptc_record_opts){ .source.event = "intel_pt/cyc/u" });
}
