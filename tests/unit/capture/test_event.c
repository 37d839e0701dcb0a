/* SPDX-License-Identifier: MIT */
/* Description: the text of -e becomes the same attr as in perf. */
#include <criterion/criterion.h>
#include <stdbool.h>
#include <string.h>

#include "capture/host/pt_config.h"
#include "capture/perf/event.h"
#include "lib_sysfs.h"

static const struct ptc_event_base plain = { false, 0 };
static char root[64];

static void make(void)
{
	sysfs_make(root, sizeof(root), "intel_pt");
}

static void away(void)
{
	sysfs_remove(root);
}

static struct ptc_event parse(const char *text, const struct ptc_event_base *base)
{
	struct ptc_event e;
	struct ptc_err err;

	cr_assert_eq(ptc_event_parse(&e, text, base, root, &err), 0, "%s: %s", text, err.msg);
	return e;
}

static void refused(const char *text, int code, const char *word)
{
	struct ptc_event e;
	struct ptc_err err;

	cr_assert_eq(ptc_event_parse(&e, text, &plain, root, &err), code, "%s", text);
	cr_assert_not_null(strstr(err.msg, word), "%s: %s", text, err.msg);
}

enum {
	ALWAYS = PTC_CFG_PT | PTC_CFG_BRANCH | PTC_CFG_TSC,
	MTC3 = PTC_CFG_MTC | 3 << PTC_CFG_MTC_FREQ_SHIFT
};

Test(event, intel_pt_begins_with_what_every_recording_wants, .init = make, .fini = away)
{
	const struct ptc_event e = parse("intel_pt//u", &plain);

	cr_assert(e.intel_pt);
	cr_assert_not(e.software);
	cr_assert_eq(e.attr.type, 8);
	cr_assert_eq(e.attr.config, ALWAYS | MTC3);
	cr_assert_eq(e.attr.sample_period, 1);
	cr_assert(e.attr.exclude_kernel && e.attr.exclude_hv && !e.attr.exclude_user);
}

Test(event, the_beginning_asks_only_for_what_the_pmu_has, .init = make, .fini = away)
{
	const struct ptc_event_base base = { true, 4096 };

	sysfs_set(root, "intel_pt", "caps/mtc_periods", "40\n");
	cr_assert_eq(parse("intel_pt//u", &base).attr.config,
		     ALWAYS | PTC_CFG_MTC | PTC_CFG_NORETCOMP | 6 << PTC_CFG_MTC_FREQ_SHIFT |
			     1 << PTC_CFG_PSB_SHIFT);
	sysfs_set(root, "intel_pt", "tsc_art_ratio", "0:0\n");
	cr_assert_eq(parse("intel_pt//u", &plain).attr.config, ALWAYS,
		     "MTC without the ratio says nothing");
}

Test(event, a_psb_period_that_the_cpu_has_not_is_refused, .init = make, .fini = away)
{
	const struct ptc_event_base base = { false, 2048u << 6 };
	struct ptc_event e;
	struct ptc_err err;

	cr_assert_eq(ptc_event_parse(&e, "intel_pt//u", &base, root, &err), PTC_E_UNSUPPORTED);
}

Test(event, terms_come_on_top_of_the_beginning, .init = make, .fini = away)
{
	const struct ptc_event e =
		parse("intel_pt/cyc,psb_period=3,mtc_period=6,noretcomp,branch=0/u", &plain);

	cr_assert_eq(e.attr.config, PTC_CFG_PT | PTC_CFG_TSC | PTC_CFG_CYC | PTC_CFG_NORETCOMP |
					    PTC_CFG_MTC | 6 << PTC_CFG_MTC_FREQ_SHIFT |
					    3 << PTC_CFG_PSB_SHIFT);
	cr_assert_eq(parse("intel_pt/psb_period=0x2/u", &plain).attr.config >> PTC_CFG_PSB_SHIFT,
		     2);
	cr_assert_eq(parse("intel_pt/config=0x400,config1=5/u", &plain).attr.config, 0x400);
	cr_assert_eq(parse("intel_pt/config=0x400,config1=5/u", &plain).attr.config1, 5);
	cr_assert_str_eq(parse("intel_pt/name=mine/u", &plain).name, "mine");
}

Test(event, what_the_cpu_cannot_do_is_said_by_name, .init = make, .fini = away)
{
	refused("intel_pt/ptw/u", PTC_E_UNSUPPORTED, "caps/ptwrite");
	refused("intel_pt/pwr_evt/u", PTC_E_UNSUPPORTED, "caps/power_event_trace");
	refused("intel_pt/psb_period=9/u", PTC_E_UNSUPPORTED, "psb_period=9");
	refused("intel_pt/mtc_period=1/u", PTC_E_UNSUPPORTED, "caps/mtc_periods");
	refused("intel_pt/cyc,cyc_thresh=15/u", PTC_E_UNSUPPORTED, "caps/cycle_thresholds");
	refused("intel_pt//up", PTC_E_UNSUPPORTED, "precise");
	sysfs_set(root, "intel_pt", "caps/ptwrite", "1\n");
	cr_assert(parse("intel_pt/ptw/u", &plain).attr.config & 1 << 12);
}

Test(event, what_is_no_event_is_refused, .init = make, .fini = away)
{
	refused("intel_pt/cycles/u", PTC_E_USAGE,
		"has no 'cycles'; it has branch, cyc, cyc_thresh, fup_on_ptw");
	refused("intel_pt/psb_period=16/u", PTC_E_USAGE, "4 bits");
	refused("intel_pt/psb_period=x/u", PTC_E_USAGE, "not a number");
	refused("intel_pt/psb_period=-1/u", PTC_E_USAGE, "not a number");
	refused("intel_pt/cyc", PTC_E_USAGE, "second '/'");
	refused("intel_pt/cyc,/u", PTC_E_USAGE, "comma");
	refused("intel_pt/,/u", PTC_E_USAGE, "term");
	refused("intel_pt//x", PTC_E_USAGE, "modifier 'x'");
	refused("intel_pt//upppp", PTC_E_USAGE, "ppp");
	refused("other_pt//u", PTC_E_NOT_EXIST, "other_pt");
	refused("/x/", PTC_E_USAGE, "PMU");
	refused("cycles", PTC_E_USAGE, "cycles");
	refused("dumm:u", PTC_E_USAGE, "dumm");
	refused("", PTC_E_USAGE, "event");
}

Test(event, modifiers_say_where, .init = make, .fini = away)
{
	struct perf_event_attr a = parse("intel_pt//", &plain).attr;

	cr_assert(!a.exclude_user && !a.exclude_kernel && !a.exclude_hv);
	cr_assert_not(parse("intel_pt//", &plain).modified);
	a = parse("intel_pt//k", &plain).attr;
	cr_assert(a.exclude_user && !a.exclude_kernel && a.exclude_hv);
	a = parse("intel_pt//uk", &plain).attr;
	cr_assert(!a.exclude_user && !a.exclude_kernel && a.exclude_hv);
	a = parse("intel_pt//uHID", &plain).attr;
	cr_assert(a.exclude_guest && a.exclude_idle && a.pinned && !a.exclusive);
	a = parse("intel_pt//GHe", &plain).attr;
	cr_assert(!a.exclude_guest && !a.exclude_host && a.exclusive);
	a = parse("dummy:upp", &plain).attr;
	cr_assert_eq(a.precise_ip, 2);
}

Test(event, another_pmu_is_taken_as_its_terms_say)
{
	struct ptc_event e;
	struct ptc_err err;

	sysfs_make(root, sizeof(root), "other");
	e = parse("other/mtc,config2=3/k", &plain);
	cr_assert_not(e.intel_pt);
	cr_assert_eq(e.attr.config, PTC_CFG_MTC, "no beginning of ours");
	cr_assert_eq(e.attr.config2, 3);
	cr_assert_eq(ptc_event_parse(&e, "other/nix/", &plain, root, &err), PTC_E_USAGE);
	sysfs_remove(root);
}

Test(event, software_events_need_no_sysfs)
{
	const struct ptc_event e = parse("dummy:u", &plain);

	cr_assert(e.software && e.dummy);
	cr_assert_eq(e.attr.type, PERF_TYPE_SOFTWARE);
	cr_assert_eq(e.attr.config, PERF_COUNT_SW_DUMMY);
	cr_assert(e.attr.exclude_kernel);
	cr_assert_not(parse("page-faults", &plain).dummy);
	cr_assert_eq(parse("cs:k", &plain).attr.config, PERF_COUNT_SW_CONTEXT_SWITCHES);
}

Test(event, who_asks_for_intel_pt_is_known_without_a_machine)
{
	cr_assert(ptc_event_wants_pt(NULL));
	cr_assert(ptc_event_wants_pt("intel_pt/cyc/u"));
	cr_assert_not(ptc_event_wants_pt("intel_ptx//"));
	cr_assert_not(ptc_event_wants_pt("dummy"));
}
