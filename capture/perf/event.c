/* SPDX-License-Identifier: MIT */
#include "capture/perf/event.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "capture/host/pt_config.h"

enum { MTC_DEFAULT = 3, WORD = 64, FREQ_DEFAULT = 4000 /* perf's default */ };

/* Events of the CPU, for any name of its PMU. */
static const struct {
	const char *name;
	uint64_t config;
} hardware[] = {
	{ "cycles", PERF_COUNT_HW_CPU_CYCLES },
	{ "cpu-cycles", PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_COUNT_HW_INSTRUCTIONS },
	{ "branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-instructions", PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_COUNT_HW_BRANCH_MISSES },
	{ "ref-cycles", PERF_COUNT_HW_REF_CPU_CYCLES },
};

static const struct {
	const char *name;
	uint64_t config;
} software[] = {
	{ "dummy", PERF_COUNT_SW_DUMMY },
	{ "cpu-clock", PERF_COUNT_SW_CPU_CLOCK },
	{ "task-clock", PERF_COUNT_SW_TASK_CLOCK },
	{ "page-faults", PERF_COUNT_SW_PAGE_FAULTS },
	{ "faults", PERF_COUNT_SW_PAGE_FAULTS },
	{ "minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cs", PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cpu-migrations", PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "migrations", PERF_COUNT_SW_CPU_MIGRATIONS },
};

/* --- modifiers --- */

static int modifier(struct ptc_event *e, char c, struct ptc_err *err)
{
	struct perf_event_attr *a = &e->attr;

	if (strchr("ukh", c) && !e->modified) {
		e->modified = true;
		a->exclude_user = a->exclude_kernel = a->exclude_hv = 1;
	}
	switch (c) {
	case 'u':
		a->exclude_user = 0;
		return 0;
	case 'k':
		a->exclude_kernel = 0;
		return 0;
	case 'h':
		a->exclude_hv = 0;
		return 0;
	case 'I':
		a->exclude_idle = 1;
		return 0;
	case 'G':
		a->exclude_host = 1;
		return 0;
	case 'H':
		a->exclude_guest = 1;
		return 0;
	case 'D':
		a->pinned = 1;
		return 0;
	case 'e':
		a->exclusive = 1;
		return 0;
	case 'p':
		if (a->precise_ip < 3) {
			a->precise_ip++;
			return 0;
		}
		return ptc_fail(err, PTC_E_USAGE,
				"invalid event '%s': at most three modifiers p (ppp)", e->name);
	default:
		return ptc_fail(
			err, PTC_E_USAGE,
			"invalid event '%s': unknown modifier '%c'; expected u, k, h (privilege), "
			"I, G, H (not idle, guest only, host only), p, D (pinned), e (exclusive)",
			e->name, c);
	}
}

static int modifiers(struct ptc_event *e, const char *text, struct ptc_err *err)
{
	int rc = 0;

	for (; *text && !rc; text++)
		rc = modifier(e, *text, err);
	if (!rc && e->attr.exclude_host && e->attr.exclude_guest) /* both: exclude nothing */
		e->attr.exclude_host = e->attr.exclude_guest = 0;
	return rc;
}

/* --- terms --- */

static bool parse_number(const char *s, uint64_t *ret)
{
	char *end;

	if (*s < '0' || *s > '9')
		return false;
	errno = 0;
	*ret = strtoull(s, &end, 0);
	return !*end && !errno;
}

/* Terms of every PMU: fields of perf_event_attr. */
static bool common_term(struct ptc_event *e, const char *name, uint64_t value)
{
	unsigned int config = 0;

	if (!strcmp(name, "period")) {
		e->attr.sample_period = value;
		return true;
	}
	if (strncmp(name, "config", 6) != 0)
		return false;
	if (name[6] >= '1' && name[6] < '0' + PTC_PMU_CONFIGS && !name[7])
		config = (unsigned int)(name[6] - '0');
	else if (name[6])
		return false;
	ptc_pmu_config_put(&e->attr, config, value);
	return true;
}

static int term(struct ptc_event *e, const char *name, const char *text, struct ptc_err *err)
{
	uint64_t value = 1;

	if (!strcmp(name, "name") && text) {
		(void)snprintf(e->name, sizeof(e->name), "%s", text);
		return 0;
	}
	if (text && !parse_number(text, &value))
		return ptc_fail(err, PTC_E_USAGE,
				"invalid event '%s': the value of '%s' is not a number: '%s'",
				e->name, name, text);
	if (!ptc_pmu_term(&e->pmu, name) && text && common_term(e, name, value))
		return 0;
	return ptc_pmu_set(&e->pmu, name, value, &e->attr, err);
}

/* Parses @len bytes such as "cyc,psb_period=3". */
static int terms(struct ptc_event *e, const char *text, size_t len, struct ptc_err *err)
{
	const char *end = text + len;
	int rc = 0;

	while (text < end && !rc) {
		const char *comma = memchr(text, ',', (size_t)(end - text));
		const size_t n = (size_t)((comma ? comma : end) - text);
		char word[WORD], *equals;

		if (!n || n >= sizeof(word))
			return ptc_fail(err, PTC_E_USAGE,
					"invalid event '%s': '%.*s' is not a term", e->name, (int)n,
					text);
		memcpy(word, text, n);
		word[n] = '\0';
		equals = strchr(word, '=');
		if (equals)
			*equals++ = '\0';
		rc = term(e, word, equals, err);
		text += n + (comma != NULL);
		if (comma && text == end)
			return ptc_fail(err, PTC_E_USAGE,
					"invalid event '%s': no term after the comma", e->name);
	}
	return rc;
}

/* --- intel_pt --- */

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

static void set_if_there(struct ptc_event *e, const char *name, uint64_t value)
{
	struct ptc_err ignored;

	if (ptc_pmu_term(&e->pmu, name))
		(void)ptc_pmu_set(&e->pmu, name, value, &e->attr, &ignored);
}

/* For kernels without format/: the bits have always been at these positions (pt_config.h). */
static void begin_without_format(struct ptc_event *e, const struct ptc_event_base *base,
				 unsigned int psb)
{
	e->attr.config = PTC_CFG_PT | PTC_CFG_BRANCH | PTC_CFG_TSC |
			 (uint64_t)psb << PTC_CFG_PSB_SHIFT;
	if (base->no_retcomp)
		e->attr.config |= PTC_CFG_NORETCOMP;
}

static int begin_pt(struct ptc_event *e, const struct ptc_event_base *base, struct ptc_err *err)
{
	const struct ptc_pmu *p = &e->pmu;
	unsigned int psb = 0;

	while (base->psb_period && (uint32_t)PTC_PSB_PERIOD_MIN << psb < base->psb_period)
		psb++;
	if (base->psb_period &&
	    !(ptc_pmu_cap(p, "psb_cyc", 0) && (ptc_pmu_cap(p, "psb_periods", 0) >> psb & 1)))
		return ptc_fail(err, PTC_E_UNSUPPORTED,
				"this CPU does not support a PSB every %" PRIu32
				" bytes (caps/psb_periods 0x%" PRIx64 ")",
				base->psb_period, ptc_pmu_cap(p, "psb_periods", 0));
	if (!p->nterms) {
		begin_without_format(e, base, psb);
		return 0;
	}
	set_if_there(e, "pt", 1);
	set_if_there(e, "branch", 1);
	set_if_there(e, "tsc", 1);
	if (ptc_pmu_cap(p, "mtc", 0) && p->tsc_ctc_n) {
		/* without the ratio a decoder cannot use MTC */
		set_if_there(e, "mtc", 1);
		set_if_there(e, "mtc_period",
			     nearest(ptc_pmu_cap(p, "mtc_periods", 0), MTC_DEFAULT));
	}
	if (base->no_retcomp)
		set_if_there(e, "noretcomp", 1);
	if (psb)
		set_if_there(e, "psb_period", psb);
	return 0;
}

/* Returns 0 also if the PMU has no such term. */
static uint64_t value_of(const struct ptc_event *e, const char *name)
{
	const struct ptc_pmu_term *t = ptc_pmu_term(&e->pmu, name);
	uint64_t word, v = 0;
	unsigned int bit, n = 0;

	if (!t)
		return 0;
	word = ptc_pmu_config_get(&e->attr, t->config);
	for (bit = 0; bit < 64; bit++)
		if (t->bits >> bit & 1)
			v |= (word >> bit & 1) << n++;
	return v;
}

/* The kernel only returns EINVAL (pt.c, pt_event_valid). Name the term and the reason. */
static int check_pt(const struct ptc_event *e, struct ptc_err *err)
{
	static const struct {
		const char *term, *cap;
		bool mask; /* cap is a mask of the permitted values; else a flag */
	} needs[] = {
		{ "cyc", "psb_cyc", false },	       { "cyc_thresh", "cycle_thresholds", true },
		{ "psb_period", "psb_periods", true }, { "mtc", "mtc", false },
		{ "mtc_period", "mtc_periods", true }, { "ptw", "ptwrite", false },
		{ "fup_on_ptw", "ptwrite", false },    { "pwr_evt", "power_event_trace", false },
		{ "event", "event_trace", false },     { "notnt", "tnt_disable", false },
	};
	size_t i;

	for (i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
		const uint64_t v = value_of(e, needs[i].term);
		const uint64_t cap = ptc_pmu_cap(&e->pmu, needs[i].cap, UINT64_MAX);

		if (v && (needs[i].mask ? v > 63 || !(cap >> v & 1) : !cap))
			return ptc_fail(err, PTC_E_UNSUPPORTED,
					"invalid event '%s': this CPU does not support %s=%" PRIu64
					" (caps/%s is 0x%" PRIx64 ")",
					e->name, needs[i].term, v, needs[i].cap, cap);
	}
	if (e->attr.precise_ip)
		return ptc_fail(err, PTC_E_UNSUPPORTED,
				"invalid event '%s': intel_pt has no precise samples (modifier p)",
				e->name);
	return 0;
}

/* --- whole events --- */

/* Parses PMU/TERMS/MODIFIERS; @slash points to the first '/'. */
static int parse_pmu(struct ptc_event *e, const char *text, const char *slash,
		     const struct ptc_event_base *base, const char *root, struct ptc_err *err)
{
	const char *second = strchr(slash + 1, '/');
	const char *after = second ? second + 1 : "";
	char name[PTC_PMU_NAME];
	int rc;

	if (!second)
		return ptc_fail(err, PTC_E_USAGE, "invalid event '%s': the second '/' is missing",
				text);
	if ((size_t)(slash - text) >= sizeof(name))
		return ptc_fail(err, PTC_E_USAGE, "invalid name of a PMU '%s'", text);
	(void)snprintf(name, sizeof(name), "%.*s", (int)(slash - text), text);
	rc = ptc_pmu_read(&e->pmu, root, name, err);
	if (rc)
		return rc;
	e->attr.type = e->pmu.type;
	e->attr.sample_period = 1;
	e->intel_pt = !strcmp(name, "intel_pt");
	if (e->intel_pt)
		rc = begin_pt(e, base, err);
	if (!rc)
		rc = terms(e, slash + 1, (size_t)(second - slash - 1), err);
	if (!rc)
		rc = modifiers(e, after + (*after == ':'), err);
	return rc || !e->intel_pt ? rc : check_pt(e, err);
}

/* Parses NAME or NAME:MODIFIERS. */
static int parse_software(struct ptc_event *e, const char *text, struct ptc_err *err)
{
	const size_t n = strcspn(text, ":");
	size_t i;

	for (i = 0; i < sizeof(software) / sizeof(software[0]); i++) {
		if (strlen(software[i].name) != n || strncmp(software[i].name, text, n) != 0)
			continue;
		e->software = true;
		e->dummy = software[i].config == PERF_COUNT_SW_DUMMY;
		e->attr.type = PERF_TYPE_SOFTWARE;
		e->attr.config = software[i].config;
		e->attr.sample_period = 1;
		if (software[i].config == PERF_COUNT_SW_CPU_CLOCK ||
		    software[i].config == PERF_COUNT_SW_TASK_CLOCK)
			e->attr.sample_period = 250000; /* ns: perf's default period */
		return modifiers(e, text[n] ? text + n + 1 : "", err);
	}
	return ptc_fail(err, PTC_E_USAGE,
			"unknown event '%s': expected PMU/TERMS/MODIFIERS with a PMU in "
			"/sys/bus/event_source/devices, or a software event (dummy, cpu-clock, "
			"page-faults, ...)",
			text);
}

/* Same as parse_software, for hardware events. Returns false if the name is unknown. */
static bool find_hardware(struct ptc_event *e, const char *text, size_t n)
{
	size_t i;

	for (i = 0; i < sizeof(hardware) / sizeof(hardware[0]); i++) {
		if (strlen(hardware[i].name) != n || strncmp(hardware[i].name, text, n) != 0)
			continue;
		e->attr.type = PERF_TYPE_HARDWARE;
		e->attr.config = hardware[i].config;
		e->attr.freq = 1;
		e->attr.sample_freq = FREQ_DEFAULT;
		return true;
	}
	return false;
}

int ptc_event_parse_counter(struct ptc_event *e, const char *text, const char *root,
			    struct ptc_err *err)
{
	static const struct ptc_event_base none = { false, 0 };
	const size_t n = strcspn(text, ":");

	memset(e, 0, sizeof(*e));
	if (strlen(text) >= sizeof(e->name) || !find_hardware(e, text, n))
		return ptc_event_parse(e, text, &none, root, err);
	(void)snprintf(e->name, sizeof(e->name), "%s", text);
	return modifiers(e, text[n] ? text + n + 1 : "", err);
}

int ptc_event_parse(struct ptc_event *e, const char *text, const struct ptc_event_base *base,
		    const char *root, struct ptc_err *err)
{
	const char *slash = strchr(text, '/');

	memset(e, 0, sizeof(*e));
	if (strlen(text) >= sizeof(e->name))
		return ptc_fail(err, PTC_E_USAGE,
				"the name of the event has %zu characters or more",
				sizeof(e->name));
	(void)snprintf(e->name, sizeof(e->name), "%s", text);
	if (slash)
		return parse_pmu(e, text, slash, base, root, err);
	return parse_software(e, text, err);
}

bool ptc_event_wants_pt(const char *text)
{
	return !text || !strncmp(text, "intel_pt/", strlen("intel_pt/"));
}
