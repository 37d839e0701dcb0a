/* SPDX-License-Identifier: MIT */
#include "capture/perf/pmu.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/io.h"

enum { SMALL_FILE = 4096, PATH_SIZE = 1024, FILE_NAME = 288 };

#define DEVICES "sys/bus/event_source/devices"

/* Reads ROOT/sys/.../PMU/NAME. Returns false if it cannot be read. */
static bool read_small(const char *root, const char *pmu, const char *name, struct ptc_buf *b)
{
	struct ptc_err ignored;
	char path[PATH_SIZE];

	(void)snprintf(path, sizeof(path), "%s/" DEVICES "/%s/%s", root, pmu, name);
	return !ptc_read_file(path, SMALL_FILE, b, &ignored);
}

static uint64_t read_pmu_number(const char *root, const char *pmu, const char *name, int base,
				uint64_t missing)
{
	struct ptc_buf b = PTC_BUF_INIT;
	uint64_t v = missing;

	if (read_small(root, pmu, name, &b))
		v = strtoull((const char *)b.bytes, NULL, base);
	ptc_buf_release(&b);
	return v;
}

/* Parses "n:d", TSC ticks per ART tick. */
static void art_ratio(struct ptc_pmu *p, const char *root)
{
	struct ptc_buf b = PTC_BUF_INIT;
	char *colon;

	if (read_small(root, p->name, "tsc_art_ratio", &b)) {
		p->tsc_ctc_n = (uint32_t)strtoul((const char *)b.bytes, &colon, 10);
		p->tsc_ctc_d = *colon == ':' ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0;
	}
	ptc_buf_release(&b);
	if (!p->tsc_ctc_n || !p->tsc_ctc_d)
		p->tsc_ctc_n = p->tsc_ctc_d = 0;
}

/* Parses "7" or "0-7" and adds the bits to *@bits. */
static bool parse_range(const char **text, uint64_t *bits)
{
	char *end;
	unsigned long from = strtoul(*text, &end, 10), to;

	if (end == *text)
		return false;
	to = from;
	if (*end == '-') {
		const char *second = end + 1;

		to = strtoul(second, &end, 10);
		if (end == second)
			return false;
	}
	if (from > to || to > 63)
		return false;
	for (; from <= to; from++)
		*bits |= (uint64_t)1 << from;
	*text = end;
	return true;
}

bool ptc_pmu_parse_format(const char *text, unsigned int *ret_config, uint64_t *ret_bits)
{
	unsigned int config = 0;
	uint64_t bits = 0;

	if (strncmp(text, "config", 6) != 0)
		return false;
	text += 6;
	if (*text >= '1' && *text < '0' + PTC_PMU_CONFIGS)
		config = (unsigned int)(*text++ - '0');
	do {
		text++; /* skip the colon, later the commas */
		if ((text[-1] != ':' && text[-1] != ',') || !parse_range(&text, &bits))
			return false;
	} while (*text && *text != '\n');
	*ret_config = config;
	*ret_bits = bits;
	return true;
}

static int add_term(struct ptc_pmu *p, const char *name, const char *text, struct ptc_err *err)
{
	struct ptc_pmu_term *t = &p->terms[p->nterms];

	if (p->nterms == PTC_PMU_TERMS || strlen(name) >= sizeof(t->name))
		return ptc_fail(err, PTC_E_LIMIT, "the PMU '%s' has too many or too long terms",
				p->name);
	if (!ptc_pmu_parse_format(text, &t->config, &t->bits))
		return ptc_fail(err, PTC_E_FORMAT, "invalid bits of '%s' of the PMU '%s': '%.*s'",
				name, p->name, (int)strcspn(text, "\n"), text);
	(void)snprintf(t->name, sizeof(t->name), "%s", name);
	p->nterms++;
	return 0;
}

static int add_cap(struct ptc_pmu *p, const char *name, const char *text, struct ptc_err *err)
{
	struct ptc_sysfs_cap *c = &p->caps[p->ncaps];

	(void)err;
	if (p->ncaps == PTC_PMU_CAPS || strlen(name) >= sizeof(c->name))
		return 0; /* we use no such capability */
	(void)snprintf(c->name, sizeof(c->name), "%s", name);
	c->value = strtoull(text, NULL, 16);
	p->ncaps++;
	return 0;
}

/* Calls @add for every file in a folder of the PMU. A missing folder counts as empty. */
static int each_file(struct ptc_pmu *p, const char *root, const char *folder,
		     int (*add)(struct ptc_pmu *p, const char *name, const char *text,
				struct ptc_err *err),
		     struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	char path[PATH_SIZE], name[FILE_NAME];
	struct dirent *e;
	int rc = 0;
	DIR *d;

	(void)snprintf(path, sizeof(path), "%s/" DEVICES "/%s/%s", root, p->name, folder);
	d = opendir(path);
	while (!rc && d && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		(void)snprintf(name, sizeof(name), "%s/%s", folder, e->d_name);
		if (read_small(root, p->name, name, &b))
			rc = add(p, e->d_name, (const char *)b.bytes, err);
	}
	if (d)
		(void)closedir(d);
	ptc_buf_release(&b);
	return rc;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct ptc_pmu_term *)a)->name,
		      ((const struct ptc_pmu_term *)b)->name);
}

int ptc_pmu_read(struct ptc_pmu *p, const char *root, const char *name, struct ptc_err *err)
{
	uint64_t type;
	int rc;

	memset(p, 0, sizeof(*p));
	if (!*name || strlen(name) >= sizeof(p->name) || strchr(name, '/') || name[0] == '.')
		return ptc_fail(err, PTC_E_USAGE, "invalid name of a PMU '%s'", name);
	(void)snprintf(p->name, sizeof(p->name), "%s", name);
	type = read_pmu_number(root, name, "type", 10, UINT64_MAX);
	if (type > UINT32_MAX)
		return ptc_fail(err, PTC_E_NOT_EXIST,
				"the kernel has no PMU '%s' ('%s/" DEVICES "/%s/type')", name, root,
				name);
	p->type = (uint32_t)type;
	rc = each_file(p, root, "format", add_term, err);
	if (!rc)
		rc = each_file(p, root, "caps", add_cap, err);
	if (rc)
		return rc;
	qsort(p->terms, p->nterms, sizeof(p->terms[0]), by_name);
	p->nr_addr_filters = (uint32_t)read_pmu_number(root, name, "nr_addr_filters", 10, 0);
	p->max_nonturbo_ratio = (uint32_t)read_pmu_number(root, name, "max_nonturbo_ratio", 10, 0);
	art_ratio(p, root);
	return 0;
}

uint64_t ptc_pmu_cap(const struct ptc_pmu *p, const char *name, uint64_t missing)
{
	size_t i;

	for (i = 0; i < p->ncaps; i++)
		if (!strcmp(p->caps[i].name, name))
			return p->caps[i].value;
	return missing;
}

const struct ptc_pmu_term *ptc_pmu_term(const struct ptc_pmu *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->nterms; i++)
		if (!strcmp(p->terms[i].name, name))
			return &p->terms[i];
	return NULL;
}

static int no_such_term(const struct ptc_pmu *p, const char *name, struct ptc_err *err)
{
	size_t i, n;

	if (!p->nterms)
		return ptc_fail(err, PTC_E_USAGE, "the PMU '%s' has no '%s', and no other term",
				p->name, name);
	(void)ptc_fail(err, PTC_E_USAGE, "the PMU '%s' has no '%s'; it has", p->name, name);
	for (i = 0; i < p->nterms; i++) {
		n = strlen(err->msg);
		(void)snprintf(err->msg + n, sizeof(err->msg) - n, "%s %s", i ? "," : "",
			       p->terms[i].name);
	}
	return err->code;
}

uint64_t ptc_pmu_config_get(const struct perf_event_attr *attr, unsigned int config)
{
	switch (config) {
	case 0:
		return attr->config;
	case 1:
		return attr->config1;
	case 2:
		return attr->config2;
	case 3:
		return attr->config3;
	default:
		return attr->config4;
	}
}

void ptc_pmu_config_put(struct perf_event_attr *attr, unsigned int config, uint64_t value)
{
	switch (config) {
	case 0:
		attr->config = value;
		break;
	case 1:
		attr->config1 = value;
		break;
	case 2:
		attr->config2 = value;
		break;
	case 3:
		attr->config3 = value;
		break;
	default:
		attr->config4 = value;
		break;
	}
}

int ptc_pmu_set(const struct ptc_pmu *p, const char *name, uint64_t value,
		struct perf_event_attr *attr, struct ptc_err *err)
{
	const struct ptc_pmu_term *t = ptc_pmu_term(p, name);
	uint64_t word, left = value;
	unsigned int bit;

	if (!t)
		return no_such_term(p, name, err);
	word = ptc_pmu_config_get(attr, t->config) & ~t->bits;
	for (bit = 0; bit < 64; bit++) {
		if (!(t->bits >> bit & 1))
			continue;
		word |= (left & 1) << bit;
		left >>= 1;
	}
	if (left)
		return ptc_fail(err, PTC_E_USAGE,
				"%" PRIu64
				" is too large for '%s' of the PMU '%s', which has %d bits",
				value, name, p->name, __builtin_popcountll(t->bits));
	ptc_pmu_config_put(attr, t->config, word);
	return 0;
}
