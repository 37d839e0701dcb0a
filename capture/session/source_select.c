/* SPDX-License-Identifier: MIT */
/* Chooses the source from the machine's abilities, and explains the choice. */
#include "capture/session/source_select.h"

#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "base/err.h"
#include "capture/emu/command_check.h"
#include "capture/host/processor.h"
#include "capture/perf/event.h"
#include "capture/perf/open_error_text.h"
#include "capture/session/opts.h"

#define PT_PMU "/sys/bus/event_source/devices/intel_pt"

static const char *why_no_pt(void)
{
	struct ptc_processor cpu;

	ptc_processor_read(&cpu);
	return ptc_processor_why_no_pt(cpu.intel_pt, !access(PT_PMU "/type", R_OK));
}

static void set_source_choice(struct ptc_source_choice *ret, enum ptc_source_kind kind,
			      const char *why)
{
	ret->kind = kind;
	(void)snprintf(ret->why, sizeof(ret->why), "%s", why);
}

/*
 * Single-stepping nearly stops a running process, so the user must ask for it. The message names
 * the choices and what each costs.
 */
static int refuse_attached(const struct ptc_record_opts *opts, const char *no_pt,
			   struct ptc_err *err)
{
	const int pid = opts->target.npids ? (int)opts->target.pids[0] : 0;

	if (pid)
		return ptc_fail(err, PTC_E_UNSUPPORTED,
				"%s; choices for process %d: `ptcap stacks -p %d` (its stacks now; "
				"stops it for milliseconds), `ptcap crash -e dummy:u -p %d` (its "
				"state when a signal kills it; full speed), --source step (every "
				"branch; thousands of times slower)" PTC_SEE_DOCTOR,
				no_pt, pid, pid, pid);
	return ptc_fail(
		err, PTC_E_UNSUPPORTED,
		"%s; --source step can trace a running thread, thousands of times slower; "
		"`ptcap stacks -p PID` shows the stacks of its process at once" PTC_SEE_DOCTOR,
		no_pt);
}

static int choose_for_user(const struct ptc_record_opts *opts, const struct ptc_offer *offer,
			   struct ptc_source_choice *ret, struct ptc_err *err)
{
	if (!offer->no_pt) {
		set_source_choice(ret, PTC_SOURCE_PT, "this machine has Intel PT");
	} else if (!opts->target.argv) {
		return refuse_attached(opts, offer->no_pt, err);
	} else if (!offer->no_emu) {
		set_source_choice(ret, PTC_SOURCE_EMU, offer->no_pt);
	} else {
		ret->kind = PTC_SOURCE_STEP;
		(void)snprintf(ret->why, sizeof(ret->why), "%s; not emu: %s", offer->no_pt,
			       offer->no_emu);
	}
	return 0;
}

/*
 * Returns the first option that only the kernel's source supports, as part of a sentence. Returns
 * NULL if there is none.
 */
static const char *kernel_only(const struct ptc_record_opts *opts)
{
	if (opts->source.event)
		return "needed for -e";
	if (opts->source.nfilters)
		return "needed for --filter";
	if (opts->target.all_cpus || opts->target.cpus)
		return "needed for -a and -C";
	if (opts->target.cgroup)
		return "needed for --cgroup";
	return opts->target.per_thread ? "needed for --per-thread" : NULL;
}

int ptc_choose(const struct ptc_record_opts *opts, const struct ptc_offer *offer,
	       struct ptc_source_choice *ret, struct ptc_err *err)
{
	const char *why = kernel_only(opts);
	const bool kernel = opts->source.kind == PTC_SOURCE_PT ||
			    (opts->source.kind == PTC_SOURCE_AUTO && why);

	if (opts->source.kind == PTC_SOURCE_AUTO && !kernel)
		return choose_for_user(opts, offer, ret, err);
	if (kernel && offer->no_pt && ptc_event_wants_pt(opts->source.event))
		return ptc_fail(err, PTC_E_UNSUPPORTED,
				"cannot record with Intel PT: %s (" PT_PMU
				" is missing)%s" PTC_SEE_DOCTOR,
				offer->no_pt, why ? "" : "; use --source step");
	set_source_choice(ret, kernel ? PTC_SOURCE_PT : opts->source.kind,
			  opts->source.kind == PTC_SOURCE_AUTO ? why : "selected with --source");
	return 0;
}

int ptc_source_choose(const struct ptc_record_opts *asked, struct ptc_source_choice *ret,
		      struct ptc_err *err)
{
	struct ptc_offer offer = { .no_pt = why_no_pt() };
	struct ptc_record_opts copy;
	const struct ptc_record_opts *opts = &copy;
	struct ptc_err why_not;
	const int rc = ptc_record_opts_take(&copy, asked, err);

	if (rc)
		return rc;

	if (opts->source.kind == PTC_SOURCE_AUTO && !kernel_only(opts) && offer.no_pt &&
	    opts->target.argv && ptc_emu_fits(opts, &why_not))
		offer.no_emu = why_not.msg;
	return ptc_choose(opts, &offer, ret, err);
}
