/* SPDX-License-Identifier: MIT */
#include "capture/perf/cpus.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/io.h"
#include "base/vec.h"

enum { CPU_MAX = 8192, SMALL_FILE = 1 << 16 }; /* maximum of CONFIG_NR_CPUS */

bool ptc_cpus_have(const struct ptc_cpus *c, int cpu)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		if (c->items[i] == cpu)
			return true;
	return false;
}

/* Parses "3" or "0-3", and moves *@text past it. */
static bool parse_range(const char **text, int *ret_from, int *ret_to)
{
	char *end;
	unsigned long from, to;

	if (**text < '0' || **text > '9')
		return false;
	from = strtoul(*text, &end, 10);
	to = from;
	if (*end == '-') {
		if (end[1] < '0' || end[1] > '9')
			return false;
		to = strtoul(end + 1, &end, 10);
	}
	if (from > to || to >= CPU_MAX)
		return false;
	*text = end;
	*ret_from = (int)from;
	*ret_to = (int)to;
	return true;
}

static int ascending(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* False: out of memory. */
static bool append_missing_cpu(struct ptc_cpus *c, int cpu)
{
	if (ptc_cpus_have(c, cpu))
		return true;
	if (!ptc_vec_reserve((void **)&c->items, &c->cap, c->n + 1, sizeof(*c->items)))
		return false;
	c->items[c->n++] = cpu;
	return true;
}

static void sort(struct ptc_cpus *c)
{
	if (c->n)
		qsort(c->items, c->n, sizeof(*c->items), ascending);
}

int ptc_cpus_add(struct ptc_cpus *c, int cpu, struct ptc_err *err)
{
	if (!append_missing_cpu(c, cpu))
		return ptc_fail_mem(err);
	sort(c);
	return 0;
}

int ptc_cpus_parse(struct ptc_cpus *c, const char *text, struct ptc_err *err)
{
	const char *p = text;
	int from, to;

	c->n = 0;
	do {
		if (p != text)
			p++; /* skip the comma */
		if (!parse_range(&p, &from, &to) || (*p && *p != ',' && *p != '\n'))
			return ptc_fail(err, PTC_E_USAGE, "invalid list of CPUs '%.*s'",
					(int)strcspn(text, "\n"), text);
		for (; from <= to; from++)
			if (!append_missing_cpu(c, from))
				return ptc_fail_mem(err);
	} while (*p == ',');
	sort(c);
	return 0;
}

static int read_list(struct ptc_cpus *c, const char *root, const char *name, struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	char path[512];
	int rc;

	(void)snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/%s", root, name);
	rc = ptc_read_file(path, SMALL_FILE, &b, err);
	if (!rc)
		rc = ptc_cpus_parse(c, (const char *)b.bytes, err);
	ptc_buf_release(&b);
	return rc;
}

int ptc_cpus_online(struct ptc_cpus *c, const char *root, struct ptc_err *err)
{
	return read_list(c, root, "online", err);
}

int ptc_cpus_present(struct ptc_cpus *c, const char *root, struct ptc_err *err)
{
	return read_list(c, root, "present", err);
}

int ptc_cpus_choose(struct ptc_cpus *c, const char *text, const char *root, struct ptc_err *err)
{
	struct ptc_cpus online = PTC_CPUS_INIT;
	int rc = ptc_cpus_online(&online, root, err);
	size_t i;

	if (!rc)
		rc = text ? ptc_cpus_parse(c, text, err) : ptc_cpus_online(c, root, err);
	for (i = 0; !rc && i < c->n; i++)
		if (!ptc_cpus_have(&online, c->items[i]))
			rc = ptc_fail(err, PTC_E_NOT_EXIST,
				      "CPU %d is not online ('%s/sys/devices/system/cpu/online')",
				      c->items[i], root);
	ptc_cpus_release(&online);
	return rc;
}

void ptc_cpus_text(const struct ptc_cpus *c, char *out, size_t size)
{
	size_t i, last, at = 0;

	*out = '\0';
	for (i = 0; i < c->n && at < size; i = last + 1) {
		for (last = i; last + 1 < c->n && c->items[last + 1] == c->items[last] + 1; last++)
			;
		at += (size_t)snprintf(out + at, size - at, "%s%d", i ? "," : "", c->items[i]);
		if (last > i && at < size)
			at += (size_t)snprintf(out + at, size - at, "-%d", c->items[last]);
	}
}

void ptc_cpus_release(struct ptc_cpus *c)
{
	free(c->items);
	*c = (struct ptc_cpus)PTC_CPUS_INIT;
}
