/* SPDX-License-Identifier: MIT */
#include "capture/perf/hotplug.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "base/vec.h"

#define NS_PER_S UINT64_C(1000000000)

enum { KERNEL_GROUP = 1, UEVENT_MAX = 4096, DIGITS = 4 };

void ptc_hotplug_listen(struct ptc_hotplug *h)
{
	const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK, .nl_groups = KERNEL_GROUP };

	h->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);
	if (h->fd >= 0 && bind(h->fd, (const struct sockaddr *)&kernel, sizeof(kernel)))
		ptc_hotplug_release(h);
}

void ptc_hotplug_release(struct ptc_hotplug *h)
{
	if (h->fd >= 0)
		(void)close(h->fd);
	free(h->away);
	ptc_cpus_release(&h->came);
	*h = (struct ptc_hotplug)PTC_HOTPLUG_INIT;
}

/* If @text begins with @word, moves *@text past it. */
static bool skip_uevent_prefix(const char **text, size_t *len, const char *word)
{
	const size_t n = strlen(word);

	if (*len < n || memcmp(*text, word, n) != 0)
		return false;
	*text += n;
	*len -= n;
	return true;
}

bool ptc_hotplug_parse(const char *text, size_t len, int *ret_cpu, bool *ret_online)
{
	bool online = false;
	size_t i;
	int cpu = 0;

	if (skip_uevent_prefix(&text, &len, "online@"))
		online = true;
	else if (!skip_uevent_prefix(&text, &len, "offline@"))
		return false;
	if (!skip_uevent_prefix(&text, &len, "/devices/system/cpu/cpu"))
		return false;
	for (i = 0; i < len && i <= DIGITS && text[i] >= '0' && text[i] <= '9'; i++)
		cpu = cpu * 10 + (text[i] - '0');
	if (!i || i > DIGITS || (i < len && text[i]))
		return false;
	*ret_cpu = cpu;
	*ret_online = online;
	return true;
}

/*
 * Receives the next uevent. Ignores messages whose sender is not the kernel: any process could send
 * those.
 */
static ssize_t receive_kernel_uevent(int fd, char *text, size_t size)
{
	struct sockaddr_nl from = { .nl_pid = 0 };
	socklen_t len = sizeof(from);
	ssize_t n;

	do
		n = recvfrom(fd, text, size, 0, (struct sockaddr *)&from, &len);
	while (n >= 0 && from.nl_pid);
	return n;
}

/* Returns the current offline period of @cpu; NULL: it is online, as far as is known. */
static struct ptc_away *current(const struct ptc_hotplug *h, int cpu)
{
	size_t i;

	for (i = 0; i < h->naway; i++)
		if (h->away[i].cpu == cpu && !h->away[i].to_ns)
			return &h->away[i];
	return NULL;
}

static int add_away(struct ptc_hotplug *h, const struct ptc_away *a, struct ptc_err *err)
{
	if (!ptc_vec_reserve((void **)&h->away, &h->away_cap, h->naway + 1, sizeof(*a)))
		return ptc_fail_mem(err);
	h->away[h->naway++] = *a;
	return 0;
}

static int went(struct ptc_hotplug *h, const struct ptc_hotplug_whose *w, int cpu,
		struct ptc_err *err)
{
	const struct ptc_away a = { .cpu = cpu, .from_ns = w->now_ns(w->ctx) };

	return ptc_cpus_have(w->mine, cpu) && !current(h, cpu) ? add_away(h, &a, err) : 0;
}

static int is_back(struct ptc_hotplug *h, const struct ptc_hotplug_whose *w, int cpu,
		   struct ptc_err *err)
{
	struct ptc_away *known = current(h, cpu);
	const struct ptc_away a = { .cpu = cpu, .to_ns = w->now_ns(w->ctx), .late = !w->tasks };

	if (!known)
		return add_away(h, &a, err);
	known->to_ns = a.to_ns;
	known->late = a.late;
	return 0;
}

/*
 * Handles a CPU that came online. Out of memory is an error. Any other failure to record the CPU
 * again is reported at the end.
 */
static int came(struct ptc_hotplug *h, const struct ptc_hotplug_whose *w, int cpu,
		struct ptc_err *err)
{
	const bool mine = ptc_cpus_have(w->mine, cpu);
	struct ptc_err why;
	int rc;

	if (mine && !current(h, cpu) && (w->tasks || !h->missed))
		return 0; /* the CPU was not offline, or its absence is unknown */
	if (mine && w->tasks)
		return is_back(h, w, cpu, err);
	if (!w->again)
		return ptc_cpus_add(&h->came, cpu, err);
	rc = w->again(w->ctx, cpu, &why);
	if (!rc)
		return is_back(h, w, cpu, err);
	if (rc == PTC_E_NO_MEMORY)
		return ptc_fail_mem(err);
	(void)snprintf(h->why, sizeof(h->why), "%.*s", (int)sizeof(h->why) - 1, why.msg);
	return ptc_cpus_add(&h->came, cpu, err);
}

int ptc_hotplug_follow(struct ptc_hotplug *h, const struct ptc_hotplug_whose *whose,
		       struct ptc_err *err)
{
	char text[UEVENT_MAX];
	int rc = 0;

	while (!rc && h->fd >= 0) {
		const ssize_t n = receive_kernel_uevent(h->fd, text, sizeof(text));
		bool online;
		int cpu;

		if (n < 0 && errno != ENOBUFS && errno != EINTR)
			break;
		h->missed |= n < 0 && errno == ENOBUFS;
		if (n <= 0 || !ptc_hotplug_parse(text, (size_t)n, &cpu, &online) ||
		    (whose->among && !ptc_cpus_have(whose->among, cpu)))
			continue;
		rc = online ? came(h, whose, cpu, err) : went(h, whose, cpu, err);
	}
	return rc;
}

static void say(const struct ptc_hotplug_whose *w, const char *text)
{
	if (w->note)
		w->note(w->note_ctx, text);
}

/* Writes " from 12.000000001", or nothing if the time is unknown. */
static const char *at(char *out, size_t size, const char *word, uint64_t ns)
{
	*out = '\0';
	if (ns)
		(void)snprintf(out, size, " %s %" PRIu64 ".%09" PRIu64, word, ns / NS_PER_S,
			       ns % NS_PER_S);
	return out;
}

static void tell_away(const struct ptc_hotplug_whose *w, const struct ptc_away *a)
{
	char from[48], to[48], text[256];

	if (a->to_ns)
		(void)snprintf(text, sizeof(text), "CPU %d was offline%s%s%s", a->cpu,
			       at(from, sizeof(from), "from", a->from_ns),
			       at(to, sizeof(to), "to", a->to_ns),
			       a->late ? ": its first moment is not recorded" : "");
	else
		(void)snprintf(text, sizeof(text),
			       "CPU %d went offline%s: the recording has its trace up to then",
			       a->cpu, at(from, sizeof(from), "at", a->from_ns));
	say(w, text);
}

static void tell_came(const struct ptc_hotplug_whose *w, const struct ptc_hotplug *h)
{
	char list[64], text[448];

	ptc_cpus_text(&h->came, list, sizeof(list));
	(void)snprintf(text, sizeof(text),
		       "CPU %s came online while recording and is not recorded%s%s%s", list,
		       w->places ? ", and places (--at) are not watched there" : "",
		       *h->why ? ": " : "", h->why);
	say(w, text);
}

void ptc_hotplug_tell(const struct ptc_hotplug *h, const struct ptc_hotplug_whose *whose)
{
	size_t i;

	for (i = 0; i < h->naway; i++)
		tell_away(whose, &h->away[i]);
	if (h->came.n)
		tell_came(whose, h);
	if (h->missed)
		say(whose,
		    "unknown CPUs went online or offline: the kernel sent too many events at once");
}

size_t ptc_hotplug_late(const struct ptc_hotplug *h)
{
	size_t i, n = 0;

	for (i = 0; i < h->naway; i++)
		n += h->away[i].late;
	return n;
}
