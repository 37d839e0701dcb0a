/* SPDX-License-Identifier: MIT */
/*
 * Description: which guest threads stand still, and where their registers are in QEMU's memory. The
 * test has the memory of QEMU in its own process.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/emu/guest_registers.h"
#include "capture/emu/live_guests.h"

enum { P = 4096, RIP = 16, WORDS = RIP + 25, CS = RIP + 10, SS = RIP + 13, FS = RIP + 19 };

static void fill(uint64_t *env)
{
	size_t i;

	for (i = 0; i < WORDS; i++)
		env[i] = 0x100 + i;
	env[RIP] = 0x5002;
	env[CS] = 0x33;
	env[SS] = 0x2b;
}

static struct ptc_emu_env of(uint64_t *env)
{
	return (struct ptc_emu_env){ .pid = getpid(),
				     .addr = (uint64_t)(uintptr_t)env,
				     .rip = RIP };
}

Test(live_guests, registers_are_those_before_a_block_or_at_a_system_call)
{
	uint64_t env[WORDS];
	struct ptc_emu_env e = of(env);
	struct ptc_emu_regs r;

	fill(env);
	e.parked = 0x7000;
	cr_assert(ptc_emu_env_registers(&e, &r));
	cr_assert(r.rip == 0x7000 && !r.in_call && r.gpr[0] == 0x100 && r.gpr[15] == 0x10f);
	cr_assert_eq(r.fs_base, 0x100 + FS + 1);
	e.parked = 0;
	e.in_call = true;
	cr_assert(ptc_emu_env_registers(&e, &r));
	cr_assert(r.rip == 0x5000 && r.in_call, "at the instruction, which has two bytes");
	env[CS] = 0x23;
	cr_assert(ptc_emu_env_registers(&e, &r));
	cr_assert_eq(r.fs_base, 0, "no segments of user mode");
}

Test(live_guests, unknown_and_unreadable_registers_are_none)
{
	uint8_t *pages = mmap(NULL, (size_t)2 * P, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t *env = (uint64_t *)(void *)(pages + P - WORDS * sizeof(uint64_t));
	struct ptc_emu_env e = of(env);
	struct ptc_emu_regs r;

	cr_assert_neq(pages, MAP_FAILED);
	fill(env);
	cr_assert_eq(munmap(pages + P, P), 0);
	cr_assert(ptc_emu_env_registers(&e, &r), "up to the last word");
	e.addr += sizeof(uint64_t);
	cr_assert_not(ptc_emu_env_registers(&e, &r));
	e = of(env);
	e.rip = 0;
	cr_assert_not(ptc_emu_env_registers(&e, &r));
	e.rip = 33;
	cr_assert_not(ptc_emu_env_registers(&e, &r), "no QEMU has rip there");
	e = of(NULL);
	cr_assert_not(ptc_emu_env_registers(&e, &r));
	(void)munmap(pages, P);
}

Test(live_guests, a_thread_is_still_before_a_block_or_in_a_call)
{
	struct ptc_emu_shared *sh = calloc(1, sizeof(*sh));
	struct ptc_emu_process p = { .pid = getpid(), .pidfd = -1 };
	struct ptc_emu_task a = { .slot = 0, .proc = &p }, b = { .slot = 1, .proc = &p };
	struct ptc_emu_task *tasks[] = { &a, &b };
	struct ptc_emu_unit u = { .sh = sh, .tasks = tasks, .ntasks = 2 };

	cr_assert_not_null(sh);
	cr_assert(ptc_emu_live_is_still(&u, true), "threads without registers are not waited for");
	sh->slots[0].env = sh->slots[1].env = 1;
	cr_assert_not(ptc_emu_live_is_still(&u, true));
	sh->slots[0].parked = 0x1000;
	cr_assert_not(ptc_emu_live_is_still(&u, true));
	sh->slots[1].call = 1;
	cr_assert(ptc_emu_live_is_still(&u, true));
	sh->slots[1].call = 0;
	b.over = true;
	cr_assert(ptc_emu_live_is_still(&u, true), "it has ended");
	b.over = false;
	p.dies = true;
	cr_assert(ptc_emu_live_is_still(&u, true), "its state is saved");
	ptc_emu_live_stop(sh);
	cr_assert_eq(sh->still, 1);
	ptc_emu_live_resume(sh);
	cr_assert_eq(sh->still, 0);
	free(sh);
}
