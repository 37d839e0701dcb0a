/* SPDX-License-Identifier: MIT */
/* Description: files and folders replace one another; the replaced one is kept once as backup. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/replace.h"
#include "lib_elf.h"

static char dir[64];
static struct ptc_err err;

static void make(void)
{
	le_folder(dir, sizeof(dir));
	cr_assert_eq(chdir(dir), 0);
}

static void away(void)
{
	cr_assert_eq(chdir("/"), 0);
	le_folder_remove(dir);
}

TestSuite(replace, .init = make, .fini = away);

static void file(const char *path, char what)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	cr_assert(fd >= 0 && write(fd, &what, 1) == 1 && !close(fd));
}

/* Makes a recording in the form that perf record --kcore makes. */
static void folder(const char *path, char what)
{
	char name[64];

	cr_assert_eq(mkdir(path, 0700), 0);
	(void)snprintf(name, sizeof(name), "%s/data", path);
	file(name, what);
	(void)snprintf(name, sizeof(name), "%s/kcore_dir", path);
	cr_assert_eq(mkdir(name, 0700), 0);
	(void)snprintf(name, sizeof(name), "%s/kcore_dir/kcore", path);
	file(name, what);
}

/* Returns the content of the file, or of the folder's data; 0: neither exists. */
static char is(const char *path)
{
	char name[64], what = 0;
	int fd = open(path, O_RDONLY);

	if (fd >= 0 && read(fd, &what, 1) != 1) {
		(void)close(fd);
		(void)snprintf(name, sizeof(name), "%s/data", path);
		fd = open(name, O_RDONLY);
		cr_assert(fd >= 0 && read(fd, &what, 1) == 1);
	}
	if (fd >= 0)
		(void)close(fd);
	return what;
}

/* In every order: four recordings, each a file or a folder, under one name. */
Test(replace, files_and_folders_in_any_order)
{
	unsigned int order, i;

	for (order = 0; order < 16; order++) {
		for (i = 0; i < 4; i++) {
			const char what = (char)('1' + i);

			if (order & 1u << i)
				folder("tmp", what);
			else
				file("tmp", what);
			cr_assert_eq(ptc_replace_check("out", &err), 0, "%s", err.msg);
			cr_assert_eq(ptc_replace("tmp", "out"), 0);
			cr_assert_eq(is("out"), what);
			cr_assert_eq(is("out.old"), i ? what - 1 : 0);
			cr_assert_eq(is("tmp"), 0);
		}
		cr_assert(!ptc_replace_remove("out") && !ptc_replace_remove("out.old"));
	}
}

static void refused(int code, const char *words)
{
	cr_assert_eq(ptc_replace_check("out", &err), code);
	cr_assert(strstr(err.msg, words), "%s", err.msg);
}

Test(replace, a_folder_with_anything_else_in_it_is_not_touched)
{
	folder("out", '1');
	cr_assert_eq(mkdir("empty", 0700), 0);
	file("out/notes.txt", 'n');
	refused(PTC_E_USAGE, "'out' is a folder without a recording");
	cr_assert_eq(rename("out", "out.old"), 0);
	refused(PTC_E_USAGE, "'out.old' is a folder without a recording");
	file("tmp", '2');
	file("out", '1');
	cr_assert_eq(ptc_replace("tmp", "out"), -1, "nor if it came in the meantime");
	cr_assert_eq(is("out"), '1', "which stays");
	cr_assert_eq(is("out.old/notes.txt"), 'n');
	cr_assert_eq(unlink("out"), 0);
	cr_assert_eq(rename("empty", "out"), 0);
	refused(PTC_E_USAGE, "'out' is a folder without a recording");
}

Test(replace, nothing_behind_a_link_is_removed)
{
	folder("mine", '1');
	cr_assert_eq(mkdir("out.old", 0700), 0);
	file("out.old/data", '2');
	cr_assert_eq(symlink("../mine", "out.old/kcore_dir"), 0);
	file("out", '3');
	file("tmp", '4');
	(void)ptc_replace("tmp", "out");
	cr_assert_eq(is("mine"), '1');
}

Test(replace, a_folder_of_uftrace_is_replaced_and_removed)
{
	int i;

	for (i = 0; i < 3; i++) {
		cr_assert_eq(mkdir("tmp", 0700), 0);
		file("tmp/info", 'i');
		file("tmp/17.dat", 'd');
		file("tmp/a b.sym", 's');
		file("tmp/sid-0000000070746361.map", 'm');
		cr_assert_eq(ptc_replace_check_folder("out", &err), 0, "%s", err.msg);
		cr_assert_eq(ptc_replace("tmp", "out"), 0);
	}
	file("out/notes.txt", 'n');
	refused(PTC_E_USAGE, "'out' is a folder without a recording");
	cr_assert_eq(unlink("out/notes.txt"), 0);
	cr_assert_eq(unlink("out/sid-0000000070746361.map"), 0);
	refused(PTC_E_USAGE, "'out' is a folder without a recording");
	cr_assert_eq(ptc_replace_remove("out"), 0);
	cr_assert_eq(ptc_replace_remove("out.old"), 0);
}

Test(replace, a_folder_like_that_of_uftrace_is_not_touched)
{
	static const char *const others[] = { ".secret.dat", "17.x.dat",      ".dat",
					      "17.dat.dat",  "17x.dat",	      "-1.dat",
					      "17.data",     "perf-cpu0.dat", "default.opts" };
	const char *const map = "out/sid-0000000070746361.map";
	char name[64];
	size_t i;

	cr_assert_eq(mkdir("out", 0700), 0);
	file("out/info", 'i');
	file("out/17.dat", 'd');
	file("out/sid-0123456789abcdef.map", 'm');
	refused(PTC_E_USAGE, "'out' is a folder without a recording");
	cr_assert_eq(rename("out/sid-0123456789abcdef.map", map), 0);
	cr_assert_eq(ptc_replace_check("out", &err), 0, "%s", err.msg);
	for (i = 0; i < sizeof(others) / sizeof(*others); i++) {
		(void)snprintf(name, sizeof(name), "out/%s", others[i]);
		file(name, 'o');
		refused(PTC_E_USAGE, "'out' is a folder without a recording");
		cr_assert_eq(unlink(name), 0);
	}
	cr_assert_eq(rename(map, "out/sid-0123456789abcdef.map"), 0);
	file("out/.secret.dat", 's');
	cr_assert_eq(ptc_replace_remove("out"), -1);
	cr_assert_eq(is("out/sid-0123456789abcdef.map"), 'm');
	cr_assert_eq(is("out/.secret.dat"), 's');
}

Test(replace, an_output_that_is_a_folder_fills_an_empty_folder)
{
	cr_assert_eq(mkdir("out", 0700), 0);
	refused(PTC_E_USAGE, "'out' is a folder without a recording");
	cr_assert_eq(ptc_replace_check_folder("out", &err), 0, "%s", err.msg);
	folder("tmp", '1');
	cr_assert_eq(ptc_replace("tmp", "out"), 0);
	cr_assert_eq(is("out"), '1');
	cr_assert_eq(is("out.old"), 0);
}
