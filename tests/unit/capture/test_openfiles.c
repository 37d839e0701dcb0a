/* SPDX-License-Identifier: MIT */
/* Description: code read from files by name, a few of which stay open. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/soft/openfiles.h"

static void make_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	cr_assert_not_null(f);
	cr_assert_geq(fputs(text, f), 0);
	cr_assert_eq(fclose(f), 0);
}

Test(openfiles, only_a_whole_read_of_a_plain_file_counts)
{
	char folder[] = "/tmp/ptc-openfiles-XXXXXX";
	struct ptc_openfiles files = { .next = 0 };
	uint8_t got[8];
	char path[64];

	cr_assert_not_null(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/a", folder);
	make_file(path, "0123456789");
	cr_assert(ptc_openfiles_read(&files, path, 2, got, 8));
	cr_assert_eq(memcmp(got, "23456789", 8), 0);
	cr_assert_not(ptc_openfiles_read(&files, path, 3, got, 8));
	cr_assert_not(ptc_openfiles_read(&files, path, UINT64_MAX, got, 8));
	cr_assert_not(ptc_openfiles_read(&files, folder, 0, got, 8));
	cr_assert_not(ptc_openfiles_read(&files, "/dev/zero", 0, got, 8));
	cr_assert_not(ptc_openfiles_read(&files, "", 0, got, 8));
	cr_assert_not(ptc_openfiles_read(&files, "[vdso]", 0, got, 8));
	ptc_openfiles_close(&files);
	(void)unlink(path);
	(void)rmdir(folder);
}

Test(openfiles, a_name_means_the_same_file_until_they_are_closed)
{
	char folder[] = "/tmp/ptc-openfiles-XXXXXX";
	struct ptc_openfiles files = { .next = 0 };
	char path[2 * PTC_OPENFILES][64];
	uint8_t got[1];
	int i;

	cr_assert_not_null(mkdtemp(folder));
	for (i = 0; i < 2 * PTC_OPENFILES; i++) {
		const char text[] = { (char)('a' + i), 0 };

		(void)snprintf(path[i], sizeof(path[i]), "%s/%d", folder, i);
		make_file(path[i], text);
	}
	for (i = 0; i < 4 * PTC_OPENFILES; i++) { /* more than stay open */
		cr_assert(ptc_openfiles_read(&files, path[i % (2 * PTC_OPENFILES)], 0, got, 1));
		cr_assert_eq(got[0], 'a' + i % (2 * PTC_OPENFILES));
	}
	cr_assert(ptc_openfiles_read(&files, path[0], 0, got, 1));
	cr_assert_eq(rename(path[1], path[0]), 0);
	cr_assert(ptc_openfiles_read(&files, path[0], 0, got, 1));
	cr_assert_eq(got[0], 'a');
	ptc_openfiles_close(&files);
	cr_assert(ptc_openfiles_read(&files, path[0], 0, got, 1));
	cr_assert_eq(got[0], 'b');
	ptc_openfiles_close(&files);
	for (i = 0; i < 2 * PTC_OPENFILES; i++)
		(void)unlink(path[i]);
	(void)rmdir(folder);
}
