/* SPDX-License-Identifier: MIT */
/* Description: which signals kill a process, and what is saved of its state. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "auxtrace/record/crash_record.h"
#include "auxtrace/record/record.h"
#include "capture/crash/state_capture.h"

/* A /proc in which process 7 handles SIGSEGV and the last real-time signal, and ignores SIGPIPE. */
static const char status[] = "Name:\tx\nSigBlk:\t0000000000000000\n"
			     "SigIgn:\t0000000000001000\nSigCgt:\t8000000000000400\n";

static bool is_fatal(const char *text, int sig)
{
	char folder[] = "/tmp/ptcap-state-XXXXXX", path[64];
	bool fatal;
	FILE *f;

	cr_assert_not_null(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/7", folder);
	cr_assert_eq(mkdir(path, 0700), 0);
	(void)snprintf(path, sizeof(path), "%s/7/status", folder);
	f = fopen(path, "w");
	cr_assert_not_null(f);
	(void)fputs(text, f);
	(void)fclose(f);
	fatal = ptc_state_is_fatal(folder, 7, sig);
	(void)unlink(path);
	(void)snprintf(path, sizeof(path), "%s/7", folder);
	(void)rmdir(path);
	(void)rmdir(folder);
	return fatal;
}

Test(state_capture, what_is_handled_or_ignored_or_does_not_end_processes_is_not_fatal)
{
	static const int harmless[] = { SIGSEGV, SIGPIPE,  64,	   SIGCHLD, SIGSTOP, SIGTSTP,
					SIGCONT, SIGWINCH, SIGURG, 0,	    65,	     -1 };
	static const int fatal[] = { SIGBUS, SIGTERM, SIGABRT, SIGTRAP, SIGFPE, 63, 1 };
	size_t i;

	for (i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
		cr_assert_not(is_fatal(status, harmless[i]), "signal %d", harmless[i]);
	for (i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
		cr_assert(is_fatal(status, fatal[i]), "signal %d", fatal[i]);
}

Test(state_capture, of_a_process_that_is_gone_nothing_is_said)
{
	cr_assert_not(is_fatal("", SIGBUS));
	cr_assert_not(is_fatal("SigIgn:\n", SIGBUS));
	cr_assert_not(ptc_state_is_fatal("/nowhere", 7, SIGBUS));
}

/* Takes the next record of a state. Returns false at the end. */
static bool next_of_state(struct ptc_cur *cur, struct ptc_crash *ret)
{
	struct ptc_rec rec;
	struct ptc_err err;

	if (!ptc_cur_left(cur))
		return false;
	cr_assert_eq(ptc_rec_next(cur, 0, &rec, &err), 1);
	cr_assert_eq(ptc_crash_parse(&rec, ret, &err), 1);
	return true;
}

Test(state_capture, what_is_saved_of_a_process_is_what_it_has)
{
	volatile uint64_t marked = 0x1122334455667788;
	struct user_regs_struct regs = { .rsp = (uint64_t)&marked, .rip = (uint64_t)is_fatal };
	const struct ptc_state_thread thread = { getpid(), false, &regs };
	siginfo_t info = { .si_signo = SIGSEGV, .si_code = SEGV_MAPERR };
	struct ptc_state s = { .pid = getpid(), .tid = getpid(), .info = &info, .time_ns = 5 };
	size_t kinds[PTC_CRASH_TASK + 1] = { 0 }, found = 0;
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_crash c;
	struct ptc_cur cur;

	info.si_addr = (void *)0x10;
	s.threads = &thread;
	s.nthreads = 1;
	ptc_state_put(&b, &s);
	cr_assert_not(ptc_buf_failed(&b));
	cur = ptc_cur_init(b.bytes, b.len);
	while (next_of_state(&cur, &c)) {
		cr_assert(c.kind <= PTC_CRASH_AUXV || c.kind == PTC_CRASH_TASK);
		cr_assert(kinds[c.kind]++ || c.kind == PTC_CRASH_SIGNAL || kinds[PTC_CRASH_SIGNAL]);
		if (c.kind == PTC_CRASH_SIGNAL)
			cr_assert(c.u.signal.addr == 0x10 && c.u.signal.time_ns == 5);
		if (c.kind == PTC_CRASH_MEMORY && c.u.memory.addr <= regs.rsp &&
		    regs.rsp - c.u.memory.addr < ptc_cur_left(&c.bytes))
			found += !memcmp(c.bytes.pos + (regs.rsp - c.u.memory.addr),
					 (const void *)&marked, sizeof(marked));
	}
	cr_assert(kinds[PTC_CRASH_SIGNAL] == 1 && kinds[PTC_CRASH_THREAD] == 1);
	cr_assert_eq(kinds[PTC_CRASH_TASK], 1);
	cr_assert(kinds[PTC_CRASH_MAP] > 5 && kinds[PTC_CRASH_AUXV] == 1 && found == 1);
	ptc_buf_release(&b);
}

/* Returns how often the state of a thread with @regs has the memory of @mark. */
static unsigned int count_mark(const struct user_regs_struct *regs, bool in_call,
			       const uint64_t *mark)
{
	const struct ptc_state_thread thread = { getpid(), in_call, regs };
	const siginfo_t info = { .si_signo = SIGABRT };
	const struct ptc_state s = {
		.pid = getpid(), .tid = getpid(), .info = &info, .threads = &thread, .nthreads = 1
	};
	const uint64_t at = (uint64_t)mark;
	struct ptc_buf b = PTC_BUF_INIT;
	unsigned int found = 0;
	struct ptc_crash c;
	struct ptc_cur cur;

	ptc_state_put(&b, &s);
	cur = ptc_cur_init(b.bytes, b.len);
	while (next_of_state(&cur, &c)) {
		found += c.kind == PTC_CRASH_MEMORY && c.u.memory.addr <= at &&
			 at - c.u.memory.addr < ptc_cur_left(&c.bytes) &&
			 ptc_le64(c.bytes.pos + (at - c.u.memory.addr)) == *mark;
	}
	ptc_buf_release(&b);
	return found;
}

Test(state_capture, the_lock_of_a_waiting_thread_is_saved)
{
	const uint64_t here = 5, nowhere = 16;
	uint64_t *lock = malloc(sizeof(*lock));
	struct user_regs_struct regs = { .rsp = (uint64_t)&here,
					 .orig_rax = SYS_futex,
					 .rdi = (uint64_t)lock };

	cr_assert_not_null(lock);
	*lock = 0x1122334455667788;
	cr_assert_eq(count_mark(&regs, true, lock), 1);
	cr_assert_eq(count_mark(&regs, false, lock), 0, "it runs");
	regs.orig_rax = SYS_read;
	cr_assert_eq(count_mark(&regs, true, lock), 0, "it waits for no futex");
	regs.orig_rax = SYS_futex;
	regs.rdi = nowhere;
	cr_assert_eq(count_mark(&regs, true, lock), 0);
	free(lock);
}

Test(state_capture, no_memory_is_kept_if_none_is_to_be)
{
	const uint64_t here = 5;
	const struct user_regs_struct regs = { .rsp = (uint64_t)&here, .rip = (uint64_t)is_fatal };
	const struct ptc_state_thread thread = { getpid(), false, &regs };
	const siginfo_t info = { .si_signo = SIGSEGV };
	const struct ptc_state s = { .pid = getpid(),
				     .tid = getpid(),
				     .info = &info,
				     .threads = &thread,
				     .nthreads = 1,
				     .no_memory = true };
	size_t kinds[PTC_CRASH_TASK + 1] = { 0 };
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_crash c;
	struct ptc_cur cur;

	ptc_state_put(&b, &s);
	cur = ptc_cur_init(b.bytes, b.len);
	while (next_of_state(&cur, &c)) {
		kinds[c.kind]++;
		if (c.kind == PTC_CRASH_SIGNAL)
			cr_assert_eq(c.u.signal.no_memory, 1);
	}
	cr_assert_eq(kinds[PTC_CRASH_MEMORY], 0);
	cr_assert(kinds[PTC_CRASH_THREAD] == 1 && kinds[PTC_CRASH_MAP] > 5);
	ptc_buf_release(&b);
}

/* Maps @size bytes between two inaccessible pages. */
static uint8_t *island(size_t size, int prot)
{
	const size_t page = 4096;
	uint8_t *p = mmap(NULL, size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert(p != MAP_FAILED && !mprotect(p + page, size, prot));
	return p + page;
}

Test(state_capture, what_is_too_much_is_told)
{
	enum { STACK = 1 << 20, STACK_KEPT = 256 << 10, CODE = 5 << 20, CODE_KEPT = 4 << 20 };
	uint8_t *stack = island(STACK, PROT_READ | PROT_WRITE);
	const uint8_t *code = island(CODE, PROT_READ | PROT_EXEC);
	const struct user_regs_struct regs = { .rsp = (uint64_t)stack + 256 };
	const struct ptc_state_thread thread = { getpid(), false, &regs };
	const siginfo_t info = { .si_signo = SIGSEGV };
	const struct ptc_state s = {
		.pid = getpid(), .tid = getpid(), .info = &info, .threads = &thread, .nthreads = 1
	};
	uint64_t of_stack = 0, of_code = 0, kept = 0, cut = 0;
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_crash c;
	struct ptc_cur cur;

	ptc_state_put(&b, &s);
	cur = ptc_cur_init(b.bytes, b.len);
	while (next_of_state(&cur, &c)) {
		if (c.kind != PTC_CRASH_MEMORY)
			continue;
		if (c.u.memory.addr - (uint64_t)stack < STACK) {
			of_stack += c.u.memory.cut;
			kept += ptc_cur_left(&c.bytes);
		} else if (c.u.memory.addr - (uint64_t)code < CODE) {
			of_code += c.u.memory.cut + ptc_cur_left(&c.bytes);
			cut += c.u.memory.cut;
		}
	}
	cr_assert_eq(kept, STACK_KEPT);
	cr_assert_eq(of_stack, STACK - STACK_KEPT);
	cr_assert_eq(of_code, CODE, "code is kept, or its absence is told");
	cr_assert_geq(cut, CODE - CODE_KEPT);
	ptc_buf_release(&b);
}

Test(state_capture, a_stack_that_was_copied_is_read_from_the_copy)
{
	enum { PAGE = 4096 };
	static const size_t pages = 3, second = PAGE, third = (size_t)2 * PAGE;
	uint8_t *stack = island(pages * PAGE, PROT_READ | PROT_WRITE), *copy = malloc(PAGE);
	const struct user_regs_struct regs = { .rsp = (uint64_t)stack + 256 };
	const struct ptc_state_thread thread = { getpid(), false, &regs };
	const siginfo_t info = { .si_signo = SIGSEGV };
	struct ptc_state s = { .pid = getpid(),
			       .tid = getpid(),
			       .info = &info,
			       .threads = &thread,
			       .nthreads = 1,
			       .reader = getpid() };
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_crash c;
	struct ptc_cur cur;
	bool found = false;

	cr_assert_not_null(copy);
	memset(copy, 0xc0, PAGE);
	s.copy.from = (uint64_t)stack + PAGE;
	s.copy.len = PAGE;
	s.copy.at = (uint64_t)copy;
	ptc_state_put(&b, &s);
	cur = ptc_cur_init(b.bytes, b.len);
	while (next_of_state(&cur, &c)) {
		if (c.kind != PTC_CRASH_MEMORY || c.u.memory.addr != (uint64_t)stack)
			continue;
		cr_assert_eq(ptc_cur_left(&c.bytes), pages * PAGE);
		cr_assert(!c.bytes.pos[second - 1] && !c.bytes.pos[third], "beside the copy");
		cr_assert(!memcmp(c.bytes.pos + second, copy, PAGE));
		found = true;
	}
	cr_assert(found);
	ptc_buf_release(&b);
	free(copy);
}
