/* SPDX-License-Identifier: MIT */
/* Description: each refusal of perf_event_open and mmap is explained, with a remedy. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "capture/perf/open_error_text.h"

static const struct ptc_limits limits = {
	.paranoid = 2, .mlock_kb = 516, .cpus = 4, .memlock = 64 << 10, .files = 1024
};

static const char *opened(const struct ptc_limits *l, int sys)
{
	static char text[320];

	ptc_explain_open_text(l, sys, 4711, text, sizeof(text));
	return text;
}

Test(open_error_text, each_error_of_perf_event_open_has_its_remedy)
{
	static const struct {
		int sys;
		const char *word;
	} t[] = {
		{ EACCES, "kernel.perf_event_paranoid is 2" },
		{ EACCES, "CAP_SYS_PTRACE" },
		{ EPERM, "seccomp" },
		{ EPERM, "lockdown" },
		{ EBUSY, "another ptcap, perf, a KVM guest" },
		{ EINVAL, "config" },
		{ ENODEV, "offline" },
		{ ENOENT, "module" },
		{ EOPNOTSUPP, "virtual machine" },
		{ E2BIG, "attr" },
		{ EMFILE, "4711 more file descriptors are needed, but the limit is 1024" },
		{ ENFILE, "fs.file-max" },
		{ ESRCH, "ended" },
		{ ENOSYS, "the kernel has no perf events" },
		{ ENOMEM, "memory" },
		{ ENOSPC, "no free counter" },
		{ EINTR, "again" },
	};
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		cr_assert_not_null(strstr(opened(&limits, t[i].sys), t[i].word), "%d: %s", t[i].sys,
				   opened(&limits, t[i].sys));
	cr_assert_str_empty(opened(&limits, EDOM));
}

Test(open_error_text, what_stands_in_the_way_of_branch_stacks_is_named)
{
	static const struct {
		int sys;
		const char *word;
	} t[] = {
		{ EBUSY, "Ice Lake" },	{ EBUSY, "without --lbr" }, { EOPNOTSUPP, "no LBR" },
		{ EINVAL, "hw_index" }, { ENOENT, "--lbr-event" },  { EACCES, "paranoid is 2" },
		{ EMFILE, "4711" },
	};
	struct ptc_err err;
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		char text[320];

		ptc_explain_lbr_text(&limits, t[i].sys, 4711, text, sizeof(text));
		cr_assert_not_null(strstr(text, t[i].word), "%d: %s", t[i].sys, text);
	}
	(void)ptc_explain_lbr(&err, EBUSY, "'cycles:u' for branch stacks", 3);
	cr_assert_not_null(strstr(err.msg, "perf record -j"), "%s", err.msg);
	(void)ptc_explain_lbr(&err, EINVAL, "'cycles:u' for branch stacks", 3);
	cr_assert(strstr(err.msg, ")" PTC_SEE_DOCTOR), "it is whole: %s", err.msg);
}

Test(open_error_text, a_paranoid_kernel_is_told_from_a_very_paranoid_one)
{
	struct ptc_limits l = limits;

	l.paranoid = 3;
	cr_assert_not_null(strstr(opened(&l, EACCES), "forbids perf events for users"));
	cr_assert_null(strstr(opened(&limits, EACCES), "forbids"));
}

Test(open_error_text, too_much_to_lock_is_told_with_what_would_do)
{
	struct ptc_limits l = limits;
	char text[320];

	ptc_explain_mmap_text(&limits, EPERM, 4 << 20, 4, text, sizeof(text));
	cr_assert_not_null(strstr(text, "allows 516 KiB for each of 4 CPUs"), "%s", text);
	cr_assert_not_null(strstr(text, "RLIMIT_MEMLOCK 64 KiB more, for 4 rings"), "%s", text);
	/* 4 * 516 + 64 = 2128 KiB for 4 rings: 532 KiB each, 512 as a power of two. */
	cr_assert_not_null(strstr(text, "at most 512K"), "%s", text);
	ptc_explain_mmap_text(&limits, EPERM, 4 << 20, 5, text, sizeof(text));
	cr_assert_not_null(strstr(text, "at most 256K"), "%s", text);
	/*
	 * Each ring has one more page in front: 2 * 128 KiB do not suffice for two rings of 128
	 * KiB.
	 */
	l.mlock_kb = 128;
	l.cpus = 2;
	l.memlock = 0;
	ptc_explain_mmap_text(&l, EPERM, 4 << 20, 2, text, sizeof(text));
	cr_assert_not_null(strstr(text, "at most 64K"), "%s", text);
	l.memlock = 8 << 10;
	ptc_explain_mmap_text(&l, EPERM, 4 << 20, 2, text, sizeof(text));
	cr_assert_not_null(strstr(text, "at most 128K"), "%s", text);
}

Test(open_error_text, other_errors_of_mmap_have_theirs)
{
	char text[320];

	ptc_explain_mmap_text(&limits, ENOMEM, 4 << 20, 4, text, sizeof(text));
	cr_assert_not_null(strstr(text, "-C"));
	ptc_explain_mmap_text(&limits, EINVAL, 12345, 4, text, sizeof(text));
	cr_assert_not_null(strstr(text, "12345"));
	ptc_explain_mmap_text(&limits, EACCES, 12345, 4, text, sizeof(text));
	cr_assert_not_null(strstr(text, "does not allow this mapping"));
	ptc_explain_mmap_text(&limits, EDOM, 12345, 4, text, sizeof(text));
	cr_assert_str_empty(text);
}

Test(open_error_text, the_message_says_what_failed_and_is_not_cut)
{
	struct ptc_err err;

	cr_assert_eq(ptc_explain_open(&err, EACCES, "'intel_pt/cyc,psb_period=3/u'", 9),
		     PTC_E_PERM);
	cr_assert_not_null(strstr(err.msg, "cannot open 'intel_pt/cyc,psb_period=3/u': "));
	cr_assert(strstr(err.msg, ")" PTC_SEE_DOCTOR), "%s", err.msg);
	cr_assert_eq(
		ptc_explain_open(&err, EBUSY, "the event for sideband records of 'intel_pt//u'", 9),
		PTC_E_BUSY);
	cr_assert(strstr(err.msg, ")" PTC_SEE_DOCTOR), "%s", err.msg);
	cr_assert_eq(ptc_explain_mmap(&err, EPERM, "the AUX ring", 1 << 30, 64), PTC_E_PERM);
	cr_assert(strstr(err.msg, ")" PTC_SEE_DOCTOR), "%s", err.msg);
}
