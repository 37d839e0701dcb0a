/* SPDX-License-Identifier: MIT */
/*
 * Description: recordings whose code comes from jitdumps, and whose names come from perf-PID.map.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "auxtrace/record/ledger.h"
#include "code_source.h"
#include "decode/sideband/process.h"
#include "decode/sideband/sideband.h"
#include "fewer.h"
#include "lib_elf.h"
#include "lib_perfdata.h"
#include "lib_pt.h"
#include "lib_skip.h"
#include "ptcap/decode.h"
#include "recording.h"

/* mov %eax, %eax; syscall - as long as pt_code up to its syscall. */
static const uint8_t code_two[0x18] = { [0] = 0x90, [0x16] = 0x0f, 0x05 };

static void map_dump(struct origin *t, const struct ptc_buf *dump, const char *name)
{
	pd_mmap2(&t->pd, 7, 0, 0x70000, 0x1000, 0, le_write(t->dir, name, dump));
}

/* Runs code at 0x5000 twice, and at 0x6000 once. */
static void jit_trace(struct origin *t)
{
	struct ptc_buf b = PTC_BUF_INIT;

	rec_psb_at(&b, 1);
	rec_syscall_at(&b, 10, 0x5000); /* too early */
	rec_psb_at(&b, 15);
	rec_syscall_at(&b, 30, 0x5000);
	rec_syscall_at(&b, 50, 0x6000);
	origin_trace(t, &b);
}

Test(code_provider, jitdump_has_bytes_and_names_from_their_time_on)
{
	struct ptc_buf dump = PTC_BUF_INIT;
	struct origin t;

	origin_begin(&t);
	pd_mmap2(&t.pd, 7, 0, 0x5000, 0x2000, 0, "//anon");
	le_jit(&dump, 7, 1); /* times are TSC values */
	le_jit_other(&dump, 2, 40);
	le_jit_load(&dump, 20, 0x5000, 1, "first", pt_code, PT_CODE_LEN);
	le_jit_other(&dump, 4, 24);
	le_jit_load(&dump, 25, 0x5800, 2, "other", code_two, sizeof(code_two));
	le_jit_move(&dump, 40, 0x5000, 0x6000, 1, PT_CODE_LEN);
	le_jit_other(&dump, 3, 0);
	map_dump(&t, &dump, "jit-7.dump");
	jit_trace(&t);
	origin_expect(&t,
		      "0 5016 start\ngap nocode\n0 5016 start first\n5016 0 syscall first\n"
		      "0 6016 start first\n6016 0 syscall first\n",
		      "# no code for '//anon': 1 gap");
	cr_assert_null(strstr(t.text, "assumed"));
	cr_assert_eq(t.nmissing, 1);
	ptc_buf_release(&dump);
	origin_end(&t);
}

Test(code_provider, the_clock_of_a_jitdump_is_said_to_be_assumed)
{
	struct ptc_buf dump = PTC_BUF_INIT;
	struct origin t;

	origin_begin(&t);
	pd_mmap2(&t.pd, 7, 0, 0x5000, 0x1000, 0, "//anon");
	le_jit(&dump, 7, 0);
	le_jit_load(&dump, 20, 0x5000, 1, "first", pt_code, PT_CODE_LEN);
	map_dump(&t, &dump, "jit-7.dump");
	origin_one_syscall(&t, 0x5000);
	origin_expect(&t, "0 5016 start first\n5016 0 syscall first\n",
		      "# assumed: the times in '");
	ptc_buf_release(&dump);
	origin_end(&t);
}

/* The last possible time means that no time is known: waiting for it would never end. */
Test(code_provider, code_of_a_jitdump_that_comes_at_the_last_time_is_not_waited_for)
{
	struct ptc_buf dump = PTC_BUF_INIT;
	struct origin t;

	origin_begin(&t);
	pd_mmap2(&t.pd, 7, 0, 0x5000, 0x1000, 0, "//anon");
	le_jit(&dump, 7, 0);
	le_jit_load(&dump, UINT64_MAX, 0x5000, 1, "first", pt_code, PT_CODE_LEN);
	map_dump(&t, &dump, "jit-7.dump");
	origin_one_syscall(&t, 0x5000);
	origin_expect(&t, "0 5016 start\ngap nocode\n", "# no code for '//anon': 1 gap");
	ptc_buf_release(&dump);
	origin_end(&t);
}

/* Adds a ledger record with the clocks. */
static void put_clocks(struct origin *t, const struct ptc_ledger_clock clocks[2])
{
	struct ptc_buf b = PTC_BUF_INIT;

	ptc_ledger_put_clocks(&b, clocks, 2);
	pd_raw(&t->pd, PTC_REC_HEADER_EVENT_TYPE, 0, b.bytes + PTC_REC_HEADER_SIZE,
	       b.len - PTC_REC_HEADER_SIZE);
	ptc_buf_release(&b);
}

Test(code_provider, the_times_of_a_jitdump_are_converted_to_the_recording_s_clock)
{
	/* 1000 ns apart at first, 1100 ns apart 1000 ns later. */
	static const struct ptc_ledger_clock clocks[] = { { 1, 1001 }, { 1001, 2101 } };
	struct ptc_buf dump = PTC_BUF_INIT;
	struct origin t;

	origin_begin(&t);
	pd_mmap2(&t.pd, 7, 0, 0x5000, 0x2000, 0, "//anon");
	le_jit(&dump, 7, 0); /* times of CLOCK_MONOTONIC */
	le_jit_load(&dump, 1022, 0x5000, 1, "first", pt_code, PT_CODE_LEN);
	le_jit_move(&dump, 1044, 0x5000, 0x6000, 1, PT_CODE_LEN);
	map_dump(&t, &dump, "jit-7.dump");
	put_clocks(&t, clocks);
	jit_trace(&t);
	origin_expect(&t,
		      "0 5016 start\ngap nocode\n0 5016 start first\n5016 0 syscall first\n"
		      "0 6016 start first\n6016 0 syscall first\n",
		      "# no code for '//anon': 1 gap");
	cr_assert_null(strstr(t.text, "assumed"));
	ptc_buf_release(&dump);
	origin_end(&t);
}

/* Code with @time (CLOCK_MONOTONIC) runs at 50, with meaningless clocks. */
static void expect_of_time(uint64_t time, const char *lines, const char *notes)
{
	static const struct ptc_ledger_clock clocks[] = { { 1, 1001 }, { UINT64_MAX, 1002 } };
	struct ptc_buf dump = PTC_BUF_INIT;
	struct origin t;

	origin_begin(&t);
	pd_mmap2(&t.pd, 7, 0, 0x5000, 0x1000, 0, "//anon");
	le_jit(&dump, 7, 0);
	le_jit_load(&dump, time, 0x5000, 1, "first", pt_code, PT_CODE_LEN);
	map_dump(&t, &dump, "jit-7.dump");
	put_clocks(&t, clocks);
	origin_one_syscall(&t, 0x5000);
	origin_expect(&t, lines, notes);
	ptc_buf_release(&dump);
	origin_end(&t);
}

Test(code_provider, a_time_that_the_clock_cannot_have_is_the_first_or_the_last)
{
	expect_of_time(3, "0 5016 start first\n5016 0 syscall first\n", NULL);
	expect_of_time(UINT64_MAX - 1, "0 5016 start\ngap nocode\n",
		       "# no code for '//anon': 1 gap");
}

/* Code that a JIT writes again at the same address gets a new name. So does the code of a fork. */
Test(code_provider, names_of_jit_code_are_of_their_time_and_process)
{
	struct ptc_origin code = { .njits = 0 };
	struct ptc_procs ps = { .origin = &code };
	struct ptc_jit_names *j = ptc_origin_jit(&code, 7);
	const struct ptc_proc *child;
	struct ptc_proc *p = ptc_procs_get(&ps, 7);
	uint64_t off, state;

	cr_assert(j && p);
	j->map_tried = true;
	cr_assert(ptc_text_symbols_add(&j->names, 0x5000, 0x20, 10, "first", 5));
	cr_assert(ptc_text_symbols_add(&j->names, 0x5000, 0x20, 30, "second", 6));
	cr_assert(ptc_procs_fork(&ps, 8, 7, 20));
	ptc_origin_jit(&code, 8)->map_tried = true;
	child = ptc_procs_find(&ps, 8);
	cr_assert_str_eq(ptc_origin_symbol(&ps, p, 0x5004, 29, &off), "first");
	cr_assert_str_eq(ptc_origin_symbol(&ps, p, 0x5004, 30, &off), "second");
	cr_assert_str_eq(ptc_origin_symbol(&ps, child, 0x5004, 40, &off), "first");
	state = p->as.state;
	ptc_addrspace_rename(&p->as);
	cr_assert_neq(p->as.state, state, "other names are another state");
	ptc_procs_exec(&ps, p, 50);
	cr_assert_null(ptc_origin_symbol(&ps, p, 0x5004, 60, &off), "another program");
	ptc_procs_release(&ps);
	ptc_origin_release(&code);
}

/* The code belonged to the program in front of the exec. */
Test(code_provider, code_that_the_recording_has_of_an_earlier_program_does_not_hide_a_jitdump_s)
{
	static const uint8_t other[PT_CODE_LEN] = { 0 };
	struct ptc_buf dump = PTC_BUF_INIT;
	struct ptc_sb exec = { .type = PERF_RECORD_COMM,
			       .misc = PERF_RECORD_MISC_COMM_EXEC,
			       .id = { .has = PD_SAMPLE_TYPE, .pid = 7, .tid = 7, .time = 8 },
			       .u.comm = { .pid = 7, .tid = 7, .comm = "second" } };
	struct origin t;

	origin_begin(&t);
	pd_mmap2(&t.pd, 7, 1, 0x5000, 0x1000, 0, "//anon");
	pd_poke(&t.pd, 7, 5, 0x5000, other, PT_CODE_LEN);
	pd_sb(&t.pd, &exec);
	pd_mmap2(&t.pd, 7, 9, 0x5000, 0x1000, 0, "//anon");
	le_jit(&dump, 7, 0);
	le_jit_load(&dump, 20, 0x5000, 1, "first", pt_code, PT_CODE_LEN);
	map_dump(&t, &dump, "jit-7.dump");
	origin_one_syscall(&t, 0x5000);
	origin_expect(&t, "0 5016 start first\n5016 0 syscall first\n",
		      "# assumed: the times in '");
	ptc_buf_release(&dump);
	origin_end(&t);
}

/* A cache of names by the state of the code must not mix up parent and child. */
Test(code_provider, a_fork_with_a_map_of_names_of_its_own_has_another_state)
{
	struct ptc_origin code = { .njits = 0 };
	struct ptc_procs ps = { .origin = &code };
	struct ptc_proc *p = ptc_procs_get(&ps, 7);
	int32_t pid;
	uint64_t off;

	cr_assert_not_null(p);
	cr_assert(ptc_addrspace_map(&p->as, 0x5000, 0x1000, 0, NULL));
	for (pid = 7; pid < 10; pid++)
		ptc_origin_jit(&code, pid)->map_tried = true;
	cr_assert(ptc_text_symbols_add(&ptc_origin_jit(&code, 7)->names, 0x5000, 9, 0, "p", 1));
	cr_assert(ptc_text_symbols_add(&ptc_origin_jit(&code, 8)->names, 0x5000, 9, 0, "c", 1));
	cr_assert(ptc_procs_fork(&ps, 8, 7, 20) && ptc_procs_fork(&ps, 9, 7, 20));
	cr_assert_str_eq(ptc_origin_symbol(&ps, ptc_procs_find(&ps, 8), 0x5001, 30, &off), "c");
	cr_assert_str_eq(ptc_origin_symbol(&ps, ptc_procs_find(&ps, 9), 0x5001, 30, &off), "p");
	cr_assert_neq(ptc_procs_find(&ps, 8)->as.state, p->as.state);
	cr_assert_eq(ptc_procs_find(&ps, 9)->as.state, p->as.state);
	ptc_procs_release(&ps);
	ptc_origin_release(&code);
}

Test(code_provider, a_thread_number_that_is_used_again_and_an_exec_begin_a_life)
{
	struct ptc_origin code = { .njits = 0 };
	struct ptc_procs ps = { .origin = &code };
	uint64_t first, other;

	cr_assert(ptc_procs_set_thread(&ps, 7, 7) && ptc_procs_fork(&ps, 7, 1, 5));
	cr_assert(ptc_procs_begin_thread(&ps, 8, 7));
	first = ptc_procs_life(&ps, 8, 7);
	other = ptc_procs_life(&ps, 7, 7);
	cr_assert(ptc_procs_set_thread(&ps, 8, 7)); /* the thread is only seen */
	cr_assert_eq(ptc_procs_life(&ps, 8, 7), first);
	cr_assert(ptc_procs_begin_thread(&ps, 8, 7));
	cr_assert_neq(ptc_procs_life(&ps, 8, 7), first);
	cr_assert_eq(ptc_procs_life(&ps, 7, 7), other, "of another thread");
	first = ptc_procs_life(&ps, 8, 7);
	ptc_procs_exec(&ps, ptc_procs_find(&ps, 7), 9);
	cr_assert_neq(ptc_procs_life(&ps, 8, 7), first);
	cr_assert_neq(ptc_procs_life(&ps, 7, 7), other);
	ptc_procs_release(&ps);
	ptc_origin_release(&code);
}

Test(code_provider, a_thread_has_the_name_of_its_last_record_or_of_its_parent)
{
	struct ptc_origin code = { .njits = 0 };
	struct ptc_procs ps = { .origin = &code };

	cr_assert(ptc_procs_set_thread(&ps, 7, 7));
	cr_assert_str_empty(ptc_procs_thread(&ps, 7)->name);
	cr_assert(ptc_procs_name_thread(&ps, 7, 7, "shell"));
	cr_assert(ptc_procs_begin_thread(&ps, 8, 7));
	ptc_procs_inherit_thread_name(&ps, 8, 7);
	cr_assert(ptc_procs_name_thread(&ps, 7, 7, "a name that is too long"));
	cr_assert_str_eq(ptc_procs_thread(&ps, 7)->name, "a name that is ");
	cr_assert_str_eq(ptc_procs_thread(&ps, 8)->name, "shell");
	ptc_procs_inherit_thread_name(&ps, 8, 9); /* not known */
	cr_assert_str_eq(ptc_procs_thread(&ps, 8)->name, "shell");
	cr_assert(ptc_procs_name_thread(&ps, -1, 7, "nobody"));
	ptc_procs_release(&ps);
	ptc_origin_release(&code);
}

Test(code_provider, two_build_ids_for_one_name_are_none)
{
	struct ptc_queue_contexts_id ids[] = { { "/lib/a", { .len = 1, .bytes = { 1 } }, 0 },
					       { "/lib/b", { .len = 1, .bytes = { 2 } }, 1 },
					       { "/lib/a", { .len = 1, .bytes = { 3 } }, 2 },
					       { "/lib/b", { .len = 1, .bytes = { 2 } }, 3 } };
	struct ptc_sideband s = { .ids = ids, .nids = 4 };
	struct ptc_sb_mmap m = { .filename = "/lib/a" };

	ptc_sideband_sort_ids(&s);
	cr_assert_eq(s.nids, 2);
	cr_assert_null(ptc_sideband_id(&s, &m));
	m.build_id.len = 1;
	cr_assert_eq(ptc_sideband_id(&s, &m), &m.build_id);
	m = (struct ptc_sb_mmap){ .filename = "/lib/b" };
	cr_assert_eq(ptc_sideband_id(&s, &m)->bytes[0], 2);
}

Test(code_provider, code_that_the_recording_has_itself_goes_before_a_jitdump_s)
{
	static const uint8_t wrong[PT_CODE_LEN] = { 0 };
	struct ptc_buf dump = PTC_BUF_INIT;
	struct origin t;

	origin_begin(&t);
	pd_mmap2(&t.pd, 7, 0, 0x5000, 0x1000, 0, "//anon");
	pd_poke(&t.pd, 7, 5, 0x5000, pt_code, PT_CODE_LEN);
	le_jit(&dump, 7, 0);
	le_jit_load(&dump, 20, 0x5000, 1, "first", wrong, PT_CODE_LEN);
	map_dump(&t, &dump, "jit-7.dump");
	origin_one_syscall(&t, 0x5000);
	/* Its names still come from the dump. */
	origin_expect(&t, "0 5016 start first\n5016 0 syscall first\n",
		      "# assumed: the times in '");
	ptc_buf_release(&dump);
	origin_end(&t);
}

/* For example of a vdso, which every recording with Intel PT has. */
Test(code_provider, code_that_the_recording_has_elsewhere_leaves_a_jitdump_s)
{
	struct ptc_buf dump = PTC_BUF_INIT;
	struct origin t;

	origin_begin(&t);
	pd_mmap2(&t.pd, 7, 0, 0x5000, 0x2000, 0, "//anon");
	pd_poke(&t.pd, 7, 1, 0x9000, pt_code, PT_CODE_LEN);
	le_jit(&dump, 7, 1); /* times are TSC values */
	le_jit_load(&dump, 2, 0x5000, 1, "first", pt_code, PT_CODE_LEN);
	map_dump(&t, &dump, "jit-7.dump");
	origin_one_syscall(&t, 0x5000);
	origin_expect(&t, "0 5016 start first\n5016 0 syscall first\n", NULL);
	ptc_buf_release(&dump);
	origin_end(&t);
}

Test(code_provider, a_jitdump_that_is_cut_anywhere_gives_what_is_whole_in_front)
{
	struct ptc_buf dump = PTC_BUF_INIT, cut = PTC_BUF_INIT;
	struct origin t;
	size_t whole, n;

	origin_begin(&t);
	pd_mmap2(&t.pd, 7, 0, 0x5000, 0x2000, 0, "//anon");
	le_jit(&dump, 7, 1);
	le_jit_load(&dump, 20, 0x5000, 1, "first", pt_code, PT_CODE_LEN);
	whole = dump.len;
	le_jit_move(&dump, 40, 0x5000, 0x6000, 1, PT_CODE_LEN);
	map_dump(&t, &dump, "jit-7.dump");
	jit_trace(&t);
	for (n = 1; n < dump.len; n += FEWER(1, 3)) {
		struct ptc_err err;

		ptc_buf_reset(&cut);
		ptc_buf_put(&cut, dump.bytes, n);
		le_write(t.dir, "jit-7.dump", &cut);
		cr_assert_eq(origin_run(&t, false, &err), 0, "%s", err.msg);
		cr_assert_eq(strstr(t.text, "5016 0 syscall first") != NULL, n >= whole, "%zu", n);
		cr_assert_eq(strstr(t.text, "# jitdump '") != NULL, n != whole && n != 40, "%zu",
			     n);
	}
	ptc_buf_release(&cut);
	ptc_buf_release(&dump);
	origin_end(&t);
}

Test(code_provider, a_perf_map_names_code_without_a_file)
{
	const char text[] = "5000 20 Lfoo;->bar baz\n5020 19 next\n";
	struct ptc_buf map = { (uint8_t *)(uintptr_t)text, sizeof(text) - 1, 0, false };
	struct origin t;

	origin_begin(&t);
	t.code.symfs = t.dir;
	le_write(t.dir, "tmp/perf-7.map", &map);
	pd_mmap2(&t.pd, 7, 0, 0x5000, 0x1000, 0, "//anon");
	pd_poke(&t.pd, 7, 5, 0x5000, pt_code, PT_CODE_LEN);
	origin_one_syscall(&t, 0x5000);
	origin_expect(&t, "0 5016 start Lfoo;->bar baz\n5016 0 syscall Lfoo;->bar baz\n",
		      "# assumed: '");
	cr_assert(strstr(t.text, "/tmp/perf-7.map' is of the process that was recorded\n"));
	origin_end(&t);
}

/* The map names the code at 0x5000, but is not trusted: @why is reported. */
static void perf_map_is_refused(struct origin *t, const char *why)
{
	struct ptc_err err;

	cr_assert_eq(origin_run(t, false, &err), 0, "%s", err.msg);
	cr_assert(strstr(t->text, "5016 0 syscall\n"), "%s", t->text);
	cr_assert(strstr(t->text, "# no names from there: "), "%s", t->text);
	cr_assert(strstr(t->text, why), "%s", t->text);
}

Test(code_provider, a_perf_map_that_is_a_link_or_of_another_user_is_not_believed, .timeout = 60)
{
	const char text[] = "5000 40 foo\n";
	struct ptc_buf map = { (uint8_t *)(uintptr_t)text, sizeof(text) - 1, 0, false };
	struct origin t;
	char path[256];

	origin_begin(&t);
	t.code.symfs = t.dir;
	le_write(t.dir, "tmp/elsewhere", &map);
	(void)snprintf(path, sizeof(path), "%s/tmp/perf-7.map", t.dir);
	pd_mmap2(&t.pd, 7, 0, 0x5000, 0x1000, 0, "//anon");
	pd_poke(&t.pd, 7, 5, 0x5000, pt_code, PT_CODE_LEN);
	origin_one_syscall(&t, 0x5000);
	cr_assert_eq(symlink("elsewhere", path), 0);
	perf_map_is_refused(&t, "/tmp/perf-7.map': it is a symbolic link");
	cr_assert(!unlink(path) && !mkfifo(path, 0600));
	perf_map_is_refused(&t, "/tmp/perf-7.map': it is a FIFO");
	cr_assert_eq(unlink(path), 0);
	le_write(t.dir, "tmp/perf-7.map", &map);
	if (!geteuid()) {
		cr_assert_eq(chown(path, 65534, 65534), 0);
		perf_map_is_refused(&t, "belongs to user 65534, not to root; decode as that user");
	}
	origin_end(&t);
}

Test(code_provider, a_jitdump_of_another_user_is_not_believed)
{
	struct ptc_buf dump = PTC_BUF_INIT;
	struct ptc_err err;
	struct origin t;
	char path[256];

	skip_without_root();
	origin_begin(&t);
	pd_mmap2(&t.pd, 7, 0, 0x5000, 0x2000, 0, "//anon");
	le_jit(&dump, 7, 1);
	le_jit_load(&dump, 5, 0x5000, 1, "first", pt_code, PT_CODE_LEN);
	map_dump(&t, &dump, "jit-7.dump");
	origin_one_syscall(&t, 0x5000);
	cr_assert_eq(origin_run(&t, false, &err), 0, "%s", err.msg);
	cr_assert(strstr(t.text, "syscall first"), "%s", t.text);
	(void)snprintf(path, sizeof(path), "%s/jit-7.dump", t.dir);
	cr_assert_eq(chown(path, 65534, 65534), 0);
	cr_assert_eq(origin_run(&t, false, &err), 0, "%s", err.msg);
	cr_assert_null(strstr(t.text, "first"), "%s", t.text);
	cr_assert(strstr(t.text, "belongs to user 65534, not to root; decode as that user"), "%s",
		  t.text);
	ptc_buf_release(&dump);
	origin_end(&t);
}
