/* SPDX-License-Identifier: MIT */
/*
 * Gives the program its environment and its name before its first instruction. Both were passed in
 * a form to which QEMU does not react (hidden_environ.h).
 */
#include <fcntl.h>
#include <linux/prctl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "capture/emu/hidden_environ.h"
#include "capture/emu/plugin.h"

enum { START_CODE = 26, START_DATA = 45 }; /* numbers of fields in /proc/PID/stat */

static const char gives_up[] = "ptcap: cannot pass the environment: this QEMU has an unknown "
			       "register layout; use --source step\n";

/* The range of a list's strings in guest memory, as host addresses. */
struct strings {
	uint64_t start, end;
};

/* Reads the list of string pointers at @at; the strings are consecutive. Returns the list's end. */
static const uint64_t *read_list(const uint64_t *at, struct strings *ret)
{
	*ret = (struct strings){ 0, 0 };
	for (; *at; at++) {
		const uint64_t string = *at + ptc_emu_proc.base;

		if (!ret->start)
			ret->start = string;
		ret->end = string + strlen((const char *)string) + 1;
	}
	return at;
}

/* Reads @n numbers from field @first of /proc/self/stat on. Returns false if they are missing. */
static bool read_stat(const char *text, int first, size_t n, __u64 *const *ret)
{
	/* after field 2, the name, which may contain any character */
	const char *p = strrchr(text, ')');
	int field = 2;
	char *end;

	for (; p && field < first; field++)
		p = strchr(p + 1, ' ');
	for (; p && n; n--, p = end)
		*(*ret++) = strtoull(p, &end, 10);
	return p;
}

/*
 * Makes the kernel show the program's arguments and environment in /proc/PID/cmdline and environ,
 * as in the guest's memory: other programs look there. Without CONFIG_CHECKPOINT_RESTORE the kernel
 * shows QEMU's.
 */
static void show_to_others(const struct strings *args, const struct strings *env)
{
	struct prctl_mm_map map = { .exe_fd = (__u32)-1, .brk = (__u64)(uintptr_t)sbrk(0) };
	__u64 *code[] = { &map.start_code, &map.end_code, &map.start_stack };
	__u64 *data[] = { &map.start_data, &map.end_data, &map.start_brk };
	const int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	char text[1024];
	ssize_t n = 0;

	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		(void)close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
	if (!read_stat(text, START_CODE, 3, code) || !read_stat(text, START_DATA, 3, data))
		return;
	map.arg_start = args->start;
	map.arg_end = args->end;
	map.env_start = env->start ? env->start : args->end;
	map.env_end = env->start ? env->end : args->end;
	(void)prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof(map), 0);
}

/* Handles the guest's memory at @rsp: argc, argv..., NULL, envp..., NULL, auxiliary vector. */
static void show_initial_stack(uint64_t rsp)
{
	const uint64_t *at = (const uint64_t *)(rsp + ptc_emu_proc.base);
	struct strings args, env;
	const uint64_t *p;

	at = read_list(at + 1, &args) + 1;
	for (p = at; *p; p++)
		ptc_emu_environ_flip((char *)(*p + ptc_emu_proc.base));
	p = read_list(at, &env);
	ptc_emu_proc.auxv = (uint64_t)(uintptr_t)(p + 1) - ptc_emu_proc.base;
	show_to_others(&args, &env);
}

void ptc_emu_begin(const uint64_t *env, uint64_t start)
{
	static bool begun; /* the block may be entered again */
	char **p;

	if (begun)
		return;
	begun = true;
	if (!ptc_emu_know_env(env, start)) {
		(void)!write(STDERR_FILENO, gives_up, sizeof(gives_up) - 1);
		_exit(125);
	}
	show_initial_stack(env[PTC_ENV_RSP]);
	ptc_emu_tell_stack(&ptc_emu_me, env[PTC_ENV_RSP]);
	for (p = environ; *p; p++) /* QEMU reads TMPDIR */
		ptc_emu_environ_flip(*p);
	(void)prctl(PR_SET_NAME, ptc_emu_proc.comm);
}
