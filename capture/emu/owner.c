/* SPDX-License-Identifier: MIT */
#include "capture/emu/owner.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint64_t ptc_emu_start_time(int pid)
{
	char path[32], text[1024];
	const char *p;
	ssize_t n;
	int fd, field;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	p = strrchr(text, ')');	      /* behind the name, which may hold anything: field 2 */
	if (!p || strchr("ZX", p[2])) /* dead, and not yet reaped */
		return 0;
	for (field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p, NULL, 10) : 0;
}

bool ptc_emu_owner_lives(const struct ptc_emu_shared *sh)
{
	return ptc_emu_start_time(sh->owner) == sh->owner_start;
}
