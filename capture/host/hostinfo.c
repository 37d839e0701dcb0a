/* SPDX-License-Identifier: MIT */
#include "capture/host/hostinfo.h"

#include <cpuid.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/err.h"
#include "base/io.h"
#include "capture/host/topology.h"

enum { SMALL_FILE = 1 << 16, MAX_PMUS = 256, CPUINFO_MAX = 16 << 20 };

static int put_string(struct ptc_writer *w, unsigned int bit, const char *s, struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	int rc;

	ptc_feature_put_string(&b, s);
	rc = ptc_buf_failed(&b) ? ptc_fail_mem(err) :
				  ptc_writer_feature(w, bit, b.bytes, b.len, err);
	ptc_buf_release(&b);
	return rc;
}

void ptc_hostinfo_cpuid(char *out, size_t size)
{
	unsigned int a, b, c, d, family, model;
	char vendor[13] = "";

	*out = '\0';
	if (!__get_cpuid(0, &a, &b, &c, &d))
		return;
	memcpy(vendor, &b, 4);
	memcpy(vendor + 4, &d, 4);
	memcpy(vendor + 8, &c, 4);
	if (!__get_cpuid(1, &a, &b, &c, &d))
		return;
	family = a >> 8 & 0xf;
	model = a >> 4 & 0xf;
	if (family == 6 || family == 15) /* SDM vol. 2A, CPUID: extended model and family */
		model |= a >> 12 & 0xf0;
	if (family == 15)
		family += a >> 20 & 0xff;
	(void)snprintf(out, size, "%s,%u,%u,%u", vendor, family, model, a & 0xf);
}

/* Copies the value after "KEY<blanks>:" to @out. @text consists of lines. */
static bool line_value(const char *text, const char *key, char *out, size_t size)
{
	const size_t n = strlen(key);
	const char *p;

	for (p = text; p && *p; p = strchr(p, '\n'), p = p ? p + 1 : NULL) {
		const char *v = p + n;

		if (strncmp(p, key, n) != 0)
			continue;
		v += strspn(v, " \t");
		if (*v++ != ':')
			continue;
		v += strspn(v, " \t");
		(void)snprintf(out, size, "%.*s", (int)strcspn(v, "\n"), v);
		return true;
	}
	return false;
}

static int put_proc(struct ptc_writer *w, const char *root, struct ptc_err *err)
{
	struct ptc_buf text = PTC_BUF_INIT, b = PTC_BUF_INIT;
	struct ptc_err ignored;
	char path[256], value[256];
	int rc = 0;

	(void)snprintf(path, sizeof(path), "%s/proc/cpuinfo", root);
	if (!ptc_read_file(path, CPUINFO_MAX, &text, &ignored) &&
	    line_value((const char *)text.bytes, "model name", value, sizeof(value)))
		rc = put_string(w, PTC_FEAT_CPUDESC, value, err);
	(void)snprintf(path, sizeof(path), "%s/proc/meminfo", root);
	if (!rc && !ptc_read_file(path, SMALL_FILE, &text, &ignored) &&
	    line_value((const char *)text.bytes, "MemTotal", value, sizeof(value))) {
		ptc_feature_put_total_mem(&b, strtoull(value, NULL, 10));
		rc = ptc_buf_failed(&b) ?
			     ptc_fail_mem(err) :
			     ptc_writer_feature(w, PTC_FEAT_TOTAL_MEM, b.bytes, b.len, err);
	}
	ptc_buf_release(&text);
	ptc_buf_release(&b);
	return rc;
}

static int put_nrcpus(struct ptc_writer *w, struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	int rc;

	ptc_feature_put_nrcpus(&b, (uint32_t)sysconf(_SC_NPROCESSORS_CONF),
			       (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
	rc = ptc_buf_failed(&b) ? ptc_fail_mem(err) :
				  ptc_writer_feature(w, PTC_FEAT_NRCPUS, b.bytes, b.len, err);
	ptc_buf_release(&b);
	return rc;
}

static int put_cmdline(struct ptc_writer *w, const char *const *argv, struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	size_t n = 0;
	int rc;

	while (argv && argv[n])
		n++;
	ptc_feature_put_cmdline(&b, argv, n);
	rc = ptc_buf_failed(&b) ? ptc_fail_mem(err) :
				  ptc_writer_feature(w, PTC_FEAT_CMDLINE, b.bytes, b.len, err);
	ptc_buf_release(&b);
	return rc;
}

struct pmus {
	struct ptc_pmu_mapping items[MAX_PMUS];
	size_t n;
	uint32_t free_type; /* larger than all types */
	uint32_t pt_type;   /* of intel_pt; 0: not present */
};

/* Reads every /sys/bus/event_source/devices/NAME/type. Caller owns the names. */
static void read_pmus(struct pmus *p, const char *root)
{
	struct ptc_buf text = PTC_BUF_INIT;
	struct ptc_err ignored;
	char dir[256], path[768];
	struct dirent *e;
	DIR *d;

	*p = (struct pmus){ .free_type = PERF_TYPE_MAX };
	(void)snprintf(dir, sizeof(dir), "%s/sys/bus/event_source/devices", root);
	d = opendir(dir);
	while (d && p->n < MAX_PMUS - 1 && (e = readdir(d))) {
		struct ptc_pmu_mapping *m = &p->items[p->n];

		if (e->d_name[0] == '.')
			continue;
		(void)snprintf(path, sizeof(path), "%s/%s/type", dir, e->d_name);
		if (ptc_read_file(path, SMALL_FILE, &text, &ignored))
			continue;
		m->type = (uint32_t)strtoul((const char *)text.bytes, NULL, 10);
		m->name = strdup(e->d_name);
		if (!m->name)
			break;
		p->n++;
		if (!strcmp(e->d_name, "intel_pt"))
			p->pt_type = m->type;
		if (m->type >= p->free_type)
			p->free_type = m->type + 1;
	}
	if (d)
		(void)closedir(d);
	ptc_buf_release(&text);
}

static void release_pmus(struct pmus *p)
{
	while (p->n)
		free((char *)p->items[--p->n].name);
}

uint32_t ptc_hostinfo_pt_type(const char *root)
{
	struct pmus p;
	uint32_t type;

	read_pmus(&p, root);
	type = p.pt_type ? p.pt_type : p.free_type;
	release_pmus(&p);
	return type;
}

/* For a software source, adds an intel_pt that the machine lacks. @pt_type 0: do not add it. */
static int put_pmus(struct ptc_writer *w, const char *root, uint32_t pt_type, struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct pmus p;
	int rc;

	read_pmus(&p, root);
	if (!p.pt_type && pt_type) {
		p.items[p.n].type = pt_type;
		p.items[p.n].name = strdup("intel_pt");
		p.n += p.items[p.n].name != NULL;
	}
	ptc_feature_put_pmu_mappings(&b, p.items, p.n);
	rc = ptc_buf_failed(&b) ? ptc_fail_mem(err) :
				  ptc_writer_feature(w, PTC_FEAT_PMU_MAPPINGS, b.bytes, b.len, err);
	release_pmus(&p);
	ptc_buf_release(&b);
	return rc;
}

int ptc_hostinfo_write(struct ptc_writer *w, const char *root, const char *version,
		       const char *const *cmdline, uint32_t pt_pmu_type, struct ptc_err *err)
{
	struct utsname u;
	char cpuid[64];
	int rc = 0;

	ptc_hostinfo_cpuid(cpuid, sizeof(cpuid));
	if (!uname(&u)) {
		rc = put_string(w, PTC_FEAT_HOSTNAME, u.nodename, err);
		if (!rc)
			rc = put_string(w, PTC_FEAT_OSRELEASE, u.release, err);
		if (!rc)
			rc = put_string(w, PTC_FEAT_ARCH, u.machine, err);
	}
	if (!rc)
		rc = put_string(w, PTC_FEAT_VERSION, version, err);
	if (!rc && *cpuid)
		rc = put_string(w, PTC_FEAT_CPUID, cpuid, err);
	if (!rc)
		rc = put_nrcpus(w, err);
	if (!rc)
		rc = put_proc(w, root, err);
	if (!rc)
		rc = put_cmdline(w, cmdline, err);
	if (!rc)
		rc = put_pmus(w, root, pt_pmu_type, err);
	if (!rc)
		rc = ptc_topology_write(w, root, (uint32_t)sysconf(_SC_NPROCESSORS_CONF), err);
	return rc;
}
