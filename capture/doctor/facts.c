/* SPDX-License-Identifier: MIT */
#include "capture/doctor/facts.h"

#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"

enum {
	FACT_PATH = 512,
	FACT_FILE = 1 << 16,
};

#define INIT_USER_NS 0xEFFFFFFDu /* inode of the initial one: PROC_USER_INIT_INO */
#define COUNTERS     "/sys/bus/event_source/devices/cpu"

/* Reads ROOT@path as a string, which the caller frees with ptc_buf_release. "": not readable. */
static const char *read_text(struct ptc_buf *b, const char *root, const char *path)
{
	char name[FACT_PATH];
	struct ptc_err ignored;

	(void)snprintf(name, sizeof(name), "%s%s", root, path);
	return ptc_read_file(name, FACT_FILE, b, &ignored) ? "" : (const char *)b->bytes;
}

static bool exists_below(const char *root, const char *path)
{
	char name[FACT_PATH];

	(void)snprintf(name, sizeof(name), "%s%s", root, path);
	return !access(name, F_OK);
}

static long read_sysctl(const char *root, const char *path)
{
	struct ptc_buf b = PTC_BUF_INIT;
	const char *text = read_text(&b, root, path);
	char *end;
	const long v = strtol(text, &end, 10);
	const long ret = end == text ? PTC_FACT_NONE : v;

	ptc_buf_release(&b);
	return ret;
}

bool ptc_fact_number(const char *text, const char *name, int base, uint64_t *ret)
{
	const size_t len = strlen(name);
	const char *line = text;
	unsigned long long v;
	char *end;

	while (line && (strncmp(line, name, len) != 0 || line[len] != ':')) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	if (!line)
		return false;
	v = strtoull(line + len + 1, &end, base);
	if (end == line + len + 1)
		return false;
	*ret = v;
	return true;
}

bool ptc_facts_have(const struct ptc_facts *f, int cap)
{
	return !f->own_userns && (f->caps >> cap & 1);
}

bool ptc_facts_may_ptrace(const struct ptc_facts *f)
{
	return f->caps >> CAP_SYS_PTRACE & 1;
}

/* --- the container --- */

/* Finds the word of a container's manager in /proc/self/cgroup. */
static const char *find_in_cgroup(const char *text)
{
	static const char *const words[] = { "docker", "kubepods", "containerd", "libpod",
					     "crio",   "lxc",	   "garden",	 "buildkit" };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(text, words[i]))
			return words[i];
	return NULL;
}

static void read_container(struct ptc_facts *f, const char *root)
{
	struct ptc_buf b = PTC_BUF_INIT;
	const char *text = read_text(&b, root, "/run/systemd/container"), *word;

	if (*text)
		(void)snprintf(f->container, sizeof(f->container), "%.*s (/run/systemd/container)",
			       (int)strcspn(text, "\n") % 64, text);
	else if (exists_below(root, "/.dockerenv"))
		(void)snprintf(f->container, sizeof(f->container), "docker (/.dockerenv)");
	else if (exists_below(root, "/run/.containerenv"))
		(void)snprintf(f->container, sizeof(f->container), "podman (/run/.containerenv)");
	text = *f->container ? "" : read_text(&b, root, "/proc/self/cgroup");
	word = find_in_cgroup(text);
	if (word)
		(void)snprintf(f->container, sizeof(f->container), "%s (/proc/self/cgroup)", word);
	ptc_buf_release(&b);
}

/* --- this process --- */

static void read_status(struct ptc_facts *f, const char *root)
{
	struct ptc_buf b = PTC_BUF_INIT;
	const char *text = read_text(&b, root, "/proc/self/status"), *uid = strstr(text, "\nUid:");
	uint64_t n;

	f->uid = geteuid();
	if (uid && sscanf(uid + 5, "%*u %u", &f->uid) != 1) /* the second number: effective */
		f->uid = geteuid();
	if (ptc_fact_number(text, "CapEff", 16, &n))
		f->caps = n;
	f->seccomp = ptc_fact_number(text, "Seccomp", 10, &n) ? (long)n : PTC_FACT_NONE;
	f->filters = ptc_fact_number(text, "Seccomp_filters", 10, &n) ? (long)n : PTC_FACT_NONE;
	ptc_buf_release(&b);
}

static bool is_own_userns(void)
{
	struct stat st;

	return !stat("/proc/self/ns/user", &st) && st.st_ino != INIT_USER_NS;
}

/* --- the kernel --- */

/* The selected word of "none [integrity] confidentiality". */
static void read_lockdown(struct ptc_facts *f, const char *root)
{
	struct ptc_buf b = PTC_BUF_INIT;
	const char *text = read_text(&b, root, "/sys/kernel/security/lockdown");
	const char *word = strchr(text, '[');

	if (word)
		(void)snprintf(f->lockdown, sizeof(f->lockdown), "%.*s",
			       (int)strcspn(word + 1, "]\n") % (int)sizeof(f->lockdown), word + 1);
	ptc_buf_release(&b);
}

static void read_pmus(struct ptc_facts *f, const char *root)
{
	struct ptc_err ignored;

	f->has_pmu = !ptc_pmu_read(&f->pmu, root, "intel_pt", &ignored);
	f->has_counters = exists_below(root, COUNTERS "/type") ||
			  exists_below(root, "/sys/bus/event_source/devices/cpu_core/type");
	f->lbr_entries = read_sysctl(root, COUNTERS "/caps/branches");
	if (f->lbr_entries == PTC_FACT_NONE) /* a processor with two kinds of cores */
		f->lbr_entries =
			read_sysctl(root, "/sys/bus/event_source/devices/cpu_core/caps/branches");
}

static void read_available_memory(struct ptc_facts *f, const char *root)
{
	struct ptc_buf b = PTC_BUF_INIT;
	uint64_t kib;

	if (ptc_fact_number(read_text(&b, root, "/proc/meminfo"), "MemAvailable", 10, &kib))
		f->available = kib * 1024;
	ptc_buf_release(&b);
}

void ptc_facts_read(struct ptc_facts *f, const char *root)
{
	struct utsname u;

	memset(f, 0, sizeof(*f));
	ptc_processor_read(&f->cpu);
	if (!uname(&u))
		(void)snprintf(f->release, sizeof(f->release), "%s", u.release);
	read_container(f, root);
	read_lockdown(f, root);
	read_status(f, root);
	f->own_userns = is_own_userns();
	f->yama = read_sysctl(root, "/proc/sys/kernel/yama/ptrace_scope");
	read_pmus(f, root);
	ptc_limits_read(&f->limits);
	read_available_memory(f, root);
}
