/* SPDX-License-Identifier: MIT */
/* Description: lists of CPUs are parsed, and only online CPUs are kept. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "capture/perf/cpus.h"

static void is(const char *text, size_t n, const int *want)
{
	struct ptc_cpus c = PTC_CPUS_INIT;
	struct ptc_err err;

	cr_assert_eq(ptc_cpus_parse(&c, text, &err), 0, "%s", text);
	cr_assert_eq(c.n, n, "%s", text);
	cr_assert_eq(memcmp(c.items, want, n * sizeof(*want)), 0, "%s", text);
	ptc_cpus_release(&c);
}

Test(cpus, lists_and_ranges)
{
	is("0\n", 1, (int[]){ 0 });
	is("0-3", 4, (int[]){ 0, 1, 2, 3 });
	is("8,0-1,1", 3, (int[]){ 0, 1, 8 });
	is("5-5,7", 2, (int[]){ 5, 7 });
}

Test(cpus, what_is_no_list_is_refused)
{
	static const char *const bad[] = { "",	  "a",	 "1,",	 ",1",	 "1-",	"-1",
					   "3-1", "1 2", "1,,2", "8192", "0x1", "1-2-3" };
	struct ptc_cpus c = PTC_CPUS_INIT;
	struct ptc_err err;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_assert_eq(ptc_cpus_parse(&c, bad[i], &err), PTC_E_USAGE, "'%s'", bad[i]);
	ptc_cpus_release(&c);
}

Test(cpus, those_that_are_offline_are_named)
{
	char root[] = "/tmp/ptcap-cpus.XXXXXX", path[128], cmd[128];
	struct ptc_cpus c = PTC_CPUS_INIT;
	struct ptc_err err;
	FILE *f;

	cr_assert_not_null(mkdtemp(root));
	(void)snprintf(cmd, sizeof(cmd), "mkdir -p %s/sys/devices/system/cpu", root);
	cr_assert_eq(system(cmd), 0);
	(void)snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/online", root);
	f = fopen(path, "w");
	cr_assert_not_null(f);
	(void)fputs("0,2-3\n", f);
	(void)fclose(f);
	cr_assert_eq(ptc_cpus_choose(&c, NULL, root, &err), 0);
	cr_assert_eq(c.n, 3);
	cr_assert_eq(ptc_cpus_choose(&c, "2,3", root, &err), 0);
	cr_assert_eq(c.n, 2);
	cr_assert_eq(ptc_cpus_choose(&c, "1-3", root, &err), PTC_E_NOT_EXIST);
	cr_assert_not_null(strstr(err.msg, "CPU 1"));
	ptc_cpus_release(&c);
	(void)snprintf(cmd, sizeof(cmd), "rm -rf %s", root);
	cr_assert_eq(system(cmd), 0);
}

Test(cpus, a_list_is_written_as_it_is_read)
{
	static const char *const lists[] = { "3", "0-3", "0-3,8", "1,3,5-6", "0,2-4,4095" };
	struct ptc_cpus c = PTC_CPUS_INIT;
	struct ptc_err err;
	char text[32], small[6];
	size_t i;

	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		cr_assert_eq(ptc_cpus_parse(&c, lists[i], &err), 0);
		ptc_cpus_text(&c, text, sizeof(text));
		cr_assert_str_eq(text, lists[i]);
	}
	ptc_cpus_text(&c, small, sizeof(small));
	cr_assert_str_eq(small, "0,2-4");
	c.n = 0;
	ptc_cpus_text(&c, text, sizeof(text));
	cr_assert_str_eq(text, "");
	cr_assert_eq(ptc_cpus_add(&c, 5, &err) | ptc_cpus_add(&c, 4, &err) |
			     ptc_cpus_add(&c, 5, &err),
		     0);
	ptc_cpus_text(&c, text, sizeof(text));
	cr_assert_str_eq(text, "4-5");
	ptc_cpus_release(&c);
}
