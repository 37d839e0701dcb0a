/* SPDX-License-Identifier: MIT */
/*
 * Takes the place of libgit2 in the unit tests. Criterion needs libgit2 only to print differences
 * of strings in the macros of criterion/new/assert.h, which no test uses. libgit2 loads TLS, SSH
 * and Kerberos in the process of each test. That takes 4 ms of 10, and 10 ms of 40 under ASan.
 */
#include <stdio.h>
#include <stdlib.h>

int git_libgit2_init(void);
int git_libgit2_shutdown(void);
int git_diff_buffers(void);

int git_libgit2_init(void)
{
	return 1;
}

int git_libgit2_shutdown(void)
{
	return 0;
}

int git_diff_buffers(void)
{
	fputs("this assertion needs libgit2, which unit tests do without (tests/support/no_git.c): "
	      "use "
	      "cr_assert_str_eq\n",
	      stderr);
	abort();
}
