/* SPDX-License-Identifier: MIT */
/* Description: SIGKILL before each system call with which a commit changes the folder. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/folder_out.h"
#include "base/replace.h"
#include "base/temp_name.h"
#include "base/tmpfile.h"
#include "fewer.h"
#include "lib_elf.h"

/* What a name refers to: nothing, or a recording with this content. */
enum { NOTHING, OLDER = 'b', OLD = 'a', NEW = 'n', NEXT = 'x' };

/* The form of a recording on disk. */
enum form { NONE, IN_FILE, IN_FOLDER, BEHIND_LINK };

/* How the commit is made. */
struct way {
	bool folder;	  /* the output is a folder, as with --kcore */
	bool named;	  /* a file system without O_TMPFILE */
	bool no_exchange; /* a file system that cannot exchange two names */
	bool no_links;	  /* a file system without hard links */
};

static const struct way ways[] = {
	{ .folder = false },
	{ .named = true },
	{ .folder = true },
	{ .no_exchange = true },
	{ .named = true, .no_exchange = true },
	{ .folder = true, .no_exchange = true },
	{ .named = true, .no_exchange = true, .no_links = true },
};

static char dir[64];

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

TestSuite(commit, .init = make, .fini = away);

/* --- recordings --- */

static void put_file(const char *path, char what)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);

	cr_assert(fd >= 0 && write(fd, &what, 1) == 1 && !close(fd), "%s: %m", path);
}

static void put(const char *path, enum form form, char what)
{
	char name[64];

	if (form == IN_FILE)
		put_file(path, what);
	if (form == BEHIND_LINK) {
		(void)snprintf(name, sizeof(name), "behind.%c", what);
		put_file(name, what);
		cr_assert(!symlink(name, path));
	}
	if (form != IN_FOLDER)
		return;
	cr_assert(!mkdir(path, 0700));
	(void)snprintf(name, sizeof(name), "%s/data", path);
	put_file(name, what);
	(void)snprintf(name, sizeof(name), "%s/kcore_dir", path);
	cr_assert(!mkdir(name, 0700));
	(void)snprintf(name, sizeof(name), "%s/kcore_dir/kcore", path);
	put_file(name, what);
}

static char byte_of(const char *path)
{
	char what = NOTHING;
	const int fd = open(path, O_RDONLY);

	if (fd >= 0) {
		(void)read(fd, &what, 1);
		(void)close(fd);
	}
	return what;
}

/*
 * Returns the content of the file, or of data and kcore in the folder. Both must belong to one
 * recording.
 */
static char is(const char *path)
{
	char data[64], kcore[64];
	struct stat st;

	if (lstat(path, &st))
		return NOTHING;
	if (!S_ISDIR(st.st_mode))
		return byte_of(path);
	(void)snprintf(data, sizeof(data), "%s/data", path);
	(void)snprintf(kcore, sizeof(kcore), "%s/kcore_dir/kcore", path);
	return byte_of(data) == byte_of(kcore) ? byte_of(data) : '?';
}

static int hidden(void)
{
	DIR *d = opendir(".");
	struct dirent *e;
	int n = 0;

	cr_assert_not_null(d);
	while ((e = readdir(d)))
		n += e->d_name[0] == '.' && strcmp(e->d_name, ".") != 0 &&
		     strcmp(e->d_name, "..") != 0;
	(void)closedir(d);
	return n;
}

static void clean(void)
{
	(void)ptc_replace_remove("out");
	(void)ptc_replace_remove("out.old");
	(void)unlink("behind.a");
	(void)unlink("behind.b");
	cr_assert_eq(hidden(), 0);
}

/* --- commits --- */

static int commit_file(const struct way *w, char what)
{
	struct ptc_tmpfile t;
	struct ptc_err err;
	int rc = (w->named ? ptc_tmpfile_open_named : ptc_tmpfile_open)(&t, "out", &err);

	if (rc || write(t.fd, &what, 1) != 1)
		return -1;
	return ptc_tmpfile_commit(&t, &err);
}

static int commit_folder(char what)
{
	struct ptc_folder_out o;
	struct ptc_err err;
	char name[128];
	int rc = ptc_folder_out_open(&o, "out", &err);

	if (rc)
		return rc;
	put_file(o.data, what);
	(void)snprintf(name, sizeof(name), "%s/kcore_dir", o.tmp);
	cr_assert(!mkdir(name, 0700));
	(void)snprintf(name, sizeof(name), "%s/kcore_dir/kcore", o.tmp);
	put_file(name, what);
	return ptc_folder_out_commit(&o, &err);
}

static int commit(const struct way *w, char what)
{
	return w->folder ? commit_folder(what) : commit_file(w, what);
}

/* --- kills --- */

static bool changes_folder(const struct user_regs_struct *r)
{
	switch (r->orig_rax) {
	case SYS_open:
		return r->rsi & O_CREAT;
	case SYS_openat:
		return r->rdx & O_CREAT;
	case SYS_rename:
	case SYS_renameat:
	case SYS_renameat2:
	case SYS_link:
	case SYS_linkat:
	case SYS_unlink:
	case SYS_unlinkat:
	case SYS_mkdir:
	case SYS_mkdirat:
	case SYS_rmdir:
		return true;
	default:
		return false;
	}
}

static int refusal(const struct way *w, const struct user_regs_struct *r)
{
	if (w->no_exchange && r->orig_rax == SYS_renameat2 && r->r8)
		return EINVAL;
	if (w->no_links && (r->orig_rax == SYS_link || r->orig_rax == SYS_linkat))
		return EPERM;
	return 0;
}

static int next_stop(pid_t pid)
{
	int status;

	cr_assert_eq(waitpid(pid, &status, 0), pid);
	return status;
}

/*
 * Commits NEW in a child that is killed just before its @n-th change. Returns true if it reached
 * that change.
 */
static bool commit_killed(const struct way *w, int n)
{
	const pid_t pid = fork();
	struct user_regs_struct r;
	int status, error = 0;
	bool entered = false;

	cr_assert(pid >= 0);
	if (!pid) {
		(void)ptrace(PTRACE_TRACEME, 0, 0, 0);
		(void)raise(SIGSTOP);
		_exit(commit(w, NEW) ? 1 : 0);
	}
	status = next_stop(pid);
	cr_assert(!ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_EXITKILL));
	for (; WIFSTOPPED(status); status = next_stop(pid)) {
		if (entered || WSTOPSIG(status) == SIGTRAP) {
			entered = !entered;
			cr_assert(!ptrace(PTRACE_GETREGS, pid, 0, &r));
			if (entered && changes_folder(&r) && !--n) {
				(void)kill(pid, SIGKILL);
				(void)next_stop(pid);
				return true;
			}
			if (entered)
				error = refusal(w, &r);
			if (error && entered)
				r.orig_rax = (unsigned long long)-1;
			else if (error)
				r.rax = (unsigned long long)-error;
			if (error)
				cr_assert(!ptrace(PTRACE_SETREGS, pid, 0, &r));
		}
		cr_assert(!ptrace(PTRACE_SYSCALL, pid, 0, 0));
	}
	cr_assert(WIFEXITED(status) && !WEXITSTATUS(status), "way %zd: the commit failed: 0x%x",
		  w - ways, (unsigned int)status);
	return false;
}

/* --- what must hold after a kill --- */

#define HOLDS(condition)                                                                           \
	cr_assert(condition, "%s: way %zd, kill %d: out '%c', out.old '%c', %d hidden",            \
		  #condition, w - ways, n, out, old, nhidden)

/* @was: the recording that had the name before; @older: the recording that had .old. */
static void check_killed(const struct way *w, int n, bool killed, char was, char older)
{
	const char out = is("out"), old = is("out.old");
	const int nhidden = hidden();

	HOLDS(out == NEW || (killed && (out == was || (w->no_exchange && old == was))));
	HOLDS(!was || out == was || old == was);
	HOLDS(was || old == older);
	HOLDS(nhidden <= (killed && (w->named || w->folder || w->no_exchange)));
	HOLDS(out != NEW || !was || old == was);
}

static void try_each(const struct way *w, enum form of_out, enum form of_old)
{
	const char was = of_out ? OLD : NOTHING, older = of_old ? OLDER : NOTHING;
	bool killed = true;
	char before;
	int n;

	for (n = 1; killed; n++) {
		put("out", of_out, OLD);
		put("out.old", of_old, OLDER);
		killed = commit_killed(w, n);
		check_killed(w, n, killed, was, older);
		before = is("out");
		cr_assert_eq(commit(w, NEXT), 0, "way %zd, kill %d: the next run", w - ways, n);
		cr_assert_eq(is("out"), NEXT);
		cr_assert(!before || is("out.old") == before);
		cr_assert_eq(hidden(), 0, "way %zd, kill %d: the next run left a name", w - ways,
			     n);
		clean();
	}
	cr_assert_gt(n, 2, "nothing was killed");
}

Test(commit, killed_at_each_change_both_recordings_are_whole_under_plain_names)
{
	static const enum form forms[][2] = {
		{ NONE, NONE },		  { NONE, IN_FILE },	    { IN_FILE, NONE },
		{ IN_FILE, IN_FILE },	  { IN_FILE, IN_FOLDER },   { IN_FOLDER, IN_FILE },
		{ IN_FOLDER, IN_FOLDER }, { BEHIND_LINK, IN_FILE },
	};
	enum { STEP = FEWER(1, 3) };
	size_t i, k;

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		/* Each way begins at another form. */
		for (k = i % STEP; k < sizeof(forms) / sizeof(forms[0]); k += STEP)
			try_each(&ways[i], forms[k][0], forms[k][1]);
}

/* --- which leftovers are removed --- */

Test(commit, a_name_whose_process_lives_stays)
{
	struct ptc_tmpfile t, other;
	struct ptc_folder_out o;
	struct ptc_err err;

	cr_assert(!ptc_tmpfile_open_named(&t, "out", &err));
	cr_assert(!ptc_folder_out_open(&o, "folder", &err));
	cr_assert_eq(hidden(), 2);
	cr_assert(!ptc_tmpfile_open(&other, "other", &err));
	cr_assert_eq(hidden(), 2);
	cr_assert(!ptc_tmpfile_commit(&other, &err) && !ptc_tmpfile_commit(&t, &err));
	put_file(o.data, NEW);
	cr_assert(!ptc_folder_out_commit(&o, &err));
	cr_assert_eq(is("folder/data"), NEW);
	cr_assert_eq(hidden(), 0);
}

Test(commit, only_names_of_ours_are_swept)
{
	static const char *const kept[] = { ".ptcap-tmp-abcdeF", ".ptcap-tmp-abcdefg",
					    ".ptcap-tmp-", "ptcap-tmp-abcdef" };
	size_t i;

	for (i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		put_file(kept[i], 'k');
	put_file("precious", 'p');
	put_file(".ptcap-tmp-abcdef", 'l');
	cr_assert(!mkdir(".ptcap-tmp-abcde0", 0700) && !mkdir(".ptcap-tmp-abcde1", 0700));
	put_file(".ptcap-tmp-abcde0/data", 'l');
	put_file(".ptcap-tmp-abcde0/.ptcap-tmp-abcdef", 'l');
	put_file(".ptcap-tmp-abcde1/notes", 'k');
	cr_assert(!symlink("precious", ".ptcap-tmp-abcde2") && !mkfifo(".ptcap-tmp-abcde3", 0600));
	ptc_hidden_sweep("out");
	cr_assert_eq(access(".ptcap-tmp-abcdef", F_OK), -1);
	cr_assert_eq(access(".ptcap-tmp-abcde0", F_OK), -1);
	cr_assert_eq(is(".ptcap-tmp-abcde1/notes"), 'k', "what is no recording stays");
	cr_assert_eq(access(".ptcap-tmp-abcde2", F_OK) || access(".ptcap-tmp-abcde3", F_OK), 0);
	for (i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		cr_assert_eq(is(kept[i]), 'k', "%s", kept[i]);
	cr_assert_eq(is("precious"), 'p');
}
