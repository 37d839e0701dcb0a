/* SPDX-License-Identifier: MIT */
#include "capture/soft/openfiles.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* -1 if it is no plain file that can be read. */
static int open_file(const char *name)
{
	struct stat st;
	int fd;

	if (name[0] != '/')
		return -1;
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* a FIFO must not block */
	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		(void)close(fd);
		fd = -1;
	}
	return fd;
}

static void forget(struct ptc_openfiles *c, unsigned int i)
{
	if (!c->files[i].name)
		return;
	if (c->files[i].fd >= 0)
		(void)close(c->files[i].fd);
	free(c->files[i].name);
	c->files[i].name = NULL;
}

void ptc_openfiles_close(struct ptc_openfiles *c)
{
	unsigned int i;

	for (i = 0; i < PTC_OPENFILES; i++)
		forget(c, i);
}

/* Lent until the next call; -1: none. */
static int fd_of(struct ptc_openfiles *c, const char *name)
{
	unsigned int i;

	for (i = 0; i < PTC_OPENFILES; i++)
		if (c->files[i].name && !strcmp(c->files[i].name, name))
			return c->files[i].fd;
	i = c->next;
	c->next = (i + 1) % PTC_OPENFILES;
	forget(c, i);
	c->files[i].name = strdup(name);
	if (!c->files[i].name)
		return -1;
	c->files[i].fd = open_file(name);
	return c->files[i].fd;
}

bool ptc_openfiles_read(struct ptc_openfiles *c, const char *name, uint64_t off, uint8_t *out,
			size_t len)
{
	const int fd = name[0] == '/' ? fd_of(c, name) : -1;

	return fd >= 0 && off <= INT64_MAX && pread(fd, out, len, (off_t)off) == (ssize_t)len;
}
