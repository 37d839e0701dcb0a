/* SPDX-License-Identifier: MIT */
/* Description: the state at a handled fault is kept until the process fails or ends well. */
#include <criterion/criterion.h>
#include <unistd.h>

#include "auxtrace/record/record.h"
#include "capture/crash/handled_fault.h"
#include "ptcap/crash.h"

enum { EXITED_7 = 7 << 8, EXITED_0 = 0, KILLED = SIGKILL };

static void keep(struct ptc_handled *h, pid_t pid)
{
	const siginfo_t info = { .si_signo = SIGSEGV, .si_code = SEGV_MAPERR };
	const struct ptc_state s = { .pid = pid, .tid = getpid(), .info = &info, .time_ns = 5 };

	ptc_handled_keep(h, &s);
}

static struct ptc_crash first_of(const struct ptc_buf *b)
{
	struct ptc_cur cur = ptc_cur_init(b->bytes, b->len);
	struct ptc_crash c;
	struct ptc_rec rec;
	struct ptc_err err;

	cr_assert_eq(ptc_rec_next(&cur, 0, &rec, &err), 1);
	cr_assert_eq(ptc_crash_parse(&rec, &c, &err), 1);
	return c;
}

Test(handled_fault, of_a_process_that_fails_the_state_has_its_exit_status)
{
	struct ptc_handled h = { .items = { { 0 } } };
	const struct ptc_buf *b;
	struct ptc_crash c;

	cr_assert_null(ptc_handled_end(&h, 5, EXITED_7));
	keep(&h, 5);
	keep(&h, 6);
	cr_assert_null(ptc_handled_end(&h, 7, EXITED_7));
	cr_assert_null(ptc_handled_end(&h, 5, EXITED_0)); /* a thread of it */
	cr_assert_null(ptc_handled_end(&h, 5, KILLED));
	b = ptc_handled_end(&h, 5, EXITED_7);
	cr_assert_not_null(b);
	c = first_of(b);
	cr_assert(c.kind == PTC_CRASH_SIGNAL && c.u.signal.pid == 5);
	cr_assert(c.u.signal.exit_status == 7 && c.u.signal.time_ns == 5);
	cr_assert_null(ptc_handled_end(&h, 5, EXITED_7));
	ptc_handled_forget(&h, 6);
	ptc_handled_forget(&h, 77);
	cr_assert_null(ptc_handled_end(&h, 6, EXITED_7));
	ptc_handled_release(&h);
}

Test(handled_fault, a_process_with_many_faults_is_left_out)
{
	struct ptc_handled h = { .items = { { 0 } } };
	int i;

	for (i = 0; i < PTC_HANDLED_FAULTS; i++)
		keep(&h, 5);
	keep(&h, 6);
	keep(&h, 5); /* one more */
	cr_assert_null(ptc_handled_end(&h, 5, EXITED_7));
	cr_assert_not_null(ptc_handled_end(&h, 6, EXITED_7));
	ptc_handled_release(&h);
}

Test(handled_fault, more_processes_than_there_is_space_for_are_left_out)
{
	struct ptc_handled h = { .items = { { 0 } } };
	pid_t pid;

	for (pid = 1; pid <= PTC_HANDLED_PROCESSES + 1; pid++)
		keep(&h, pid);
	cr_assert_null(ptc_handled_end(&h, PTC_HANDLED_PROCESSES + 1, EXITED_7));
	cr_assert_not_null(ptc_handled_end(&h, PTC_HANDLED_PROCESSES, EXITED_7));
	keep(&h, PTC_HANDLED_PROCESSES + 1);
	cr_assert_not_null(ptc_handled_end(&h, PTC_HANDLED_PROCESSES + 1, EXITED_7));
	ptc_handled_release(&h);
}

Test(handled_fault, only_signals_of_the_kernel_are_faults)
{
	siginfo_t info = { .si_signo = SIGSEGV, .si_code = SEGV_MAPERR };

	cr_assert(ptc_handled_is_fault(&info));
	info.si_code = SI_USER;
	cr_assert_not(ptc_handled_is_fault(&info));
	info.si_code = SI_TKILL;
	cr_assert_not(ptc_handled_is_fault(&info));
	info = (siginfo_t){ .si_signo = SIGCHLD, .si_code = CLD_EXITED };
	cr_assert_not(ptc_handled_is_fault(&info));
}
