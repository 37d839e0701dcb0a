/* SPDX-License-Identifier: MIT */
/* Description: reads of a process's memory, tried on our own. */
#include <criterion/criterion.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/host/target_memory.h"

enum { P = 4096 };

Test(target_memory, a_peek_ends_at_the_first_page_that_is_not_mapped)
{
	uint8_t *pages = mmap(NULL, (size_t)2 * P, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t got[2 * P];

	cr_assert_neq(pages, MAP_FAILED);
	memset(pages, 7, P);
	cr_assert_eq(ptc_memory_peek(getpid(), (uintptr_t)pages + 8, got, P), P);
	cr_assert(got[0] == 7 && got[P - 9] == 7 && got[P - 8] == 0);
	cr_assert_eq(munmap(pages + P, P), 0);
	cr_assert_eq(ptc_memory_peek(getpid(), (uintptr_t)pages + 8, got, P), P - 8);
	cr_assert_eq(ptc_memory_peek(getpid(), (uintptr_t)pages + P, got, P), 0);
	cr_assert_eq(ptc_memory_peek(getpid(), UINT64_MAX - 8, got, P), 0);
	(void)munmap(pages, P);
}
