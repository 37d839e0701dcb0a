// SPDX-License-Identifier: GPL-2.0
/* softpt: its sysfs files, and the valid configs. */
#include "softpt.h"
#include <linux/module.h>

static unsigned int caps_mtc = 1; /* has MTC packets */
module_param(caps_mtc, uint, 0644);

#define CONFIG_OK 0x0f7bfe33ull /* the union of the format fields below */

#define MTC_PERIODS    0x240u /* as shown in caps/ */
#define CYC_THRESHOLDS 0x3fffu
#define PSB_PERIODS    0x3fu

bool config_ok(u64 c)
{
	unsigned int mtc = c >> MTC_PERIOD & 15, cyc = c >> CYC_THRESHOLD & 15,
		     psb = c >> PSB_PERIOD & 15;

	if (c & ~CONFIG_OK || c & (BIT(4) | BIT(5) | BIT(12))) /* no ptw, no pwr_evt */
		return false;
	if ((psb && !(PSB_PERIODS & BIT(psb))) || (cyc && !(CYC_THRESHOLDS & BIT(cyc))))
		return false;
	if ((c & BIT(CONFIG_MTC) || mtc) && !(caps_mtc && MTC_PERIODS & BIT(mtc)))
		return false;
	return !(c & BIT(CONFIG_BRANCH)) || c & BIT(CONFIG_PT);
}

PMU_FORMAT_ATTR(pt, "config:0");
PMU_FORMAT_ATTR(cyc, "config:1");
PMU_FORMAT_ATTR(pwr_evt, "config:4");
PMU_FORMAT_ATTR(fup_on_ptw, "config:5");
PMU_FORMAT_ATTR(mtc, "config:9");
PMU_FORMAT_ATTR(tsc, "config:10");
PMU_FORMAT_ATTR(noretcomp, "config:11");
PMU_FORMAT_ATTR(ptw, "config:12");
PMU_FORMAT_ATTR(branch, "config:13");
PMU_FORMAT_ATTR(mtc_period, "config:14-17");
PMU_FORMAT_ATTR(cyc_thresh, "config:19-22");
PMU_FORMAT_ATTR(psb_period, "config:24-27");
static struct attribute *formats[] = { &format_attr_pt.attr,
				       &format_attr_cyc.attr,
				       &format_attr_pwr_evt.attr,
				       &format_attr_fup_on_ptw.attr,
				       &format_attr_mtc.attr,
				       &format_attr_tsc.attr,
				       &format_attr_noretcomp.attr,
				       &format_attr_ptw.attr,
				       &format_attr_branch.attr,
				       &format_attr_mtc_period.attr,
				       &format_attr_cyc_thresh.attr,
				       &format_attr_psb_period.attr,
				       NULL };

static ssize_t show_cap(struct device *dev, struct device_attribute *a, char *page)
{
	unsigned long v = (unsigned long)container_of(a, struct dev_ext_attribute, attr)->var;

	if (!strcmp(a->attr.name, "mtc"))
		v = caps_mtc;
	return sysfs_emit(page, "%lx\n", v);
}
#define CAP(name, value)                                                                           \
	static struct dev_ext_attribute cap_##name = { __ATTR(name, 0444, show_cap, NULL),         \
						       (void *)(unsigned long)(value) }
CAP(max_subleaf, 1UL);
CAP(cr3_filtering, 1UL);
CAP(psb_cyc, 1UL);
CAP(ip_filtering, 1UL);
CAP(mtc, 1UL);
CAP(ptwrite, 0UL);
CAP(power_event_trace, 0UL);
CAP(topa_output, 1UL);
CAP(topa_multiple_entries, 1UL);
CAP(single_range_output, 1UL);
CAP(output_subsys, 0UL);
CAP(payloads_lip, 0UL);
CAP(num_address_ranges, RANGES);
CAP(mtc_periods, MTC_PERIODS);
CAP(cycle_thresholds, CYC_THRESHOLDS);
CAP(psb_periods, PSB_PERIODS);
static struct attribute *caps[] = { &cap_max_subleaf.attr.attr,
				    &cap_cr3_filtering.attr.attr,
				    &cap_psb_cyc.attr.attr,
				    &cap_ip_filtering.attr.attr,
				    &cap_mtc.attr.attr,
				    &cap_ptwrite.attr.attr,
				    &cap_power_event_trace.attr.attr,
				    &cap_topa_output.attr.attr,
				    &cap_topa_multiple_entries.attr.attr,
				    &cap_single_range_output.attr.attr,
				    &cap_output_subsys.attr.attr,
				    &cap_payloads_lip.attr.attr,
				    &cap_num_address_ranges.attr.attr,
				    &cap_mtc_periods.attr.attr,
				    &cap_cycle_thresholds.attr.attr,
				    &cap_psb_periods.attr.attr,
				    NULL };

PMU_EVENT_ATTR_STRING(max_nonturbo_ratio, turbo, "20");
PMU_EVENT_ATTR_STRING(tsc_art_ratio, ratio, CRYSTAL_RATIO_TEXT);
static struct attribute *timing[] = { &turbo.attr.attr, &ratio.attr.attr, NULL };

static const struct attribute_group format_group = { .name = "format", .attrs = formats };
static const struct attribute_group caps_group = { .name = "caps", .attrs = caps };
static const struct attribute_group timing_group = { .attrs = timing };
const struct attribute_group *softpt_groups[] = { &format_group, &caps_group, &timing_group, NULL };
