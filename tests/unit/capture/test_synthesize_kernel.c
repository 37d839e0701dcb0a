/* SPDX-License-Identifier: MIT */
/* Description: the ranges of the kernel and its modules, as the records that perf would make. */
#include <criterion/criterion.h>
#include <string.h>

#include "auxtrace/record/sideband.h"
#include "capture/perf/synthesize_kernel.h"
#include "lib_elf.h"
#include "lib_kroot.h"

#define TYPE (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER)

static char root[64];

static void make(void)
{
	kr_make(root, sizeof(root));
}

static void away(void)
{
	le_folder_remove(root);
}

TestSuite(synthesize_kernel, .init = make, .fini = away);

static struct ptc_sb next(struct ptc_cur *c)
{
	struct ptc_rec rec;
	struct ptc_err err;
	struct ptc_sb sb;

	cr_assert_eq(ptc_rec_next(c, 0, &rec, &err), 1);
	cr_assert_eq(ptc_sb_parse(&rec, TYPE, &sb, &err), 1);
	cr_assert_eq(sb.type, PERF_RECORD_MMAP2);
	cr_assert_eq(sb.misc & PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_KERNEL);
	cr_assert_eq(sb.u.mmap.pid, -1);
	cr_assert_eq(sb.id.id, 7);
	cr_assert_eq(sb.id.time, 0);
	return sb;
}

Test(synthesize_kernel, the_kernel_and_each_module_with_file_and_build_id)
{
	const struct ptc_kernelmap m = { .root = root, .sample_type = TYPE, .id = 7 };
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err err;
	struct ptc_cur c;
	struct ptc_sb sb;

	cr_assert_eq(ptc_kernelmap_put(&b, &m, &err), 0, "%s", err.msg);
	c = ptc_cur_init(b.bytes, b.len);
	sb = next(&c);
	cr_assert_str_eq(sb.u.mmap.filename, "[kernel.kallsyms]_text");
	cr_assert_eq(sb.u.mmap.addr, KR_TEXT);
	cr_assert_eq(sb.u.mmap.len, KR_ETEXT - KR_TEXT);
	cr_assert_eq(sb.u.mmap.pgoff, KR_TEXT, "where _text is");
	cr_assert_eq(sb.u.mmap.build_id.len, 4);
	cr_assert_eq(memcmp(sb.u.mmap.build_id.bytes, "\xaa\xbb\xcc\xdd", 4), 0);
	sb = next(&c);
	cr_assert_str_eq(sb.u.mmap.filename, "/lib/modules/6.1.0-x/kernel/fs/one-mod.ko.xz");
	cr_assert_eq(sb.u.mmap.addr, KR_MODULE);
	cr_assert_eq(sb.u.mmap.len, 8192);
	cr_assert_eq(sb.u.mmap.pgoff, 0);
	cr_assert_eq(sb.u.mmap.build_id.len, 4);
	sb = next(&c);
	cr_assert_str_eq(sb.u.mmap.filename, "[two_mod]", "no file has that name");
	cr_assert_eq(sb.u.mmap.build_id.len, 0);
	cr_assert_eq(ptc_cur_left(&c), 0);
	ptc_buf_release(&b);
}

Test(synthesize_kernel, nothing_is_said_of_a_kernel_that_hides)
{
	const struct ptc_kernelmap m = { .root = root, .sample_type = TYPE, .id = 7 };
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err err;

	kr_set(root, "proc/kallsyms", "0000000000000000 T _text\n", 25);
	cr_assert_eq(ptc_kernelmap_put(&b, &m, &err), PTC_E_PERM);
	cr_assert_eq(b.len, 0);
	ptc_buf_release(&b);
}
