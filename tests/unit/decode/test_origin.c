/* SPDX-License-Identifier: MIT */
/* Description: recordings whose code comes from cores, jitdumps, vmlinux and kcore. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "auxtrace/feature_base.h"
#include "auxtrace/feature_kernel.h"
#include "lib_elf.h"
#include "lib_perfdata.h"
#include "lib_pt.h"
#include "ptcap/decode.h"

/* A tick is a nanosecond. */
static const struct ptc_time_conv clock_1ns = { .shift = 0, .mult = 1, .zero = 0 };

enum { TEXT = 0x401000 };
#define KERNEL 0xffffffffa1000000ull /* where _text ran */
#define LINKED 0xffffffff81000000ull /* and what it was linked for */
#define MODULE 0xffffffffc0000000ull

struct test {
	struct pd pd;
	char dir[64];
	struct ptc_code_opts code;
	bool folder; /* the recording is one */
	struct ptc_decode *d;
	struct ptc_missing missing; /* the first; its strings are gone */
	size_t nmissing, files;
	char file[128], build_id[64], found_id[64];
	FILE *out;
	char *text; /* items, then "# NOTE" lines */
	size_t len;
};

static void set_cpu(struct pd *pd, const char *cpuid)
{
	struct ptc_buf b = PTC_BUF_INIT;

	ptc_feature_put_string(&b, cpuid);
	pd_feature(pd, PTC_FEAT_CPUID, b.bytes, b.len);
	ptc_buf_release(&b);
}

static void begin(struct test *t)
{
	memset(t, 0, sizeof(*t));
	pd_init_pt(&t->pd, &clock_1ns);
	le_folder(t->dir, sizeof(t->dir));
	t->code.size = sizeof(t->code);
	t->code.cache = t->dir;
	set_cpu(&t->pd, "GenuineIntel,6,158,10");
}

static void end(struct test *t)
{
	pd_release(&t->pd);
	free(t->text);
	le_folder_remove(t->dir);
}

static int on_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct test *t = ctx;
	const char *name;
	uint64_t off;
	size_t i;

	for (i = 0; i < n; i++) {
		const struct ptc_item *it = &items[i];

		if (it->type == PTC_ITEM_GAP) {
			fprintf(t->out, "gap %s\n", ptc_gap_name((enum ptc_gap_cause)it->cause));
			continue;
		}
		name = ptc_decode_symbol(t->d, it, it->from ? it->from : it->to, &off);
		fprintf(t->out, "%" PRIx64 " %" PRIx64 " %s%s%s\n", it->from, it->to,
			ptc_kind_name((enum ptc_kind)it->kind), name ? " " : "", name ? name : "");
	}
	return 0;
}

static void keep(char *out, size_t size, const char *s)
{
	snprintf(out, size, "%s", s ? s : "(null)");
}

static int run(struct test *t, bool survey, struct ptc_err *err)
{
	struct ptc_decode_opts opts = PTC_DECODE_OPTS_INIT;
	const struct ptc_sink sink = { on_items, t };
	const char *note;
	char path[96], data[104];
	size_t i;
	int r;

	snprintf(path, sizeof(path), "%s/perf.data", t->dir);
	snprintf(data, sizeof(data), "%s%s", path, t->folder ? "/data" : "");
	pd_write(&t->pd, data);
	opts.code = &t->code;
	free(t->text);
	t->out = open_memstream(&t->text, &t->len);
	r = ptc_decode_open(path, &opts, &t->d, err);
	if (!r) {
		r = survey ? ptc_decode_survey(t->d, &t->files, err) :
			     ptc_decode_run(t->d, &sink, err);
		for (i = 0; (note = ptc_decode_note(t->d, i)) != NULL; i++)
			fprintf(t->out, "# %s\n", note);
		for (i = 0; ptc_decode_missing(t->d, i, &t->missing); i++) {
			if (i)
				continue;
			keep(t->file, sizeof(t->file), t->missing.file);
			keep(t->build_id, sizeof(t->build_id), t->missing.build_id);
			keep(t->found_id, sizeof(t->found_id), t->missing.found_id);
		}
		t->nmissing = i;
		ptc_decode_free(t->d);
	}
	fclose(t->out);
	return r;
}

/* Decode; the items must be @lines, and the notes begin with @notes. */
static void expect(struct test *t, const char *lines, const char *notes)
{
	struct ptc_err err;
	char *hash;

	cr_assert_eq(run(t, false, &err), 0, "%s", err.msg);
	hash = strchr(t->text, '#');
	cr_assert(!strncmp(t->text, lines, strlen(lines)) &&
			  (hash ? hash == t->text + strlen(lines) : t->len == strlen(lines)),
		  "got:\n%swant:\n%s", t->text, lines);
	cr_assert(notes ? hash && !strncmp(hash, notes, strlen(notes)) : !hash, "got:\n%swant:\n%s",
		  t->text, notes ? notes : "(no note)");
}

/* On at the syscall of pt_code, which is at @base, and off by it; each at its time. */
static void syscall_at(struct ptc_buf *b, uint64_t time, uint64_t base)
{
	pt_tsc(b, time);
	pt_enable(b, base + 0x16);
	pt_ip_none(b, PT_PGD);
}

static void psb_at(struct ptc_buf *b, uint64_t time)
{
	pt_psb(b);
	pt_tsc(b, time);
	pt_psbend(b);
}

static void trace(struct test *t, struct ptc_buf *b)
{
	pd_auxtrace(&t->pd, &(struct ptc_auxtrace){ .tid = 7, .cpu = -1 }, b->bytes, b->len);
	ptc_buf_release(b);
}

/* One syscall at @time in the code at @base. */
static void one_syscall(struct test *t, uint64_t base)
{
	struct ptc_buf b = PTC_BUF_INIT;

	psb_at(&b, 1);
	syscall_at(&b, 50, base);
	trace(t, &b);
}

static void map_id(struct test *t, uint64_t addr, uint64_t off, const char *name, uint8_t id)
{
	struct ptc_sb sb = { .type = PERF_RECORD_MMAP2,
			     .misc = PERF_RECORD_MISC_USER,
			     .id = { .has = PD_SAMPLE_TYPE, .pid = 7, .tid = 7 },
			     .u.mmap = { .pid = 7,
					 .tid = 7,
					 .addr = addr,
					 .len = 0x1000,
					 .pgoff = off,
					 .prot = PROT_READ | PROT_EXEC,
					 .filename = name } };

	memset(sb.u.mmap.build_id.bytes, 0x11, 20);
	sb.u.mmap.build_id.bytes[0] = id;
	sb.u.mmap.build_id.len = 20;
	pd_sb(&t->pd, &sb);
}

static void kernel_mmap(struct test *t, uint64_t addr, uint64_t len, uint64_t pgoff,
			const char *name)
{
	struct ptc_sb sb = {
		.type = PERF_RECORD_MMAP,
		.misc = PERF_RECORD_MISC_KERNEL,
		.id = { .has = PD_SAMPLE_TYPE, .pid = -1, .tid = -1 },
		.u.mmap = { .pid = -1, .addr = addr, .len = len, .pgoff = pgoff, .filename = name },
	};

	t->pd.attrs[0].attr.exclude_kernel = 0;
	pd_sb(&t->pd, &sb);
}

/* --- what is missing -------------------------------------------------------------------------- */

Test(origin, a_missing_file_is_listed_with_what_it_cost)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct test t;

	begin(&t);
	map_id(&t, TEXT, 0, "/nowhere/a", 9);
	pd_mmap2(&t.pd, 7, 0, 0x5000, 0x1000, 0, "//anon");
	psb_at(&b, 1);
	pt_tsc(&b, 10);
	pt_enable(&b, TEXT);
	pt_tnt(&b, "TNTTNTTN"); /* 8 */
	pt_ip(&b, PT_TIP, TEXT + 0x10);
	pt_ip_none(&b, PT_PGD);
	psb_at(&b, 40);
	syscall_at(&b, 50, 0x5000);
	trace(&t, &b);
	expect(&t, "0 401000 start\ngap nocode\n0 5016 start\ngap nocode\n",
	       "# no code for '/nowhere/a' (build-id 0911111111111111111111111111111111111111): "
	       "1 gap, about 10 branches; --symfs DIR if you have it elsewhere, or perf's "
	       "build-id cache\n"
	       "# no code for '//anon': 1 gap, about 1 branch;");
	cr_assert_eq(t.nmissing, 2);
	cr_assert_str_eq(t.file, "/nowhere/a");
	cr_assert_str_eq(t.build_id, le_id(9));
	cr_assert_str_eq(t.found_id, "(null)");
	cr_assert_eq(run(&t, true, &(struct ptc_err){ .code = 0 }), 0);
	cr_assert_eq(t.nmissing, 2);
	cr_assert_eq(t.files, 2);
	end(&t);
}

Test(origin, another_file_at_the_path_is_said_with_both_build_ids)
{
	struct ptc_buf elf = PTC_BUF_INIT;
	struct test t;
	char path[512];

	begin(&t);
	le_program(&elf, 0x400000, 3, pt_code, PT_CODE_LEN);
	snprintf(path, 512, "%s", le_write(t.dir, "prog", &elf));
	map_id(&t, TEXT, LE_CODE_OFF, path, 2);
	one_syscall(&t, TEXT);
	expect(&t, "0 401016 start\ngap nocode\n", "# no code for '");
	cr_assert_str_eq(t.build_id, le_id(2));
	cr_assert_str_eq(t.found_id, le_id(3));
	/* The right one in the cache: what was not used is said all the same. */
	snprintf(path, sizeof(path), ".build-id/02/%s/elf", le_id(2) + 2);
	le_program(&elf, 0x400000, 2, pt_code, PT_CODE_LEN);
	le_write(t.dir, path, &elf);
	expect(&t, "0 401016 start code_start\n401016 0 syscall code_start\n", "# '");
	cr_assert(strstr(t.text, "/prog' has build-id 0311"));
	cr_assert(strstr(t.text, ", not 0211"));
	cr_assert_eq(t.nmissing, 0);
	ptc_buf_release(&elf);
	end(&t);
}

Test(origin, what_is_taken_without_a_build_id_is_said_to_be_assumed)
{
	struct ptc_buf elf = PTC_BUF_INIT;
	char path[512], note[600];
	struct test t;

	begin(&t);
	le_program(&elf, 0x400000, 3, pt_code, PT_CODE_LEN);
	snprintf(path, 512, "%s", le_write(t.dir, "prog", &elf));
	pd_mmap2(&t.pd, 7, 0, TEXT, 0x1000, LE_CODE_OFF, path);
	one_syscall(&t, TEXT);
	snprintf(note, sizeof(note), "# assumed: '%s' is as it was", path);
	expect(&t, "0 401016 start code_start\n401016 0 syscall code_start\n", note);
	ptc_buf_release(&elf);
	end(&t);
}

/* What is assumed is said once, by a look at the recording too. */
static void expect_assumed(struct test *t, const char *words)
{
	const char *at;

	cr_assert_eq(run(t, false, &(struct ptc_err){ .code = 0 }), 0);
	at = strstr(t->text, words);
	cr_assert(at && !strstr(at + 1, words), "got:\n%swant once:\n%s", t->text, words);
	cr_assert_eq(run(t, true, &(struct ptc_err){ .code = 0 }), 0);
	cr_assert(strstr(t->text, words), "a look:\n%s", t->text);
}

Test(origin, a_cpu_that_is_not_known_is_assumed_to_have_no_errata)
{
	static const char words[] = "# assumed: no errata: ";
	struct test t;

	begin(&t);
	pd_mmap2(&t.pd, 7, 0, 0x5000, 0x1000, 0, "//anon");
	one_syscall(&t, 0x5000);
	set_cpu(&t.pd, "AuthenticAMD,25,1,1");
	cr_assert_eq(run(&t, false, &(struct ptc_err){ .code = 0 }), 0);
	cr_assert_null(strstr(t.text, words));
	set_cpu(&t.pd, "GenuineIntel,6,9999,1");
	expect_assumed(&t, words);
	t.pd.has[PTC_FEAT_CPUID] = false;
	expect_assumed(&t, words);
	end(&t);
}

Test(origin, without_times_what_was_mapped_is_assumed_to_have_been_so_from_the_start)
{
	struct test t;

	begin(&t);
	pd_mmap2(&t.pd, 7, 0, 0x5000, 0x1000, 0, "//anon");
	one_syscall(&t, 0x5000);
	t.pd.attrs[0].attr.config &= ~(uint64_t)(1 << 10);
	expect_assumed(&t, "# assumed: all that was mapped was so from the start: there are no "
			   "times, as TSC packets were off\n");
	pd_release(&t.pd);
	pd_init_pt(&t.pd, NULL);
	one_syscall(&t, 0x5000);
	expect_assumed(&t, "as the recording does not say how the TSC counts\n");
	end(&t);
}

Test(origin, a_thread_of_which_no_record_tells_is_assumed_to_be_its_process_s_first)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct test t;

	begin(&t);
	pd_poke(&t.pd, 7, 5, 0x5000, pt_code, PT_CODE_LEN);
	psb_at(&b, 10);
	syscall_at(&b, 50, 0x5000);
	trace(&t, &b);
	expect(&t, "0 5016 start\n5016 0 syscall\n",
	       "# assumed: thread 7 is the first of its process: no record says so\n");
	end(&t);
}

Test(origin, without_switches_a_cpu_is_assumed_to_have_run_one_thread)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct test t;

	begin(&t);
	psb_at(&b, 10);
	pd_auxtrace(&t.pd, &(struct ptc_auxtrace){ .tid = 7, .cpu = 1 }, b.bytes, b.len);
	ptc_buf_release(&b);
	expect_assumed(&t, "# assumed: a CPU ran one thread only: ");
	end(&t);
}

Test(origin, the_running_kernel_s_vdso_is_used_only_if_it_is_the_recording_s)
{
	struct test t;

	begin(&t);
	pd_mmap2(&t.pd, 7, 0, 0x9000, 0x2000, 0, "[vdso]");
	one_syscall(&t, 0x9000);
	expect(&t, "0 9016 start\ngap nocode\n", "# no code for '[vdso]': 1 gap");
	map_id(&t, 0x9000, 0, "[vdso]", 9);
	expect(&t, "0 9016 start\ngap nocode\n", "# no code for '[vdso]' (build-id 09");
	end(&t);
}

/* --- cores ------------------------------------------------------------------------------------ */

static const char *put_core(struct test *t, int32_t pid, const char *name, uint64_t page,
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

Test(origin, a_core_has_what_is_in_no_file_or_in_a_missing_one)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct test t;

	begin(&t);
	put_core(&t, 7, "/nowhere/a", 1, "", 1);
	map_id(&t, TEXT, LE_CODE_OFF, "/nowhere/a", 9);
	pd_mmap2(&t.pd, 7, 0, 0x5000, 0x1000, 0x5000, "//anon");
	psb_at(&b, 1);
	syscall_at(&b, 50, 0x5000);
	syscall_at(&b, 60, TEXT);
	trace(&t, &b);
	expect(&t, "0 5016 start\n5016 0 syscall\n0 401016 start\n401016 0 syscall\n",
	       "# assumed: what was taken from '");
	cr_assert_eq(run(&t, true, &(struct ptc_err){ .code = 0 }), 0);
	cr_assert_eq(t.nmissing, 0);
	end(&t);
}

Test(origin, a_core_of_another_process_or_of_another_file_is_not_used)
{
	struct ptc_buf elf = PTC_BUF_INIT;
	struct test t;

	begin(&t);
	map_id(&t, TEXT, LE_CODE_OFF, "/nowhere/a", 9);
	one_syscall(&t, TEXT);
	put_core(&t, 8, "/nowhere/a", 1, "", 1);
	expect(&t, "0 401016 start\ngap nocode\n", "# no code");
	put_core(&t, 7, "/nowhere/b", 1, "", 1);
	expect(&t, "0 401016 start\ngap nocode\n", "# no code");
	put_core(&t, 7, "/nowhere/a", 2, "", 1);
	expect(&t, "0 401016 start\ngap nocode\n", "# no code");
	/* The first page of the file tells which build it was. */
	le_program(&elf, 0x400000, 8, pt_code, PT_CODE_LEN);
	put_core(&t, 7, "/nowhere/a", 1, elf.bytes, LE_CODE_OFF);
	expect(&t, "0 401016 start\ngap nocode\n", "# no code");
	le_program(&elf, 0x400000, 9, pt_code, PT_CODE_LEN);
	put_core(&t, 7, "/nowhere/a", 1, elf.bytes, LE_CODE_OFF);
	expect(&t, "0 401016 start\n401016 0 syscall\n", "# assumed");
	/* Nobody knows whose it is. */
	put_core(&t, 0, "/nowhere/a", 1, elf.bytes, LE_CODE_OFF);
	expect(&t, "0 401016 start\ngap nocode\n", "# no code");
	cr_assert(strstr(t.text, "does not say whose memory it is"));
	ptc_buf_release(&elf);
	end(&t);
}

Test(origin, a_core_that_is_none_is_an_error)
{
	struct ptc_buf elf = PTC_BUF_INIT;
	struct ptc_err err;
	struct test t;

	begin(&t);
	one_syscall(&t, TEXT);
	t.code.core = "/nowhere/core";
	cr_assert_eq(run(&t, false, &err), PTC_E_NOT_EXIST);
	le_program(&elf, 0x400000, 3, pt_code, PT_CODE_LEN);
	t.code.core = le_write(t.dir, "core", &elf);
	cr_assert_eq(run(&t, false, &err), PTC_E_FORMAT);
	cr_assert(strstr(err.msg, "is no core"));
	ptc_buf_release(&elf);
	end(&t);
}

/* --- JITs ------------------------------------------------------------------------------------- */

/* mov %eax, %eax; syscall - as long as the syscall of pt_code and what is in front of it. */
static const uint8_t code_two[0x18] = { [0] = 0x90, [0x16] = 0x0f, 0x05 };

static void map_dump(struct test *t, const struct ptc_buf *dump, const char *name)
{
	pd_mmap2(&t->pd, 7, 0, 0x70000, 0x1000, 0, le_write(t->dir, name, dump));
}

/* Twice into the code at 0x5000, and once into 0x6000. */
static void jit_trace(struct test *t)
{
	struct ptc_buf b = PTC_BUF_INIT;

	psb_at(&b, 1);
	syscall_at(&b, 10, 0x5000); /* too early */
	psb_at(&b, 15);
	syscall_at(&b, 30, 0x5000);
	syscall_at(&b, 50, 0x6000);
	trace(t, &b);
}

Test(origin, jitdump_has_bytes_and_names_from_their_time_on)
{
	struct ptc_buf dump = PTC_BUF_INIT;
	struct test t;

	begin(&t);
	pd_mmap2(&t.pd, 7, 0, 0x5000, 0x2000, 0, "//anon");
	le_jit(&dump, 7, 1); /* of the TSC */
	le_jit_other(&dump, 2, 40);
	le_jit_load(&dump, 20, 0x5000, 1, "first", pt_code, PT_CODE_LEN);
	le_jit_other(&dump, 4, 24);
	le_jit_load(&dump, 25, 0x5800, 2, "other", code_two, sizeof(code_two));
	le_jit_move(&dump, 40, 0x5000, 0x6000, 1, PT_CODE_LEN);
	le_jit_other(&dump, 3, 0);
	map_dump(&t, &dump, "jit-7.dump");
	jit_trace(&t);
	expect(&t,
	       "0 5016 start\ngap nocode\n0 5016 start first\n5016 0 syscall first\n"
	       "0 6016 start first\n6016 0 syscall first\n",
	       "# no code for '//anon': 1 gap");
	cr_assert_null(strstr(t.text, "assumed"));
	cr_assert_eq(t.nmissing, 1);
	ptc_buf_release(&dump);
	end(&t);
}

Test(origin, the_clock_of_a_jitdump_is_said_to_be_assumed)
{
	struct ptc_buf dump = PTC_BUF_INIT;
	struct test t;

	begin(&t);
	pd_mmap2(&t.pd, 7, 0, 0x5000, 0x1000, 0, "//anon");
	le_jit(&dump, 7, 0);
	le_jit_load(&dump, 20, 0x5000, 1, "first", pt_code, PT_CODE_LEN);
	map_dump(&t, &dump, "jit-7.dump");
	one_syscall(&t, 0x5000);
	expect(&t, "0 5016 start first\n5016 0 syscall first\n", "# assumed: the times in '");
	ptc_buf_release(&dump);
	end(&t);
}

Test(origin, code_that_the_recording_has_itself_goes_before_a_jitdump_s)
{
	static const uint8_t wrong[PT_CODE_LEN] = { 0 };
	struct ptc_buf dump = PTC_BUF_INIT;
	struct test t;

	begin(&t);
	pd_mmap2(&t.pd, 7, 0, 0x5000, 0x1000, 0, "//anon");
	pd_poke(&t.pd, 7, 5, 0x5000, pt_code, PT_CODE_LEN);
	le_jit(&dump, 7, 0);
	le_jit_load(&dump, 20, 0x5000, 1, "first", wrong, PT_CODE_LEN);
	map_dump(&t, &dump, "jit-7.dump");
	one_syscall(&t, 0x5000);
	expect(&t, "0 5016 start first\n5016 0 syscall first\n", NULL);
	ptc_buf_release(&dump);
	end(&t);
}

Test(origin, a_jitdump_that_is_cut_anywhere_gives_what_is_whole_in_front)
{
	struct ptc_buf dump = PTC_BUF_INIT, cut = PTC_BUF_INIT;
	struct test t;
	size_t whole, n;

	begin(&t);
	pd_mmap2(&t.pd, 7, 0, 0x5000, 0x2000, 0, "//anon");
	le_jit(&dump, 7, 1);
	le_jit_load(&dump, 20, 0x5000, 1, "first", pt_code, PT_CODE_LEN);
	whole = dump.len;
	le_jit_move(&dump, 40, 0x5000, 0x6000, 1, PT_CODE_LEN);
	map_dump(&t, &dump, "jit-7.dump");
	jit_trace(&t);
	for (n = 1; n < dump.len; n++) {
		struct ptc_err err;

		ptc_buf_reset(&cut);
		ptc_buf_put(&cut, dump.bytes, n);
		le_write(t.dir, "jit-7.dump", &cut);
		cr_assert_eq(run(&t, false, &err), 0, "%s", err.msg);
		cr_assert_eq(strstr(t.text, "5016 0 syscall first") != NULL, n >= whole, "%zu", n);
		cr_assert_eq(strstr(t.text, "# jitdump '") != NULL, n != whole && n != 40, "%zu",
			     n);
	}
	ptc_buf_release(&cut);
	ptc_buf_release(&dump);
	end(&t);
}

Test(origin, a_perf_map_names_code_without_a_file)
{
	const char text[] = "5000 20 Lfoo;->bar baz\n5020 19 next\n";
	struct ptc_buf map = { (uint8_t *)(uintptr_t)text, sizeof(text) - 1, 0, false };
	struct test t;

	begin(&t);
	mkdir("/tmp", 0777);
	t.code.symfs = t.dir;
	le_write(t.dir, "tmp/perf-7.map", &map);
	pd_mmap2(&t.pd, 7, 0, 0x5000, 0x1000, 0, "//anon");
	pd_poke(&t.pd, 7, 5, 0x5000, pt_code, PT_CODE_LEN);
	one_syscall(&t, 0x5000);
	expect(&t, "0 5016 start Lfoo;->bar baz\n5016 0 syscall Lfoo;->bar baz\n", "# assumed: '");
	cr_assert(strstr(t.text, "/tmp/perf-7.map' is of the process that was recorded\n"));
	end(&t);
}

/* --- the kernel ------------------------------------------------------------------------------- */

/* Feature BUILD_ID with le_id(@id) of the kernel's @name. */
static void build_id(struct test *t, const char *name, uint8_t id)
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

Test(origin, vmlinux_is_moved_to_where_the_kernel_ran)
{
	struct ptc_buf elf = PTC_BUF_INIT;
	char path[512];
	struct test t;

	begin(&t);
	le_program(&elf, LINKED - LE_CODE_OFF, 5, pt_code, PT_CODE_LEN);
	snprintf(path, 512, "%s", le_write(t.dir, "vmlinux", &elf));
	t.code.vmlinux = path;
	kernel_mmap(&t, KERNEL, 0x1000000, KERNEL, "[kernel.kallsyms]_text");
	one_syscall(&t, KERNEL);
	expect(&t, "0 ffffffffa1000016 start code_start\nffffffffa1000016 0 syscall code_start\n",
	       "# assumed: the kernel ran as it is in vmlinux");
	/* A user-only recording has no need of it. */
	t.pd.attrs[0].attr.exclude_kernel = 1;
	expect(&t, "0 ffffffffa1000016 start\ngap nocode\n", "# no code for the kernel");
	ptc_buf_release(&elf);
	end(&t);
}

Test(origin, a_vmlinux_of_another_build_is_not_used)
{
	struct ptc_buf elf = PTC_BUF_INIT;
	char path[512];
	struct test t;

	begin(&t);
	build_id(&t, "[kernel.kallsyms]", 6);
	le_program(&elf, LINKED - LE_CODE_OFF, 5, pt_code, PT_CODE_LEN);
	snprintf(path, 512, "%s", le_write(t.dir, "vmlinux", &elf));
	t.code.vmlinux = path;
	kernel_mmap(&t, KERNEL, 0x1000000, KERNEL, "[kernel.kallsyms]_text");
	one_syscall(&t, KERNEL);
	expect(&t, "0 ffffffffa1000016 start\ngap nocode\n",
	       "# no code for '[kernel.kallsyms]' (build-id 06");
	cr_assert_str_eq(t.found_id, le_id(5));
	t.code.vmlinux = "/nowhere/vmlinux";
	cr_assert_eq(run(&t, false, &(struct ptc_err){ .code = 0 }), PTC_E_NOT_EXIST);
	ptc_buf_release(&elf);
	end(&t);
}

static void put_kcore(struct test *t, const char *kallsyms)
{
	const struct le_segment segs[] = { { KERNEL, pt_code, PT_CODE_LEN },
					   { MODULE, pt_code, PT_CODE_LEN } };
	struct ptc_buf core = PTC_BUF_INIT;
	struct ptc_buf text = { (uint8_t *)(uintptr_t)kallsyms, strlen(kallsyms), 0, false };

	le_core(&core, 0, segs, 2, NULL, 0);
	le_write(t->dir, "kcore", &core);
	le_write(t->dir, "kallsyms", &text);
	ptc_buf_release(&core);
	t->code.kcore = t->dir;
}

Test(origin, kcore_has_the_kernel_and_its_modules)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct test t;

	begin(&t);
	put_kcore(&t, "ffffffffa1000000 T _text\nffffffffa1000010 t do_it\n"
		      "ffffffffc0000000 t in_it\t[mod]\nffffffffc0000030 d data\t[mod]\n");
	kernel_mmap(&t, KERNEL, 0x1000000, KERNEL, "[kernel.kallsyms]_text");
	kernel_mmap(&t, MODULE, 0x2000, 0, "/lib/modules/1/mod.ko");
	psb_at(&b, 1);
	syscall_at(&b, 10, KERNEL);
	psb_at(&b, 15);
	syscall_at(&b, 20, MODULE);
	trace(&t, &b);
	expect(&t,
	       "0 ffffffffa1000016 start do_it\nffffffffa1000016 0 syscall do_it\n"
	       "0 ffffffffc0000016 start in_it\nffffffffc0000016 0 syscall in_it\n",
	       NULL);
	cr_assert_eq(run(&t, true, &(struct ptc_err){ .code = 0 }), 0);
	cr_assert_eq(t.nmissing, 0);
	/* Of another boot: KASLR puts _text elsewhere. */
	put_kcore(&t, "ffffffffb1000000 T _text\n");
	expect(&t, "0 ffffffffa1000016 start\ngap nocode\n0 ffffffffc0000016 start\ngap nocode\n",
	       "# no code for '[kernel.kallsyms]': 1 gap");
	cr_assert(strstr(t.text, "is not of the kernel that was recorded"));
	cr_assert(strstr(t.text, "'/lib/modules/1/mod.ko': 1 gap"));
	end(&t);
}

static void put_module(struct test *t, uint8_t id)
{
	struct ptc_buf elf = PTC_BUF_INIT;

	le_module(&elf, id, "1 mod_unload ");
	le_write(t->dir, "lib/modules/1/mod.ko", &elf);
	ptc_buf_release(&elf);
	t->code.symfs = t->dir;
}

Test(origin, a_module_has_names_by_its_file_and_no_code)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct test t;

	begin(&t);
	build_id(&t, "/lib/modules/1/mod.ko", 7);
	put_module(&t, 7);
	kernel_mmap(&t, MODULE, 0x2000, 0, "/lib/modules/1/mod.ko");
	psb_at(&b, 1);
	syscall_at(&b, 10, MODULE + 0x10);
	trace(&t, &b);
	expect(&t, "0 ffffffffc0000026 start m_text\ngap nocode\n",
	       "# no code for '/lib/modules/1/mod.ko' (build-id "
	       "07111111111111111111111111111111111111"
	       "11): 1 gap, about 1 branch; ");
	cr_assert(strstr(t.text, "record --kcore"));
	cr_assert_null(strchr(strchr(t.text, '#') + 1, '#'), "once, and nothing else");
	cr_assert_str_eq(t.build_id, le_id(7));
	/* Of another build: not used, which is said. */
	put_module(&t, 8);
	expect(&t, "0 ffffffffc0000026 start\ngap nocode\n",
	       "# no code for '/lib/modules/1/mod.ko'");
	cr_assert_str_eq(t.found_id, le_id(8));
	cr_assert(strstr(t.text, "# no names of '/lib/modules/1/mod.ko': '"), "%s", t.text);
	end(&t);
}

Test(origin, a_module_in_kcore_has_names_without_kallsyms)
{
	struct ptc_buf b = PTC_BUF_INIT;
	char path[512];
	struct test t;

	begin(&t);
	build_id(&t, "/lib/modules/1/mod.ko", 7);
	put_kcore(&t, "");
	snprintf(path, sizeof(path), "%s/kcore", t.dir);
	t.code.kcore = path;
	put_module(&t, 7);
	kernel_mmap(&t, KERNEL, 0x1000000, KERNEL, "[kernel.kallsyms]_text");
	kernel_mmap(&t, MODULE, 0x2000, 0, "/lib/modules/1/mod.ko");
	psb_at(&b, 1);
	syscall_at(&b, 10, MODULE);
	trace(&t, &b);
	/* 0x16 is between two functions of the file; the code is kcore's. */
	expect(&t, "0 ffffffffc0000016 start\nffffffffc0000016 0 syscall\n", "# assumed: '");
	end(&t);
}

Test(origin, a_kcore_that_came_with_the_recording_is_used)
{
	const struct le_segment segs[] = { { KERNEL, pt_code, PT_CODE_LEN },
					   { MODULE, pt_code, PT_CODE_LEN } };
	const char names[] = "ffffffffa1000000 T _text\nffffffffa1000010 t do_it\n"
			     "ffffffffc0000000 t in_it\t[mod]\n";
	struct ptc_buf text = { (uint8_t *)(uintptr_t)names, sizeof(names) - 1, 0, false };
	struct ptc_buf b = PTC_BUF_INIT, core = PTC_BUF_INIT;
	struct ptc_err err;
	struct test t;

	begin(&t);
	t.folder = true;
	le_core(&core, 0, segs, 2, NULL, 0);
	le_write(t.dir, "perf.data/kcore_dir/kcore", &core);
	le_write(t.dir, "perf.data/kcore_dir/kallsyms", &text);
	t.pd.attrs[0].attr.exclude_kernel = 0;
	psb_at(&b, 1);
	syscall_at(&b, 10, KERNEL);
	psb_at(&b, 15);
	syscall_at(&b, 20, MODULE);
	trace(&t, &b);
	expect(&t,
	       "0 ffffffffa1000016 start do_it\nffffffffa1000016 0 syscall do_it\n"
	       "0 ffffffffc0000016 start in_it\nffffffffc0000016 0 syscall in_it\n",
	       NULL);
	/* The same with records of where it was; but what is asked for comes first. */
	kernel_mmap(&t, KERNEL, 0x1000000, KERNEL, "[kernel.kallsyms]_text");
	kernel_mmap(&t, MODULE, 0x2000, 0, "/lib/modules/1/mod.ko");
	expect(&t,
	       "0 ffffffffa1000016 start do_it\nffffffffa1000016 0 syscall do_it\n"
	       "0 ffffffffc0000016 start in_it\nffffffffc0000016 0 syscall in_it\n",
	       NULL);
	t.code.kcore = "/nowhere";
	cr_assert_eq(run(&t, false, &(struct ptc_err){ .code = 0 }), PTC_E_NOT_EXIST);
	t.code.kcore = NULL;
	/* One that cannot be read is an error that names it. */
	le_write(t.dir, "perf.data/kcore_dir/kcore", &text);
	cr_assert_eq(run(&t, false, &err), PTC_E_FORMAT);
	cr_assert(strstr(err.msg, "/kcore_dir/kcore' is no core"));
	ptc_buf_release(&core);
	end(&t);
}

Test(origin, what_the_kernel_patched_is_as_it_was_at_the_time)
{
	static const uint8_t nop2[] = { 0x66, 0x90, 0x0f, 0x05 };
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_sb sb = {
		.type = PERF_RECORD_TEXT_POKE,
		.misc = PERF_RECORD_MISC_KERNEL,
		.id = { .has = PD_SAMPLE_TYPE, .pid = 7, .tid = 7, .time = 30 },
		.u.poke = { .addr = KERNEL + 0x16, .new_bytes = { nop2, nop2 + sizeof(nop2) } },
	};
	struct test t;

	begin(&t);
	put_kcore(&t, "");
	kernel_mmap(&t, KERNEL, 0x1000000, KERNEL, "[kernel.kallsyms]_text");
	pd_sb(&t.pd, &sb);
	psb_at(&b, 1);
	syscall_at(&b, 10, KERNEL);
	syscall_at(&b, 40, KERNEL);
	trace(&t, &b);
	expect(&t,
	       "0 ffffffffa1000016 start\nffffffffa1000016 0 syscall\n"
	       "0 ffffffffa1000016 start\nffffffffa1000018 0 syscall\n",
	       "# assumed: '");
	end(&t);
}

static void ksymbol(struct test *t, uint64_t time, uint64_t addr, uint32_t len, const char *name,
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

Test(origin, code_of_a_bpf_program_has_a_name_and_is_said_to_be_missing)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct test t;

	begin(&t);
	ksymbol(&t, 5, MODULE, 0x40, BPF_FIRST, false);
	ksymbol(&t, 15, MODULE, 0x40, BPF_FIRST, true);
	ksymbol(&t, 25, MODULE, 0x20, BPF_SECOND, false);
	/* Addresses that cannot be: of a program, and over the end. */
	ksymbol(&t, 26, 0x1000, 0x20, "bpf_prog_low", false);
	ksymbol(&t, 27, UINT64_MAX - 4, 0x20, "bpf_prog_high", false);
	psb_at(&b, 1);
	syscall_at(&b, 10, MODULE);
	psb_at(&b, 18);
	syscall_at(&b, 20, MODULE);
	psb_at(&b, 28);
	syscall_at(&b, 30, MODULE - 0x10);
	trace(&t, &b);
	expect(&t,
	       "0 ffffffffc0000016 start " BPF_FIRST "\ngap nocode\n"
	       "0 ffffffffc0000016 start\ngap nocode\n"
	       "0 ffffffffc0000006 start " BPF_SECOND "\ngap nocode\n",
	       "# no code for '" BPF_FIRST
	       "': 1 gap, about 1 branch; JITed code of a BPF program is not in the "
	       "recording\n# no code for '" BPF_SECOND "': 1 gap, about 1 branch;");
	/* That one was loaded is no lack: it may not have run. */
	cr_assert_eq(run(&t, true, &(struct ptc_err){ .code = 0 }), 0);
	cr_assert_eq(t.nmissing, 0);
	end(&t);
}

/* struct bpf_prog_info of 192 bytes and its arrays: pt_code as a program of two functions. */
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

Test(origin, code_of_a_bpf_program_is_what_the_recording_s_header_has)
{
	static const char both[] = "0 ffffffffc0000016 start " BPF_FIRST
				   "\nffffffffc0000016 0 syscall " BPF_FIRST
				   "\n0 ffffffffc0000116 start " BPF_SECOND
				   "\nffffffffc0000116 0 syscall " BPF_SECOND "\n";
	static const char first_only[] = "0 ffffffffc0000016 start " BPF_FIRST
					 "\nffffffffc0000016 0 syscall " BPF_FIRST
					 "\n0 ffffffffc0000116 start " BPF_SECOND "\ngap nocode\n";
	struct ptc_buf b = PTC_BUF_INIT, feature = PTC_BUF_INIT;
	struct test t;
	size_t n;

	begin(&t);
	ksymbol(&t, 5, MODULE, 0x20, BPF_FIRST, false);
	ksymbol(&t, 5, MODULE + 0x100, 0x20, BPF_SECOND, false);
	psb_at(&b, 6);
	syscall_at(&b, 10, MODULE);
	psb_at(&b, 15);
	syscall_at(&b, 20, MODULE + 0x100);
	trace(&t, &b);
	put_bpf(&feature, UINT64_MAX, 0x20, 0x18);
	pd_feature(&t.pd, PTC_FEAT_BPF_PROG_INFO, feature.bytes, feature.len);
	expect(&t, both, NULL);
	/* Cut anywhere it has less, and does no harm. */
	for (n = 0; n < feature.len; n += 8) {
		pd_feature(&t.pd, PTC_FEAT_BPF_PROG_INFO, feature.bytes, n);
		cr_assert_eq(run(&t, false, &(struct ptc_err){ .code = 0 }), 0);
		cr_assert(strstr(t.text, "gap nocode"));
	}
	/* Without the bytes, or with another length or tag, it is not that code. */
	put_bpf(&feature, UINT64_MAX - 1, 0x20, 0x18);
	pd_feature(&t.pd, PTC_FEAT_BPF_PROG_INFO, feature.bytes, feature.len);
	expect(&t,
	       "0 ffffffffc0000016 start " BPF_FIRST
	       "\ngap nocode\n0 ffffffffc0000116 start " BPF_SECOND "\ngap nocode\n",
	       "# no code for '" BPF_FIRST "'");
	for (n = 0; n < 2; n++) {
		put_bpf(&feature, UINT64_MAX, n ? 0x20 : 0x18, n ? 0x19 : 0x18);
		pd_feature(&t.pd, PTC_FEAT_BPF_PROG_INFO, feature.bytes, feature.len);
		expect(&t, first_only, "# no code for '" BPF_SECOND "'");
	}
	ptc_buf_release(&feature);
	end(&t);
}
