/* SPDX-License-Identifier: MIT */
#include "ptcap/doctor.h"

#include <assert.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/opts.h"
#include "capture/doctor/commands.h"
#include "capture/doctor/judge.h"
#include "capture/doctor/programs.h"
#include "capture/doctor/ring_trial.h"
#include "capture/doctor/target.h"
#include "capture/host/debugreg_probe.h"

enum { CHECKS_MAX = 40 };

/* Checks, and what the caller sees of them. */
struct check_list {
	struct ptc_check checks[CHECKS_MAX];
	struct ptc_doctor_check shown[CHECKS_MAX];
	size_t n;
};

struct ptc_doctor {
	struct check_list machine, commands;
	struct ptc_ring_sizes rings;
	struct ptc_doctor_costs costs;
	enum ptc_doctor_verdict verdict;
	struct ptc_target target; /* pid 0: none */
	struct ptc_doctor_process process;
};

static_assert((int)CHECKS_MAX >= (int)PTC_COMMANDS_MAX, "a list has all commands");

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
	struct ptc_check *c = &d->machine.checks[d->machine.n++];

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

/* Makes the checks of the machine and of the target, if there is one. */
static void make_checks(struct ptc_doctor *d, const struct ptc_doctor_opts *opts)
{
	const struct ptc_target *target = opts->pid ? &d->target : NULL;
	struct ptc_abilities a;
	struct ptc_facts f;
	bool limited, emu;
	size_t i;

	ptc_facts_read(&f, "");
	ptc_facts_try(&f);
	d->rings = ptc_ring_sizes_largest(&f, (uint64_t)f.limits.cpus, &limited);
	f.tried.rings = ptc_ring_trial(&f, &d->rings);
	for (i = 0; i < sizeof(judges) / sizeof(judges[0]); i++)
		judges[i].judge(&f, next_check(d, judges[i].name));
	check_breakpoints(&f, next_check(d, "breakpoints"));
	emu = ptc_check_emu(next_check(d, "qemu"));
	ptc_check_disk(opts->folder ? opts->folder : ".", opts->quick, next_check(d, "disk"));
	for (i = 0; target && i < sizeof(target_judges) / sizeof(target_judges[0]); i++)
		target_judges[i].judge(target, &f, next_check(d, target_judges[i].name));
	if (!opts->quick)
		ptc_costs_measure(&d->costs, emu, !f.tried.trace);
	a = ptc_abilities_of(&f, target, emu);
	d->commands.n = ptc_commands_judge(&a, &d->costs, d->commands.checks);
	d->verdict = a.pt	      ? PTC_DOCTOR_HARDWARE :
		     a.emu || a.trace ? PTC_DOCTOR_SOFTWARE :
					PTC_DOCTOR_NOTHING;
}

/* Sets what the caller sees of the checks. */
static void show_list(struct check_list *l)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		const struct ptc_check *c = &l->checks[i];

		l->shown[i] = (struct ptc_doctor_check){ c->name, c->state, c->value, c->mend };
	}
}

int ptc_doctor_new(const struct ptc_doctor_opts *given, struct ptc_doctor **ret,
		   struct ptc_err *err)
{
	struct ptc_doctor_opts opts;
	struct ptc_doctor *d;
	int rc = ptc_opts_take(&opts, sizeof(opts), given, "PTC_DOCTOR_OPTS_INIT", err);

	if (rc)
		return rc;
	d = calloc(1, sizeof(*d));
	if (!d)
		return ptc_fail_mem(err);
	if (opts.pid)
		rc = ptc_target_read(&d->target, opts.pid, err);
	if (rc) {
		ptc_doctor_free(d);
		return rc;
	}
	make_checks(d, &opts);
	show_list(&d->machine);
	show_list(&d->commands);
	d->process = (struct ptc_doctor_process){ .pid = d->target.pid,
						  .name = d->target.comm,
						  .threads = d->target.threads,
						  .more_files = d->target.more_files };
	*ret = d;
	return 0;
}

void ptc_doctor_free(struct ptc_doctor *d)
{
	if (!d)
		return;
	ptc_target_release(&d->target);
	free(d);
}

/* --- what the caller sees --- */

enum ptc_doctor_verdict ptc_doctor_verdict(const struct ptc_doctor *d)
{
	return d->verdict;
}

static const struct ptc_doctor_check *check_at(const struct check_list *l, size_t i)
{
	return i < l->n ? &l->shown[i] : NULL;
}

size_t ptc_doctor_nchecks(const struct ptc_doctor *d)
{
	return d->machine.n;
}

const struct ptc_doctor_check *ptc_doctor_check(const struct ptc_doctor *d, size_t i)
{
	return check_at(&d->machine, i);
}

size_t ptc_doctor_ncommands(const struct ptc_doctor *d)
{
	return d->commands.n;
}

const struct ptc_doctor_check *ptc_doctor_command(const struct ptc_doctor *d, size_t i)
{
	return check_at(&d->commands, i);
}

const struct ptc_ring_sizes *ptc_doctor_rings(const struct ptc_doctor *d)
{
	return &d->rings;
}

const struct ptc_doctor_costs *ptc_doctor_costs(const struct ptc_doctor *d)
{
	return &d->costs;
}

const struct ptc_doctor_process *ptc_doctor_process(const struct ptc_doctor *d)
{
	return d->process.pid ? &d->process : NULL;
}

size_t ptc_doctor_nfiles(const struct ptc_doctor *d)
{
	return d->target.nfiles;
}

const struct ptc_doctor_file *ptc_doctor_file(const struct ptc_doctor *d, size_t i)
{
	return i < d->target.nfiles ? &d->target.files[i] : NULL;
}
