/* SPDX-License-Identifier: MIT */
/*
 * Files that are mapped as code, and later changes of their names.
 *
 * map FILE...   maps each file
 * die FILE...   maps each file, and dies from SIGSEGV
 * swap FILE     makes FILE, maps it, and puts a FIFO in its place; another file gets the name
 *               that the kernel gives to a deleted file
 * stay FILE     as swap; prints "ready" and waits for the end of its input
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096 };

static int map(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		return 1;
	return close(fd);
}

static int swap(const char *path)
{
	static const char bytes[PAGE] = "\177ELF";
	const int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0700);
	char gone[PAGE];

	if (fd < 0 || write(fd, bytes, PAGE) != PAGE || close(fd) || map(path) || unlink(path))
		return 1;
	(void)snprintf(gone, sizeof(gone), "%s (deleted)", path);
	return mkfifo(path, 0600) || mkfifo(gone, 0600);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[1] : "";
	volatile int *nowhere = NULL;
	char byte;
	int i;

	if (!strcmp(mode, "swap"))
		return swap(argv[2]);
	if (!strcmp(mode, "stay")) {
		if (swap(argv[2]) || write(1, "ready\n", 6) != 6)
			return 1;
		while (read(0, &byte, 1) > 0)
			;
		return 0;
	}
	for (i = 2; i < argc; i++)
		if (map(argv[i]))
			return 1;
	if (!strcmp(mode, "die"))
		*nowhere = 1;
	return strcmp(mode, "map") != 0;
}
