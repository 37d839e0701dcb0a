/* SPDX-License-Identifier: MIT */
/*
 * Description: recordings of the kernel: code from vmlinux, kcore and BPF programs, names of
 * modules.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "auxtrace/feature/feature_kernel.h"
#include "code_source.h"
#include "lib_elf.h"
#include "lib_perfdata.h"
#include "lib_pt.h"
#include "ptcap/decode.h"
#include "recording.h"

#define KERNEL 0xffffffffa1000000ull /* where _text ran */
#define LINKED 0xffffffff81000000ull /* and where it was linked */
#define MODULE 0xffffffffc0000000ull

/* Adds feature BUILD_ID with le_id(@id) for the kernel's @name. */
static void build_id(struct origin *t, const char *name, uint8_t id)
{
	struct ptc_buf ids = PTC_BUF_INIT;
	const size_t size = (36 + strlen(name) + 1 + 7) & ~(size_t)7;
	size_t i;

	ptc_buf_le32(&ids, 67);
	ptc_buf_le16(&ids, 1);
	ptc_buf_le16(&ids, (uint16_t)size);
	ptc_buf_le32(&ids, UINT32_MAX);
	for (i = 0; i < 20; i++)
		ptc_buf_u8(&ids, i ? 0x11 : id);
	ptc_buf_zero(&ids, 4);
	ptc_buf_str(&ids, name, 1);
	ptc_buf_zero(&ids, size - ids.len);
	pd_feature(&t->pd, PTC_FEAT_BUILD_ID, ids.bytes, ids.len);
	ptc_buf_release(&ids);
}

Test(code_provider, vmlinux_is_moved_to_where_the_kernel_ran)
{
	struct ptc_buf elf = PTC_BUF_INIT;
	char path[512];
	struct origin t;

	origin_begin(&t);
	le_program(&elf, LINKED - LE_CODE_OFF, 5, pt_code, PT_CODE_LEN);
	snprintf(path, 512, "%s", le_write(t.dir, "vmlinux", &elf));
	t.code.vmlinux = path;
	origin_kernel_mmap(&t, KERNEL, 0x1000000, KERNEL, "[kernel.kallsyms]_text");
	origin_one_syscall(&t, KERNEL);
	origin_expect(
		&t, "0 ffffffffa1000016 start code_start\nffffffffa1000016 0 syscall code_start\n",
		"# assumed: the kernel ran as it is in vmlinux");
	/* A recording of user space does not need it. */
	t.pd.attrs[0].attr.exclude_kernel = 1;
	origin_expect(&t, "0 ffffffffa1000016 start\ngap nocode\n", "# no code for the kernel");
	ptc_buf_release(&elf);
	origin_end(&t);
}

Test(code_provider, a_vmlinux_of_another_build_is_not_used)
{
	struct ptc_buf elf = PTC_BUF_INIT;
	char path[512];
	struct origin t;

	origin_begin(&t);
	build_id(&t, "[kernel.kallsyms]", 6);
	le_program(&elf, LINKED - LE_CODE_OFF, 5, pt_code, PT_CODE_LEN);
	snprintf(path, 512, "%s", le_write(t.dir, "vmlinux", &elf));
	t.code.vmlinux = path;
	origin_kernel_mmap(&t, KERNEL, 0x1000000, KERNEL, "[kernel.kallsyms]_text");
	origin_one_syscall(&t, KERNEL);
	origin_expect(&t, "0 ffffffffa1000016 start\ngap nocode\n",
		      "# no code for '[kernel.kallsyms]' (build-id 06");
	cr_assert_str_eq(t.found_id, le_id(5));
	t.code.vmlinux = "/nowhere/vmlinux";
	cr_assert_eq(origin_run(&t, false, &(struct ptc_err){ .code = 0 }), PTC_E_NOT_EXIST);
	ptc_buf_release(&elf);
	origin_end(&t);
}

/* Writes a core with the kernel and a module, and a kallsyms file for it, to t->dir. */
static void write_kcore(struct origin *t, const char *core_name, const char *kallsyms_name,
			const char *kallsyms)
{
	const struct le_segment segs[] = { { KERNEL, pt_code, PT_CODE_LEN },
					   { MODULE, pt_code, PT_CODE_LEN } };
	struct ptc_buf core = PTC_BUF_INIT;
	struct ptc_buf text = { (uint8_t *)(uintptr_t)kallsyms, strlen(kallsyms), 0, false };

	le_core(&core, 0, segs, 2, NULL, 0);
	le_write(t->dir, core_name, &core);
	le_write(t->dir, kallsyms_name, &text);
	ptc_buf_release(&core);
}

static void put_kcore(struct origin *t, const char *kallsyms)
{
	write_kcore(t, "kcore", "kallsyms", kallsyms);
	t->code.kcore = t->dir;
}

/* Adds a syscall in the kernel's code, then one in the module's. */
static void trace_both(struct origin *t)
{
	struct ptc_buf b = PTC_BUF_INIT;

	rec_psb_at(&b, 1);
	rec_syscall_at(&b, 10, KERNEL);
	rec_psb_at(&b, 15);
	rec_syscall_at(&b, 20, MODULE);
	origin_trace(t, &b);
}

static const char names_of_both[] = "ffffffffa1000000 T _text\nffffffffa1000010 t do_it\n"
				    "ffffffffc0000000 t in_it\t[mod]\n";
static const char lines_of_both[] =
	"0 ffffffffa1000016 start do_it\nffffffffa1000016 0 syscall do_it\n"
	"0 ffffffffc0000016 start in_it\nffffffffc0000016 0 syscall in_it\n";

static void map_both(struct origin *t)
{
	origin_kernel_mmap(t, KERNEL, 0x1000000, KERNEL, "[kernel.kallsyms]_text");
	origin_kernel_mmap(t, MODULE, 0x2000, 0, "/lib/modules/1/mod.ko");
}

Test(code_provider, kcore_has_the_kernel_and_its_modules)
{
	struct origin t;

	origin_begin(&t);
	put_kcore(&t, "ffffffffa1000000 T _text\nffffffffa1000010 t do_it\n"
		      "ffffffffc0000000 t in_it\t[mod]\nffffffffc0000030 d data\t[mod]\n");
	map_both(&t);
	trace_both(&t);
	origin_expect(&t, lines_of_both, NULL);
	cr_assert_eq(origin_run(&t, true, &(struct ptc_err){ .code = 0 }), 0);
	cr_assert_eq(t.nmissing, 0);
	/* Another boot: KASLR puts _text elsewhere. */
	put_kcore(&t, "ffffffffb1000000 T _text\n");
	origin_expect(
		&t, "0 ffffffffa1000016 start\ngap nocode\n0 ffffffffc0000016 start\ngap nocode\n",
		"# no code for '[kernel.kallsyms]': 1 gap");
	cr_assert(strstr(t.text, "is not of the kernel that was recorded"));
	cr_assert(strstr(t.text, "'/lib/modules/1/mod.ko': 1 gap"));
	origin_end(&t);
}

static void put_module(struct origin *t, uint8_t id)
{
	struct ptc_buf elf = PTC_BUF_INIT;

	le_module(&elf, id, "1 mod_unload ");
	le_write(t->dir, "lib/modules/1/mod.ko", &elf);
	ptc_buf_release(&elf);
	t->code.symfs = t->dir;
}

Test(code_provider, a_module_has_names_by_its_file_and_no_code)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct origin t;

	origin_begin(&t);
	build_id(&t, "/lib/modules/1/mod.ko", 7);
	put_module(&t, 7);
	origin_kernel_mmap(&t, MODULE, 0x2000, 0, "/lib/modules/1/mod.ko");
	rec_psb_at(&b, 1);
	rec_syscall_at(&b, 10, MODULE + 0x10);
	origin_trace(&t, &b);
	origin_expect(&t, "0 ffffffffc0000026 start m_text\ngap nocode\n",
		      "# no code for '/lib/modules/1/mod.ko' (build-id "
		      "07111111111111111111111111111111111111"
		      "11): 1 gap, at least 1 branch; ");
	cr_assert(strstr(t.text, "record --kcore"));
	cr_assert_null(strchr(strchr(t.text, '#') + 1, '#'), "once, and nothing else");
	cr_assert_str_eq(t.build_id, le_id(7));
	/* Another build: not used, which is reported. */
	put_module(&t, 8);
	origin_expect(&t, "0 ffffffffc0000026 start\ngap nocode\n",
		      "# no code for '/lib/modules/1/mod.ko'");
	cr_assert_str_eq(t.found_id, le_id(8));
	cr_assert(strstr(t.text, "# no names of '/lib/modules/1/mod.ko': '"), "%s", t.text);
	origin_end(&t);
}

Test(code_provider, a_module_in_kcore_has_names_without_kallsyms)
{
	struct ptc_buf b = PTC_BUF_INIT;
	char path[512];
	struct origin t;

	origin_begin(&t);
	build_id(&t, "/lib/modules/1/mod.ko", 7);
	put_kcore(&t, "");
	snprintf(path, sizeof(path), "%s/kcore", t.dir);
	t.code.kcore = path;
	put_module(&t, 7);
	map_both(&t);
	rec_psb_at(&b, 1);
	rec_syscall_at(&b, 10, MODULE);
	origin_trace(&t, &b);
	/* 0x16 is between two functions of the file; the code is kcore's. */
	origin_expect(&t, "0 ffffffffc0000016 start\nffffffffc0000016 0 syscall\n", "# assumed: '");
	origin_end(&t);
}

Test(code_provider, a_kcore_that_came_with_the_recording_is_used)
{
	struct ptc_buf text = { (uint8_t *)(uintptr_t)names_of_both, sizeof(names_of_both) - 1, 0,
				false };
	struct ptc_err err;
	struct origin t;

	origin_begin(&t);
	t.folder = true;
	write_kcore(&t, "perf.data/kcore_dir/kcore", "perf.data/kcore_dir/kallsyms", names_of_both);
	t.pd.attrs[0].attr.exclude_kernel = 0;
	trace_both(&t);
	origin_expect(&t, lines_of_both, NULL);
	/* The same with records of the mappings; but an explicit option takes precedence. */
	map_both(&t);
	origin_expect(&t, lines_of_both, NULL);
	t.code.kcore = "/nowhere";
	cr_assert_eq(origin_run(&t, false, &(struct ptc_err){ .code = 0 }), PTC_E_NOT_EXIST);
	t.code.kcore = NULL;
	/* An unreadable kcore is an error with its name. */
	le_write(t.dir, "perf.data/kcore_dir/kcore", &text);
	cr_assert_eq(origin_run(&t, false, &err), PTC_E_FORMAT);
	cr_assert(strstr(err.msg, "/kcore_dir/kcore' is not an x86-64 core dump"));
	origin_end(&t);
}

Test(code_provider, a_kcore_in_a_bundle_is_used)
{
	struct origin t;

	origin_begin(&t);
	t.folder = t.bundled = true;
	write_kcore(&t, "perf.data/kcore_dir/kcore", "perf.data/kcore_dir/kallsyms", names_of_both);
	t.pd.attrs[0].attr.exclude_kernel = 0;
	trace_both(&t);
	origin_expect(&t, lines_of_both, NULL);
	map_both(&t);
	origin_expect(&t, lines_of_both, NULL);
	origin_end(&t);
}

/* Puts a FIFO without a writer in the place of @name. */
static void put_fifo(struct origin *t, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", t->dir, name);
	cr_assert(!unlink(path) && !mkfifo(path, 0600));
}

Test(code_provider, a_fifo_in_the_recording_s_kcore_dir_is_not_waited_for, .timeout = 60)
{
	static const char kcore[] = "perf.data/kcore_dir/kcore",
			  kallsyms[] = "perf.data/kcore_dir/kallsyms";
	char path[512], elsewhere[512];
	struct ptc_err err;
	struct origin t;

	origin_begin(&t);
	t.folder = true;
	write_kcore(&t, kcore, kallsyms, names_of_both);
	put_fifo(&t, kallsyms);
	t.pd.attrs[0].attr.exclude_kernel = 0;
	trace_both(&t);
	cr_assert_eq(origin_run(&t, false, &err), 0, "%s", err.msg);
	cr_assert(strstr(t.text, "ffffffffa1000016 0 syscall\n"), "%s", t.text);
	put_fifo(&t, kcore);
	cr_assert_eq(origin_run(&t, false, &err), PTC_E_UNSUPPORTED);
	cr_assert(strstr(err.msg, "/kcore_dir/kcore': it is a FIFO"), "%s", err.msg);
	/* Nor is a link followed out of the recording. */
	write_kcore(&t, "kcore", "kallsyms", names_of_both);
	snprintf(path, sizeof(path), "%s/%s", t.dir, kcore);
	snprintf(elsewhere, sizeof(elsewhere), "%s/kcore", t.dir);
	cr_assert(!unlink(path) && !symlink(elsewhere, path));
	cr_assert_eq(origin_run(&t, false, &err), PTC_E_NOT_EXIST);
	origin_end(&t);
}

Test(code_provider, what_the_kernel_patched_is_as_it_was_at_the_time)
{
	static const uint8_t nop2[] = { 0x66, 0x90, 0x0f, 0x05 };
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_sb sb = {
		.type = PERF_RECORD_TEXT_POKE,
		.misc = PERF_RECORD_MISC_KERNEL,
		.id = { .has = PD_SAMPLE_TYPE, .pid = 7, .tid = 7, .time = 30 },
		.u.poke = { .addr = KERNEL + 0x16, .new_bytes = { nop2, nop2 + sizeof(nop2) } },
	};
	struct origin t;

	origin_begin(&t);
	put_kcore(&t, "");
	origin_kernel_mmap(&t, KERNEL, 0x1000000, KERNEL, "[kernel.kallsyms]_text");
	pd_sb(&t.pd, &sb);
	rec_psb_at(&b, 1);
	rec_syscall_at(&b, 10, KERNEL);
	rec_syscall_at(&b, 40, KERNEL);
	origin_trace(&t, &b);
	origin_expect(&t,
		      "0 ffffffffa1000016 start\nffffffffa1000016 0 syscall\n"
		      "0 ffffffffa1000016 start\nffffffffa1000018 0 syscall\n",
		      "# assumed: '");
	origin_end(&t);
}

static void ksymbol(struct origin *t, uint64_t time, uint64_t addr, uint32_t len, const char *name,
		    bool gone)
{
	struct ptc_sb sb = {
		.type = PERF_RECORD_KSYMBOL,
		.misc = PERF_RECORD_MISC_KERNEL,
		.id = { .has = PD_SAMPLE_TYPE, .pid = 0, .tid = 0, .time = time },
		.u.ksymbol = { .addr = addr,
			       .len = len,
			       .ksym_type = PERF_RECORD_KSYMBOL_TYPE_BPF,
			       .flags = gone ? PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER : 0,
			       .name = name },
	};

	t->pd.attrs[0].attr.exclude_kernel = 0;
	pd_sb(&t->pd, &sb);
}

#define BPF_FIRST  "bpf_prog_0102030405060708_first"
#define BPF_SECOND "bpf_prog_1112131415161718"

Test(code_provider, code_of_a_bpf_program_has_a_name_and_is_said_to_be_missing)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct origin t;

	origin_begin(&t);
	ksymbol(&t, 5, MODULE, 0x40, BPF_FIRST, false);
	ksymbol(&t, 15, MODULE, 0x40, BPF_FIRST, true);
	ksymbol(&t, 25, MODULE, 0x20, BPF_SECOND, false);
	/* Impossible addresses: in user space, and past the last address. */
	ksymbol(&t, 26, 0x1000, 0x20, "bpf_prog_low", false);
	ksymbol(&t, 27, UINT64_MAX - 4, 0x20, "bpf_prog_high", false);
	rec_psb_at(&b, 1);
	rec_syscall_at(&b, 10, MODULE);
	rec_psb_at(&b, 18);
	rec_syscall_at(&b, 20, MODULE);
	rec_psb_at(&b, 28);
	rec_syscall_at(&b, 30, MODULE - 0x10);
	origin_trace(&t, &b);
	origin_expect(&t,
		      "0 ffffffffc0000016 start " BPF_FIRST "\ngap nocode\n"
		      "0 ffffffffc0000016 start\ngap nocode\n"
		      "0 ffffffffc0000006 start " BPF_SECOND "\ngap nocode\n",
		      "# no code for '" BPF_FIRST
		      "': 1 gap, at least 1 branch; JITed code of a BPF program is not in the "
		      "recording\n# no code for '" BPF_SECOND "': 1 gap, at least 1 branch;");
	/* A loaded program is not reported as missing: it may not have run. */
	cr_assert_eq(origin_run(&t, true, &(struct ptc_err){ .code = 0 }), 0);
	cr_assert_eq(t.nmissing, 0);
	origin_end(&t);
}

/* struct bpf_prog_info of 192 bytes and its arrays: a program of two functions. */
static void put_bpf(struct ptc_buf *b, uint64_t arrays, uint32_t second_len, uint8_t second_tag)
{
	struct ptc_buf info = PTC_BUF_INIT, data = PTC_BUF_INIT;
	const uint8_t tags[16] = { 1,	 2,    3,    4,	   5,	 6,    7,    8,
				   0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, second_tag };
	const uint8_t code[0x20] = { [0x16] = 0x0f, [0x17] = 0x05 };
	struct ptc_bpf_prog p;

	ptc_buf_put(&data, code, sizeof(code));
	ptc_buf_put(&data, code, sizeof(code));
	ptc_buf_le64(&data, MODULE); /* 0x40 */
	ptc_buf_le64(&data, MODULE + 0x100);
	ptc_buf_le32(&data, sizeof(code)); /* 0x50 */
	ptc_buf_le32(&data, second_len);
	ptc_buf_put(&data, tags, sizeof(tags)); /* 0x58 */

	ptc_buf_le32(&info, 1);
	ptc_buf_le32(&info, 4711);
	ptc_buf_put(&info, tags, 8);
	ptc_buf_le32(&info, 2 * sizeof(code));
	ptc_buf_zero(&info, 104 - info.len);
	ptc_buf_le32(&info, 2);
	ptc_buf_le32(&info, 2);
	ptc_buf_le64(&info, 0x40);
	ptc_buf_le64(&info, 0x50);
	ptc_buf_zero(&info, 180 - info.len);
	ptc_buf_le32(&info, 2);
	ptc_buf_le64(&info, 0x58);

	p = (struct ptc_bpf_prog){ .arrays = arrays,
				   .info = { info.bytes, info.bytes + info.len },
				   .data = { data.bytes, data.bytes + data.len } };
	ptc_buf_reset(b);
	ptc_feature_put_bpf_progs(b, &p, 1);
	ptc_buf_release(&info);
	ptc_buf_release(&data);
}

Test(code_provider, code_of_a_bpf_program_is_what_the_recording_s_header_has)
{
	static const char both[] = "0 ffffffffc0000016 start " BPF_FIRST
				   "\nffffffffc0000016 0 syscall " BPF_FIRST
				   "\n0 ffffffffc0000116 start " BPF_SECOND
				   "\nffffffffc0000116 0 syscall " BPF_SECOND "\n";
	static const char first_only[] = "0 ffffffffc0000016 start " BPF_FIRST
					 "\nffffffffc0000016 0 syscall " BPF_FIRST
					 "\n0 ffffffffc0000116 start " BPF_SECOND "\ngap nocode\n";
	struct ptc_buf b = PTC_BUF_INIT, feature = PTC_BUF_INIT;
	struct origin t;
	size_t n;

	origin_begin(&t);
	ksymbol(&t, 5, MODULE, 0x20, BPF_FIRST, false);
	ksymbol(&t, 5, MODULE + 0x100, 0x20, BPF_SECOND, false);
	rec_psb_at(&b, 6);
	rec_syscall_at(&b, 10, MODULE);
	rec_psb_at(&b, 15);
	rec_syscall_at(&b, 20, MODULE + 0x100);
	origin_trace(&t, &b);
	put_bpf(&feature, UINT64_MAX, 0x20, 0x18);
	pd_feature(&t.pd, PTC_FEAT_BPF_PROG_INFO, feature.bytes, feature.len);
	origin_expect(&t, both, NULL);
	/* Truncated anywhere it has less code, and does no harm. */
	for (n = 0; n < feature.len; n += 8) {
		pd_feature(&t.pd, PTC_FEAT_BPF_PROG_INFO, feature.bytes, n);
		cr_assert_eq(origin_run(&t, false, &(struct ptc_err){ .code = 0 }), 0);
		cr_assert(strstr(t.text, "gap nocode"));
	}
	/* Without the bytes, or with another length or tag, it is not that code. */
	put_bpf(&feature, UINT64_MAX - 1, 0x20, 0x18);
	pd_feature(&t.pd, PTC_FEAT_BPF_PROG_INFO, feature.bytes, feature.len);
	origin_expect(&t,
		      "0 ffffffffc0000016 start " BPF_FIRST
		      "\ngap nocode\n0 ffffffffc0000116 start " BPF_SECOND "\ngap nocode\n",
		      "# no code for '" BPF_FIRST "'");
	for (n = 0; n < 2; n++) {
		put_bpf(&feature, UINT64_MAX, n ? 0x20 : 0x18, n ? 0x19 : 0x18);
		pd_feature(&t.pd, PTC_FEAT_BPF_PROG_INFO, feature.bytes, feature.len);
		origin_expect(&t, first_only, "# no code for '" BPF_SECOND "'");
	}
	ptc_buf_release(&feature);
	origin_end(&t);
}
