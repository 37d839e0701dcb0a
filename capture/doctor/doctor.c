/* SPDX-License-Identifier: MIT */
#include "capture/doctor/doctor.h"

#include <string.h>

#include "capture/doctor/programs.h"
#include "capture/doctor/ring_trial.h"
#include "capture/host/debugreg_probe.h"

static const struct {
	const char *name;
	ptc_judge judge;
} judges[] = {
	{ "processor", ptc_judge_processor },
	{ "virtual machine", ptc_judge_virtual },
	{ "container", ptc_judge_container },
	{ "kernel", ptc_judge_kernel },
	{ "lockdown", ptc_judge_lockdown },
	{ "intel_pt", ptc_judge_pt },
	{ "intel_pt caps", ptc_judge_pt_caps },
	{ "intel_pt event", ptc_judge_pt_event },
	{ "lbr", ptc_judge_lbr },
	{ "perf events", ptc_judge_events },
	{ "perf_event_paranoid", ptc_judge_paranoid },
	{ "capabilities", ptc_judge_capabilities },
	{ "yama", ptc_judge_yama },
	{ "ptrace", ptc_judge_ptrace },
	{ "seccomp", ptc_judge_seccomp },
	{ "kernel code", ptc_judge_kernel_code },
	{ "rings", ptc_judge_rings },
	{ "descriptors", ptc_judge_descriptors },
};

static const struct {
	const char *name;
	ptc_target_judge judge;
} target_judges[] = {
	{ "process", ptc_judge_target },
	{ "process ptrace", ptc_judge_target_ptrace },
	{ "process events", ptc_judge_target_events },
	{ "process files", ptc_judge_target_files },
};

static struct ptc_check *next_check(struct ptc_doctor *d, const char *name)
{
	struct ptc_check *c = &d->checks[d->n++];

	memset(c, 0, sizeof(*c));
	c->name = name;
	return c;
}

static void check_breakpoints(const struct ptc_facts *f, struct ptc_check *c)
{
	if (f->tried.trace)
		ptc_check_set(c, PTC_CHECK_UNKNOWN, "needs ptrace to try");
	else if (ptc_hwbreak_works())
		ptc_check_set(c, PTC_CHECK_OK, "hardware breakpoints stop a thread");
	else
		ptc_check_set(c, PTC_CHECK_BROKEN,
			      "hardware breakpoints never fire in this virtual machine: no --at "
			      "with pt, no --from with step");
}

int ptc_doctor_run(const struct ptc_doctor_opts *opts, struct ptc_doctor *ret, struct ptc_err *err)
{
	struct ptc_abilities a;
	struct ptc_facts f;
	bool limited, emu;
	size_t i;

	memset(ret, 0, sizeof(*ret));
	if (opts->pid && ptc_target_read(&ret->target, opts->pid, err))
		return err->code;
	ptc_facts_read(&f, "");
	ptc_facts_try(&f);
	ret->rings = ptc_ring_sizes_largest(&f, (uint64_t)f.limits.cpus, &limited);
	f.tried.rings = ptc_ring_trial(&f, &ret->rings);
	for (i = 0; i < sizeof(judges) / sizeof(judges[0]); i++)
		judges[i].judge(&f, next_check(ret, judges[i].name));
	check_breakpoints(&f, next_check(ret, "breakpoints"));
	emu = ptc_check_emu(next_check(ret, "qemu"));
	ptc_check_disk(opts->folder, opts->quick, next_check(ret, "disk"));
	for (i = 0; opts->pid && i < sizeof(target_judges) / sizeof(target_judges[0]); i++)
		target_judges[i].judge(&ret->target, &f, next_check(ret, target_judges[i].name));
	if (!opts->quick)
		ptc_costs_measure(&ret->costs, emu, !f.tried.trace);
	a = ptc_abilities_of(&f, opts->pid ? &ret->target : NULL, emu);
	ret->ncommands = ptc_commands_judge(&a, &ret->costs, ret->commands);
	ret->verdict = a.pt		? PTC_DOCTOR_HARDWARE :
		       a.emu || a.trace ? PTC_DOCTOR_SOFTWARE :
					  PTC_DOCTOR_NOTHING;
	return 0;
}

void ptc_doctor_release(struct ptc_doctor *d)
{
	ptc_target_release(&d->target);
}
