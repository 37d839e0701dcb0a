/* SPDX-License-Identifier: MIT */
#include "capture/emu/lack.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static const char *const call_names[PTC_EMU_CALLS] = {
#include "capture/emu/call_names.h" /* made by the build, of <sys/syscall.h> */
	[PTC_EMU_RIGHTS] = "execve of a set-ID file",
	[PTC_EMU_INT80] = "int 0x80",
};

enum { NAME_SHOWN = 250 /* bytes */ };

/* The C library makes these, and does without them. */
static bool is_optional(int64_t num)
{
	return num == SYS_rseq || num == SYS_clone3 || num == SYS_set_robust_list;
}

int ptc_emu_lack(int64_t num, uint64_t arg, int64_t ret)
{
	/* The older way, which QEMU refuses so that its own calls stay allowed. */
	if (num == SYS_prctl && arg == PR_SET_SECCOMP && ret == -EINVAL)
		return SYS_seccomp;
	/* QEMU has several threads, so the kernel refuses. */
	if (num == SYS_unshare && arg & CLONE_NEWUSER && ret == -EINVAL)
		return SYS_unshare;
	/* So for setns, and QEMU itself refuses to clone with a new namespace. */
	if ((num == SYS_setns || num == SYS_clone) && ret == -EINVAL)
		return (int)num;
	return ret == -ENOSYS && num >= 0 && num < PTC_EMU_RIGHTS && !is_optional(num) ? (int)num :
											 -1;
}

void ptc_emu_lack_note(struct ptc_emu_shared *sh, int call)
{
	if (call >= 0)
		(void)atomic_fetch_or(&sh->lacking[call / 64], 1ull << call % 64);
}

/* "name", or the number of a call that is newer than this build's C library. */
static void name_of(int call, char *out, size_t size)
{
	if (call_names[call])
		(void)snprintf(out, size, "%s", call_names[call]);
	else
		(void)snprintf(out, size, "number %d", call);
}

void ptc_emu_lack_names(const struct ptc_emu_shared *sh, char *out, size_t size)
{
	char name[64], more[32];
	size_t n = 0, left = 0;
	int i;

	out[0] = '\0';
	for (i = 0; i < PTC_EMU_CALLS; i++) {
		if (!(atomic_load(&sh->lacking[i / 64]) >> i % 64 & 1))
			continue;
		name_of(i, name, sizeof(name));
		/* With room for how many more there are. */
		if (left || n + strlen(name) + sizeof(more) > size)
			left++;
		else
			n += (size_t)snprintf(out + n, size - n, "%s%s", n ? ", " : "", name);
	}
	if (left && n < size)
		(void)snprintf(out + n, size - n, "%s%zu more", n ? ", " : "", left);
}

uint64_t ptc_emu_unfollowed_text(const struct ptc_emu_shared *sh, char *out, size_t size)
{
	static const char *const why[] = {
		[PTC_EMU_UNFOLLOWED_OTHER] = "cannot be read",
		[PTC_EMU_UNFOLLOWED_FOREIGN] = "is not a 64-bit x86 program",
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
