/* SPDX-License-Identifier: MIT */
#include "capture/session/capabilities.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "capture/perf/open_error_text.h"

/* Headers before Linux 5.8 lack this name. */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif

enum { CAPS_MAX = 64 };

#define BIT(cap) (UINT64_C(1) << (cap))

/* --- capabilities to keep --- */

/*
 * Returns true if the folder of @path may belong to another user. Ownership does not help there:
 * creating and renaming files needs CAP_DAC_OVERRIDE, and CAP_FOWNER in a sticky folder.
 */
static bool is_elsewhere(const char *path)
{
	size_t len = path ? strlen(path) : 0;
	const char *slash;
	char *folder;
	struct stat st;
	bool ret;

	if (!path)
		return false;
	while (len > 1 && path[len - 1] == '/')
		len--;
	slash = memrchr(path, '/', len);
	folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	ret = !folder || stat(folder, &st) || st.st_uid != geteuid();
	free(folder);
	return ret;
}

uint64_t ptc_rights_needed(const struct ptc_record_opts *o, bool steps,
			   const struct ptc_rights_kernel *k)
{
	/* /proc/PID/{maps,root,mem,exe} and PTRACE_SEIZE for processes of other users. */
	uint64_t keep = BIT(CAP_SYS_PTRACE);

	/* Executed files in private folders of other users: their build-ids and code are read. */
	keep |= BIT(CAP_DAC_READ_SEARCH);
	if (is_elsewhere(o->output.path) || is_elsewhere(o->rights.other_output))
		keep |= BIT(CAP_DAC_OVERRIDE) | BIT(CAP_FOWNER);
	if (steps) /* the tracer pins each stepped thread to a CPU, and resends signals */
		return keep | BIT(CAP_SYS_NICE) | BIT(CAP_KILL);
	/* Events of a CPU that comes online, and ring memory beyond perf_event_mlock_kb. */
	keep |= BIT(CAP_IPC_LOCK);
	/*
	 * With paranoid above 2, as some distributions set it, perf_event_open requires
	 * CAP_SYS_ADMIN.
	 */
	return keep | (k->perfmon && k->paranoid <= 2 ? BIT(CAP_PERFMON) : BIT(CAP_SYS_ADMIN));
}

uint64_t ptc_rights_needed_here(const struct ptc_record_opts *o, bool steps)
{
	struct ptc_rights_kernel k = { .perfmon = prctl(PR_CAPBSET_READ, (unsigned long)CAP_PERFMON,
							0, 0, 0) >= 0 };
	struct ptc_limits limits;

	ptc_limits_read(&limits);
	k.paranoid = limits.paranoid;
	return ptc_rights_needed(o, steps, &k);
}

/* --- dropping the rest --- */

/*
 * Reduces the bounding set. This comes first, because it needs CAP_SETPCAP. Without CAP_SETPCAP the
 * bounding set does not matter.
 */
static void bound(uint64_t keep)
{
	unsigned long cap;

	for (cap = 0; cap < CAPS_MAX; cap++)
		if (!(keep >> cap & 1) && prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1)
			(void)prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
}

int ptc_rights_drop(uint64_t keep, struct ptc_err *err)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
	size_t i;

	if (syscall(SYS_capget, &head, sets))
		return ptc_fail_sys(err, errno, "cannot read the capabilities of ptcap");
	bound(keep);
	for (i = 0; i < _LINUX_CAPABILITY_U32S_3; i++, keep >>= 32) {
		sets[i].permitted &= (uint32_t)keep;
		sets[i].effective &= (uint32_t)keep;
		sets[i].inheritable &= (uint32_t)keep;
	}
	if (syscall(SYS_capset, &head, sets) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return ptc_fail_sys(
			err, errno,
			"cannot drop the capabilities of ptcap (--no-sandbox keeps them)");
	return 0;
}
