/* SPDX-License-Identifier: MIT */
/* Description: recordings whose code is missing, is assumed, or comes from cores. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "code_source.h"
#include "lib_elf.h"
#include "lib_perfdata.h"
#include "lib_pt.h"
#include "ptcap/decode.h"
#include "recording.h"

enum { TEXT = 0x401000 };

/* --- what is missing -------------------------------------------------------------------------- */

Test(code_provider, a_missing_file_is_listed_with_what_it_cost)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct origin t;

	origin_begin(&t);
	origin_map_id(&t, TEXT, 0, "/nowhere/a", 9);
	pd_mmap2(&t.pd, 7, 0, 0x5000, 0x1000, 0, "//anon");
	rec_psb_at(&b, 1);
	pt_tsc(&b, 10);
	pt_enable(&b, TEXT);
	pt_tnt(&b, "TNTTNTTN"); /* 8 */
	pt_ip(&b, PT_TIP, TEXT + 0x10);
	pt_ip_none(&b, PT_PGD);
	rec_psb_at(&b, 40);
	rec_syscall_at(&b, 50, 0x5000);
	origin_trace(&t, &b);
	origin_expect(
		&t, "0 401000 start\ngap nocode\n0 5016 start\ngap nocode\n",
		"# no code for '/nowhere/a' (build-id 0911111111111111111111111111111111111111): "
		"1 gap, at least 10 branches; --symfs DIR if you have it elsewhere, or perf's "
		"build-id cache\n"
		"# no code for '//anon': 1 gap, at least 1 branch;");
	cr_assert_eq(t.nmissing, 2);
	cr_assert_str_eq(t.file, "/nowhere/a");
	cr_assert_str_eq(t.build_id, le_id(9));
	cr_assert_str_eq(t.found_id, "(null)");
	cr_assert_eq(origin_run(&t, true, &(struct ptc_err){ .code = 0 }), 0);
	cr_assert_eq(t.nmissing, 2);
	cr_assert_eq(t.files, 2);
	origin_end(&t);
}

Test(code_provider, another_file_at_the_path_is_said_with_both_build_ids)
{
	struct ptc_buf elf = PTC_BUF_INIT;
	struct origin t;
	char path[512];

	origin_begin(&t);
	le_program(&elf, 0x400000, 3, pt_code, PT_CODE_LEN);
	snprintf(path, 512, "%s", le_write(t.dir, "prog", &elf));
	origin_map_id(&t, TEXT, LE_CODE_OFF, path, 2);
	origin_one_syscall(&t, TEXT);
	origin_expect(&t, "0 401016 start\ngap nocode\n", "# no code for '");
	cr_assert_str_eq(t.build_id, le_id(2));
	cr_assert_str_eq(t.found_id, le_id(3));
	/* The right file is in the cache: the unused one is reported, too. */
	snprintf(path, sizeof(path), ".build-id/02/%s/elf", le_id(2) + 2);
	le_program(&elf, 0x400000, 2, pt_code, PT_CODE_LEN);
	le_write(t.dir, path, &elf);
	origin_expect(&t, "0 401016 start code_start\n401016 0 syscall code_start\n", "# '");
	cr_assert(strstr(t.text, "/prog' has build-id 0311"));
	cr_assert(strstr(t.text, ", not 0211"));
	cr_assert_eq(t.nmissing, 0);
	ptc_buf_release(&elf);
	origin_end(&t);
}

Test(code_provider, what_is_taken_without_a_build_id_is_said_to_be_assumed)
{
	struct ptc_buf elf = PTC_BUF_INIT;
	char path[512], note[600];
	struct origin t;

	origin_begin(&t);
	le_program(&elf, 0x400000, 3, pt_code, PT_CODE_LEN);
	snprintf(path, 512, "%s", le_write(t.dir, "prog", &elf));
	pd_mmap2(&t.pd, 7, 0, TEXT, 0x1000, LE_CODE_OFF, path);
	origin_one_syscall(&t, TEXT);
	snprintf(note, sizeof(note), "# assumed: '%s' is as it was", path);
	origin_expect(&t, "0 401016 start code_start\n401016 0 syscall code_start\n", note);
	ptc_buf_release(&elf);
	origin_end(&t);
}

/* An assumption is reported once, also by a survey of the recording. */
static void expect_assumed(struct origin *t, const char *words)
{
	const char *at;

	cr_assert_eq(origin_run(t, false, &(struct ptc_err){ .code = 0 }), 0);
	at = strstr(t->text, words);
	cr_assert(at && !strstr(at + 1, words), "got:\n%swant once:\n%s", t->text, words);
	cr_assert_eq(origin_run(t, true, &(struct ptc_err){ .code = 0 }), 0);
	cr_assert(strstr(t->text, words), "a look:\n%s", t->text);
}

Test(code_provider, a_cpu_that_is_not_known_is_assumed_to_have_no_errata)
{
	static const char words[] = "# assumed: no errata: ";
	struct origin t;

	origin_begin(&t);
	pd_mmap2(&t.pd, 7, 0, 0x5000, 0x1000, 0, "//anon");
	origin_one_syscall(&t, 0x5000);
	origin_set_cpu(&t.pd, "AuthenticAMD,25,1,1");
	cr_assert_eq(origin_run(&t, false, &(struct ptc_err){ .code = 0 }), 0);
	cr_assert_null(strstr(t.text, words));
	origin_set_cpu(&t.pd, "GenuineIntel,6,9999,1");
	expect_assumed(&t, words);
	t.pd.has[PTC_FEAT_CPUID] = false;
	expect_assumed(&t, words);
	origin_end(&t);
}

Test(code_provider, without_times_what_was_mapped_is_assumed_to_have_been_so_from_the_start)
{
	struct origin t;

	origin_begin(&t);
	pd_mmap2(&t.pd, 7, 0, 0x5000, 0x1000, 0, "//anon");
	origin_one_syscall(&t, 0x5000);
	t.pd.attrs[0].attr.config &= ~(uint64_t)(1 << 10);
	expect_assumed(&t, "# assumed: all that was mapped was so from the start: there are no "
			   "times, as TSC packets were off\n");
	pd_release(&t.pd);
	pd_init_pt(&t.pd, NULL);
	origin_one_syscall(&t, 0x5000);
	expect_assumed(&t, "as the recording does not say how the TSC counts\n");
	origin_end(&t);
}

Test(code_provider, a_thread_of_which_no_record_tells_is_assumed_to_be_its_process_s_first)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct origin t;

	origin_begin(&t);
	pd_poke(&t.pd, 7, 5, 0x5000, pt_code, PT_CODE_LEN);
	rec_psb_at(&b, 10);
	rec_syscall_at(&b, 50, 0x5000);
	origin_trace(&t, &b);
	origin_expect(&t, "0 5016 start\n5016 0 syscall\n",
		      "# assumed: thread 7 is the first of its process: no record says so\n");
	origin_end(&t);
}

Test(code_provider, without_switches_a_cpu_is_assumed_to_have_run_one_thread)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct origin t;

	origin_begin(&t);
	rec_psb_at(&b, 10);
	pd_auxtrace(&t.pd, &(struct ptc_auxtrace){ .tid = 7, .cpu = 1 }, b.bytes, b.len);
	ptc_buf_release(&b);
	expect_assumed(&t, "# assumed: a CPU ran one thread only: ");
	origin_end(&t);
}

Test(code_provider, the_running_kernel_s_vdso_is_used_only_if_it_is_the_recording_s)
{
	struct origin t;

	origin_begin(&t);
	pd_mmap2(&t.pd, 7, 0, 0x9000, 0x2000, 0, "[vdso]");
	origin_one_syscall(&t, 0x9000);
	origin_expect(&t, "0 9016 start\ngap nocode\n", "# no code for '[vdso]': 1 gap");
	origin_map_id(&t, 0x9000, 0, "[vdso]", 9);
	origin_expect(&t, "0 9016 start\ngap nocode\n", "# no code for '[vdso]' (build-id 09");
	origin_end(&t);
}

/* --- cores ------------------------------------------------------------------------------------ */

static const char *put_core(struct origin *t, int32_t pid, const char *name, uint64_t page,
			    const void *first_page, size_t first_len)
{
	const struct le_segment segs[] = {
		{ 0x5000, pt_code, PT_CODE_LEN },
		{ 0x400000, first_page, first_len },
		{ TEXT, pt_code, PT_CODE_LEN },
	};
	const struct le_mapped maps[] = {
		{ 0x400000, 0x401000, 0, name },
		{ TEXT, TEXT + 0x1000, page, name },
	};
	struct ptc_buf core = PTC_BUF_INIT;
	static char path[512];

	le_core(&core, pid, segs, 3, maps, 2);
	snprintf(path, 512, "%s", le_write(t->dir, "core", &core));
	ptc_buf_release(&core);
	t->code.core = path;
	return path;
}

Test(code_provider, a_core_has_what_is_in_no_file_or_in_a_missing_one)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct origin t;

	origin_begin(&t);
	put_core(&t, 7, "/nowhere/a", 1, "", 1);
	origin_map_id(&t, TEXT, LE_CODE_OFF, "/nowhere/a", 9);
	pd_mmap2(&t.pd, 7, 0, 0x5000, 0x1000, 0x5000, "//anon");
	rec_psb_at(&b, 1);
	rec_syscall_at(&b, 50, 0x5000);
	rec_syscall_at(&b, 60, TEXT);
	origin_trace(&t, &b);
	origin_expect(&t, "0 5016 start\n5016 0 syscall\n0 401016 start\n401016 0 syscall\n",
		      "# assumed: what was taken from '");
	cr_assert_eq(origin_run(&t, true, &(struct ptc_err){ .code = 0 }), 0);
	cr_assert_eq(t.nmissing, 0);
	origin_end(&t);
}

Test(code_provider, a_core_of_another_process_or_of_another_file_is_not_used)
{
	struct ptc_buf elf = PTC_BUF_INIT;
	struct origin t;

	origin_begin(&t);
	origin_map_id(&t, TEXT, LE_CODE_OFF, "/nowhere/a", 9);
	origin_one_syscall(&t, TEXT);
	put_core(&t, 8, "/nowhere/a", 1, "", 1);
	origin_expect(&t, "0 401016 start\ngap nocode\n", "# no code");
	put_core(&t, 7, "/nowhere/b", 1, "", 1);
	origin_expect(&t, "0 401016 start\ngap nocode\n", "# no code");
	put_core(&t, 7, "/nowhere/a", 2, "", 1);
	origin_expect(&t, "0 401016 start\ngap nocode\n", "# no code");
	/* The first page of the file has its build-id. */
	le_program(&elf, 0x400000, 8, pt_code, PT_CODE_LEN);
	put_core(&t, 7, "/nowhere/a", 1, elf.bytes, LE_CODE_OFF);
	origin_expect(&t, "0 401016 start\ngap nocode\n", "# no code");
	le_program(&elf, 0x400000, 9, pt_code, PT_CODE_LEN);
	put_core(&t, 7, "/nowhere/a", 1, elf.bytes, LE_CODE_OFF);
	origin_expect(&t, "0 401016 start\n401016 0 syscall\n", "# assumed");
	/* It is unknown whose memory it is. */
	put_core(&t, 0, "/nowhere/a", 1, elf.bytes, LE_CODE_OFF);
	origin_expect(&t, "0 401016 start\ngap nocode\n", "# no code");
	cr_assert(strstr(t.text, "does not say whose memory it is"));
	ptc_buf_release(&elf);
	origin_end(&t);
}

Test(code_provider, a_core_that_is_none_is_an_error)
{
	struct ptc_buf elf = PTC_BUF_INIT;
	struct ptc_err err;
	struct origin t;

	origin_begin(&t);
	origin_one_syscall(&t, TEXT);
	t.code.core = "/nowhere/core";
	cr_assert_eq(origin_run(&t, false, &err), PTC_E_NOT_EXIST);
	le_program(&elf, 0x400000, 3, pt_code, PT_CODE_LEN);
	t.code.core = le_write(t.dir, "core", &elf);
	cr_assert_eq(origin_run(&t, false, &err), PTC_E_FORMAT);
	cr_assert(strstr(err.msg, "is not an x86-64 core dump"));
	ptc_buf_release(&elf);
	origin_end(&t);
}
