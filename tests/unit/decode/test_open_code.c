/* SPDX-License-Identifier: MIT */
/* Description: whole recordings: which code is at an address, from when on; patches. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fewer.h"
#include "recording.h"

Test(open_code, code_mapped_by_a_syscall_is_there_when_it_returns)
{
	struct recording t;

	rec_begin_traced(&t);
	rec_syscall_at(&t.a, 30, 0x5000);
	rec_syscall_at(&t.a, 50, 0x1000);
	rec_piece(&t, 0, 7, -1, 0, &t.a);
	rec_map_code(&t, 7, 20, 0x5000);
	/* The mapping at 0x1000 is replaced: there is no code any more. */
	pd_mmap2(&t.pd, 7, 40, 0x1000, 0x1000, 0, "//anon");
	rec_expect(&t, "7 0 1016 start\n7 1016 0 syscall\n7 0 5016 start\n7 5016 0 syscall\n"
		       "7 0 1016 start\n7 gap 0 4f 1 nocode\n");
	cr_assert_str_eq(t.note,
			 "no code for '//anon': 1 gap, at least 1 branch; it is in no file; a core "
			 "of the process may have it: --core");
	cr_assert_eq(t.stats.missing_files, 1);
	rec_end(&t);
}

Test(open_code, behind_a_gap_code_counts_that_was_mapped_since)
{
	struct recording t;

	rec_begin_code(&t);
	rec_psb_at(&t.a, 1);
	rec_syscall_at(&t.a, 10, 0x5000); /* no code there yet */
	rec_syscall_at(&t.a, 15, 0x5000);
	rec_syscall_at(&t.a, 30, 0x5000);
	rec_syscall_at(&t.a, 50, 0x5000); /* no code there any more */
	rec_syscall_at(&t.a, 60, 0x1000);
	rec_piece(&t, 0, 7, -1, 0, &t.a);
	rec_map_code(&t, 7, 20, 0x5000);
	pd_mmap2(&t.pd, 7, 40, 0x5000, 0x1000, 0, "//anon");
	rec_expect(&t, "7 0 5016 start unmapped\n7 gap 0 2b 1d nocode\n"
		       "7 0 5016 start\n7 5016 0 syscall\n"
		       "7 0 5016 start\n7 gap 0 61 b nocode\n"
		       "7 0 1016 start\n7 1016 0 syscall\n");
	rec_end(&t);
}

Test(open_code, behind_a_gap_the_code_is_that_of_who_runs_then)
{
	struct recording t;

	rec_begin_two(&t, 0x2000);
	rec_psb_at(&t.a, 1);
	rec_syscall_at(&t.a, 10, 0x5000);
	rec_syscall_at(&t.a, 30, 0x2000);
	rec_syscall_at(&t.a, 50, 0x2000); /* process 7 has no code there */
	rec_syscall_at(&t.a, 70, 0x1000);
	pd_itrace_start(&t.pd, 7, 2, 1);
	rec_switch(&t, 2, 7, 8, 20);
	rec_switch(&t, 2, 8, 7, 40);
	rec_piece(&t, 2, -1, 2, 0, &t.a);
	rec_expect(&t, "7 0 5016 start unmapped\n7 gap 2 2b b nocode\n"
		       "8 0 2016 start\n8 2016 0 syscall\n"
		       "7 0 2016 start unmapped\n7 gap 2 4f b nocode\n"
		       "7 0 1016 start\n7 1016 0 syscall\n");
	rec_end(&t);
}

/*
 * Enables tracing at the syscall of the code at @base, at MTC @mtc (1000 ns per period). The
 * syscall disables it.
 */
static void syscall_at_mtc(struct ptc_buf *b, uint8_t mtc, uint64_t base)
{
	pt_mtc(b, mtc);
	pt_enable(b, base + 0x16);
	pt_ip_none(b, PT_PGD);
}

Test(open_code, behind_a_gap_mtcs_tell_who_runs_then)
{
	static const char lines[] = "7 0 5016 start unmapped\n7 gap 2 2c 5 nocode\n"
				    "8 0 2016 start\n8 2016 0 syscall\n"
				    "7 0 2016 start unmapped\n7 gap 2 44 5 nocode\n"
				    "7 0 1016 start\n7 1016 0 syscall\n";
	struct recording t;

	rec_begin_two(&t, 0x2000);
	pt_psb(&t.a);
	pt_tsc(&t.a, 10000);
	pt_tma(&t.a, 16 + 4, 100); /* half a period behind the last multiple */
	pt_psbend(&t.a);
	syscall_at_mtc(&t.a, 3, 0x5000); /* 10400 */
	syscall_at_mtc(&t.a, 5, 0x2000); /* 12400 */
	syscall_at_mtc(&t.a, 6, 0x2000); /* 13400: process 7 has no code there */
	syscall_at_mtc(&t.a, 7, 0x1000);
	pd_itrace_start(&t.pd, 7, 2, 1);
	pd_switch(&t.pd, 7, 2, 12390, true);
	pd_switch(&t.pd, 8, 2, 12400, false);
	pd_switch(&t.pd, 8, 2, 12401, true);
	pd_switch(&t.pd, 7, 2, 13400, false);
	rec_piece(&t, 2, -1, 2, 0, &t.a);
	rec_expect(&t, lines);
	t.opts.jobs = 2;
	t.opts.slice = 1;
	rec_expect(&t, lines);
	rec_end(&t);
}

Test(open_code, a_gap_begins_at_the_same_place_for_threads_that_decode_ahead)
{
#define THREE "7 100e 100e icall\n7 100e 100e icall\n7 100e 100e icall\n"
	static const char lines[] = THREE THREE THREE THREE
		"7 100e 5000 icall\n7 gap 0 e7 b nocode\n"
		"7 0 1016 start\n7 1016 0 syscall\n";
	struct recording t;
	uint64_t time;
	int i;

	rec_begin_code(&t);
	for (time = 1; time < 40; time += 10) {
		pt_psb_on_at(&t.a, time, 0x100e);
		for (i = 0; i < 3; i++)
			pt_ip(&t.a, PT_TIP, 0x100e);
	}
	pt_ip(&t.a, PT_TIP, 0x5000);
	pt_ip_none(&t.a, PT_PGD);
	rec_syscall_at(&t.a, 50, 0x1000);
	rec_piece(&t, 0, 7, -1, 0, &t.a);
	t.opts.jobs = 2;
	t.opts.slice = 1;
	rec_expect(&t, lines);
	t.opts.jobs = 1;
	rec_expect(&t, lines);
	rec_end(&t);
}

Test(open_code, an_exec_begins_with_nothing_and_a_fork_with_what_its_parent_has)
{
	struct recording t;

	rec_begin_code(&t);
	rec_psb_at(&t.a, 1);
	rec_psb_at(&t.b, 1);
	rec_syscall_at(&t.a, 10, 0x1000);
	rec_syscall_at(&t.b, 30, 0x1000); /* the child */
	rec_syscall_at(&t.a, 50, 0x1000); /* the parent, after its exec */
	rec_piece(&t, 0, 7, -1, 0, &t.a);
	rec_piece(&t, 1, 9, -1, 0, &t.b);
	pd_task(&t.pd, PERF_RECORD_FORK, 9, 9, 7, 20);
	pd_comm(&t.pd, 7, 40, "new", true);
	rec_expect(&t, "7 0 1016 start\n7 1016 0 syscall\n"
		       "9 0 1016 start\n9 1016 0 syscall\n"
		       "7 0 1016 start unmapped\n7 gap 0 3d 3 nocode\n");
	rec_end(&t);
}

Test(open_code, symbols_and_files_are_those_of_the_moment)
{
	struct recording t;

	rec_begin_traced(&t);
	rec_piece(&t, 0, 7, -1, 0, &t.a);
	pd_comm(&t.pd, 7, 11, "gone", true); /* at once, before any trace is decoded */
	rec_expect(&t, "7 0 1016 start\n7 1016 0 syscall\n");
	rec_end(&t);
}

Test(open_code, code_that_came_with_the_recording_is_used)
{
	struct recording t;

	rec_begin(&t, &rec_clock_1ns);
	pd_mmap2(&t.pd, 7, 0, 0x9000, 0x2000, 0, "[vdso]");
	pd_poke(&t.pd, 7, 0, 0x9000, pt_code, 20); /* in two records */
	pd_poke(&t.pd, 7, 0, 0x9014, pt_code + 20, PT_CODE_LEN - 20);
	pd_poke(&t.pd, 7, 30, 0xa000, pt_code, PT_CODE_LEN);
	rec_psb_at(&t.a, 1);
	rec_syscall_at(&t.a, 20, 0x9000);
	rec_syscall_at(&t.a, 40, 0xa000);
	rec_piece(&t, 0, 7, -1, 0, &t.a);
	rec_expect(&t, "7 0 9016 start\n7 9016 0 syscall\n7 0 a016 start\n7 a016 0 syscall\n");
	cr_assert_eq(t.stats.missing_files, 0);
	rec_end(&t);
}

/* mov %eax, %eax; syscall - and the same with a jmp to the syscall in front. */
static const uint8_t code_mov[] = { 0x89, 0xc0, 0x0f, 0x05 };

static const uint8_t code_jmp[] = { 0xeb, 0x00 };

static void run_at(struct ptc_buf *b, uint64_t time, uint64_t ip)
{
	pt_tsc(b, time);
	pt_enable(b, ip);
	pt_ip_none(b, PT_PGD);
}

Test(open_code, code_changes_when_its_time_has_come)
{
	struct recording t;

	rec_begin(&t, &rec_clock_1ns);
	pd_mmap2(&t.pd, 7, 0, 0x9000, 0x1000, 0, "//anon");
	pd_poke(&t.pd, 7, 5, 0x9000, code_mov, sizeof(code_mov));
	pd_poke(&t.pd, 7, 20, 0x9000, code_jmp, sizeof(code_jmp));
	pd_poke(&t.pd, 7, 40, 0x9000, code_mov, sizeof(code_mov));
	rec_psb_at(&t.a, 1);
	run_at(&t.a, 10, 0x9000);
	run_at(&t.a, 12, 0x9000); /* again: now a cache could be used */
	run_at(&t.a, 30, 0x9000);
	run_at(&t.a, 50, 0x9000);
	rec_expect_one(&t, "7 0 9000 start\n7 9002 0 syscall\n7 0 9000 start\n7 9002 0 syscall\n"
			   "7 0 9000 start\n7 9000 9002 jmp\n7 9002 0 syscall\n"
			   "7 0 9000 start\n7 9002 0 syscall\n");
}

Test(open_code, a_patch_hides_what_the_file_has_until_something_else_is_mapped)
{
	struct recording t;

	rec_begin_code(&t);
	/* two bytes in front of the syscall of the file's code, which are 83 c0 01 there */
	pd_poke(&t.pd, 7, 20, 0x1014, code_jmp, sizeof(code_jmp));
	rec_map_code(&t, 7, 40, 0x1000);
	rec_psb_at(&t.a, 1);
	run_at(&t.a, 10, 0x1016);
	run_at(&t.a, 30, 0x1014);
	run_at(&t.a, 50, 0x1016);
	rec_expect_one(&t, "7 0 1016 start\n7 1016 0 syscall\n"
			   "7 0 1014 start\n7 1014 1016 jmp\n7 1016 0 syscall\n"
			   "7 0 1016 start\n7 1016 0 syscall\n");
}

Test(open_code, a_patch_is_gone_with_its_mapping)
{
	struct recording t;

	rec_begin(&t, &rec_clock_1ns);
	pd_mmap2(&t.pd, 7, 0, 0x9000, 0x1000, 0, "//anon");
	pd_poke(&t.pd, 7, 5, 0x9000, code_mov, sizeof(code_mov));
	pd_mmap2(&t.pd, 7, 20, 0x9000, 0x1000, 0, "//anon");
	rec_psb_at(&t.a, 1);
	run_at(&t.a, 10, 0x9000);
	run_at(&t.a, 30, 0x9000);
	rec_expect_one(&t,
		       "7 0 9000 start\n7 9002 0 syscall\n7 0 9000 start\n7 gap 0 3d 3 nocode\n");
}

Test(open_code, a_forked_process_has_the_patches_of_its_parent_and_its_own_alone)
{
	struct recording t;

	rec_begin(&t, &rec_clock_1ns);
	pd_mmap2(&t.pd, 7, 0, 0x9000, 0x1000, 0, "//anon");
	pd_poke(&t.pd, 7, 5, 0x9000, code_mov, sizeof(code_mov));
	pd_task(&t.pd, PERF_RECORD_FORK, 9, 9, 7, 20);
	pd_poke(&t.pd, 9, 40, 0x9000, code_jmp, sizeof(code_jmp));
	pd_comm(&t.pd, 9, 70, "new", true);
	rec_psb_at(&t.a, 1);
	rec_psb_at(&t.b, 1);
	run_at(&t.a, 10, 0x9000);
	run_at(&t.b, 30, 0x9000);
	run_at(&t.b, 50, 0x9000);
	run_at(&t.a, 60, 0x9000);
	run_at(&t.b, 80, 0x9000); /* exec: nothing is left */
	rec_piece(&t, 0, 7, -1, 0, &t.a);
	rec_piece(&t, 1, 9, -1, 0, &t.b);
	rec_expect(&t, "7 0 9000 start\n7 9002 0 syscall\n"
		       "9 0 9000 start\n9 9002 0 syscall\n"
		       "9 0 9000 start\n9 9000 9002 jmp\n9 9002 0 syscall\n"
		       "7 0 9000 start\n7 9002 0 syscall\n"
		       "9 0 9000 start unmapped\n9 gap 1 4f 1 nocode\n");
	rec_end(&t);
}

/*
 * Each patch is on a page of its own, and forks need copies. Memory and time must depend only on
 * the size of the file.
 */
Test(open_code, patches_without_number_at_absurd_addresses_do_no_harm)
{
	enum { MANY = FEWER(100000, 20000) };
	struct recording t;
	uint64_t i;

	rec_begin_code(&t);
	for (i = 0; i < MANY; i++)
		pd_poke(&t.pd, 7, 5, UINT64_MAX - i * 0x123456789000, code_jmp, sizeof(code_jmp));
	for (i = 0; i < 1000; i++)
		pd_task(&t.pd, PERF_RECORD_FORK, 100 + (int32_t)i, 100 + (int32_t)i, 7, 6);
	rec_psb_at(&t.a, 1);
	run_at(&t.a, 10, 0x1016);
	rec_expect_one(&t, "7 0 1016 start\n7 1016 0 syscall\n");
}

/* 20 million patches, if each process had its own copies. */
Test(open_code, forked_processes_share_their_patches)
{
	enum { MANY = 20000 };
	struct ptc_err err;
	uint8_t *bytes;
	struct recording t;
	int32_t i;
	size_t len;

	rec_begin(&t, &rec_clock_1ns);
	for (i = 0; i < MANY; i++)
		pd_poke(&t.pd, 7, 5, 0x1000 * (uint64_t)i, code_jmp, sizeof(code_jmp));
	for (i = 8; i < 1000; i++) { /* the same 20000 patches, except for a change at 0 */
		pd_task(&t.pd, PERF_RECORD_FORK, i, i, 7, 6);
		pd_poke(&t.pd, i, 6, 0, code_mov, sizeof(code_mov));
	}
	rec_psb_at(&t.a, 1);
	run_at(&t.a, 10, 0x1016);
	rec_piece(&t, 0, 7, -1, 0, &t.a);
	bytes = pd_finish(&t.pd, &len);
	cr_assert_eq(rec_run_bytes(&t, bytes, len, &err), 0, "%s", err.msg);
	free(t.text);
	free(bytes);
	rec_end(&t);
}

Test(open_code, the_kernel_s_patches_are_not_the_program_s)
{
	struct ptc_sb sb = { .type = PERF_RECORD_TEXT_POKE,
			     .misc = PERF_RECORD_MISC_KERNEL,
			     .id = { .has = PD_SAMPLE_TYPE, .pid = 7, .tid = 7, .time = 5 },
			     .u.poke = { .addr = 0x1016 } };
	struct recording t;

	rec_begin_code(&t);
	sb.u.poke.new_bytes = ptc_cur_init(code_jmp, sizeof(code_jmp));
	pd_sb(&t.pd, &sb);
	rec_psb_at(&t.a, 1);
	run_at(&t.a, 10, 0x1016);
	rec_expect_one(&t, "7 0 1016 start\n7 1016 0 syscall\n");
}

Test(open_code, the_kernel_is_as_at_the_beginning_when_the_last_transfers_have_been_counted)
{
	static const uint64_t kernel = 0xffffffffc0000000;
	struct ptc_sb sb = { .type = PERF_RECORD_TEXT_POKE,
			     .misc = PERF_RECORD_MISC_KERNEL,
			     .id = { .has = PD_SAMPLE_TYPE, .pid = 7, .tid = 7, .time = 50 },
			     .u.poke = { .addr = kernel } };
	struct recording t;

	rec_begin(&t, &rec_clock_1ns);
	t.pd.attrs[0].attr.exclude_kernel = 0;
	rec_map_code(&t, 7, 0, 0x1000);
	sb.u.poke.new_bytes = ptc_cur_init(code_mov, sizeof(code_mov));
	pd_sb(&t.pd, &sb);
	rec_psb_at(&t.a, 1);
	run_at(&t.a, 10, 0x1016);
	run_at(&t.a, 20, kernel); /* not mapped yet */
	run_at(&t.a, 60, kernel);
	t.opts.last = 100;
	rec_expect_one(&t, "7 0 1016 start\n7 1016 0 syscall\n7 0 ffffffffc0000000 start unmapped\n"
			   "7 gap 0 3d b nocode\n7 0 ffffffffc0000000 start unmapped\n"
			   "7 ffffffffc0000002 0 syscall unmapped\n");
}

Test(open_code, a_file_that_is_not_the_recorded_one_is_not_used)
{
	struct ptc_sb sb = { .type = PERF_RECORD_MMAP2,
			     .misc = PERF_RECORD_MISC_USER,
			     .id = { .has = PD_SAMPLE_TYPE, .pid = 7, .tid = 7 },
			     .u.mmap = { .pid = 7,
					 .tid = 7,
					 .addr = 0x1000,
					 .len = 0x1000,
					 .prot = PROT_READ | PROT_EXEC,
					 .build_id = { .bytes = { 0xab, 0xcd }, .len = 20 } } };
	char want[256];
	struct recording t;

	rec_begin(&t, &rec_clock_1ns);
	sb.u.mmap.filename = t.code.path;
	pd_sb(&t.pd, &sb);
	rec_first_syscall(&t);
	rec_piece(&t, 0, 7, -1, 0, &t.a);
	rec_expect(&t, "7 0 1016 start\n7 gap 0 2b 5 nocode\n");
	snprintf(want, sizeof(want),
		 "no code for '%s' (build-id abcd000000000000000000000000000000000000; it has no "
		 "build-id now): 1 gap, at least 1 branch; the file there is another one",
		 t.code.path);
	t.note[strlen(want)] = '\0'; /* a hint follows */
	cr_assert_str_eq(t.note, want);
	rec_end(&t);
}
