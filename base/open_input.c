/* SPDX-License-Identifier: MIT */
#include "base/open_input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int ptc_open_input(const char *path)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY;
	struct stat st;

	if (!strcmp(path, "-"))
		return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	if (stat(path, &st))
		return -1;
	if (S_ISFIFO(st.st_mode))
		return open(path, flags);
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
		errno = ENODEV; /* opening a device can have effects */
		return -1;
	}
	return open(path, flags | O_NONBLOCK);
}
