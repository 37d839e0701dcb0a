/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/session/capabilities.h"

#define BIT(cap) (UINT64_C(1) << (cap))

static const struct ptc_rights_kernel now = { .perfmon = true, .paranoid = 2 },
				      old = { .perfmon = false, .paranoid = 2 },
				      paranoid = { .perfmon = true, .paranoid = 3 };

Test(capabilities, an_old_kernel_takes_administrator_rights_for_events)
{
	const struct ptc_record_opts o = PTC_RECORD_OPTS_INIT;

	cr_assert_eq(ptc_rights_needed(&o, false, &now),
		     BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_IPC_LOCK) |
			     BIT(CAP_PERFMON));
	cr_assert_eq(ptc_rights_needed(&o, false, &old),
		     BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_IPC_LOCK) |
			     BIT(CAP_SYS_ADMIN));
	cr_assert_eq(ptc_rights_needed(&o, false, &paranoid), ptc_rights_needed(&o, false, &old),
		     "Debian's kernel, and perf_event_paranoid 3");
}

Test(capabilities, the_step_source_has_no_events)
{
	const struct ptc_record_opts o = PTC_RECORD_OPTS_INIT;

	cr_assert_eq(ptc_rights_needed(&o, true, &old), BIT(CAP_SYS_PTRACE) |
								BIT(CAP_DAC_READ_SEARCH) |
								BIT(CAP_SYS_NICE) | BIT(CAP_KILL));
}

/* Both paths count, also with trailing slashes. A missing folder counts as another user's. */
Test(capabilities, a_folder_of_others_takes_rights_to_write_there)
{
	const uint64_t more = BIT(CAP_DAC_OVERRIDE) | BIT(CAP_FOWNER);
	char folder[] = "/tmp/ptcap-rights-XXXXXX", own[64], missing[64];
	struct ptc_record_opts o = PTC_RECORD_OPTS_INIT;

	cr_assert(mkdtemp(folder));
	(void)snprintf(own, sizeof(own), "%s/a//", folder);
	(void)snprintf(missing, sizeof(missing), "%s/a/b", folder);
	o.output.path = own;
	cr_assert_eq(ptc_rights_needed(&o, false, &now) & more, 0);
	o.rights.other_output = missing;
	cr_assert_eq(ptc_rights_needed(&o, false, &now) & more, more);
	o.rights.other_output = NULL;
	o.output.path = missing;
	cr_assert_eq(ptc_rights_needed(&o, true, &now) & more, more);
	(void)rmdir(folder);
}

/* Each test is a separate process, so dropped rights need not come back. */
Test(capabilities, what_is_not_kept_is_gone)
{
	struct ptc_err err;

	cr_assert_eq(ptc_rights_drop(0, &err), 0);
	cr_assert_eq(ptc_rights_drop(UINT64_MAX, &err), 0);
	cr_assert_eq(chroot("/"), -1, "the capabilities are still there");
}
