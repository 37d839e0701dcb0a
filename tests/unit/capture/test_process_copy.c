/* SPDX-License-Identifier: MIT */
/* Description: how much of the stacks is copied. The process copies its own memory. */
#include <criterion/criterion.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/crash/process_copy.h"

enum { KIB = 1 << 10, SIZE = 512 * KIB };

/* Copies @n threads with the stack @stack. Returns how much of the budget remains, in KiB. */
static size_t left_after(struct ptc_copy_budget *g, const uint8_t *stack, size_t n)
{
	const struct ptc_state s = { .pid = getpid(), .budget = g };
	struct ptc_copy_thread threads[4];
	struct ptc_process_copy *c = NULL;
	struct ptc_err err;
	size_t i;

	memset(threads, 0, sizeof(threads));
	for (i = 0; i < n; i++) {
		threads[i].tid = getpid();
		threads[i].regs.rsp = (uintptr_t)stack;
		threads[i].regs.rip = (uintptr_t)left_after;
	}
	cr_assert_eq(ptc_process_copy_new(&s, &c, &err), 0);
	ptc_process_copy_take(c, threads, n);
	ptc_process_copy_free(c);
	return g->left / KIB;
}

Test(process_copy, the_processes_of_a_snapshot_share_one_budget)
{
	struct ptc_copy_budget g = { .left = SIZE, .processes = 2 };
	uint8_t *stack =
		mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(stack, MAP_FAILED);
	cr_assert_eq(left_after(&g, stack, 1), 512 - 128, "half of the half of the process");
	cr_assert_eq(left_after(&g, stack, 1), 384 - 192, "half of the rest");
	cr_assert_eq(g.processes, 0);
	g = (struct ptc_copy_budget){ .left = (size_t)40 * KIB, .processes = 4 };
	cr_assert_eq(left_after(&g, stack, 1), 40 - 16, "16 KiB while the budget lasts");
	cr_assert_eq(left_after(&g, stack, 3), 24 - 16 - 4 - 4, "then 4 KiB");
	cr_assert_eq(left_after(&g, stack, 2), 0, "at least 4 KiB of each");
	cr_assert_eq(g.processes, 1);
	(void)munmap(stack, SIZE);
}
