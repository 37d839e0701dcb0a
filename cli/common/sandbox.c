/* SPDX-License-Identifier: MIT */
#include "cli/common/sandbox.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/common/cli.h"
#include "cli/common/landlock.h"
#include "cli/common/seccomp_filter.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
	__has_feature(memory_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif
#ifndef HAS_SANITIZER
#define HAS_SANITIZER 0
#endif

/* --- system calls that raise SIGSYS --- */

enum { BY_FILTER = 1 }; /* SYS_SECCOMP of asm-generic/siginfo.h, missing in glibc */

static void write_sigsys_text(const char *s)
{
	if (write(STDERR_FILENO, s, strlen(s)) < 0)
		return; /* no other message is possible */
}

static void put_number(unsigned int n)
{
	char digits[16], *p = digits + sizeof(digits) - 1;

	*p = '\0';
	do
		*--p = (char)('0' + n % 10);
	while (n /= 10);
	write_sigsys_text(p);
}

/* Runs in a signal handler: no stdio, no allocation. */
static void on_sys(int sig, siginfo_t *info, void *context)
{
	const char *name;

	(void)context;
	if (info->si_code != BY_FILTER) { /* sent by another process */
		(void)signal(sig, SIG_DFL);
		(void)raise(sig);
		return;
	}
	name = ptc_syscalls_name(info->si_syscall);
	write_sigsys_text("ptcap: the sandbox stopped system call ");
	put_number((unsigned int)info->si_syscall);
	if (name) {
		write_sigsys_text(" (");
		write_sigsys_text(name);
		write_sigsys_text(")");
	}
	write_sigsys_text(
		": the recording or one of its files is hostile, or this is a bug in ptcap; "
		"--no-sandbox allows all calls\n");
	_exit(PTC_EXIT_FAIL);
}

/* --- writable folders --- */

/* Create the folder @path and its parents. */
static void make_folders(char *path)
{
	char *slash = path;

	while ((slash = strchr(slash + 1, '/'))) {
		*slash = '\0';
		(void)mkdir(path, 0700);
		*slash = '/';
	}
	(void)mkdir(path, 0700);
}

/*
 * Returns the folder where libdebuginfod caches files: debuginfod_find_debuginfo(3), "CACHE".
 * Caller frees it. NULL: out of memory.
 */
static char *cache_folder(void)
{
	const char *asked = getenv("DEBUGINFOD_CACHE_PATH"), *xdg = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	struct stat st;
	char *path;
	int n;

	if (asked && *asked)
		return strdup(asked);
	if (!home)
		home = "";
	n = asprintf(&path, "%s/.debuginfod_client_cache", home);
	if (n >= 0 && !stat(path, &st))
		return path;
	if (n >= 0)
		free(path);
	if (xdg && *xdg)
		n = asprintf(&path, "%s/debuginfod_client", xdg);
	else
		n = asprintf(&path, "%s/.cache/debuginfod_client", home);
	return n < 0 ? NULL : path;
}

/* Returns the parent folder of @output. Caller frees it. NULL: out of memory. */
static char *output_folder(const char *output)
{
	size_t len = strlen(output);
	const char *slash;

	while (len > 1 && output[len - 1] == '/')
		len--;
	slash = memrchr(output, '/', len);
	return slash ? strndup(output, (size_t)(slash - output) + 1) : strdup(".");
}

/* --- entering --- */

static int say_sandbox_error(const char *what)
{
	ptc_say("cannot enter the sandbox: %s: %s; use --no-sandbox to run without it", what,
		strerror(errno));
	return PTC_EXIT_FAIL;
}

static bool has_servers(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls && urls[strspn(urls, " ")];
}

static int confine(const struct ptc_sandbox *s, const struct ptc_syscalls *calls, int version)
{
	char *output = calls->writes ? output_folder(s->output) : NULL;
	char *cache = calls->fetches ? cache_folder() : NULL;
	const char *folders[2];
	struct ptc_landlock l = { .folders = folders, .fetches = calls->fetches };
	int code = 0;

	if ((calls->writes && !output) || (calls->fetches && !cache)) {
		code = say_sandbox_error("memory");
	} else {
		if (output)
			folders[l.nfolders++] = output;
		if (cache) {
			make_folders(cache);
			folders[l.nfolders++] = cache;
		}
		if (ptc_landlock_enter(&l, version))
			code = say_sandbox_error("Landlock");
	}
	free(output);
	free(cache);
	return code;
}

static bool has_seccomp(void)
{
	uint32_t action = SECCOMP_RET_TRAP;

	return !syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0U, &action);
}

static int filter(const struct ptc_syscalls *calls)
{
	const struct sigaction act = { .sa_sigaction = on_sys, .sa_flags = SA_SIGINFO };
	struct sock_filter code[PTC_SYSCALLS_MAX];
	const struct sock_fprog prog = { .len = (unsigned short)ptc_syscalls_filter(calls, code),
					 .filter = code };
	sigset_t set;

	(void)sigaction(SIGSYS, &act, NULL);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGSYS);
	(void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	/*
	 * SPEC_ALLOW: before Linux 5.16 a filter enables slow mitigations, which protect against
	 * code in a browser's sandbox. They are not needed here, because all data of this process
	 * belong to one user.
	 */
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		    SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW, &prog))
		return say_sandbox_error("seccomp");
	return 0;
}

int ptc_sandbox_enter(const struct ptc_sandbox *s)
{
	struct ptc_syscalls calls = { .writes = s->output && strcmp(s->output, "-") != 0,
				      .fetches = s->finds_code && has_servers(),
				      .serves = s->serves };
	int version, code = 0;

	if (s->off || HAS_SANITIZER)
		return 0;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return 0; /* before Linux 3.5: no seccomp filters and no Landlock */
	version = ptc_landlock_version();
	calls.confined = version > 0;
	if (calls.confined)
		code = confine(s, &calls, version);
	if (!code && has_seccomp())
		code = filter(&calls);
	return code;
}
