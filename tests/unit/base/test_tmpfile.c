/* SPDX-License-Identifier: MIT */
/* Description: output files appear complete, or not at all. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/tmpfile.h"
#include "lib_skip.h"

/* Each test runs with both ways to open a file. */
static int (*open_it)(struct ptc_tmpfile *t, const char *path, struct ptc_err *err);

#define BOTH(name)                                                                                 \
	static void name##_with(void);                                                             \
	Test(tmpfile, name)                                                                        \
	{                                                                                          \
		open_it = ptc_tmpfile_open;                                                        \
		name##_with();                                                                     \
	}                                                                                          \
	Test(tmpfile, name##_named)                                                                \
	{                                                                                          \
		open_it = ptc_tmpfile_open_named;                                                  \
		name##_with();                                                                     \
	}                                                                                          \
	static void name##_with(void)

static char dir[64];
static char path[128];

static void in_folder(void)
{
	(void)snprintf(dir, sizeof(dir), "/tmp/ptcap-tmpfile-XXXXXX");
	cr_assert_not_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/out", dir);
}

/* Returns the number of files in the folder. With @clean, removes them all. */
static int files(bool clean)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int n = 0;

	cr_assert_not_null(d);
	while ((e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		n++;
		if (clean)
			cr_assert_eq(unlinkat(dirfd(d), e->d_name, 0), 0);
	}
	cr_assert_eq(closedir(d), 0);
	return n;
}

static void remove_folder(void)
{
	(void)files(true);
	(void)rmdir(dir);
}

static void write_whole(const char *name, const char *text)
{
	struct ptc_tmpfile t;
	struct ptc_err err;

	cr_assert_eq(open_it(&t, name, &err), 0);
	cr_assert_eq(ptc_write_all(t.fd, text, strlen(text), name, &err), 0);
	cr_assert_eq(ptc_tmpfile_commit(&t, &err), 0);
	cr_assert_eq(t.fd, -1);
	cr_assert_null(t.tmp);
}

static void check_content(const char *name, const char *text)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err err;

	cr_assert_eq(ptc_read_file(name, 1000, &b, &err), 0);
	cr_assert_str_eq((char *)b.bytes, text);
	ptc_buf_release(&b);
}

TestSuite(tmpfile, .init = in_folder, .fini = remove_folder);

BOTH(nothing_under_the_name_until_commit)
{
	struct ptc_tmpfile t;
	struct ptc_err err;

	cr_assert_eq(open_it(&t, path, &err), 0);
	cr_assert_eq(access(path, F_OK), -1);
	cr_assert_eq(files(false), open_it == ptc_tmpfile_open_named,
		     "no name at all, or one in the same folder, so that rename works");
	ptc_tmpfile_release(&t);
	cr_assert_eq(files(false), 0, "what is not committed leaves nothing");
	ptc_tmpfile_release(&t);
}

BOTH(commit_gives_it_the_name_and_it_is_its_owner_s_alone)
{
	struct stat st;
	mode_t mask = umask(02);

	write_whole(path, "one");
	(void)umask(mask);
	cr_assert_eq(files(false), 1);
	check_content(path, "one");
	cr_assert_eq(stat(path, &st), 0);
	cr_assert_eq(st.st_mode & 0777, 0600);
}

BOTH(the_former_file_is_kept_as_old)
{
	char old[140];

	(void)snprintf(old, sizeof(old), "%s.old", path);
	write_whole(path, "one");
	write_whole(path, "two");
	check_content(path, "two");
	check_content(old, "one");
	write_whole(path, "three");
	check_content(old, "two");
	cr_assert_eq(files(false), 2);
}

BOTH(a_failed_write_leaves_the_former_file)
{
	struct ptc_tmpfile t;
	struct ptc_err err;

	write_whole(path, "one");
	cr_assert_eq(open_it(&t, path, &err), 0);
	cr_assert_eq(ptc_write_all(t.fd, "half", 4, path, &err), 0);
	ptc_tmpfile_release(&t);
	check_content(path, "one");
	cr_assert_eq(files(false), 1);
}

BOTH(a_folder_that_took_the_name_meanwhile_is_kept_as_old)
{
	struct ptc_tmpfile t;
	struct ptc_err err;
	struct stat st;
	char old[140];

	(void)snprintf(old, sizeof(old), "%s.old", path);
	cr_assert_eq(open_it(&t, path, &err), 0);
	cr_assert_eq(mkdir(path, 0777), 0);
	cr_assert_eq(ptc_tmpfile_commit(&t, &err), 0);
	check_content(path, "");
	cr_assert_eq(stat(old, &st), 0);
	cr_assert(S_ISDIR(st.st_mode));
	cr_assert_eq(rmdir(old), 0);
}

BOTH(a_commit_that_fails_leaves_nothing)
{
	char old[140], inside[150];
	struct ptc_tmpfile t;
	struct ptc_err err;

	(void)snprintf(old, sizeof(old), "%s.old", path);
	(void)snprintf(inside, sizeof(inside), "%s/notes", old);
	write_whole(path, "one");
	cr_assert_eq(open_it(&t, path, &err), 0);
	/* A folder that is no recording is never replaced. */
	cr_assert(!mkdir(old, 0777) && !mkdir(inside, 0777));
	cr_assert_lt(ptc_tmpfile_commit(&t, &err), 0);
	cr_assert(!rmdir(inside) && !rmdir(old));
	cr_assert_eq(files(false), 1, "the temporary file is gone");
	check_content(path, "one");
}

BOTH(a_link_is_renamed_and_the_file_behind_it_stays)
{
	char target[140], old[140];
	struct stat st;

	(void)snprintf(target, sizeof(target), "%s/target", dir);
	(void)snprintf(old, sizeof(old), "%s.old", path);
	write_whole(target, "one");
	cr_assert_eq(symlink(target, path), 0);
	write_whole(path, "two");
	check_content(target, "one");
	cr_assert(!lstat(path, &st) && S_ISREG(st.st_mode));
	check_content(path, "two");
	cr_assert(!lstat(old, &st) && S_ISLNK(st.st_mode));
	write_whole(path, "three");
	check_content(target, "one");
	check_content(old, "two");
}

BOTH(a_link_to_a_folder_is_renamed)
{
	char target[140], slash[140];
	struct stat st;

	(void)snprintf(target, sizeof(target), "%s/target", dir);
	(void)snprintf(slash, sizeof(slash), "%s/", path);
	cr_assert(!mkdir(target, 0700) && !symlink(target, path));
	write_whole(slash, "one");
	check_content(path, "one");
	cr_assert(!lstat(target, &st) && S_ISDIR(st.st_mode));
	cr_assert_eq(rmdir(target), 0);
}

BOTH(a_link_to_a_device_or_fifo_stays)
{
	char target[140];
	struct ptc_tmpfile t;
	struct ptc_err err;
	struct stat st;

	(void)snprintf(target, sizeof(target), "%s/target", dir);
	cr_assert(!mkfifo(target, 0600) && !symlink(target, path));
	cr_assert_eq(open_it(&t, path, &err), PTC_E_USAGE);
	cr_assert(strstr(err.msg, "not a regular file"), "%s", err.msg);
	cr_assert(!unlink(path) && !symlink("/dev/null", path));
	cr_assert_eq(open_it(&t, path, &err), PTC_E_USAGE);
	cr_assert(!lstat(path, &st) && S_ISLNK(st.st_mode));
}

BOTH(a_link_to_nothing_is_replaced)
{
	char old[160];
	struct stat st;

	cr_assert_eq(symlink("nothing", path), 0);
	write_whole(path, "one");
	check_content(path, "one");
	cr_assert(!lstat(path, &st) && S_ISREG(st.st_mode));
	(void)snprintf(old, sizeof(old), "%s.old", path);
	cr_assert(!lstat(old, &st) && S_ISLNK(st.st_mode));
}

/* Runs as an unprivileged user, which only root can become. */
BOTH(what_is_others_in_a_sticky_folder_is_refused_at_once)
{
	enum { OTHER = 65534, US = 1 };
	struct ptc_tmpfile t;
	struct ptc_err err;
	char old[160];

	skip_without_root();
	(void)snprintf(old, sizeof(old), "%s.old", path);
	write_whole(path, "one");
	cr_assert(!chmod(dir, 01777) && !chown(path, OTHER, OTHER) && !seteuid(US));
	cr_assert_eq(open_it(&t, path, &err), PTC_E_PERM);
	cr_assert(strstr(err.msg, "belongs to another user"));
	cr_assert(!seteuid(0) && !rename(path, old) && !seteuid(US));
	cr_assert_eq(open_it(&t, path, &err), PTC_E_PERM, "nor can it become what is others'");
	cr_assert(!seteuid(0) && !chown(old, US, US) && !seteuid(US));
	write_whole(path, "two");
	cr_assert(!seteuid(0));
	check_content(path, "two");
}

BOTH(what_is_no_file_is_refused)
{
	struct ptc_tmpfile t;
	struct ptc_err err;

	cr_assert_eq(open_it(&t, dir, &err), PTC_E_USAGE);
	cr_assert_eq(open_it(&t, "/dev/null", &err), PTC_E_USAGE);
	cr_assert_eq(mkfifo(path, 0600), 0);
	cr_assert_eq(open_it(&t, path, &err), PTC_E_USAGE, "nobody is waited for");
	cr_assert_eq(open_it(&t, "", &err), PTC_E_USAGE);
	cr_assert_eq(open_it(&t, "/nonexistent/x", &err), PTC_E_NOT_EXIST);
	cr_assert(strstr(err.msg, "'/nonexistent/x'"));
	cr_assert_eq(open_it(&t, "/nonexistent/", &err), PTC_E_USAGE);
	cr_assert_eq(open_it(&t, "/", &err), PTC_E_USAGE);
	cr_assert_eq(open_it(&t, ".", &err), PTC_E_USAGE);
	cr_assert_eq(open_it(&t, "/tmp/..", &err), PTC_E_USAGE);
	ptc_tmpfile_release(&t);
}
