/* SPDX-License-Identifier: MIT */
/*
 * Writes the seeds of fuzz_commands into DIR: small recordings of each form with their files.
 * PROGRAM and OTHER are program.S and program.c, linked with two kinds of debug information;
 * STRIPPED is OTHER without it. RECORDING has all features.
 *
 * mkcommands PROGRAM OTHER STRIPPED RECORDING DIR
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "lib_elf.h"
#include "lib_packed.h"
#include "lib_pt.h"
#include "seedfiles.h"
#include "seedrecordings.h"

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

/* Saves the archive once for each command line. */
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

/* --- archives --- */

static void put_plain(void)
{
	static const char *const forms[][3] = {
		{ "", NULL },
		{ "--calls", NULL },
		{ "--calls", "--inline", NULL },
		{ "--calls --fold --min=2", NULL },
		{ "--calls --depth=2", NULL },
		{ "--format=callgrind", NULL },
		{ "--format=folded --depth=2", NULL },
		{ "--format=pprof", NULL },
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
	static const char *const reports[][3] = {
		{ "", NULL },
		{ "--format=json", NULL },
		{ "--inline", "--axis=time", NULL },
		{ "--by=thread", "--format=csv", NULL },
		{ "--function=code_start --slowest=3", NULL },
	};
	struct archive a = { .n = 0 };
	struct pd p;
	size_t i;

	sr_plain(&p, false);
	add_recording(&a, AR_RECORDING, &p);
	for (i = 0; i < sizeof(dumps) / sizeof(dumps[0]); i++)
		save_as(&a, "dump", "plain", dumps[i]);
	save_as(&a, "info", "plain", NULL);
	save_as(&a, "recover", "plain", NULL);
	save_as(&a, "convert", "plain", (const char *const[]){ "--pipe", "--compress", NULL });
	add(&a, AR_PROGRAM, &program);
	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		save_as(&a, "decode", "plain", forms[i]);
	for (i = 0; i < sizeof(reports) / sizeof(reports[0]); i++)
		save_as(&a, "report", "plain", reports[i]);
	ar_release(&a);
	/* Another kind of debug information, in a separate file. */
	add_recording(&a, AR_RECORDING, &p);
	add(&a, AR_DEBUG, &other);
	add(&a, AR_PROGRAM, &stripped);
	save_as(&a, "decode", "debug", (const char *const[]){ "--counts=lines", NULL });
	ar_release(&a);
	pd_release(&p);
}

/* With a program in the build-id cache, commands without --symfs decode too. */
static void put_cached(void)
{
	struct archive a = { .n = 0 };
	struct ptc_buf made = PTC_BUF_INIT;
	struct pd p;

	sr_plain(&p, true);
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
		sr_plain(&p, false);
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
	sr_plain(&p, false);
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

	sr_crowd(&p);
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

	sr_jit(&p);
	le_jit(&dump, SR_PID, 0);
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
	const struct le_segment segs[] = { { SR_KERNEL, pt_code, PT_CODE_LEN },
					   { SR_MODULE, pt_code, PT_CODE_LEN } };
	struct archive a = { .n = 0 };
	struct ptc_buf b = PTC_BUF_INIT;
	struct pd p;

	sr_kernel(&p);
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

	sr_crash(&p);
	add_recording(&a, AR_RECORDING, &p);
	save_as(&a, "crash show", "crash", NULL);
	save_as(&a, "crash show", "crash", (const char *const[]){ "--format=json", NULL });
	save_as(&a, "crash core", "crash", NULL);
	save_as(&a, "stacks", "crash", NULL);
	save_as(&a, "decode", "crash", NULL);
	save_as(&a, "dump", "crash", NULL);
	sf_core(&b, SR_PID);
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

	sr_walk(&b, 5, false, 80);
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

	sr_go(&p);
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

/* All features, with the calls that have not returned as branch stacks. */
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
	sr_plain(&p, true);
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
