/* SPDX-License-Identifier: MIT */
#include "lib_kroot.h"

#include <stdlib.h>
#include <string.h>

#include "lib_elf.h"

const char kr_kallsyms[] = "0000000000000000 A fixed_percpu_data\n"
			   "fffffe0000006000 T __entry_SYSCALL_64_trampoline\n"
			   "ffffffff81000000 T _text\n"
			   "ffffffff81000000 T _stext\n"
			   "ffffffff81000040 t do_it\n"
			   "ffffffff81003100 T _etext\n"
			   "ffffffff81004000 D data\n"
			   "ffffffffc0001000 t in_it\t[one_mod]\n"
			   "ffffffffc0001f00 b its_data\t[one_mod]\n"
			   "ffffffffc0003800 t bpf_prog_1\t[bpf]\n";

const char kr_modules[] = "one_mod 8192 1 other, Live 0xffffffffc0001000 (OE)\n"
			  "two_mod 16384 0 - Live 0xffffffffc0100000\n";

void kr_set(const char *root, const char *file, const void *bytes, size_t len)
{
	struct ptc_buf b = PTC_BUF_INIT;

	ptc_buf_put(&b, bytes, len);
	(void)le_write(root, file, &b);
	ptc_buf_release(&b);
}

static void set_text(const char *root, const char *file, const char *text)
{
	kr_set(root, file, text, strlen(text));
}

/*
 * Makes pages with these fill bytes: { 1, 0, 1 } is a page of 1s, one of zeros, and another of 1s.
 */
static struct le_segment segment(uint64_t addr, const uint8_t *what, size_t n)
{
	const size_t page = (size_t)KR_PAGE;
	uint8_t *bytes = malloc(n * page);
	size_t i;

	if (!bytes)
		abort();
	for (i = 0; i < n; i++)
		memset(bytes + i * page, what[i], page);
	return (struct le_segment){ addr, bytes, n * page };
}

static void make_kcore(const char *root)
{
	static const uint8_t direct[] = { KR_IN_DATA }, tramp[] = { KR_IN_TRAMP, KR_IN_DATA },
			     text[] = { KR_IN_TEXT, 0, KR_IN_TEXT, KR_IN_TEXT, KR_IN_DATA },
			     modules[] = {
				     KR_IN_DATA, KR_IN_MODULE, 0, KR_IN_PROGRAM, KR_IN_PROGRAM,
				     0,		 KR_IN_DATA,
			     };
	struct le_segment segs[] = {
		segment(UINT64_C(0xffff888000000000), direct, sizeof(direct)),
		segment(KR_TRAMP, tramp, sizeof(tramp)),
		segment(KR_TEXT, text, sizeof(text)),
		segment(KR_MODULE - KR_PAGE, modules, sizeof(modules)),
	};
	struct ptc_buf b = PTC_BUF_INIT;
	size_t i;

	le_core(&b, 0, segs, 4, NULL, 0);
	(void)le_write(root, "proc/kcore", &b);
	ptc_buf_release(&b);
	for (i = 0; i < 4; i++)
		free((void *)(uintptr_t)segs[i].bytes);
}

void kr_make(char *root, size_t size)
{
	/* namesz, descsz, NT_GNU_BUILD_ID, "GNU", the id; after another note. */
	static const uint8_t notes[] = { 4, 0, 0,   0,	 4,   0, 0,    0,    1,	   0,
					 0, 0, 'X', 'e', 'n', 0, 1,    2,    3,	   4,
					 4, 0, 0,   0,	 4,   0, 0,    0,    3,	   0,
					 0, 0, 'G', 'N', 'U', 0, 0xaa, 0xbb, 0xcc, 0xdd };

	le_folder(root, size);
	set_text(root, "proc/kallsyms", kr_kallsyms);
	set_text(root, "proc/modules", kr_modules);
	set_text(root, "proc/sys/kernel/osrelease", "6.1.0-x\n");
	set_text(root, "lib/modules/6.1.0-x/modules.dep",
		 "kernel/fs/no-mod.ko.xz:\nkernel/fs/one-mod.ko.xz: kernel/fs/other.ko.xz\n");
	kr_set(root, "sys/kernel/notes", notes, sizeof(notes));
	kr_set(root, "sys/module/one_mod/notes/.note.gnu.build-id", notes + 20, sizeof(notes) - 20);
	make_kcore(root);
}
