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
	h->fd = -1;
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

int ptc_hotplug_read(struct ptc_hotplug *h, const struct ptc_cpus *among,
		     struct ptc_hotplug_seen *ret, struct ptc_err *err)
{
	char text[UEVENT_MAX];
	int rc = 0;

	*ret = (struct ptc_hotplug_seen){ PTC_CPUS_INIT, PTC_CPUS_INIT, false };
	while (!rc && h->fd >= 0) {
		const ssize_t n = next(h->fd, text, sizeof(text));
		bool online;
		int cpu;

		if (n < 0 && errno != ENOBUFS && errno != EINTR)
			break;
		ret->missed |= n < 0 && errno == ENOBUFS;
		if (n > 0 && ptc_hotplug_parse(text, (size_t)n, &cpu, &online) &&
		    (!among || ptc_cpus_have(among, cpu)))
			rc = ptc_cpus_add(online ? &ret->came : &ret->gone, cpu, err);
	}
	return rc;
}

static void tell_of(const struct ptc_hotplug_whose *w, const struct ptc_cpus *cpus,
		    const char *what)
{
	char list[64], text[192];

	if (!cpus->n || !w->note)
		return;
	ptc_cpus_text(cpus, list, sizeof(list));
	(void)snprintf(text, sizeof(text), "CPU %s %s", list, what);
	w->note(w->note_ctx, text);
}

int ptc_hotplug_tell(struct ptc_hotplug *h, const struct ptc_hotplug_whose *whose,
		     uint64_t *ret_missed, struct ptc_err *err)
{
	struct ptc_hotplug_seen seen;
	const int rc = ptc_hotplug_read(h, whose->among, &seen, err);
	size_t i, n = 0;

	for (i = 0; i < seen.came.n; i++)
		if (!whose->kept || !ptc_cpus_have(whose->kept, seen.came.items[i]))
			seen.came.items[n++] = seen.came.items[i];
	seen.came.n = *ret_missed = n;
	tell_of(whose, &seen.gone, "went offline meanwhile: its ring has what was until then");
	tell_of(whose, &seen.came, "came online meanwhile: what ran there is not recorded");
	if (seen.missed && whose->note)
		whose->note(whose->note_ctx, "it is not known which CPUs came and went: the kernel "
					     "told of too much at a time");
	ptc_cpus_release(&seen.came);
	ptc_cpus_release(&seen.gone);
	return rc;
}
