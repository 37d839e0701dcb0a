/* SPDX-License-Identifier: MIT */
#include "capture/doctor/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct ptc_abilities ptc_abilities_of(const struct ptc_facts *f, const struct ptc_target *t,
				      bool emu)
{
	const struct ptc_trials *tried = &f->tried;
	struct ptc_abilities a = { .events = !tried->event, .emu = emu, .trace = !tried->trace };

	a.pt = a.pt_attach = f->has_pmu && !tried->pt;
	a.pt_cpus = a.pt && !tried->cpu;
	a.pt_kernel = a.pt && !tried->kernel_part && !tried->kcore;
	a.lbr = a.pt && !tried->branches && !tried->branches_by_pt;
	a.attach = a.trace && (f->yama < 1 || (f->yama < 3 && ptc_facts_may_ptrace(f)));
	if (t) {
		a.attach = a.trace && !t->attach && !t->tracer && !t->kernel;
		a.events = !t->event && !t->kernel;
		a.pt_attach = a.pt && a.events;
	}
	return a;
}

/* --- costs in words --- */

static void add_rate(struct ptc_check *c, uint64_t rate)
{
	if (rate >= 1000000)
		ptc_check_add(c, "%" PRIu64 " million instructions/s", rate / 1000000);
	else
		ptc_check_add(c, "%" PRIu64 " instructions/s", rate / 1000 * 1000);
}

static void add_emu(struct ptc_check *c, const struct ptc_doctor_costs *costs)
{
	if (!costs->emu_per_second) {
		ptc_check_add(c, "emu: about 350 million instructions/s (doc/performance.md)");
		return;
	}
	ptc_check_add(c, "emu: ");
	add_rate(c, costs->emu_per_second);
	ptc_check_add(c, " measured");
	if (costs->native_ns && costs->emu_ns)
		ptc_check_add(c, ", %" PRIu64 " times slower", costs->emu_ns / costs->native_ns);
}

static void add_step(struct ptc_check *c, const struct ptc_doctor_costs *costs)
{
	if (!costs->step_per_second) {
		ptc_check_add(c, "step: 30,000 to 50,000 instructions/s, thousands of times slower "
				 "(doc/performance.md)");
		return;
	}
	ptc_check_add(c, "step: ");
	add_rate(c, costs->step_per_second);
	ptc_check_add(c, " measured");
	if (costs->step_slowdown)
		ptc_check_add(c, ", %" PRIu64 " times slower", costs->step_slowdown);
	else
		ptc_check_add(c, ", thousands of times slower");
}

#define PT_COST "pt: usually a few percent (not measured by this project)"

/* Fills the check of a command that takes the best source. */
static void judge_sources(const struct ptc_abilities *a, const struct ptc_doctor_costs *costs,
			  struct ptc_check *c)
{
	ptc_check_set(c, PTC_CHECK_OK, "%s", a->pt ? PT_COST : "");
	if (a->pt)
		return;
	if (a->emu)
		add_emu(c, costs);
	else if (a->trace)
		add_step(c, costs);
	else
		ptc_check_set(c, PTC_CHECK_MISSING, "no source works: see pt, emu and ptrace");
}

/* Fills the check of a command that attaches, and single-steps only with an option. */
static void judge_attached(const struct ptc_abilities *a, const struct ptc_doctor_costs *costs,
			   const char *how, struct ptc_check *c)
{
	if (a->pt_attach) {
		ptc_check_set(c, PTC_CHECK_OK, PT_COST);
	} else if (a->attach) {
		ptc_check_set(c, PTC_CHECK_NOTE, "only with %s; ", how);
		add_step(c, costs);
	} else {
		ptc_check_set(c, PTC_CHECK_MISSING,
			      "needs Intel PT, or the right to ptrace the process");
	}
}

static void judge_hardware(bool works, const char *lacks, struct ptc_check *c)
{
	if (works)
		ptc_check_set(c, PTC_CHECK_OK, PT_COST);
	else
		ptc_check_set(c, PTC_CHECK_MISSING, "needs %s", lacks);
}

static void judge_snapshot(const struct ptc_abilities *a, const struct ptc_doctor_costs *costs,
			   struct ptc_check *c)
{
	if (a->pt) {
		ptc_check_set(c, PTC_CHECK_OK, PT_COST);
		return;
	}
	if (!a->emu && !a->trace) {
		ptc_check_set(c, PTC_CHECK_MISSING, "no source works: see pt, emu and ptrace");
		return;
	}
	ptc_check_set(c, PTC_CHECK_NOTE, "only with --source %s; ", a->emu ? "emu" : "step");
	if (a->emu)
		add_emu(c, costs);
	else
		add_step(c, costs);
}

static void judge_state(const struct ptc_abilities *a, struct ptc_check *c)
{
	if (a->events && a->attach)
		ptc_check_set(c, PTC_CHECK_OK, "no trace, full speed until the signal");
	else
		ptc_check_set(c, PTC_CHECK_MISSING, "needs %s",
			      a->events ? "the right to ptrace the process" :
					  "perf events of the process");
}

static void judge_stacks(const struct ptc_abilities *a, struct ptc_check *c)
{
	if (a->attach)
		ptc_check_set(c, PTC_CHECK_OK, "the process stands still for milliseconds");
	else
		ptc_check_set(c, PTC_CHECK_MISSING, "needs the right to ptrace the process");
}

static void judge_lbr_command(const struct ptc_abilities *a, const struct ptc_doctor_costs *costs,
			      struct ptc_check *c)
{
	if (a->lbr) {
		ptc_check_set(c, PTC_CHECK_OK, "checks the processor; " PT_COST);
	} else if (a->pt) {
		ptc_check_set(c, PTC_CHECK_MISSING, "needs LBR beside Intel PT");
	} else {
		judge_sources(a, costs, c);
		if (c->state == PTC_CHECK_OK)
			c->state = PTC_CHECK_NOTE;
		if (c->state == PTC_CHECK_NOTE)
			ptc_check_add(c, "; ptcap makes the branch stacks itself");
	}
}

size_t ptc_commands_judge(const struct ptc_abilities *a, const struct ptc_doctor_costs *costs,
			  struct ptc_check *ret)
{
	static const char *const names[] = {
		"record -- CMD",	   "record -p PID",	  "record -a",
		"record --kcore",	   "record --lbr -- CMD", "snapshot -p PID",
		"snapshot -- CMD",	   "crash -- CMD",	  "crash -p PID",
		"crash -e dummy:u -p PID", "stacks -p PID",	  "decode, info, crash show",
	};
	size_t i;

	memset(ret, 0, sizeof(names) / sizeof(names[0]) * sizeof(*ret));
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ret[i].name = names[i];
	judge_sources(a, costs, &ret[0]);
	judge_attached(a, costs, "--source step", &ret[1]);
	judge_hardware(a->pt_cpus,
		       a->pt ? "the right to trace whole CPUs: see paranoid" : "Intel PT", &ret[2]);
	judge_hardware(a->pt_kernel,
		       a->pt ? "the right to trace the kernel and to read its code" : "Intel PT",
		       &ret[3]);
	judge_lbr_command(a, costs, &ret[4]);
	judge_attached(a, costs, "--source step", &ret[5]);
	judge_snapshot(a, costs, &ret[6]);
	judge_sources(a, costs, &ret[7]);
	judge_attached(a, costs, "--source step", &ret[8]);
	judge_state(a, &ret[9]);
	judge_stacks(a, &ret[10]);
	ptc_check_set(&ret[11], PTC_CHECK_OK, "needs no rights");
	return sizeof(names) / sizeof(names[0]);
}
