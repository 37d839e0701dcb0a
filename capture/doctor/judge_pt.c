/* SPDX-License-Identifier: MIT */
/* Judges of Intel PT and LBR. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "capture/doctor/judge.h"

void ptc_judge_pt(const struct ptc_facts *f, struct ptc_check *c)
{
	const char *why = ptc_processor_why_no_pt(f->cpu.intel_pt, f->has_pmu);

	if (!why) {
		ptc_check_set(c, PTC_CHECK_OK, "the kernel has the PMU intel_pt, type %" PRIu32,
			      f->pmu.type);
		return;
	}
	ptc_check_set(c, f->cpu.intel_pt ? PTC_CHECK_BROKEN : PTC_CHECK_MISSING, "%s", why);
	if (f->cpu.intel_pt)
		ptc_check_mend(c,
			       "`dmesg | grep -i pt` on the host: the firmware or another "
			       "tracer may have Intel PT switched on; mount /sys in a container");
}

/* Capabilities that an option of ptcap uses: caps/ of the PMU (arch/x86/events/intel/pt.c). */
static const struct pt_cap {
	const char *cap, *name, *without;
} pt_caps[] = {
	{ "psb_cyc", "cycle counts (-e intel_pt/cyc/u)", "no cyc" },
	{ "mtc", "MTC times", "coarse times" },
	{ "ip_filtering", "address filters (--filter)", "no --filter" },
	{ "ptwrite", "PTWRITE", "no ptwrite" },
	{ "power_event_trace", "power events", "no power events" },
	{ "topa_output", "large rings (ToPA)", "one small ring" },
};

void ptc_judge_pt_caps(const struct ptc_facts *f, struct ptc_check *c)
{
	size_t i, lacking = 0;

	if (!f->has_pmu) {
		ptc_check_set(c, PTC_CHECK_MISSING, "no PMU intel_pt");
		return;
	}
	ptc_check_set(c, PTC_CHECK_OK, "has");
	for (i = 0; i < sizeof(pt_caps) / sizeof(pt_caps[0]); i++) {
		if (ptc_pmu_cap(&f->pmu, pt_caps[i].cap, 0))
			ptc_check_add(c, "%s %s", strcmp(c->value, "has") ? "," : "",
				      pt_caps[i].name);
		else
			lacking++;
	}
	if (!strcmp(c->value, "has"))
		ptc_check_add(c, " no optional feature");
	if (f->pmu.nr_addr_filters)
		ptc_check_add(c, "; %" PRIu32 " address filter%s", f->pmu.nr_addr_filters,
			      f->pmu.nr_addr_filters == 1 ? "" : "s");
	if (!lacking)
		return;
	ptc_check_add(c, "; lacks");
	for (i = 0; i < sizeof(pt_caps) / sizeof(pt_caps[0]); i++)
		if (!ptc_pmu_cap(&f->pmu, pt_caps[i].cap, 0))
			ptc_check_add(c, " %s%s", pt_caps[i].cap, --lacking ? "," : "");
}

void ptc_judge_pt_event(const struct ptc_facts *f, struct ptc_check *c)
{
	char why[256];

	if (!f->has_pmu) {
		ptc_check_set(c, PTC_CHECK_MISSING, "no PMU intel_pt");
		return;
	}
	if (!f->tried.pt) {
		ptc_check_set(c, PTC_CHECK_OK, "intel_pt//u opens for your own programs");
		return;
	}
	ptc_explain_open_text(&f->limits, f->tried.pt, 1, why, sizeof(why));
	ptc_check_set(c, PTC_CHECK_BROKEN, "intel_pt//u: %s; %s", strerrordesc_np(f->tried.pt),
		      why);
	if (f->tried.pt == EACCES)
		ptc_check_mend(c, "sudo sysctl kernel.perf_event_paranoid=2");
	else if (f->tried.pt == EBUSY)
		ptc_check_mend(c, "end the other tracer");
	else if (f->tried.pt == EPERM || f->tried.pt == ENOSYS)
		ptc_check_mend(c, "see seccomp and lockdown");
}

void ptc_judge_lbr(const struct ptc_facts *f, struct ptc_check *c)
{
	char entries[64] = "";

	if (!f->has_counters) {
		ptc_check_set(c, PTC_CHECK_MISSING, "no hardware counters%s, so no branch stacks",
			      f->cpu.virtual_machine ? " in this virtual machine" : "");
	} else if (f->tried.branches) {
		char why[256];

		ptc_explain_lbr_text(&f->limits, f->tried.branches, 1, why, sizeof(why));
		ptc_check_set(c,
			      f->tried.branches == EOPNOTSUPP || f->tried.branches == ENOENT ?
				      PTC_CHECK_MISSING :
				      PTC_CHECK_BROKEN,
			      "branch stacks: %s; %s", strerrordesc_np(f->tried.branches), why);
	} else {
		if (f->lbr_entries > 0)
			(void)snprintf(entries, sizeof(entries), " of %ld entries", f->lbr_entries);
		ptc_check_set(c, PTC_CHECK_OK, "branch stacks%s", entries);
		if (f->has_pmu && !f->tried.pt && !f->tried.branches_by_pt)
			ptc_check_add(c, ", also beside Intel PT");
		else if (f->has_pmu && !f->tried.pt)
			ptc_check_set(c, PTC_CHECK_NOTE,
				      "branch stacks%s, but not beside Intel PT: %s", entries,
				      strerrordesc_np(f->tried.branches_by_pt));
	}
	if (c->state != PTC_CHECK_OK)
		ptc_check_mend(c, "ptcap convert --branch-stacks makes branch stacks from a trace");
}
