/* SPDX-License-Identifier: MIT */
/*
 * A program with a thread whose stack lies before pages that only the program itself supplies
 * (userfaultfd), and that it never supplies. Prints "ready", and ends at the end of its input.
 * "refused": the kernel does not permit that.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STACK = 512 << 10, WHOLE = 2 * STACK };

static void *rest(void *arg)
{
	(void)arg;
	(void)prctl(PR_SET_NAME, "rest");
	for (;;)
		(void)pause();
	return NULL;
}

/* Returns false if the kernel refuses. */
static bool supply_pages(void *from)
{
	const int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register r = { .range = { (uintptr_t)from, WHOLE },
				     .mode = UFFDIO_REGISTER_MODE_MISSING };

	return fd >= 0 && !ioctl(fd, UFFDIO_API, &api) && !ioctl(fd, UFFDIO_REGISTER, &r);
}

int main(void)
{
	uint8_t *stack =
		mmap(NULL, WHOLE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attr;
	pthread_t thread;
	char byte;

	if (stack == MAP_FAILED)
		return 1;
	memset(stack, 0, STACK);
	if (!supply_pages(stack))
		return puts("refused") < 0;
	if (pthread_attr_init(&attr) || pthread_attr_setstack(&attr, stack, STACK) ||
	    pthread_create(&thread, &attr, rest, NULL))
		return 1;
	(void)puts("ready");
	(void)fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}
