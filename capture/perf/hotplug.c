/* SPDX-License-Identifier: MIT */
#include "capture/perf/hotplug.h"

#include <errno.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"

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
	ptc_cpus_release(&h->gone);
	ptc_cpus_release(&h->back);
	ptc_cpus_release(&h->came);
	*h = (struct ptc_hotplug)PTC_HOTPLUG_INIT;
}

/* @text begins with @word: behind it. */
static bool take(const char **text, size_t *len, const char *word)
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

	if (take(&text, &len, "online@"))
		online = true;
	else if (!take(&text, &len, "offline@"))
		return false;
	if (!take(&text, &len, "/devices/system/cpu/cpu"))
		return false;
	for (i = 0; i < len && i <= DIGITS && text[i] >= '0' && text[i] <= '9'; i++)
		cpu = cpu * 10 + (text[i] - '0');
	if (!i || i > DIGITS || (i < len && text[i]))
		return false;
	*ret_cpu = cpu;
	*ret_online = online;
	return true;
}

/* Its sender is the kernel, not a process that may say what it likes. */
static ssize_t next(int fd, char *text, size_t size)
{
	struct sockaddr_nl from = { .nl_pid = 0 };
	socklen_t len = sizeof(from);
	ssize_t n;

	do
		n = recvfrom(fd, text, size, 0, (struct sockaddr *)&from, &len);
	while (n >= 0 && from.nl_pid);
	return n;
}

/* Its events are those it had: it has not been away, or they are not the CPU's. */
static bool has_its_events(const struct ptc_hotplug *h, const struct ptc_hotplug_whose *w, int cpu)
{
	return ptc_cpus_have(w->mine, cpu) &&
	       (w->tasks || (!h->missed && !ptc_cpus_have(&h->gone, cpu)));
}

static void say(const struct ptc_hotplug_whose *w, const char *text)
{
	if (w->note)
		w->note(w->note_ctx, text);
}

/* Out of memory is an error; any other reason why it cannot be recorded again is told later. */
static int came(struct ptc_hotplug *h, const struct ptc_hotplug_whose *w, int cpu,
		struct ptc_err *err)
{
	struct ptc_err why;
	int rc;

	if (has_its_events(h, w, cpu))
		return 0;
	if (!w->again)
		return ptc_cpus_add(&h->came, cpu, err);
	rc = w->again(w->again_ctx, cpu, &why);
	if (!rc)
		return ptc_cpus_add(&h->back, cpu, err);
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
		const ssize_t n = next(h->fd, text, sizeof(text));
		bool online;
		int cpu;

		if (n < 0 && errno != ENOBUFS && errno != EINTR)
			break;
		h->missed |= n < 0 && errno == ENOBUFS;
		if (n <= 0 || !ptc_hotplug_parse(text, (size_t)n, &cpu, &online) ||
		    (whose->among && !ptc_cpus_have(whose->among, cpu)))
			continue;
		rc = online ? came(h, whose, cpu, err) : ptc_cpus_add(&h->gone, cpu, err);
	}
	return rc;
}

static void tell_of(const struct ptc_hotplug_whose *w, const struct ptc_cpus *cpus,
		    const char *what, const char *why)
{
	char list[64], text[384];

	if (!cpus->n)
		return;
	ptc_cpus_text(cpus, list, sizeof(list));
	(void)snprintf(text, sizeof(text), "CPU %s %s%s%s", list, what, *why ? ": " : "", why);
	say(w, text);
}

void ptc_hotplug_tell(const struct ptc_hotplug *h, const struct ptc_hotplug_whose *whose)
{
	tell_of(whose, &h->gone, "went offline meanwhile: its ring has what was until then", "");
	tell_of(whose, &h->back,
		"came online meanwhile: what ran there in the first moment is not recorded", "");
	tell_of(whose, &h->came, "came online meanwhile: what ran there is not recorded", h->why);
	if (h->missed)
		say(whose, "it is not known which CPUs came and went: the kernel told of too much "
			   "at a time");
}
