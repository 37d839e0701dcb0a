/* SPDX-License-Identifier: MIT */
#include "capture/emu/lack.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* A call has one bit, however many numbers it has. */
static const struct {
	long num;
	const char *name;
} calls[] = {
	{ SYS_ptrace, "ptrace" },
	{ SYS_seccomp, "seccomp" },
	{ SYS_perf_event_open, "perf_event_open" },
	{ SYS_bpf, "bpf" },
	{ SYS_userfaultfd, "userfaultfd" },
	{ SYS_io_uring_setup, "io_uring_setup" },
	{ SYS_unshare, "unshare of a user namespace" },
};

enum { NAME_SHOWN = 250 /* bytes */ };

enum { CALLS = sizeof(calls) / sizeof(calls[0]), SECCOMP = 1, UNSHARE = 6 };

unsigned int ptc_emu_lack(int64_t num, uint64_t arg, int64_t ret)
{
	unsigned int i;

	/* The older way, which QEMU refuses so that its own calls stay allowed. */
	if (num == SYS_prctl && arg == PR_SET_SECCOMP && ret == -EINVAL)
		return 1u << SECCOMP;
	/* QEMU has several threads, so the kernel refuses. */
	if (num == SYS_unshare && arg & CLONE_NEWUSER && ret == -EINVAL)
		return 1u << UNSHARE;
	for (i = 0; ret == -ENOSYS && i < CALLS; i++)
		if (calls[i].num == num)
			return 1u << i;
	return 0;
}

void ptc_emu_lack_names(unsigned int bits, char *out, size_t size)
{
	size_t n = 0;
	unsigned int i;

	out[0] = '\0';
	for (i = 0; i < CALLS && n < size; i++)
		if (bits >> i & 1)
			n += (size_t)snprintf(out + n, size - n, "%s%s", n ? ", " : "",
					      calls[i].name);
}

uint64_t ptc_emu_unfollowed_text(const struct ptc_emu_shared *sh, char *out, size_t size)
{
	static const char *const why[] = {
		[PTC_EMU_UNFOLLOWED_OTHER] = "cannot be read",
		[PTC_EMU_UNFOLLOWED_FOREIGN] = "is not for 64-bit x86",
		[PTC_EMU_UNFOLLOWED_ROOT] = "has another root directory, without QEMU",
		[PTC_EMU_UNFOLLOWED_USER] = "runs as another user, or in another IPC namespace",
	};
	const unsigned int n = atomic_load(&sh->unfollowed);
	const unsigned int first = atomic_load(&sh->unfollowed_why);

	out[0] = '\0';
	if (n && first < sizeof(why) / sizeof(why[0]))
		(void)snprintf(out, size, "'%.*s' %s", NAME_SHOWN, sh->unfollowed_path, why[first]);
	return n;
}
