/* SPDX-License-Identifier: MIT */
#include "capture/perf/pmu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/io.h"
#include "capture/pt_config.h"

enum { SMALL_FILE = 4096, MTC_DEFAULT = 3 };

/* The number in a file of the PMU's folder; @missing if there is none. */
static uint64_t number(const char *root, const char *name, int base, uint64_t missing)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err ignored;
	char path[384];
	uint64_t v = missing;

	(void)snprintf(path, sizeof(path), "%s/sys/bus/event_source/devices/intel_pt/%s", root,
		       name);
	if (!ptc_read_file(path, SMALL_FILE, &b, &ignored))
		v = strtoull((const char *)b.bytes, NULL, base);
	ptc_buf_release(&b);
	return v;
}

/* "n:d", TSC ticks per ART tick. */
static void art_ratio(struct ptc_pmu *p, const char *root)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err ignored;
	char path[384], *colon;

	(void)snprintf(path, sizeof(path), "%s/sys/bus/event_source/devices/intel_pt/tsc_art_ratio",
		       root);
	if (!ptc_read_file(path, SMALL_FILE, &b, &ignored)) {
		p->tsc_ctc_n = (uint32_t)strtoul((const char *)b.bytes, &colon, 10);
		p->tsc_ctc_d = *colon == ':' ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0;
	}
	ptc_buf_release(&b);
	if (!p->tsc_ctc_n || !p->tsc_ctc_d)
		p->tsc_ctc_n = p->tsc_ctc_d = 0;
}

int ptc_pmu_read(struct ptc_pmu *p, const char *root, struct ptc_err *err)
{
	const uint64_t type = number(root, "type", 10, UINT64_MAX);

	memset(p, 0, sizeof(*p));
	if (type > UINT32_MAX)
		return ptc_fail(err, PTC_E_NOT_EXIST,
				"the kernel has no PMU 'intel_pt' "
				"('%s/sys/bus/event_source/devices/intel_pt/type')",
				root);
	p->type = (uint32_t)type;
	p->mtc = number(root, "caps/mtc", 10, 0) != 0;
	p->mtc_periods = number(root, "caps/mtc_periods", 16, 0);
	p->psb_cyc = number(root, "caps/psb_cyc", 10, 0) != 0;
	p->psb_periods = number(root, "caps/psb_periods", 16, 0);
	p->max_nonturbo_ratio = (uint32_t)number(root, "max_nonturbo_ratio", 10, 0);
	art_ratio(p, root);
	return 0;
}

static unsigned int nearest(uint64_t mask, unsigned int want)
{
	unsigned int d;

	for (d = 0; d < 16; d++) {
		if (want + d < 16 && (mask >> (want + d) & 1))
			return want + d;
		if (want >= d && (mask >> (want - d) & 1))
			return want - d;
	}
	return 0;
}

int ptc_pmu_config(const struct ptc_pmu *p, bool no_retcomp, uint32_t psb_period, uint64_t *ret,
		   struct ptc_err *err)
{
	uint64_t config = PTC_CFG_PT | PTC_CFG_BRANCH | PTC_CFG_TSC;
	unsigned int psb = 0;

	if (no_retcomp)
		config |= PTC_CFG_NORETCOMP;
	if (p->mtc && p->tsc_ctc_n) /* without the ratio MTC tells a decoder nothing */
		config |= PTC_CFG_MTC | (uint64_t)nearest(p->mtc_periods, MTC_DEFAULT)
						<< PTC_CFG_MTC_FREQ_SHIFT;
	while (psb_period && (uint32_t)PTC_PSB_PERIOD_MIN << psb < psb_period)
		psb++;
	if (psb_period && !(p->psb_cyc && (p->psb_periods >> psb & 1)))
		return ptc_fail(
			err, PTC_E_UNSUPPORTED,
			"this CPU cannot make a PSB every %u bytes (caps/psb_periods 0x%llx)",
			psb_period, (unsigned long long)p->psb_periods);
	if (psb_period)
		config |= (uint64_t)psb << PTC_CFG_PSB_SHIFT;
	*ret = config;
	return 0;
}
