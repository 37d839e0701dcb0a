/* SPDX-License-Identifier: MIT */
/* Description: the reason for a signal, in a synthetic process. */
#include <criterion/criterion.h>
#include <signal.h>
#include <sys/mman.h>

#include "decode/crash/crash_reason.h"

enum {
	CODE = 0x400000,
	DATA = 0x500000,
	CONST = 0x600000,
	NONE = 0x700000,
	GUARD = 0x7fff0000,
	STACK = 0x7fff1000,
	PAGE = 0x1000,
};

static struct ptc_crash_state_map maps[] = {
	{ { 1, CODE, CODE + PAGE, 0, PROT_READ | PROT_EXEC }, "/bin/x" },
	{ { 1, DATA, DATA + PAGE, 0, PROT_READ | PROT_WRITE }, "" },
	{ { 1, CONST, CONST + PAGE, 0, PROT_READ }, "/bin/x" },
	{ { 1, NONE, NONE + PAGE, 0, 0 }, "" },
	{ { 1, GUARD, STACK, 0, 0 }, "" },
	{ { 1, STACK, STACK + PAGE, 0, PROT_READ | PROT_WRITE }, "[stack]" },
};

struct made {
	struct ptc_crash_state dead;
	struct ptc_crash_thread thread;
	struct ptc_operands ops;
};

static struct made made(uint64_t signo, int64_t code, uint64_t addr)
{
	struct made m = {
		.dead = { .maps = maps, .nmaps = sizeof(maps) / sizeof(maps[0]) },
		.ops = { .n = 1 },
	};

	m.dead.signal = (struct ptc_crash_signal){
		.pid = 1, .tid = 1, .signo = signo, .code = code, .addr = addr
	};
	m.thread.regs[PTC_REG_RIP] = CODE + 0x10;
	m.thread.regs[PTC_REG_RSP] = STACK + 0x100;
	return m;
}

/* The instruction reads or writes 8 bytes at the address. */
static struct made access_at(uint64_t addr, bool writes, int64_t code)
{
	struct made m = made(SIGSEGV, code, addr);

	m.ops.items[0] = (struct ptc_operand){
		.memory = true, .reads = !writes, .writes = writes, .size = 8, .addr = addr
	};
	return m;
}

static struct ptc_crash_why why(const struct made *m)
{
	return ptc_reason_find(&m->dead, &m->thread, &m->ops);
}

static void is(struct made m, enum ptc_crash_reason reason)
{
	const struct ptc_crash_why w = why(&m);

	cr_assert_eq(w.reason, reason, "%s instead of %s", ptc_reason_name(w.reason),
		     ptc_reason_name(reason));
}

Test(crash_reason, accesses_by_where_they_went)
{
	is(access_at(0, true, SEGV_MAPERR), PTC_REASON_NULL_PAGE);
	is(access_at(0xffff, false, SEGV_MAPERR), PTC_REASON_NULL_PAGE);
	is(access_at(0x10000, false, SEGV_MAPERR), PTC_REASON_UNMAPPED);
	is(access_at(CONST + 8, true, SEGV_ACCERR), PTC_REASON_READ_ONLY);
	is(access_at(CODE + 8, true, SEGV_ACCERR), PTC_REASON_READ_ONLY);
	is(access_at(NONE + 8, true, SEGV_ACCERR), PTC_REASON_PROTECTED);
	is(access_at(NONE + 8, false, SEGV_ACCERR), PTC_REASON_PROTECTED);
}

Test(crash_reason, below_a_stack_it_is_used_up_if_the_stack_pointer_is_there)
{
	struct made m = access_at(GUARD + 0xff8, true, SEGV_ACCERR);

	is(m, PTC_REASON_STACK_OVERFLOW);
	cr_assert_eq(why(&m).map, &maps[5]);
	m.thread.regs[PTC_REG_RSP] = DATA + 8;
	is(m, PTC_REASON_PROTECTED);
	is(access_at(GUARD - 8, true, SEGV_MAPERR), PTC_REASON_UNMAPPED);
}

Test(crash_reason, the_access_is_that_of_the_operand_that_was_touched)
{
	struct made m = access_at(CONST, true, SEGV_ACCERR);
	struct ptc_crash_why w;

	/* movs: reads one address, and writes the other */
	m.ops.n = 2;
	m.ops.items[1] = m.ops.items[0];
	m.ops.items[0] =
		(struct ptc_operand){ .memory = true, .reads = true, .size = 4, .addr = DATA };
	w = why(&m);
	cr_assert(w.access == PTC_ACCESS_WRITE && w.size == 8 && w.reason == PTC_REASON_READ_ONLY);
	m.ops.n = 0; /* not known */
	w = why(&m);
	cr_assert(w.access == PTC_ACCESS_NONE && w.reason == PTC_REASON_PROTECTED);
}

Test(crash_reason, a_jump_to_nowhere_and_to_what_is_no_code)
{
	struct made m = made(SIGSEGV, SEGV_MAPERR, 0x666000);

	m.thread.regs[PTC_REG_RIP] = 0x666000;
	is(m, PTC_REASON_BAD_JUMP);
	cr_assert(why(&m).is_target && why(&m).addr == 0x666000);
	m = made(SIGSEGV, SEGV_ACCERR, DATA + 8);
	m.thread.regs[PTC_REG_RIP] = DATA + 8;
	is(m, PTC_REASON_NO_EXEC);
	m = made(SIGSEGV, SEGV_MAPERR, 0); /* the call of a null function pointer */
	m.thread.regs[PTC_REG_RIP] = 0;
	is(m, PTC_REASON_BAD_JUMP);
}

Test(crash_reason, addresses_that_are_none_have_no_si_addr)
{
	uint8_t target[8] = { 0, 0, 0, 0, 0, 0, 0xad, 0xde };
	struct ptc_crash_state_piece piece = { .addr = STACK + 0x100,
					       .bytes = { target, target + sizeof(target) } };
	struct made m = access_at(0x1234567800000000, false, SI_KERNEL);

	m.dead.signal.addr = 0;
	is(m, PTC_REASON_NON_CANONICAL);
	cr_assert_eq(why(&m).addr, 0x1234567800000000);
	/* ret, with such an address on the stack */
	m.ops.items[0].addr = STACK + 0x100;
	m.dead.pieces = &piece;
	m.dead.npieces = 1;
	is(m, PTC_REASON_BAD_JUMP);
	cr_assert_eq(why(&m).addr, 0xdead000000000000);
	/* jmp rax */
	m.ops.items[0] =
		(struct ptc_operand){ .reads = true, .size = 8, .value = 0xdead000000000001 };
	is(m, PTC_REASON_BAD_JUMP);
	m.ops.items[0].value = 5;
	is(m, PTC_REASON_OTHER);
}

Test(crash_reason, a_division_is_by_zero_or_too_large)
{
	struct made m = made(SIGFPE, FPE_INTDIV, CODE + 0x10);

	m.ops.divides = true;
	m.ops.items[0] = (struct ptc_operand){ .reads = true, .size = 4, .value = 0 };
	is(m, PTC_REASON_DIVISION);
	m.ops.items[0].value = 0xffffffff;
	is(m, PTC_REASON_QUOTIENT);
	m.ops.items[0] = (struct ptc_operand){ .memory = true, .size = 4, .addr = DATA };
	is(m, PTC_REASON_DIVISION); /* the value was not saved */
}

Test(crash_reason, the_other_signals)
{
	struct made m = made(SIGILL, ILL_ILLOPN, CODE + 0x10);

	is(m, PTC_REASON_ILLEGAL);
	m.ops.undefined = true;
	is(m, PTC_REASON_UD);
	is(made(SIGTRAP, SI_KERNEL, 0), PTC_REASON_BREAKPOINT);
	is(made(SIGBUS, BUS_ADRERR, CONST + 8), PTC_REASON_BEYOND_FILE);
	is(made(SIGBUS, BUS_ADRERR, DATA + 8), PTC_REASON_BUS);
	is(made(SIGBUS, BUS_ADRALN, CONST + 8), PTC_REASON_BUS);
	m = made(SIGABRT, SI_TKILL, 0);
	m.dead.signal.sender = 1;
	is(m, PTC_REASON_ABORT);
	m.dead.signal.sender = 2;
	is(m, PTC_REASON_SENT);
	is(made(SIGSEGV, SI_USER, 0), PTC_REASON_SENT);
	is(made(SIGSYS, 1, 0), PTC_REASON_OTHER);
}

Test(crash_reason, without_an_instruction_there_is_an_answer_still)
{
	const struct made m = made(SIGSEGV, SEGV_MAPERR, 0x8);

	cr_assert_eq(ptc_reason_find(&m.dead, &m.thread, NULL).reason, PTC_REASON_NULL_PAGE);
	cr_assert_str_eq(ptc_reason_name(PTC_REASON_COUNT), "?");
}
