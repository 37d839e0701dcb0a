/* SPDX-License-Identifier: MIT */
/* Description: the kernel's code ranges from kallsyms and modules. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "capture/perf/kallsyms.h"
#include "lib_elf.h"
#include "lib_kroot.h"

static char root[64];

static void make(void)
{
	kr_make(root, sizeof(root));
}

static void away(void)
{
	le_folder_remove(root);
}

TestSuite(kallsyms, .init = make, .fini = away);

Test(kallsyms, text_modules_and_what_the_kernel_makes_itself)
{
	struct ptc_kallsyms k;
	struct ptc_err err;

	cr_assert_eq(ptc_kallsyms_read(&k, root, &err), 0);
	cr_assert_str_eq((char *)k.kallsyms.bytes, kr_kallsyms);
	cr_assert_str_eq((char *)k.modules.bytes, kr_modules);
	cr_assert_eq(k.text, KR_TEXT);
	cr_assert_eq(k.stext, KR_TEXT);
	cr_assert_eq(k.etext, KR_ETEXT);
	cr_assert_eq(k.last, KR_ETEXT, "data is none of it");
	cr_assert_eq(k.first_extra, KR_MODULE);
	cr_assert_eq(k.last_extra, KR_PROGRAM);
	cr_assert_eq(k.ntramps, 1);
	cr_assert_eq(k.tramps[0], KR_TRAMP);
	cr_assert_eq(k.nmods, 2);
	cr_assert(k.mods[0].name_len == 7 && !memcmp(k.mods[0].name, "one_mod", 7));
	cr_assert_eq(k.mods[0].addr, KR_MODULE);
	cr_assert_eq(k.mods[0].size, 8192);
	cr_assert_eq(k.mods[1].addr, UINT64_C(0xffffffffc0100000));
	ptc_kallsyms_release(&k);
	ptc_kallsyms_release(&k);
}

Test(kallsyms, a_kernel_that_hides_its_addresses_is_told_with_the_way_out)
{
	static const char hidden[] = "0000000000000000 T _text\n0000000000000000 t do_it\t[mod]\n";
	struct ptc_kallsyms k;
	struct ptc_err err;

	kr_set(root, "proc/kallsyms", hidden, strlen(hidden));
	kr_set(root, "proc/modules", "mod 4096 0 - Live 0x0000000000000000\n", 37);
	cr_assert_eq(ptc_kallsyms_read(&k, root, &err), PTC_E_PERM);
	cr_assert(strstr(err.msg, "kptr_restrict"));
}

Test(kallsyms, a_kernel_without_modules_has_none)
{
	struct ptc_kallsyms k;
	struct ptc_err err;
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/proc/modules", root);
	cr_assert_eq(remove(path), 0);
	cr_assert_eq(ptc_kallsyms_read(&k, root, &err), 0);
	cr_assert_eq(k.nmods, 0);
	cr_assert_eq(k.modules.len, 0);
	ptc_kallsyms_release(&k);
	(void)snprintf(path, sizeof(path), "%s/proc/kallsyms", root);
	cr_assert_eq(remove(path), 0);
	cr_assert_eq(ptc_kallsyms_read(&k, root, &err), PTC_E_NOT_EXIST);
}

/*
 * Both texts, cut anywhere, are read as far as they are complete. No cut word is mistaken for
 * another.
 */
Test(kallsyms, texts_that_are_cut_anywhere)
{
	struct ptc_kallsyms k;
	struct ptc_err err;
	size_t len;

	for (len = 0; len <= strlen(kr_kallsyms); len++) {
		kr_set(root, "proc/kallsyms", kr_kallsyms, len);
		kr_set(root, "proc/modules", kr_modules,
		       len < strlen(kr_modules) ? len : strlen(kr_modules));
		if (ptc_kallsyms_read(&k, root, &err)) {
			cr_assert_eq(err.code, PTC_E_PERM);
			continue;
		}
		cr_assert(!k.text || k.text == KR_TEXT);
		cr_assert(!k.etext || k.etext == KR_ETEXT);
		ptc_kallsyms_release(&k);
	}
	cr_assert_eq(err.code, PTC_E_PERM, "the first of them has nothing");
}

Test(kallsyms, lines_that_are_none_are_passed_over)
{
	static const char text[] =
		"\n \nxyz t f\n123\n81 t\n82 tt g\n83 T h\nffffffffffffffffffffffff t i\n";
	static const char modules[] = "\na\nb 1\nc 1 1 - Live\nd 1 1 - Live 0x\ne 1 1 - Live 0xg\n"
				      "f 7 1 - Live 0x90 (E)";
	struct ptc_kallsyms k;
	struct ptc_err err;

	kr_set(root, "proc/kallsyms", text, strlen(text));
	kr_set(root, "proc/modules", modules, strlen(modules));
	cr_assert_eq(ptc_kallsyms_read(&k, root, &err), 0);
	cr_assert_eq(k.first, 0x83);
	cr_assert_eq(k.last, 0x83);
	cr_assert_eq(k.nmods, 1);
	cr_assert_eq(k.mods[0].addr, 0x90);
	ptc_kallsyms_release(&k);
}
