/* SPDX-License-Identifier: MIT */
/*
 * A JIT that writes a jitdump into the current folder, with times of CLOCK_MONOTONIC. It makes one
 * function after another at the same address. It calls each function CALLS times before the dump
 * names it (but not the first one), and CALLS times after. A forked child calls the last function,
 * too. usage: prog_jitdump [FUNCTIONS [node]]
 *
 * node: like node, it writes debug and unwinding information before each function. The dump ends
 * within a record, as it does while node runs. It also moves each function and calls it CALLS times
 * at the new address.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, CALLS = 5, MAGIC = 0x4a695444, X86_64 = 62, HEAD = 40 };

/* dec %edi; jnz .-2; ret */
static const uint8_t code[] = { 0xff, 0xcf, 0x75, 0xfc, 0xc3 };

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void put(int fd, const void *bytes, size_t len)
{
	if (write(fd, bytes, len) != (ssize_t)len)
		exit(1);
}

static void load(int fd, uint64_t addr, uint64_t index)
{
	struct {
		uint32_t id, size;
		uint64_t time;
		uint32_t pid, tid;
		uint64_t vma, addr, len, index;
	} r = { .pid = (uint32_t)getpid(),
		.tid = (uint32_t)getpid(),
		.vma = addr,
		.addr = addr,
		.len = sizeof(code),
		.index = index };
	char name[32];

	snprintf(name, sizeof(name), "made%u", (unsigned int)index);
	r.size = (uint32_t)(sizeof(r) + strlen(name) + 1 + sizeof(code));
	r.time = now();
	put(fd, &r, sizeof(r));
	put(fd, name, strlen(name) + 1);
	put(fd, code, sizeof(code));
}

/* JIT_CODE_DEBUG_INFO with one line, and JIT_CODE_UNWINDING_INFO with meaningless bytes. */
static void describe(int fd, uint64_t addr)
{
	struct {
		uint32_t id, size;
		uint64_t time, addr, nentries;
		uint64_t line_addr;
		uint32_t line, column;
		char file[8];
	} debug = { .id = 2,
		    .size = sizeof(debug),
		    .time = now(),
		    .addr = addr,
		    .nentries = 1,
		    .line_addr = addr,
		    .line = 7,
		    .file = "made.js" };
	struct {
		uint32_t id, size;
		uint64_t time, unwinding_size, header_size, mapped_size;
		uint8_t bytes[24];
	} unwinding = { .id = 4,
			.size = sizeof(unwinding),
			.time = now(),
			.unwinding_size = sizeof(unwinding.bytes),
			.header_size = 20 };

	put(fd, &debug, sizeof(debug));
	put(fd, &unwinding, sizeof(unwinding));
}

static void move(int fd, uint64_t from, uint64_t to, uint64_t index)
{
	struct {
		uint32_t id, size;
		uint64_t time;
		uint32_t pid, tid;
		uint64_t vma, from, to, len, index;
	} r = { .id = 1,
		.size = sizeof(r),
		.time = now(),
		.pid = (uint32_t)getpid(),
		.tid = (uint32_t)getpid(),
		.vma = to,
		.from = from,
		.to = to,
		.len = sizeof(code),
		.index = index };

	put(fd, &r, sizeof(r));
}

static void call(void *p)
{
	int i;

	for (i = 0; i < CALLS; i++)
		((void (*)(int))(uintptr_t)p)(3);
}

int main(int argc, char **argv)
{
	const long n = argc > 1 ? strtol(argv[1], NULL, 10) : 10;
	const int node = argc > 2;
	const uint32_t head[] = { MAGIC, 1, HEAD, X86_64, 0, (uint32_t)getpid() };
	const uint64_t rest[] = { now(), 0 };
	const uint32_t cut[] = { 0, 1000, 0, 0, (uint32_t)getpid() }; /* claims 1000 bytes */
	char path[64];
	uint8_t *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd, status = 1;
	long i;

	snprintf(path, sizeof(path), "jit-%d.dump", (int)getpid());
	fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
	if (fd < 0 || p == MAP_FAILED)
		return 1;
	put(fd, head, sizeof(head));
	put(fd, rest, sizeof(rest));
	if (mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		return 1;
	for (i = 0; i < n; i++) {
		memcpy(p, code, sizeof(code));
		if (i)
			call(p); /* still has the previous name */
		(void)getppid(); /* puts a new time into the trace */
		if (node)
			describe(fd, (uint64_t)(uintptr_t)p);
		load(fd, (uint64_t)(uintptr_t)p, (uint64_t)i);
		(void)getppid();
		call(p);
		(void)getppid();
		if (!node)
			continue;
		memcpy(p + PAGE / 2, code, sizeof(code));
		move(fd, (uint64_t)(uintptr_t)p, (uint64_t)(uintptr_t)(p + PAGE / 2), (uint64_t)i);
		(void)getppid();
		call(p + PAGE / 2);
		(void)getppid();
	}
	if (node)
		put(fd, cut, sizeof(cut));
	if (!fork()) {
		call(p);
		_exit(0);
	}
	return wait(&status) > 0 ? status : 1;
}
