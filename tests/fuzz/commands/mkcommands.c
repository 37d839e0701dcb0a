/* SPDX-License-Identifier: MIT */
/*
 * Writes the seeds of fuzz_commands into DIR: small recordings of each form with the files that
 * they need. PROGRAM and OTHER are program.S and program.c, linked with debug information of two
 * kinds; STRIPPED is OTHER without it. RECORDING has all features.
 *
 *   mkcommands PROGRAM OTHER STRIPPED RECORDING DIR
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "auxtrace/crash.h"
#include "auxtrace/feature_base.h"
#include "auxtrace/filecode.h"
#include "auxtrace/ledger.h"
#include "command.h"
#include "lib_elf.h"
#include "lib_flow.h"
#include "lib_gopcln.h"
#include "lib_packed.h"
#include "seedfiles.h"

#define KERNEL 0xffffffffa1000000ull
#define MODULE 0xffffffffc0000000ull

enum { PID = 7, CODE_ID = 7 /* of the program's build-id: CMakeLists.txt has it, too */ };

static const char *folder;
static struct ptc_buf program, other, stripped;

static void must(int ok, const char *what)
{
	if (ok)
		return;
	(void)dprintf(2, "mkcommands: %s\n", what);
	exit(1);
}

static void read_file(const char *path, struct ptc_buf *ret)
{
	FILE *f = fopen(path, "rb");
	uint8_t bytes[4096];
	size_t n;

	must(f != NULL, path);
	while ((n = fread(bytes, 1, sizeof(bytes), f)) > 0)
		ptc_buf_put(ret, bytes, n);
	must(!ferror(f) && !fclose(f) && !ptc_buf_failed(ret), path);
}

static void read_program(const char *path, struct ptc_buf *ret)
{
	read_file(path, ret);
	must(ret->len > LE_CODE_OFF + PT_CODE_LEN &&
		     !memcmp(ret->bytes + LE_CODE_OFF, pt_code, PT_CODE_LEN),
	     "the program does not have the code of lib_pt");
}

static void save(const struct archive *a, const char *name)
{
	static uint8_t bytes[1 << 18];
	const size_t len = ar_write(a, bytes, sizeof(bytes));
	char path[512];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "wb");
	must(len && f && fwrite(bytes, 1, len, f) == len && !fclose(f), path);
}

static void add(struct archive *a, enum ar_kind kind, const struct ptc_buf *b)
{
	must(ar_add(a, kind, b->bytes, b->len), "too many parts");
}

static void add_text(struct archive *a, enum ar_kind kind, const char *text)
{
	must(ar_add(a, kind, text, strlen(text)), "too many parts");
}

static void add_recording(struct archive *a, enum ar_kind kind, const struct pd *p)
{
	size_t len;
	uint8_t *bytes = pd_finish(p, &len);

	must(ar_add(a, kind, bytes, len), "too many parts");
	free(bytes);
}

/* Saved once for each command line. */
static void save_as(struct archive *a, const char *command, const char *name,
		    const char *const *options)
{
	char full[80];
	size_t i;

	memset(a->choices, 0, sizeof(a->choices));
	a->command = cm_find(command);
	for (i = 0; options && options[i]; i++)
		cm_choose(a, options[i]);
	(void)snprintf(full, sizeof(full), "%s-%s%s", name, command,
		       options && options[0] ? options[0] : "");
	for (i = 0; full[i]; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=",
			    full[i]))
			full[i] = '_';
	save(a, full);
}

/* --- recordings --- */

static void set_cpu(struct pd *p)
{
	struct ptc_buf b = PTC_BUF_INIT;

	ptc_feature_put_string(&b, "GenuineIntel,6,158,10");
	pd_feature(p, PTC_FEAT_CPUID, b.bytes, b.len);
	ptc_buf_release(&b);
}

static void begin(struct pd *p)
{
	static const struct ptc_time_conv one_ns = { .mult = 1 };

	pd_init_pt(p, &one_ns);
	set_cpu(p);
	pd_feature(p, PTC_FEAT_HOSTNAME, "\4\0\0\0box", 8);
	pd_comm(p, PID, 1, "a", true);
}

/* A page of @name, with the build-id of the program if @has_id. */
static void map(struct pd *p, int32_t pid, uint64_t addr, uint64_t off, const char *name,
		bool has_id)
{
	struct ptc_sb sb = { .type = PERF_RECORD_MMAP2,
			     .misc = PERF_RECORD_MISC_USER,
			     .id = { .has = PD_SAMPLE_TYPE, .pid = pid, .tid = pid, .time = 2 },
			     .u.mmap = { .pid = pid,
					 .tid = pid,
					 .addr = addr,
					 .len = 0x1000,
					 .pgoff = off,
					 .prot = PROT_READ | PROT_EXEC,
					 .filename = name } };

	if (has_id) {
		memset(sb.u.mmap.build_id.bytes, 0x11, 20);
		sb.u.mmap.build_id.bytes[0] = CODE_ID;
		sb.u.mmap.build_id.len = 20;
	}
	pd_sb(p, &sb);
}

static void map_kernel(struct pd *p, uint64_t addr, uint64_t len, uint64_t off, const char *name)
{
	const struct ptc_sb sb = {
		.type = PERF_RECORD_MMAP,
		.misc = PERF_RECORD_MISC_KERNEL,
		.id = { .has = PD_SAMPLE_TYPE, .pid = -1, .tid = -1, .time = 2 },
		.u.mmap = { .pid = -1, .addr = addr, .len = len, .pgoff = off, .filename = name },
	};

	p->attrs[0].attr.exclude_kernel = 0;
	pd_sb(p, &sb);
}

static void put_trace(struct pd *p, uint32_t idx, int32_t tid, int32_t cpu, struct ptc_buf *b)
{
	const struct ptc_auxtrace aux = { .idx = idx, .tid = tid, .cpu = cpu };

	pd_auxtrace(p, &aux, b->bytes, b->len);
	ptc_buf_release(b);
}

static void walk(struct ptc_buf *b, uint64_t seed, bool timed, unsigned int insns)
{
	struct fl_walk w = { .b = b, .seed = seed, .timed = timed, .mtc_freq = 3 };

	fl_walk(&w, insns);
}

/* A syscall in the code at @base, at @time. */
static void put_syscall(struct ptc_buf *b, uint64_t time, uint64_t base)
{
	pt_psb_off(b);
	pt_tsc(b, time);
	pt_enable(b, base + 0x16);
	pt_ip_none(b, PT_PGD);
}

/* One thread, its trace in two pieces. */
static void plain(struct pd *p, bool has_id)
{
	struct ptc_buf b = PTC_BUF_INIT;

	begin(p);
	map(p, PID, PT_CODE, LE_CODE_OFF, "/bin/a", has_id);
	map(p, PID, PT_HIGH + PT_CODE, LE_CODE_OFF, "/bin/a", has_id);
	pd_itrace_start(p, PID, 0, 3);
	walk(&b, 1, true, 60);
	pd_aux(p, PID, 0, 50, 0, b.len, 0);
	put_trace(p, 0, PID, -1, &b);
	walk(&b, 2, true, 40);
	pd_aux(p, PID, 0, 90, 0, b.len, PERF_AUX_FLAG_TRUNCATED);
	put_trace(p, 0, PID, -1, &b);
	pd_raw(p, PTC_REC_FINISHED_ROUND, 0, NULL, 0);
}

/* Two CPUs, two processes that take turns, one of them forked. */
static void crowd(struct pd *p)
{
	struct ptc_buf b = PTC_BUF_INIT;
	uint64_t i;

	begin(p);
	map(p, PID, PT_CODE, LE_CODE_OFF, "/bin/a", false);
	pd_task(p, PERF_RECORD_FORK, PID + 1, PID + 1, PID, 5);
	map(p, PID + 1, PT_HIGH + PT_CODE, LE_CODE_OFF, "/bin/a", false);
	pd_switch(p, PID, 0, 6, false);
	pd_switch(p, PID + 1, 1, 6, false);
	for (i = 1; i < 5; i++) {
		put_syscall(&b, i * 100, PT_CODE);
		put_trace(p, 0, -1, 0, &b);
		put_syscall(&b, i * 100 + 20, PT_CODE);
		put_trace(p, 1, -1, 1, &b);
		pd_switch(p, i & 1 ? PID : PID + 1, 0, i * 100 + 50, true);
		pd_switch(p, i & 1 ? PID + 1 : PID, 0, i * 100 + 51, false);
	}
	pd_task(p, PERF_RECORD_EXIT, PID + 1, PID + 1, PID, 900);
}

static void jit(struct pd *p)
{
	static const struct ptc_ledger_clock clocks[] = { { 1, 1001 }, { 1001, 2101 } };
	struct ptc_buf b = PTC_BUF_INIT;

	begin(p);
	pd_mmap2(p, PID, 1, 0x5000, 0x2000, 0, "//anon");
	pd_mmap2(p, PID, 1, 0x70000, 0x1000, 0, "/tmp/jit-7.dump");
	pd_poke(p, PID, 20, 0x6000, pt_code, PT_CODE_LEN);
	ptc_ledger_put_clocks(&p->data, clocks, 2);
	put_syscall(&b, 10, 0x5000);
	put_syscall(&b, 30, 0x5000);
	put_syscall(&b, 50, 0x6000);
	put_trace(p, 0, PID, -1, &b);
}

static void kernel(struct pd *p)
{
	struct ptc_buf b = PTC_BUF_INIT;
	const struct ptc_sb bpf = {
		.type = PERF_RECORD_KSYMBOL,
		.misc = PERF_RECORD_MISC_KERNEL,
		.id = { .has = PD_SAMPLE_TYPE, .pid = -1, .tid = -1, .time = 4 },
		.u.ksymbol = { .addr = MODULE + 0x1000,
			       .len = 0x40,
			       .ksym_type = PERF_RECORD_KSYMBOL_TYPE_BPF,
			       .name = "bpf_prog_0102030405060708_first" }
	};

	begin(p);
	pd_feature(p, PTC_FEAT_OSRELEASE, "\4\0\0\0001\0\0", 8);
	map_kernel(p, KERNEL, 0x1000000, KERNEL, "[kernel.kallsyms]_text");
	map_kernel(p, MODULE, 0x1000, 0, "/lib/modules/1/kernel/mod.ko");
	pd_sb(p, &bpf);
	put_syscall(&b, 10, KERNEL);
	put_syscall(&b, 20, MODULE);
	put_syscall(&b, 30, MODULE + 0x1000);
	put_trace(p, 0, PID, -1, &b);
}

/* Code that the recording has itself, and the state of the process that died. */
static void crash(struct pd *p)
{
	const struct ptc_filecode code = { .size = 0x3000,
					   .off = LE_CODE_OFF,
					   .name = "/bin/gone",
					   .bytes = ptc_cur_init(pt_code, PT_CODE_LEN) };
	static const uint8_t auxv[32] = { 33, [8] = 0x10 };
	struct ptc_crash c = { .kind = PTC_CRASH_SIGNAL };
	uint64_t stack[32] = { PT_CODE + 0xb };
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_filecode whole = code;
	static uint8_t page[0x1000];

	begin(p);
	memcpy(page, pt_code, PT_CODE_LEN);
	whole.bytes = ptc_cur_init(page, sizeof(page));
	ptc_filecode_put(&p->data, &whole);
	map(p, PID, PT_CODE, LE_CODE_OFF, "/bin/gone", false);
	pd_itrace_start(p, PID, 0, 3);
	walk(&b, 3, true, 40);
	put_trace(p, 0, PID, -1, &b);
	c.u.signal = (struct ptc_crash_signal){
		.pid = PID, .tid = PID, .signo = 11, .code = 1, .addr = 8, .time_ns = 1000000
	};
	ptc_crash_put(&p->data, &c);
	c = (struct ptc_crash){ .kind = PTC_CRASH_THREAD, .bytes = ptc_cur_init("worker", 6) };
	c.u.thread.pid = c.u.thread.tid = PID;
	c.u.thread.regs[PTC_REG_RIP] = PT_CODE + 0x24;
	c.u.thread.regs[PTC_REG_RSP] = SF_STACK;
	c.u.thread.regs[PTC_REG_RBP] = SF_STACK + 16;
	ptc_crash_put(&p->data, &c);
	c = (struct ptc_crash){ .kind = PTC_CRASH_MAP, .bytes = ptc_cur_init("/bin/gone", 9) };
	c.u.map = (struct ptc_crash_map){ .pid = PID,
					  .start = PT_CODE,
					  .end = PT_CODE + 0x1000,
					  .off = LE_CODE_OFF,
					  .prot = PROT_READ | PROT_EXEC };
	ptc_crash_put(&p->data, &c);
	stack[2] = SF_STACK + 48;
	stack[3] = PT_CODE + 0x10;
	c = (struct ptc_crash){ .kind = PTC_CRASH_MEMORY,
				.bytes = ptc_cur_init((const uint8_t *)stack, sizeof(stack)) };
	c.u.memory.pid = PID;
	c.u.memory.addr = SF_STACK;
	ptc_crash_put(&p->data, &c);
	c = (struct ptc_crash){ .kind = PTC_CRASH_AUXV, .bytes = ptc_cur_init(auxv, sizeof(auxv)) };
	c.u.auxv.pid = PID;
	ptc_crash_put(&p->data, &c);
}

/* --- archives --- */

static void put_plain(void)
{
	static const char *const forms[][3] = {
		{ "", NULL },
		{ "--calls", NULL },
		{ "--insn", "-j2:64", NULL },
		{ "--stats", NULL },
		{ "--counts=lines", NULL },
		{ "--counts=coverage:3", NULL },
		{ "--counts=calls", "--format=json", NULL },
		{ "--format=bin", NULL },
		{ "--format=json", "--resync=psb", NULL },
		{ "--events", "--engine=libipt", NULL },
		{ "-Fpid,tid,cpu,time,from,to,kind,sym,tosym,srcline", NULL },
		{ "-Finsn-ip,disasm", "-j2:64", NULL },
		{ "--engine=verify", "-j1", NULL },
		{ "--last=3", NULL },
	};
	static const char *const dumps[][3] = { { "--verify", NULL }, { "--format=json", NULL } };
	struct archive a = { .n = 0 };
	struct pd p;
	size_t i;

	plain(&p, false);
	add_recording(&a, AR_RECORDING, &p);
	for (i = 0; i < sizeof(dumps) / sizeof(dumps[0]); i++)
		save_as(&a, "dump", "plain", dumps[i]);
	save_as(&a, "info", "plain", NULL);
	save_as(&a, "recover", "plain", NULL);
	save_as(&a, "convert", "plain", (const char *const[]){ "--pipe", "--compress", NULL });
	add(&a, AR_PROGRAM, &program);
	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		save_as(&a, "decode", "plain", forms[i]);
	ar_release(&a);
	/* Debug information of another kind, in a file of its own. */
	add_recording(&a, AR_RECORDING, &p);
	add(&a, AR_DEBUG, &other);
	add(&a, AR_PROGRAM, &stripped);
	save_as(&a, "decode", "debug", (const char *const[]){ "--counts=lines", NULL });
	ar_release(&a);
	pd_release(&p);
}

/* Where a program is found by its build-id: commands without --symfs decode, too. */
static void put_cached(void)
{
	struct archive a = { .n = 0 };
	struct ptc_buf made = PTC_BUF_INIT;
	struct pd p;

	plain(&p, true);
	add_recording(&a, AR_RECORDING, &p);
	add(&a, AR_CACHED, &program);
	save_as(&a, "info", "cached", (const char *const[]){ "--format=json", NULL });
	save_as(&a, "convert", "cached", (const char *const[]){ "--branch-stacks=4,3", NULL });
	must(!cm_run_output(&a, &made), "convert --branch-stacks");
	ar_release(&a);
	add(&a, AR_RECORDING, &made);
	add(&a, AR_CACHED, &program);
	save_as(&a, "compare", "stacks", NULL);
	save_as(&a, "compare", "stacks", (const char *const[]){ "--list", "--format=json", NULL });
	save_as(&a, "dump", "stacks", NULL);
	ar_release(&a);
	ptc_buf_release(&made);
	pd_release(&p);
}

static void put_forms(void)
{
	static const struct {
		const char *name;
		uint32_t type;
		bool pipe;
	} forms[] = { { "pipe", 0, true },
		      { "packed", PTC_REC_COMPRESSED, false },
		      { "packed2", PTC_REC_COMPRESSED2, true } };
	struct archive a = { .n = 0 };
	size_t i, len;
	uint8_t *bytes;
	struct pd p;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		plain(&p, false);
		if (forms[i].type)
			pk_pack(&p, forms[i].type, 4000);
		bytes = forms[i].pipe ? pd_finish_pipe(&p, &len) : pd_finish(&p, &len);
		must(ar_add(&a, AR_RECORDING, bytes, len), "too many parts");
		save_as(&a, "convert", forms[i].name,
			(const char *const[]){ "--decompress", NULL });
		save_as(&a, "dump", forms[i].name,
			(const char *const[]){ "--verify", "-i-", NULL });
		save_as(&a, "recover", forms[i].name, NULL);
		add(&a, AR_PROGRAM, &program);
		save_as(&a, "decode", forms[i].name, NULL);
		ar_release(&a);
		free(bytes);
		pd_release(&p);
	}
	plain(&p, false);
	add_recording(&a, AR_FOLDER, &p);
	add(&a, AR_PROGRAM, &program);
	add_text(&a, AR_FOLDER_SYMS, "ffffffffa1000000 T _text\n");
	save_as(&a, "decode", "folder", (const char *const[]){ "-i@/folder --symfs=@/root", NULL });
	save_as(&a, "convert", "folder", (const char *const[]){ "-i@/folder", NULL });
	ar_release(&a);
	pd_release(&p);
}

static void put_crowd(void)
{
	struct archive a = { .n = 0 };
	struct pd p;

	crowd(&p);
	add_recording(&a, AR_RECORDING, &p);
	save_as(&a, "dump", "crowd", (const char *const[]){ "--verify", NULL });
	save_as(&a, "convert", "crowd", (const char *const[]){ "--tid=7", NULL });
	add(&a, AR_PROGRAM, &program);
	save_as(&a, "decode", "crowd", NULL);
	save_as(&a, "decode", "crowd", (const char *const[]){ "--calls", "-j3:16", NULL });
	ar_release(&a);
	pd_release(&p);
}

static void put_jit(void)
{
	struct archive a = { .n = 0 };
	struct ptc_buf dump = PTC_BUF_INIT;
	struct pd p;

	jit(&p);
	le_jit(&dump, PID, 0);
	le_jit_other(&dump, 2, 40);
	le_jit_load(&dump, 1022, 0x5000, 1, "first", pt_code, PT_CODE_LEN);
	le_jit_move(&dump, 1044, 0x5000, 0x6000, 1, PT_CODE_LEN);
	le_jit_other(&dump, 3, 0);
	add_recording(&a, AR_RECORDING, &p);
	add(&a, AR_JITDUMP, &dump);
	add_text(&a, AR_MAP, "5000 100 mapped\n6000 40 other name\n");
	save_as(&a, "decode", "jit", NULL);
	save_as(&a, "decode", "jit", (const char *const[]){ "--calls", NULL });
	ptc_buf_release(&dump);
	ar_release(&a);
	pd_release(&p);
}

static void put_kernel(void)
{
	const struct le_segment segs[] = { { KERNEL, pt_code, PT_CODE_LEN },
					   { MODULE, pt_code, PT_CODE_LEN } };
	struct archive a = { .n = 0 };
	struct ptc_buf b = PTC_BUF_INIT;
	struct pd p;

	kernel(&p);
	add_recording(&a, AR_RECORDING, &p);
	le_core(&b, 0, segs, 2, NULL, 0);
	add(&a, AR_KCORE, &b);
	add_text(&a, AR_KALLSYMS,
		 "ffffffffa1000000 T _text\nffffffffa1000010 t do_it\n"
		 "ffffffffc0000000 t in_it\t[mod]\nffffffffc0000030 d data\t[mod]\n");
	save_as(&a, "decode", "kernel", (const char *const[]){ "--kcore=@/kcore", NULL });
	ar_release(&a);
	add_recording(&a, AR_RECORDING, &p);
	le_program(&b, 0xffffffff81000000 - LE_CODE_OFF, 0, pt_code, PT_CODE_LEN);
	add(&a, AR_VMLINUX, &b);
	le_module(&b, 0, "1 SMP");
	add(&a, AR_MODULE, &b);
	add_text(&a, AR_DEP, "kernel/mod.ko:\nkernel/other.ko: kernel/mod.ko\n");
	save_as(&a, "decode", "vmlinux", (const char *const[]){ "--vmlinux=@/vmlinux", NULL });
	save_as(&a, "info", "vmlinux", NULL);
	ar_release(&a);
	ptc_buf_release(&b);
	pd_release(&p);
}

static void put_crash(void)
{
	struct archive a = { .n = 0 };
	struct ptc_buf b = PTC_BUF_INIT;
	struct pd p;

	crash(&p);
	add_recording(&a, AR_RECORDING, &p);
	save_as(&a, "crash show", "crash", NULL);
	save_as(&a, "crash show", "crash", (const char *const[]){ "--format=json", NULL });
	save_as(&a, "decode", "crash", NULL);
	save_as(&a, "dump", "crash", NULL);
	sf_core(&b, PID);
	add(&a, AR_CORE, &b);
	save_as(&a, "decode", "core", (const char *const[]){ "--core=@/core", NULL });
	save_as(&a, "crash show", "core", (const char *const[]){ "--core=@/core", NULL });
	ptc_buf_release(&b);
	ar_release(&a);
	pd_release(&p);
}

static void put_raw(void)
{
	struct archive a = { .n = 0 };
	struct ptc_buf b = PTC_BUF_INIT;

	walk(&b, 5, false, 80);
	add(&a, AR_PT, &b);
	add(&a, AR_PROGRAM, &program);
	save_as(&a, "decode", "raw",
		(const char *const[]){ "-Finsn", "--pt=@/pt --raw=@/root/bin/a@0x1000:0x1000",
				       NULL });
	ptc_buf_release(&b);
	ar_release(&a);
}

static void put_go(void)
{
	struct archive a = { .n = 0 };
	struct ptc_buf b = PTC_BUF_INIT;
	struct pd p;

	begin(&p);
	map(&p, PID, GP_TEXT, LE_CODE_OFF, "/bin/a", false);
	put_syscall(&b, 10, GP_TEXT + GP_MAIN);
	put_trace(&p, 0, PID, -1, &b);
	add_recording(&a, AR_RECORDING, &p);
	sf_go(&b);
	add(&a, AR_PROGRAM, &b);
	save_as(&a, "decode", "go", NULL);
	save_as(&a, "decode", "go", (const char *const[]){ "--counts=lines", NULL });
	save_as(&a, "decode", "go", (const char *const[]){ "--counts=coverage:3", NULL });
	ptc_buf_release(&b);
	ar_release(&a);
	pd_release(&p);
}

/* All features, with calls that have not returned as branch stacks. */
static void put_features(const char *path)
{
	struct archive a = { .n = 0 };
	struct ptc_buf b = PTC_BUF_INIT;
	struct pd p;

	read_file(path, &b);
	add(&a, AR_RECORDING, &b);
	save_as(&a, "dump", "features", NULL);
	save_as(&a, "dump", "features", (const char *const[]){ "--format=json", NULL });
	save_as(&a, "info", "features", NULL);
	save_as(&a, "info", "features", (const char *const[]){ "--format=json", NULL });
	save_as(&a, "convert", "features", (const char *const[]){ "--pipe", NULL });
	ar_release(&a);
	plain(&p, true);
	add_recording(&a, AR_RECORDING, &p);
	add(&a, AR_CACHED, &program);
	save_as(&a, "convert", "calls",
		(const char *const[]){ "--branch-stacks=32,7 --branch-filter=call_stack", NULL });
	must(!cm_run_output(&a, &b), "convert --branch-filter=call_stack");
	ar_release(&a);
	add(&a, AR_RECORDING, &b);
	add(&a, AR_CACHED, &program);
	save_as(&a, "compare", "calls", NULL);
	ar_release(&a);
	ptc_buf_release(&b);
	pd_release(&p);
}

int main(int argc, char **argv)
{
	if (argc != 6) {
		(void)fprintf(stderr, "usage: mkcommands PROGRAM OTHER STRIPPED RECORDING DIR\n");
		return 2;
	}
	folder = argv[5];
	read_program(argv[1], &program);
	read_program(argv[2], &other);
	read_program(argv[3], &stripped);
	cm_begin();
	put_features(argv[4]);
	put_go();
	put_cached();
	put_forms();
	put_crowd();
	put_jit();
	put_kernel();
	put_crash();
	put_raw();
	put_plain();
	ptc_buf_release(&stripped);
	ptc_buf_release(&program);
	ptc_buf_release(&other);
	return 0;
}
