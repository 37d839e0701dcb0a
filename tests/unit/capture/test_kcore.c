/* SPDX-License-Identifier: MIT */
/*
 * Description: the copy of the kernel's code is complete, has nothing else, and is of a single
 * moment.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "capture/perf/kcore.h"
#include "capture/perf/kcore_elf.h"
#include "fewer.h"
#include "lib_elf.h"
#include "lib_kroot.h"

static char root[64], dir[128];
static struct ptc_err err;

static void make(void)
{
	kr_make(root, sizeof(root));
	(void)snprintf(dir, sizeof(dir), "%s/kcore_dir", root);
}

static void away(void)
{
	le_folder_remove(root);
}

TestSuite(kcore, .init = make, .fini = away);

static int copy(void (*copied)(void *), void *ctx, uint64_t *ret_bytes)
{
	const struct ptc_kcore_opts o = { root, copied, ctx };

	return ptc_kcore_copy(dir, &o, ret_bytes, &err);
}

static void read_copy(const char *name, struct ptc_buf *b)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	cr_assert_eq(ptc_read_file(path, 1 << 20, b, &err), 0, "%s", err.msg);
}

static void check_text(const char *name, const char *want)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct stat st;
	char path[256];

	read_copy(name, &b);
	cr_assert_str_eq((char *)b.bytes, want);
	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	cr_assert(!stat(path, &st) && (st.st_mode & 0777) == 0400);
	ptc_buf_release(&b);
}

/* The load at @addr must have exactly the pages of @what. */
static void check_load(const struct ptc_buf *b, const struct ptc_kcore_load *l, uint64_t addr,
		       size_t pages, uint8_t what)
{
	size_t i;

	cr_assert_eq(l->addr, addr, "%lx", (unsigned long)l->addr);
	cr_assert_eq(l->len, pages * KR_PAGE);
	cr_assert_leq(l->off + l->len, b->len);
	for (i = 0; i < l->len; i++)
		cr_assert_eq(b->bytes[l->off + i], what);
}

Test(kcore, has_text_modules_and_programs_without_pages_of_zeros_and_data)
{
	struct ptc_kcore_load *loads;
	struct ptc_buf b = PTC_BUF_INIT;
	uint64_t bytes;
	size_t n;

	cr_assert_eq(copy(NULL, NULL, &bytes), 0, "%s", err.msg);
	cr_assert_eq(bytes, 7 * KR_PAGE);
	read_copy("kcore", &b);
	cr_assert_eq(ptc_kcore_parse(ptc_cur_init(b.bytes, b.len), &loads, &n, &err), 0);
	cr_assert_eq(n, 5);
	check_load(&b, &loads[0], KR_TEXT, 1, KR_IN_TEXT);
	check_load(&b, &loads[1], KR_TEXT + 2 * KR_PAGE, 2, KR_IN_TEXT);
	check_load(&b, &loads[2], KR_MODULE, 1, KR_IN_MODULE);
	check_load(&b, &loads[3], KR_MODULE + 2 * KR_PAGE, 2, KR_IN_PROGRAM);
	check_load(&b, &loads[4], KR_TRAMP, 1, KR_IN_TRAMP);
	free(loads);
	ptc_buf_release(&b);
	check_text("kallsyms", kr_kallsyms);
	check_text("modules", kr_modules);
}

/* Loads another module at each of the *@ctx calls. */
static void load_module(void *ctx)
{
	int *left = ctx;
	char text[2048];

	if (!*left)
		return;
	(void)snprintf(text, sizeof(text), "%sffffffffc020%d000 t init\t[late]\n", kr_kallsyms,
		       (*left)--);
	kr_set(root, "proc/kallsyms", text, strlen(text));
}

Test(kcore, begins_again_when_a_module_comes)
{
	struct ptc_buf b = PTC_BUF_INIT;
	uint64_t bytes;
	int times = 2;

	cr_assert_eq(copy(load_module, &times, &bytes), 0, "%s", err.msg);
	read_copy("kallsyms", &b);
	cr_assert(strstr((char *)b.bytes, "ffffffffc0201000 t init"), "as it was in the end");
	ptc_buf_release(&b);
	cr_assert_eq(bytes, 8 * KR_PAGE, "up to there all that is no zeros");
}

Test(kcore, gives_up_when_modules_come_all_the_time)
{
	uint64_t bytes;
	int times = 9;

	cr_assert_eq(copy(load_module, &times, &bytes), PTC_E_BUSY);
	cr_assert(strstr(err.msg, "try again"), "%s", err.msg);
}

static void refused(int code, const char *words)
{
	uint64_t bytes;

	cr_assert_eq(copy(NULL, NULL, &bytes), code, "%s", err.msg);
	cr_assert(strstr(err.msg, words), "%s", err.msg);
	cr_assert(strstr(err.msg, root), "%s", err.msg);
	le_folder_remove(dir);
}

Test(kcore, what_cannot_be_had_is_told_with_the_way_out)
{
	static const char nowhere[] = "ffffffff71000000 T _stext\nffffffff71001000 T _etext\n";
	char path[128], cmd[256];

	kr_set(root, "proc/kallsyms", nowhere, strlen(nowhere));
	refused(PTC_E_FORMAT, "no kernel text at 0x");
	kr_set(root, "proc/kallsyms", kr_kallsyms, strlen(kr_kallsyms));
	kr_set(root, "proc/kcore", "", 0);
	refused(PTC_E_FORMAT, "empty in a container");
	kr_set(root, "proc/kcore", root, sizeof(root));
	refused(PTC_E_FORMAT, "not an x86-64 core file");
	(void)snprintf(path, sizeof(path), "%s/proc/kcore", root);
	(void)snprintf(cmd, sizeof(cmd), "chmod -R a=rwX %s && chmod 0 %s", root, path);
	cr_assert_eq(system(cmd), 0);
	if (!geteuid())
		cr_assert_eq(seteuid(65534), 0);
	cr_assert_eq(copy(NULL, NULL, &(uint64_t){ 0 }), PTC_E_PERM, "%s", err.msg);
	cr_assert(strstr(err.msg, "CAP_SYS_RAWIO"), "%s", err.msg);
	(void)seteuid(0);
	le_folder_remove(dir);
	cr_assert_eq(remove(path), 0);
	refused(PTC_E_NOT_EXIST, "CONFIG_PROC_KCORE");
}

/* Like a full disk. */
Test(kcore, a_copy_that_cannot_be_written_fails)
{
	const struct rlimit limit = { PTC_KCORE_ROOM + 4 * KR_PAGE, RLIM_INFINITY };
	uint64_t bytes;

	(void)signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	cr_assert_eq(copy(NULL, NULL, &bytes), PTC_E_IO);
	cr_assert(strstr(err.msg, "cannot write '"), "%s", err.msg);
}

/* kcore as a cut file: no crash, and never a copy with wrong content. */
Test(kcore, cut_anywhere_it_fails_or_has_less)
{
	struct ptc_buf b = PTC_BUF_INIT;
	char path[256];
	uint64_t bytes;
	size_t len;

	(void)snprintf(path, sizeof(path), "%s/proc/kcore", root);
	cr_assert_eq(ptc_read_file(path, 1 << 20, &b, &err), 0);
	for (len = 0; len < b.len; len += len < 400 ? FEWER(1, 3) : 1500) {
		kr_set(root, "proc/kcore", b.bytes, len);
		if (copy(NULL, NULL, &bytes))
			cr_assert_eq(err.code, PTC_E_FORMAT, "%s", err.msg);
		le_folder_remove(dir);
	}
	ptc_buf_release(&b);
}
