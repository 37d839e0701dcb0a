/* SPDX-License-Identifier: MIT */
/* Description: the states of live processes are recorded in memory; wrong requests are refused. */
#include <criterion/criterion.h>

#include "ptcap/state_recording.h"

static int record(const struct ptc_state_recording_opts *opts, int *ret_fd)
{
	struct ptc_err err = { .code = 0 };
	const int rc = ptc_record_states(opts, ret_fd, &err);

	cr_assert_eq(!rc, !err.code);
	cr_assert(!rc || *err.msg);
	return rc;
}

Test(state_recording, options_need_a_size_and_a_process)
{
	struct ptc_state_recording_opts opts = PTC_STATE_RECORDING_OPTS_INIT;
	int fd = -1;

	cr_assert_eq(record(&opts, &fd), PTC_E_USAGE);
	opts.size = 0;
	cr_assert_eq(record(&opts, &fd), PTC_E_USAGE);
	cr_assert_eq(fd, -1);
}

Test(state_recording, a_missing_process_is_refused)
{
	struct ptc_state_recording_opts opts = PTC_STATE_RECORDING_OPTS_INIT;
	const pid_t none = 1 << 30;
	int fd = -1;

	opts.pids = &none;
	opts.npids = 1;
	cr_assert_eq(record(&opts, &fd), PTC_E_NOT_EXIST);
	cr_assert_eq(fd, -1);
}
