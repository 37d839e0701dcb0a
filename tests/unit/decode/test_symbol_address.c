/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ptcap/locate.h"

void locate_me(void);

__attribute__((noinline, used)) void locate_me(void)
{
	__asm__ volatile("");
}

static const char self[] = "/proc/self/exe";

/* Checks that the bytes at the offset are those of the function. */
static void check_offset(uint64_t off)
{
	uint8_t bytes[8];
	const int fd = open(self, O_RDONLY | O_CLOEXEC);

	cr_assert_geq(fd, 0);
	cr_assert_eq(pread(fd, bytes, sizeof(bytes), (off_t)off), sizeof(bytes));
	cr_assert_eq(close(fd), 0);
	cr_assert_eq(memcmp(bytes, (const void *)(uintptr_t)locate_me, sizeof(bytes)), 0);
}

Test(symbol_address, a_symbol_is_found)
{
	struct ptc_err err;
	uint64_t off;

	cr_assert_eq(ptc_locate_symbol(self, "locate_me", &off, &err), 0);
	check_offset(off);
}

Test(symbol_address, a_function_has_a_size_and_is_one_of_its_name)
{
	struct ptc_extent e, same;
	struct ptc_err err;

	cr_assert_eq(ptc_locate_function(self, "locate_me", PTC_WHICH_ONLY, &e, &err), 0);
	check_offset(e.start);
	cr_assert(e.size > 0 && e.size < 4096);
	cr_assert_eq(ptc_locate_function(self, "locate_me", 1, &same, &err), 0);
	cr_assert_eq(same.start, e.start);
	cr_assert_eq(ptc_locate_function(self, "locate_me", 2, &same, &err), PTC_E_NOT_EXIST);
	cr_assert_not_null(strstr(err.msg, "which has only 1"));
}

Test(symbol_address, what_is_not_there_is_named)
{
	struct ptc_err err;
	uint64_t off;

	cr_assert_eq(ptc_locate_symbol(self, "locate_me_not", &off, &err), PTC_E_NOT_EXIST);
	cr_assert_not_null(strstr(err.msg, "locate_me_not"));
	cr_assert_eq(ptc_locate_symbol("/no/such/file", "x", &off, &err), PTC_E_NOT_EXIST);
	cr_assert_eq(ptc_locate_symbol("/etc/passwd", "x", &off, &err), PTC_E_FORMAT);
	cr_assert_eq(ptc_locate_addr(self, UINT64_MAX, &off, &err), PTC_E_NOT_EXIST);
	cr_assert_eq(ptc_locate_addr("/etc/passwd", 0, &off, &err), PTC_E_FORMAT);
}

/* Data with that name is no place in code. */
extern int locate_data;
int locate_data = 1;

Test(symbol_address, data_is_no_code)
{
	struct ptc_err err;
	uint64_t off;

	cr_assert_eq(ptc_locate_symbol(self, "locate_data", &off, &err), PTC_E_NOT_EXIST);
}
