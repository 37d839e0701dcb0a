/* SPDX-License-Identifier: MIT */
/* Description: names chosen by an untrusted party open only regular files below the root. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/untrusted.h"
#include "lib_elf.h"

static char dir[64];
static struct ptc_err err;

static void make(void)
{
	le_folder(dir, sizeof(dir));
	cr_assert_eq(chdir(dir), 0);
	cr_assert(!mkdir("root", 0700) && !mkdir("root/sub", 0700));
}

static void away(void)
{
	cr_assert_eq(chdir("/"), 0);
	le_folder_remove(dir);
}

TestSuite(untrusted, .init = make, .fini = away);

static void file(const char *path, const char *text)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	cr_assert(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && !close(fd));
}

static void socket_at(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	cr_assert(fd >= 0 && !bind(fd, (struct sockaddr *)&a, sizeof(a)) && !close(fd));
}

/* Returns an inotify descriptor that reports each open of @path. */
static int watched(const char *path)
{
	const int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	cr_assert(fd >= 0 && inotify_add_watch(fd, path, IN_OPEN) >= 0);
	return fd;
}

static bool was_opened(int watch)
{
	char events[4096];
	const ssize_t n = read(watch, events, sizeof(events));

	(void)close(watch);
	return n > 0;
}

/*
 * Opens @path with openat2 and component by component. Both must give the content @text, or @code
 * if @text is NULL.
 */
static void opens(const char *path, struct ptc_untrusted how, const char *text, int code)
{
	char bytes[64] = "";
	struct stat st;
	int fd, way;

	for (way = 0; way < 2; way++) {
		how.by_hand = way;
		fd = ptc_untrusted_open(path, &how, &st, &err);
		if (text) {
			cr_assert_geq(fd, 0, "%s: %s", path, err.msg);
			cr_assert_eq(read(fd, bytes, sizeof(bytes) - 1), (ssize_t)strlen(text));
			cr_assert(!strcmp(bytes, text), "%s has '%s'", path, bytes);
			cr_assert_eq(st.st_size, (off_t)strlen(text));
			cr_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
			cr_assert_eq(close(fd), 0);
		} else {
			cr_assert_eq(fd, code, "%s: %d, %s", path, fd, err.msg);
			cr_assert(strstr(err.msg, path), "%s", err.msg);
		}
	}
}

static const struct ptc_untrusted anywhere;
#define BELOW ((struct ptc_untrusted){ .root = strlen("root") })

Test(untrusted, a_regular_file_is_opened)
{
	file("root/sub/f", "text");
	opens("root/sub/f", anywhere, "text", 0);
	opens("root/sub/f", BELOW, "text", 0);
	opens("root//sub/.//f", BELOW, "text", 0);
	file("root/empty", "");
	opens("root/empty", BELOW, "", 0);
}

/* Checks that @path and a link to it are never opened, below a root and without a root. */
static void is_never_opened(const char *path, const char *kind)
{
	const int watch = watched(path);
	char *link;

	opens(path, anywhere, NULL, PTC_E_UNSUPPORTED);
	cr_assert(strstr(err.msg, kind), "%s", err.msg);
	cr_assert(strstr(err.msg, "ptcap opens regular files only"), "%s", err.msg);
	opens(path, BELOW, NULL, PTC_E_UNSUPPORTED);
	cr_assert(strstr(err.msg, kind), "%s", err.msg);
	cr_assert_gt(asprintf(&link, "%s.link", path), 0);
	cr_assert_eq(symlink(strrchr(path, '/') + 1, link), 0);
	opens(link, anywhere, NULL, PTC_E_UNSUPPORTED);
	opens(link, BELOW, NULL, PTC_E_UNSUPPORTED);
	cr_assert(strstr(err.msg, kind), "%s", err.msg);
	free(link);
	cr_assert_not(was_opened(watch), "%s was opened", path);
}

Test(untrusted, a_fifo_is_not_opened, .timeout = 60)
{
	cr_assert_eq(mkfifo("root/fifo", 0600), 0);
	is_never_opened("root/fifo", "it is a FIFO");
}

Test(untrusted, a_socket_is_not_opened)
{
	socket_at("root/socket");
	is_never_opened("root/socket", "it is a socket");
}

Test(untrusted, a_folder_is_not_opened)
{
	is_never_opened("root/sub", "it is a folder");
}

Test(untrusted, a_device_is_not_opened)
{
	const int watch = watched("/dev/full");

	cr_assert_eq(symlink("/dev/full", "root/device"), 0);
	opens("/dev/full", anywhere, NULL, PTC_E_UNSUPPORTED);
	cr_assert(strstr(err.msg, "it is a character device"), "%s", err.msg);
	opens("root/device", anywhere, NULL, PTC_E_UNSUPPORTED);
	opens("/dev/full", (struct ptc_untrusted){ .root = strlen("/dev") }, NULL,
	      PTC_E_UNSUPPORTED);
	opens("root/device", BELOW, NULL, PTC_E_NOT_EXIST);
	cr_assert_not(was_opened(watch));
}

Test(untrusted, a_file_that_the_kernel_makes_is_opened_only_if_the_user_named_it)
{
	const char path[] = "/proc/sys/kernel/osrelease";
	struct ptc_untrusted how = { .max = 4096 };
	struct ptc_buf b = PTC_BUF_INIT;
	struct stat st;

	opens(path, anywhere, NULL, PTC_E_UNSUPPORTED);
	cr_assert_eq(ptc_untrusted_read(path, &how, &b, &st, &err), PTC_E_UNSUPPORTED);
	how.kernel = true;
	cr_assert_eq(ptc_untrusted_read(path, &how, &b, &st, &err), 0, "%s", err.msg);
	cr_assert_gt(b.len, 0);
	ptc_buf_release(&b);
}

Test(untrusted, what_is_not_there_is_not_there)
{
	cr_assert_eq(symlink("nothing", "root/dangling"), 0);
	cr_assert_eq(symlink("loop", "root/loop"), 0);
	file("root/f", "text");
	opens("root/nothing", anywhere, NULL, PTC_E_NOT_EXIST);
	opens("root/nothing", BELOW, NULL, PTC_E_NOT_EXIST);
	opens("root/dangling", anywhere, NULL, PTC_E_NOT_EXIST);
	opens("root/dangling", BELOW, NULL, PTC_E_NOT_EXIST);
	opens("root/loop", BELOW, NULL, PTC_E_IO);
	opens("root/f/", BELOW, NULL, PTC_E_IO);
	opens("root/f/g", BELOW, NULL, PTC_E_IO);
	opens("nowhere/f", (struct ptc_untrusted){ .root = strlen("nowhere") }, NULL,
	      PTC_E_NOT_EXIST);
}

/* Links and ".." that would leave the root resolve below it, as if the root were "/". */
Test(untrusted, nothing_leads_out_of_the_root)
{
	char outside[128];

	(void)snprintf(outside, sizeof(outside), "%s/secret", dir);
	file("secret", "outside");
	cr_assert_eq(symlink(outside, "root/absolute"), 0);
	cr_assert_eq(symlink("../secret", "root/relative"), 0);
	cr_assert_eq(symlink("../../../secret", "root/sub/deep"), 0);
	cr_assert_eq(symlink("..", "root/up"), 0);
	opens("root/absolute", anywhere, "outside", 0);
	opens("root/absolute", BELOW, NULL, PTC_E_NOT_EXIST);
	opens("root/relative", anywhere, "outside", 0);
	opens("root/relative", BELOW, NULL, PTC_E_NOT_EXIST);
	opens("root/sub/deep", BELOW, NULL, PTC_E_NOT_EXIST);
	opens("root/../secret", BELOW, NULL, PTC_E_NOT_EXIST);
	opens("root/up/secret", BELOW, NULL, PTC_E_NOT_EXIST);
	file("root/secret", "inside");
	opens("root/relative", BELOW, "inside", 0);
	opens("root/sub/deep", BELOW, "inside", 0);
	opens("root/../secret", BELOW, "inside", 0);
	opens("root/sub/../../../secret", BELOW, "inside", 0);
	opens("root/up/up/secret", BELOW, "inside", 0);
	cr_assert(!unlink("root/absolute") && !symlink("/sub/g", "root/absolute"));
	file("root/sub/g", "inside, too");
	opens("root/absolute", BELOW, "inside, too", 0);
	cr_assert_eq(symlink("/sub/g", "root/sub/absolute"), 0);
	opens("root/sub/absolute", BELOW, "inside, too", 0);
}

/* /proc/self/fd/N can refer to any file without a path. */
Test(untrusted, no_magic_link_leads_out_of_the_root)
{
	struct ptc_untrusted how = { .root = strlen("/proc") };
	const int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	struct stat st;
	char path[64];

	cr_assert_geq(fd, 0);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	cr_assert_lt(ptc_untrusted_open(path, &how, &st, &err), 0);
	how.by_hand = true;
	cr_assert_lt(ptc_untrusted_open(path, &how, &st, &err), 0);
	(void)close(fd);
}

Test(untrusted, a_link_can_be_refused)
{
	struct ptc_untrusted how = { .no_link = true };

	file("root/f", "text");
	cr_assert(!symlink("f", "root/link") && !symlink("root", "folder"));
	opens("root/link", how, NULL, PTC_E_UNSUPPORTED);
	cr_assert(strstr(err.msg, "it is a symbolic link"), "%s", err.msg);
	opens("folder/f", how, "text", 0);
	how.root = strlen("root");
	opens("root/link", how, NULL, PTC_E_UNSUPPORTED);
	cr_assert(strstr(err.msg, "it is a symbolic link"), "%s", err.msg);
	opens("root/f", how, "text", 0);
}

Test(untrusted, a_limit_is_a_limit)
{
	struct ptc_untrusted how = { .max = 4 };
	struct ptc_buf b = PTC_BUF_INIT;
	struct stat st;

	file("root/f", "text");
	file("root/long", "texts");
	opens("root/f", how, "text", 0);
	opens("root/long", how, NULL, PTC_E_LIMIT);
	cr_assert_eq(ptc_untrusted_read("root/f", &how, &b, &st, &err), 0);
	cr_assert_str_eq((char *)b.bytes, "text");
	cr_assert_eq(ptc_untrusted_read("root/long", &how, &b, &st, &err), PTC_E_LIMIT);
	ptc_buf_release(&b);
}

Test(untrusted, an_entry_of_an_open_folder)
{
	const struct ptc_untrusted how = { .no_link = true };
	const int folder = open("root", O_RDONLY | O_DIRECTORY);
	struct stat st;
	int fd;

	file("root/f", "text");
	file("secret", "outside");
	fd = ptc_untrusted_open_at(folder, "f", "shown", &how, &st, &err);
	cr_assert(fd >= 0 && !close(fd));
	cr_assert_eq(ptc_untrusted_open_at(folder, "../secret", "shown", &how, &st, &err),
		     PTC_E_NOT_EXIST);
	cr_assert(strstr(err.msg, "'shown'"));
	(void)close(folder);
}

Test(untrusted, files_of_the_user_and_of_root_are_trusted)
{
	struct stat st = { .st_uid = 1000 };

	cr_assert_eq(ptc_untrusted_owner(&st, 1000, "f", "", &err), 0);
	cr_assert_eq(ptc_untrusted_owner(&st, 1001, "f", "; ask them", &err), PTC_E_PERM);
	cr_assert_str_eq(err.msg, "'f' belongs to user 1000, not to user 1001 or root; ask them");
	cr_assert_eq(ptc_untrusted_owner(&st, 0, "f", "", &err), PTC_E_PERM);
	st.st_uid = 0;
	cr_assert_eq(ptc_untrusted_owner(&st, 1001, "f", "", &err), 0);
}

/* --- another process changes the name during the open --- */

static void (*meanwhile)(void);

/*
 * Replaces the C library's function. The code calls it after checking the file and before opening
 * it.
 */
int fstatfs(int fd, struct statfs *ret)
{
	if (meanwhile)
		meanwhile();
	return (int)syscall(SYS_fstatfs, fd, ret);
}

static void becomes_fifo(void)
{
	cr_assert_eq(rename("other", "root/name"), 0);
	meanwhile = NULL;
}

Test(untrusted, the_file_that_was_looked_at_is_the_one_that_is_opened)
{
	struct ptc_untrusted how = BELOW;
	int way, fd, watch;
	struct stat st;
	char byte;

	for (way = 0; way < 4; way++) {
		file("root/name", "i");
		cr_assert_eq(mkfifo("other", 0600), 0);
		watch = watched("other");
		how.by_hand = way & 1;
		how.root = way & 2 ? strlen("root") : 0;
		meanwhile = becomes_fifo;
		fd = ptc_untrusted_open("root/name", &how, &st, &err);
		cr_assert_geq(fd, 0, "%s", err.msg);
		cr_assert_null(meanwhile);
		cr_assert(read(fd, &byte, 1) == 1 && byte == 'i' && !close(fd));
		cr_assert_not(was_opened(watch), "the FIFO was opened");
		cr_assert_eq(unlink("root/name"), 0);
	}
}

static atomic_bool ended;

/* "name" is alternately a file, a FIFO, and a link to the file outside. */
static void *swap(void *arg)
{
	while (!atomic_load(&ended)) {
		(void)rename("file", "root/name");
		(void)link("kept", "file");
		(void)rename("fifo", "root/name");
		(void)link("pipe", "fifo");
		(void)rename("link", "root/name");
		(void)symlink("../secret", "link");
	}
	return arg;
}

Test(untrusted, a_name_that_changes_meanwhile_gives_the_file_or_nothing, .timeout = 120)
{
	enum { TIMES = 3000 };
	struct ptc_untrusted how = BELOW;
	int watch, fifo, i, fd, got = 0;
	pthread_t thread;
	struct stat st;
	char byte;

	file("secret", "o");
	file("kept", "i");
	cr_assert(!link("kept", "file") && !mkfifo("pipe", 0600) && !link("pipe", "fifo"));
	cr_assert_eq(symlink("../secret", "link"), 0);
	watch = watched("secret");
	fifo = watched("pipe");
	cr_assert_eq(pthread_create(&thread, NULL, swap, NULL), 0);
	for (i = 0; i < TIMES || !got; i++) {
		how.by_hand = i & 1;
		fd = ptc_untrusted_open("root/name", &how, &st, &err);
		if (fd < 0)
			continue;
		cr_assert(!fstat(fd, &st) && S_ISREG(st.st_mode));
		cr_assert(read(fd, &byte, 1) == 1 && byte == 'i', "it is the one outside");
		cr_assert_eq(close(fd), 0);
		got++;
	}
	atomic_store(&ended, true);
	cr_assert_eq(pthread_join(thread, NULL), 0);
	cr_assert_not(was_opened(watch), "the file outside was opened");
	cr_assert_not(was_opened(fifo), "the FIFO was opened");
}
