/* SPDX-License-Identifier: MIT */
/* Description: the state of a dead process is a core that ptc_core_open reads. */
#include <criterion/criterion.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/untrusted.h"
#include "decode/crash/crash_state.h"
#include "decode/image/core.h"
#include "lib_elf.h"

#define PAGE ((size_t)4096)

enum { R = PROT_READ, RW = PROT_READ | PROT_WRITE, RX = PROT_READ | PROT_EXEC };

static const char program[] = "/usr/bin/it", gone[] = "/usr/lib/it.so (deleted)";

/* A dead process of two threads. All that it has is lent. */
struct made {
	struct ptc_crash_state dead;
	struct ptc_crash_state_thread threads[2];
	struct ptc_crash_state_map maps[7];
	struct ptc_crash_state_piece pieces[8];
	uint8_t memory[4 * PAGE];
	uint64_t auxv[6];
	char folder[64], path[80];
};

static void map(struct made *m, uint64_t page, uint64_t prot, const char *name)
{
	struct ptc_crash_state_map *it = &m->maps[m->dead.nmaps++];

	it->map.start = page * PAGE;
	it->map.end = (page + 1) * PAGE;
	it->map.off = m->dead.nmaps == 1 ? 0 : PAGE;
	it->map.prot = prot;
	it->name = name;
}

static void piece(struct made *m, uint64_t addr, const void *bytes, size_t len)
{
	struct ptc_crash_state_piece *it = &m->pieces[m->dead.npieces++];

	it->addr = addr;
	it->bytes = ptc_cur_init(bytes, len);
}

static void make(struct made *m)
{
	const uint64_t auxv[] = { AT_PHDR, PAGE + 64, AT_PHNUM, 3, AT_NULL, 0 };
	size_t i;

	memset(m, 0, sizeof(*m));
	for (i = 0; i < sizeof(m->memory); i++)
		m->memory[i] = (uint8_t)(i * 7 + i / 256 + 1);
	memcpy(m->auxv, auxv, sizeof(auxv));
	m->dead.threads = m->threads;
	m->dead.maps = m->maps;
	m->dead.pieces = m->pieces;
	m->dead.auxv = ptc_cur_init(m->auxv, sizeof(m->auxv));
	m->dead.signal.pid = 70;
	m->dead.signal.tid = 71;
	m->dead.signal.signo = SIGSEGV;
	m->dead.signal.code = SEGV_MAPERR;
	m->dead.signal.addr = 0x10;
	m->dead.nthreads = 2;
	for (i = 0; i < 2; i++) {
		m->threads[i].state.tid = 70 + i;
		m->threads[i].state.regs[PTC_REG_RIP] = 0x9000 + 0x100 * i;
		m->threads[i].state.regs[PTC_REG_RSP] = 7 * PAGE + 8 * i;
	}
	map(m, 1, RX, program);
	map(m, 2, R, program); /* PT_GNU_RELRO: before the writable mapping */
	map(m, 3, RW, program);
	map(m, 4, R, "/usr/lib/data");
	map(m, 5, RX, gone);
	map(m, 7, RW, "[stack]");
	map(m, 9, RX, "/usr/lib/code");
	le_folder(m->folder, sizeof(m->folder));
	(void)snprintf(m->path, sizeof(m->path), "%s/core", m->folder);
}

static void release(struct made *m)
{
	(void)unlink(m->path);
	le_folder_remove(m->folder);
}

/* Writes the core and opens it. */
static struct ptc_core *written(struct made *m, struct ptc_core_size *ret)
{
	struct ptc_core *c;
	struct ptc_err err;

	cr_assert_eq(ptc_core_write_file(&m->dead, m->path, ret, &err), 0, "%s", err.msg);
	cr_assert_eq(ptc_core_open(m->path, &(struct ptc_untrusted){ .root = 0 }, &c, &err), 0,
		     "%s", err.msg);
	return c;
}

/* The core has @len bytes at @addr: those at @want. Then there is a hole. */
static void has(const struct ptc_core *c, uint64_t addr, const uint8_t *want, size_t len)
{
	uint8_t got[4 * PAGE + 1];

	cr_assert_eq(ptc_core_read(c, addr, got, len + 1), len, "0x%lx", addr);
	cr_assert_arr_eq(got, want, len, "0x%lx", addr);
}

Test(core_write, threads_and_signal_are_those_of_the_state)
{
	struct ptc_core_size size = PTC_CORE_SIZE_INIT;
	struct ptc_core *c;
	siginfo_t info;
	struct made m;

	make(&m);
	c = written(&m, &size);
	cr_assert(size.threads == 2 && !size.segments && !size.memory);
	cr_assert(c->pid == 70 && c->nthreads == 2 && c->threads[0].tid == 71);
	cr_assert_eq(c->threads[0].signo, SIGSEGV);
	cr_assert_eq(c->threads[1].tid, 70);
	cr_assert_arr_eq(c->threads[0].regs, m.threads[1].state.regs, sizeof(c->threads[0].regs));
	cr_assert_arr_eq(c->threads[1].regs, m.threads[0].state.regs, sizeof(c->threads[1].regs));
	memcpy(&info, c->siginfo, sizeof(info));
	cr_assert(info.si_signo == SIGSEGV && info.si_code == SEGV_MAPERR);
	cr_assert_eq((uint64_t)info.si_addr, 0x10);
	ptc_core_free(c);
	memset(&info, 0x5a, sizeof(info));
	m.dead.siginfo = ptc_cur_init(&info, sizeof(info));
	c = written(&m, &size);
	cr_assert_arr_eq(c->siginfo, &info, sizeof(info), "the kernel's siginfo");
	ptc_core_free(c);
	release(&m);
}

/* An older caller does not know the last member. Its memory belongs to something else. */
Test(core_write, a_caller_gets_only_the_members_that_it_knows)
{
	struct ptc_core_size size = { .size = offsetof(struct ptc_core_size, memory), .memory = 7 };
	struct made m;

	make(&m);
	piece(&m, 7 * PAGE, m.memory, 16);
	ptc_core_free(written(&m, &size));
	cr_assert(size.threads == 2 && size.segments == 1 && size.memory == 7);
	cr_assert_eq(size.size, offsetof(struct ptc_core_size, memory));
	release(&m);
}

Test(core_write, a_live_process_has_no_signal)
{
	struct ptc_core_size size = PTC_CORE_SIZE_INIT;
	struct ptc_core *c;
	struct made m;

	make(&m);
	m.dead.signal = (struct ptc_crash_signal){ .pid = 70, .tid = 70 };
	m.threads[1].state.in_call = 1; /* no code at its address is saved */
	m.threads[1].state.regs[PTC_REG_RAX] = 202;
	c = written(&m, &size);
	cr_assert(c->threads[0].tid == 70 && c->threads[1].tid == 71);
	cr_assert(!c->threads[0].signo && !c->threads[1].signo && !c->siginfo);
	cr_assert_eq(c->threads[1].regs[PTC_REG_RIP], 0x9100 + 2, "behind the call");
	cr_assert_eq(c->threads[1].regs[PTC_REG_ORIG_RAX], 202);
	cr_assert_eq(c->threads[0].regs[PTC_REG_RIP], 0x9000);
	ptc_core_free(c);
	release(&m);
}

Test(core_write, memory_that_was_not_kept_is_absent)
{
	struct ptc_core_size size = PTC_CORE_SIZE_INIT;
	struct ptc_core *c;
	struct made m;

	make(&m);
	piece(&m, 7 * PAGE + 1024, m.memory + 1024, PAGE - 1024); /* overlaps the next one */
	piece(&m, 7 * PAGE, m.memory, 2048);
	piece(&m, 3 * PAGE, m.memory + PAGE, PAGE);
	piece(&m, 7 * PAGE, m.memory, 0);
	piece(&m, UINT64_MAX - 1, m.memory, 8); /* hostile: beyond the last address */
	c = written(&m, &size);
	cr_assert(size.segments == 2 && size.memory == 2 * PAGE);
	has(c, 7 * PAGE, m.memory, PAGE);
	has(c, 3 * PAGE, m.memory + PAGE, PAGE);
	has(c, 4 * PAGE, m.memory, 0);
	has(c, UINT64_MAX - 1, m.memory, 0);
	cr_assert_eq(c->nareas, 2, "no segment is empty");
	cr_assert(c->areas[0].prot == (uint32_t)RW && c->loads[1].off % PAGE == 0);
	ptc_core_free(c);
	release(&m);
}

Test(core_write, a_piece_may_start_within_a_page)
{
	struct ptc_core_size size = PTC_CORE_SIZE_INIT;
	struct ptc_core *c;
	struct made m;

	make(&m);
	piece(&m, 7 * PAGE + 24, m.memory, 100);
	c = written(&m, &size);
	has(c, 7 * PAGE + 24, m.memory, 100);
	has(c, 7 * PAGE, m.memory, 0);
	ptc_core_free(c);
	release(&m);
}

Test(core_write, code_comes_from_the_file_but_not_the_headers_and_not_of_a_removed_file)
{
	struct ptc_core_size size = PTC_CORE_SIZE_INIT;
	struct ptc_core *c;
	struct made m;

	make(&m);
	piece(&m, PAGE, m.memory, PAGE);
	piece(&m, 5 * PAGE, m.memory + PAGE, PAGE);
	piece(&m, 9 * PAGE, m.memory, PAGE);
	c = written(&m, &size);
	cr_assert_eq(size.segments, 2);
	has(c, PAGE, m.memory, PAGE);
	has(c, 5 * PAGE, m.memory + PAGE, PAGE);
	has(c, 9 * PAGE, m.memory, 0);
	ptc_core_free(c);
	m.auxv[1] = UINT64_MAX - 8; /* hostile */
	c = written(&m, &size);
	cr_assert_eq(size.segments, 1);
	ptc_core_free(c);
	release(&m);
}

Test(core_write, only_files_with_unchanged_memory_are_listed)
{
	struct ptc_core_size size = PTC_CORE_SIZE_INIT;
	struct ptc_core *c;
	struct made m;

	make(&m);
	c = written(&m, &size);
	cr_assert_eq(c->nmaps, 4);
	cr_assert_str_eq(ptc_core_map_at(c, PAGE)->name, program);
	cr_assert_null(ptc_core_map_at(c, 2 * PAGE), "relocated");
	cr_assert_null(ptc_core_map_at(c, 3 * PAGE), "writable");
	cr_assert_str_eq(ptc_core_map_at(c, 4 * PAGE)->name, "/usr/lib/data");
	cr_assert_eq(ptc_core_map_at(c, 4 * PAGE)->off, PAGE);
	cr_assert_str_eq(ptc_core_map_at(c, 5 * PAGE)->name, gone);
	cr_assert_null(ptc_core_map_at(c, 7 * PAGE), "not a file");
	ptc_core_free(c);
	release(&m);
}

Test(core_write, in_a_system_call_the_position_is_behind_the_instruction)
{
	uint64_t *regs;
	struct ptc_core_size size = PTC_CORE_SIZE_INIT;
	struct ptc_core *c;
	struct made m;

	make(&m);
	m.memory[0] = 0x0f;
	m.memory[1] = 0x05;
	piece(&m, 9 * PAGE, m.memory, PAGE);
	regs = m.threads[0].state.regs;
	regs[PTC_REG_RIP] = 9 * PAGE;
	regs[PTC_REG_RAX] = 202;
	regs[PTC_REG_EFLAGS] = 0x246;
	c = written(&m, &size);
	cr_assert_eq(c->threads[1].regs[PTC_REG_RIP], 9 * PAGE, "in no call");
	ptc_core_free(c);
	m.threads[0].state.in_call = 1;
	c = written(&m, &size);
	cr_assert_eq(c->threads[1].regs[PTC_REG_RIP], 9 * PAGE + 2);
	cr_assert_eq(c->threads[1].regs[PTC_REG_RCX], 9 * PAGE + 2);
	cr_assert_eq(c->threads[1].regs[PTC_REG_R11], 0x246);
	cr_assert_eq(c->threads[1].regs[PTC_REG_ORIG_RAX], 202);
	cr_assert_eq((int64_t)c->threads[1].regs[PTC_REG_RAX], -ENOSYS);
	ptc_core_free(c);
	regs[PTC_REG_RIP]++; /* other bytes */
	c = written(&m, &size);
	cr_assert_eq(c->threads[1].regs[PTC_REG_RIP], 9 * PAGE + 1);
	ptc_core_free(c);
	release(&m);
}

/* The core is refused with @code. The file at the path stays. */
static void refused(struct made *m, int code)
{
	const struct ptc_buf mine = { .bytes = (uint8_t *)"mine", .len = 4 };
	struct ptc_core_size size = PTC_CORE_SIZE_INIT;
	struct ptc_err err;
	struct stat st;

	(void)le_write(m->folder, "core", &mine);
	cr_assert_eq(ptc_core_write_file(&m->dead, m->path, &size, &err), code);
	cr_assert_neq(err.msg[0], '\0');
	cr_assert(!stat(m->path, &st) && st.st_size == 4);
	(void)unlink(m->path);
	cr_assert_eq(rmdir(m->folder), 0, "the folder has another file");
	cr_assert_eq(mkdir(m->folder, 0700), 0);
}

Test(core_write, a_refused_core_leaves_nothing)
{
	struct ptc_crash_state_piece *many = calloc(PN_XNUM, sizeof(*many));
	struct ptc_core_size size = PTC_CORE_SIZE_INIT;
	struct ptc_err err;
	struct made m;
	size_t i;
	int fd;

	make(&m);
	m.dead.nthreads = 0;
	refused(&m, PTC_E_FORMAT);
	m.dead.nthreads = 2;
	cr_assert_not_null(many);
	for (i = 0; i < PN_XNUM; i++)
		many[i] = (struct ptc_crash_state_piece){ .addr = i << 13,
							  .bytes = ptc_cur_init(m.memory, 1) };
	m.dead.pieces = many;
	m.dead.npieces = PN_XNUM - 1;
	m.dead.nmaps = 0;
	refused(&m, PTC_E_LIMIT);
	m.dead.npieces--;
	ptc_core_free(written(&m, &size));
	cr_assert_eq(size.segments, PN_XNUM - 2);
	fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		cr_assert_eq(ptc_core_write(&m.dead, fd, "full", &size, &err), PTC_E_IO);
		cr_assert(strstr(err.msg, "full"), "%s", err.msg);
		(void)close(fd);
	}
	cr_assert_eq(ptc_core_write_file(&m.dead, "/nowhere/core", &size, &err), PTC_E_NOT_EXIST);
	free(many);
	release(&m);
}
